"""Values as Slurm writes them: times, amounts of memory, generic resources. What is wrong raises a ValueError that says
what was expected."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

from schedlab.model.units import LARGEST_AMOUNT

UNLIMITED = ("unlimited", "infinite", "-1")

_TIME = re.compile(r"(?:([0-9]{1,9})-)?([0-9]{1,9})(?::([0-9]{1,9}))?(?::([0-9]{1,9}))?")
_MEMORY = re.compile(r"([0-9]{1,18})([KMGTP]?)B?", re.IGNORECASE)
_COUNT = re.compile(r"([0-9]{1,18})([KMGTP]?)", re.IGNORECASE)
_WORD = re.compile(r"[A-Za-z0-9_.-]+")
_REMARK = re.compile(r"\([^()]*\)")  # (S:0-1), the sockets of a resource
_FACTORS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40, "P": 2**50}

TIME_EXPECTED = (
    "minutes, minutes:seconds, hours:minutes:seconds, days-hours, days-hours:minutes or days-hours:minutes:seconds"
)
MEMORY_EXPECTED = "a whole number of MB (2^20 bytes), or with a unit: 500G (K, M, G, T)"
GRES_EXPECTED = "names with counts, such as gpu:2 or gpu:v100:2"


def seconds(text: str) -> float:
    """`3-00:00:00` or `90` (minutes) in seconds; infinite for UNLIMITED."""
    if text.casefold() in UNLIMITED:
        return math.inf
    match = _TIME.fullmatch(text)
    if match is None:
        raise ValueError(TIME_EXPECTED)
    days, *rest = match.groups()
    parts = [int(part) for part in rest if part is not None]
    if days is not None:
        hours, minutes, secs = parts + [0] * (3 - len(parts))
        return float(((int(days) * 24 + hours) * 60 + minutes) * 60 + secs)
    if len(parts) == 1:
        return parts[0] * 60.0
    total = 0
    for part in parts:
        total = total * 60 + part
    return float(total)


def time_text(amount: float) -> str:
    """Whole seconds as `days-hours:minutes:seconds`, days only if there are any."""
    days, rest = divmod(int(amount), 86_400)
    clock = f"{rest // 3600:02d}:{rest // 60 % 60:02d}:{rest % 60:02d}"
    return f"{days}-{clock}" if days else clock


def memory(text: str) -> int:
    """`500G` or `187000` (MB) in bytes."""
    match = _MEMORY.fullmatch(text)
    amount = int(match[1]) * _FACTORS[match[2].upper() or "M"] if match else LARGEST_AMOUNT + 1
    if amount > LARGEST_AMOUNT:
        raise ValueError(MEMORY_EXPECTED)
    return amount


def whole(text: str, *, least: int, most: int = 10**9) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 18 or not least <= int(text) <= most:
        raise ValueError(f"a whole number from {least} to {most:,}")
    return int(text)


def count(text: str) -> int:
    """`2` or `2T` (K, M, G, T and P are powers of 1024)."""
    match = _COUNT.fullmatch(text)
    if match is None:
        raise ValueError("a whole number, or with a unit: 2T (K, M, G, T)")
    return int(match[1]) * _FACTORS[match[2].upper()]


def gres_items(text: str) -> list[tuple[str, str, int]]:
    """Generic resources: name, type ("" if it has none) and count of each."""
    found: list[tuple[str, str, int]] = []
    for item in _REMARK.sub("", text).split(","):
        name, *rest = item.removeprefix("gres/").replace("=", ":").split(":")
        rest = [part for part in rest if part != "no_consume"]
        counted = bool(rest) and _COUNT.fullmatch(rest[-1]) is not None
        kinds = rest[:-1] if counted else rest
        if len(kinds) > 1 or not all(_WORD.fullmatch(word) for word in (name, *kinds)) or name in _OURS:
            raise ValueError(GRES_EXPECTED)
        found.append((name, kinds[0] if kinds else "", count(rest[-1]) if counted else 1))
    if sum(amount for _, _, amount in found) > LARGEST_AMOUNT:
        raise ValueError(GRES_EXPECTED)
    return found


def gres_amounts(items: Iterable[tuple[str, str, int]]) -> dict[str, int]:
    """As amounts: GPUs are called gpus, as everywhere here; what has a type counts twice, so that it can be asked for
    with or without."""
    found: dict[str, int] = {}
    for name, kind, amount in items:
        for resource in ("gpus" if name == "gpu" else name, *([f"{name}:{kind}"] if kind else [])):
            found[resource] = found.get(resource, 0) + amount
    return found


def gres(text: str) -> dict[str, int]:
    """`gpu:v100:2,nvme:1` is {"gpus": 2, "gpu:v100": 2, "nvme": 1}."""
    return gres_amounts(gres_items(text))


_OURS = ("cores", "memory", "gpus")  # names that a generic resource cannot have


def gres_text(resources: dict[str, int]) -> str:
    """The text that `gres` reads as these amounts; "" if there is none, as for a name with blanks."""
    items: list[str] = []
    plain = {"gpu" if name == "gpus" else name: amount for name, amount in resources.items() if ":" not in name}
    for name, amount in resources.items():
        if ":" in name:
            owner = name.partition(":")[0]
            plain[owner] = plain.get(owner, 0) - amount
            items.append(f"{name}:{amount}")
    items += [f"{name}:{amount}" for name, amount in plain.items() if amount]
    text = ",".join(items)
    try:
        return text if gres(text) == {name: amount for name, amount in resources.items() if amount} else ""
    except ValueError:
        return ""


def shown(value: object) -> str:
    """A value as a message quotes it: printable, and not too long."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"
