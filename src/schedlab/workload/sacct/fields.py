"""What the texts in a Slurm accounting dump mean: times, durations, amounts, states, constraints.

A parser gives NaN for what is unknown, and raises ValueError, saying what it expected, for what it cannot read.
"""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime
from typing import NamedTuple

NAN = math.nan
UNKNOWN = ("", "Unknown", "None", "N/A")
LARGEST_COUNT = 10**9
LATEST = 253_402_300_799  # the last second of the year 9999
LONGEST = 10**12  # seconds
LARGEST_MEMORY = 2**62  # bytes
NO_LIMIT = ("", "unlimited", "partition_limit", "invalid", "unknown", "none", "n/a")
NO_LIMIT_MINUTES = (2**32 - 2, 2**32 - 1)  # what stands for "none" inside Slurm

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DATE = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(Z|[+-]\d\d:?\d\d)?", re.ASCII)
_DURATION = re.compile(r"(?:(\d{1,9})-)?(?:(\d{1,9}):)?(\d{1,9}):(\d\d)(?:\.(\d{1,9}))?", re.ASCII)
_NUMBER = re.compile(r"(\d{1,20}(?:\.\d{1,9})?)([KMGTPE]?)", re.ASCII)
_MEMORY = re.compile(r"(\d{1,20}(?:\.\d{1,9})?)([KMGTPE]?)([cn]?)", re.ASCII)
_FEATURES = re.compile(r"[\w.:+/-]+(?:&[\w.:+/-]+)*")
_STATE = re.compile(r"([A-Z_]+)(\+?)(?: by .*)?", re.ASCII)
_POWERS = {letter: 1024**power for power, letter in enumerate("KMGTPE", start=1)}

TIME = "a time such as 2024-03-01T12:00:00, with or without +01:00 or Z, seconds since 1970, or Unknown"
DURATION = "a duration such as 1-12:30:00 (days-hours:minutes:seconds)"
COUNT = "a whole number"
MEMORY = "an amount of memory such as 4000M, 2800Mc or 16Gn"
TRES = "resources such as cpu=12,mem=33600M,node=1"
STATE = "a job state such as COMPLETED"


def parse_time(text: str) -> float:
    """Seconds since 1970. A time without zone counts as UTC."""
    if text in UNKNOWN:
        return NAN
    if text.isascii() and text.isdigit() and len(text) <= 12:
        seconds = float(text)
    elif _DATE.fullmatch(text):
        moment = datetime.fromisoformat(text)  # ValueError for 30 February
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        seconds = (moment - _EPOCH).total_seconds()
    else:
        raise ValueError(TIME)
    if not 0 <= seconds <= LATEST:
        raise ValueError(TIME)
    return seconds or NAN


def parse_duration(text: str) -> float:
    """Seconds from `[DD-[HH:]]MM:SS[.mmm]`."""
    if text in UNKNOWN or text.casefold() in NO_LIMIT:
        return NAN
    found = _DURATION.fullmatch(text)
    if found is None:
        raise ValueError(DURATION)
    days, hours, minutes, seconds = (int(part or 0) for part in found.groups()[:4])
    whole = days * 86_400 + hours * 3_600 + minutes * 60 + seconds
    return _bounded(whole + float(f"0.{found[5] or 0}"), LONGEST, DURATION)


def parse_seconds(text: str) -> float:
    """Seconds as a number (ElapsedRaw)."""
    return NAN if text in UNKNOWN else _bounded(float(_digits(text)), LONGEST, COUNT)


def parse_minutes(text: str) -> float:
    """Seconds from a number of minutes (TimelimitRaw)."""
    if text.casefold() in NO_LIMIT:
        return NAN
    minutes = int(_digits(text))
    return NAN if minutes in NO_LIMIT_MINUTES else _bounded(minutes * 60.0, LONGEST, COUNT)


def parse_count(text: str) -> float:
    """A number of processors or nodes. Slurm writes 2048 nodes as `2K` unless it is told not to."""
    if text in UNKNOWN:
        return NAN
    found = _NUMBER.fullmatch(text)
    if found is None:
        raise ValueError(COUNT)
    return float(round(_bounded(_amount(found[1], found[2]), LARGEST_COUNT, f"{COUNT} up to 10^9")))


def parse_memory(text: str) -> tuple[float, float, float]:
    """Bytes of the job, of each core, and of each node: one of them; NaN for the others. 0 means all of a node."""
    found = _MEMORY.fullmatch(text)
    if text in UNKNOWN:
        return NAN, NAN, NAN
    if found is None:
        raise ValueError(MEMORY)
    amount = _bounded(_amount(found[1], found[2] or "M"), LARGEST_MEMORY, MEMORY)
    return {"": (amount, NAN, NAN), "c": (NAN, amount, NAN), "n": (NAN, NAN, amount)}[found[3]]


