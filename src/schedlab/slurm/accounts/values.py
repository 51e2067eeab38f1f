"""Values of shares and limits as sacctmgr writes them. Others raise a ValueError that says what was expected."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from typing import Literal

from schedlab.files.slurm_values import seconds, whole

PARENT: Literal["parent"] = "parent"
SHARES_OF_PARENT = 0x7FFF_FFFF  # how Slurm notes "parent" in a number

LARGEST_COUNT = 0xFFFF_FFFC  # the numbers above it mean "none" and "unlimited"
LARGEST_TRES = 2**62

STATIC_TRES = ("cpu", "mem", "energy", "node", "billing", "fs/disk", "vmem", "pages")
_NAMED_TRES = re.compile(r"(gres|license|bb|ic|fs)/[^\s=,'\"]+")
_AMOUNT = re.compile(r"([0-9]{1,18}(?:\.[0-9]{1,6})?)([KMGTP]?)", re.IGNORECASE)
_IN_MEGABYTES = ("mem", "bb")
_UNITS = "KMGTP"

FLAGS = {
    "PartitionMinNodes": 1 << 0,
    "PartitionMaxNodes": 1 << 1,
    "PartitionTimeLimit": 1 << 2,
    "EnforceUsageThreshold": 1 << 3,
    "NoReserve": 1 << 4,
    "RequiresReservation": 1 << 5,
    "DenyOnLimit": 1 << 6,
    "OverPartQOS": 1 << 7,
    "NoDecay": 1 << 8,
    "UsageFactorSafe": 1 << 9,
}
PREEMPT_MODES = {"off": 0, "cluster": 0, "suspend": 1, "requeue": 2, "cancel": 8, "within": 0x4000, "gang": 0x8000}
_PREEMPT_ADDITIONS = ("within", "gang")


def names(text: str) -> tuple[str, ...]:
    """A list of names of accounts or QOS, which Slurm keeps in lower case."""
    return tuple(dict.fromkeys(name.strip().lower() for name in text.split(",") if name.strip()))


def fairshare(text: str) -> int | Literal["parent"]:
    if text.lower() == PARENT:
        return PARENT
    try:
        shares = whole(text, least=0, most=LARGEST_COUNT)
    except ValueError:
        raise ValueError("a whole number of shares, or parent") from None
    return PARENT if shares == SHARES_OF_PARENT else shares


def count(text: str) -> int | None:
    """A whole number; -1 is no limit."""
    return None if text == "-1" else whole(text, least=0, most=LARGEST_COUNT)


def minutes(text: str) -> int | None:
    """A time in minutes, rounded up as Slurm does; None is no limit."""
    amount = seconds(text)
    if math.isinf(amount):
        return None
    if amount / 60 > LARGEST_COUNT:
        raise ValueError("a shorter time, or UNLIMITED")
    return math.ceil(amount / 60)


def plain_seconds(text: str) -> int | None:
    """A time in seconds, in which a number alone is seconds; None is not set."""
    amount = float(text) if text.isdigit() else seconds(text)
    if not math.isinf(amount) and amount > LARGEST_COUNT:
        raise ValueError("a shorter time")
    return None if math.isinf(amount) else int(amount)


def number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value <= LARGEST_COUNT:
        raise ValueError("a number from 0")
    return value


def flags(text: str) -> tuple[str, ...]:
    known = {name.lower(): name for name in FLAGS}
    found = names(text)
    if not set(found) <= set(known):
        raise ValueError(f"some of {', '.join(FLAGS)}")
    return tuple(name for name in FLAGS if name.lower() in found)


def preempt_mode(text: str) -> str:
    modes = names(text)
    if not set(modes) <= set(PREEMPT_MODES) or sum(mode not in _PREEMPT_ADDITIONS for mode in modes) > 1:
        raise ValueError("one of cluster, off, suspend, requeue or cancel, perhaps with within or gang")
    return ",".join(modes)


def tres(text: str) -> dict[str, int]:
    """Trackable resources with amounts: `cpu=100,mem=10G,gres/gpu=4`. Memory is in megabytes if no unit is given."""
    found: dict[str, int] = {}
    for item in filter(None, (item.strip() for item in text.split(","))):
        name, equals, amount = item.rpartition("=")
        if not equals:
            raise ValueError("names with amounts, such as cpu=100,mem=10G,gres/gpu=4")
        name = tres_name(name)
        if amount.upper() in ("-1", "NONE"):
            continue
        found[name] = _amount(name, amount)
    return found


def tres_name(text: str) -> str:
    """The name of a resource, in lower case."""
    name = text.strip().lower()
    if name not in STATIC_TRES and not _NAMED_TRES.fullmatch(name):
        kinds = "cpu, mem, node, billing, energy, vmem, pages, fs/…, gres/…, license/…, bb/… or ic/…"
        raise ValueError(f"a resource that Slurm tracks: {kinds}")
    return name


def _amount(name: str, text: str) -> int:
    match = _AMOUNT.fullmatch(text)
    if match is None:
        raise ValueError(f"{name}=… with a whole number, perhaps with a unit (K, M, G, T, P)")
    power = _UNITS.index(match[2].upper()) + 1 if match[2] else 0
    if power and name.partition("/")[0] in _IN_MEGABYTES:
        power -= 2
    amount = Decimal(match[1]) * Decimal(1024) ** power
    if amount != amount.to_integral_value() or amount > LARGEST_TRES:
        raise ValueError(f"{name}=… that is a whole number{' of megabytes' if name == 'mem' else ''}, at most 2^62")
    return int(amount)