def parse_tres(text: str) -> tuple[float, float, float, float]:
    """Processors, nodes, GPUs and bytes of `billing=12,cpu=12,gres/gpu=2,mem=33600M,node=1`.

    A text that says nothing of GPUs means none; of the others, unknown.
    """
    if text in UNKNOWN:
        return NAN, NAN, NAN, NAN
    found = {"cpu": NAN, "node": NAN, "mem": NAN, "gres/gpu": NAN}
    typed = 0.0  # gres/gpu:v100=2 also counts in gres/gpu, where Slurm is told to account for that
    for part in text.split(","):
        name, equals, amount = part.partition("=")
        if not equals:
            raise ValueError(TRES)
        if name == "mem":
            found["mem"] = parse_memory(amount)[0]
        elif name in found:
            found[name] = parse_count(amount)
        elif name.startswith("gres/gpu:"):
            typed += parse_count(amount)
    gpus = typed if math.isnan(found["gres/gpu"]) else found["gres/gpu"]
    return found["cpu"], found["node"], gpus, found["mem"]


def parse_other_tres(text: str) -> tuple[tuple[str, int], ...]:
    """What else a job has, in all: generic resources by name and type (`gpu:v100`, `nvme`), and `license/matlab`."""
    found = []
    for part in text.split(",") if text not in UNKNOWN else ():
        name, _, amount = part.partition("=")
        number = _NUMBER.fullmatch(amount)
        if number and name.startswith(("gres/", "license/")) and name != "gres/gpu":
            found.append((name.removeprefix("gres/"), int(_amount(number[1], number[2]))))
    return tuple(sorted((name, amount) for name, amount in found if 0 < amount <= LARGEST_MEMORY))


class State(NamedTuple):
    """What a state means: the status in SWF's numbers, and what it says of the job's life."""

    status: int  # 1 completed, 0 failed, 5 cancelled
    life: int  # ENDED, CANCELLED, RUNNING, PENDING
    known: int = 1


ENDED, CANCELLED, RUNNING, PENDING = range(4)
STATES = {
    "COMPLETED": State(1, ENDED),
    "CANCELLED": State(5, CANCELLED),
    "REVOKED": State(5, CANCELLED),  # another cluster of a federation has it
    **dict.fromkeys(("FAILED", "TIMEOUT", "OUT_OF_MEMORY", "NODE_FAIL", "PREEMPTED", "BOOT_FAIL"), State(0, ENDED)),
    **dict.fromkeys(("DEADLINE", "REQUEUED", "RESIZING", "LAUNCH_FAILED", "RECONFIG_FAIL"), State(0, ENDED)),
    **dict.fromkeys(("RUNNING", "SUSPENDED", "COMPLETING", "CONFIGURING", "STOPPED"), State(-1, RUNNING)),
    **dict.fromkeys(("SIGNALING", "STAGE_OUT"), State(-1, RUNNING)),
    **dict.fromkeys(("PENDING", "REQUEUE_FED", "REQUEUE_HOLD", "SPECIAL_EXIT", "RESV_DEL_HOLD"), State(-1, PENDING)),
}


def parse_state(text: str) -> State:
    """The state in `CANCELLED by 1234`, `COMPLETED` or (cut off) `OUT_OF_ME+`. One that is new to us means failed."""
    found = _STATE.fullmatch(text)
    if found is None:
        raise ValueError(STATE)
    name, cut = found.groups()
    if cut:
        name = next((known for known in STATES if known.startswith(name)), name)
    return STATES.get(name, State(0, ENDED, known=0))


def parse_features(text: str) -> frozenset[str] | None:
    """The features that `a&b` asks for, all of them; None for what a request cannot say (`a|b`, counts, brackets)."""
    if text in UNKNOWN or text == "(null)":
        return frozenset()
    return frozenset(text.split("&")) if _FEATURES.fullmatch(text) else None


def _digits(text: str) -> str:
    if not (text.isascii() and text.isdigit() and len(text) <= 18):
        raise ValueError(COUNT)
    return text


def _amount(number: str, letter: str) -> float:
    factor: int = _POWERS.get(letter, 1)
    return float(number) * factor


def _bounded(value: float, largest: float, expected: str) -> float:
    if value > largest:
        raise ValueError(expected)
    return value
