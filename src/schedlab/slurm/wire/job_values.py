"""Values of sbatch's options as people write them. What is wrong raises a ValueError that says what was expected."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

from schedlab.cluster.slurm.hosts import host_names, split_host
from schedlab.files.slurm_values import memory, seconds, whole
from schedlab.model.nodeset import fold

INFINITE = 0xFFFFFFFF
PER_CPU = 1 << 63  # an amount of memory is for each CPU
NICE_ZERO = 1 << 31  # how nice 0 travels
OF_THREADS = 0x8000  # reserved threads, not cores

_MIB = 1 << 20
_MOST_16, _MOST_32 = 0xFFFD, 0xFFFFFFFD
MOST_TASKS = (1 << 31) - 1
_NODES = re.compile(r"([0-9]{1,9})([kKmM]?)(?:-([0-9]{1,9})([kKmM]?))?")
_NICE = re.compile(r"[+-]?[0-9]{1,12}")
_LIST = re.compile(r"[\w.:=/+-]+(?:,[\w.:=/+-]+)*")
_DIGITS = re.compile(r"([0-9]+)")
_FACTORS = {"": 1, "k": 1 << 10, "m": 1 << 20}


def words(text: str) -> str:
    if not text.strip() or "\0" in text:
        raise ValueError("a text")
    return text


def count(text: str) -> int:
    return whole(text, least=1, most=_MOST_16)


def from_zero(text: str) -> int:
    return whole(text, least=0, most=_MOST_16)


def tasks(text: str) -> int:
    return whole(text, least=1, most=MOST_TASKS)


def megabytes(text: str) -> int:
    return -(-memory(text) // _MIB)


def small_megabytes(text: str) -> int:
    amount = megabytes(text)
    if amount > _MOST_32:
        raise ValueError("less than 4 PB")
    return amount


def per_cpu(text: str) -> int:
    return megabytes(text) | PER_CPU


def minutes(text: str) -> int:
    """Rounded up; 0 is no limit, as for sbatch."""
    amount = seconds(text)
    return min(math.ceil(amount / 60), _MOST_32) or INFINITE if math.isfinite(amount) else INFINITE


def duration(text: str) -> int:
    amount = seconds(text)
    return min(int(amount), _MOST_32) if math.isfinite(amount) else INFINITE


def moment(text: str) -> int:
    """Seconds since the epoch."""
    if not text.isascii() or not text.isdigit() or len(text) > 12:
        raise ValueError("seconds since 1970")
    return int(text)


def nice(text: str) -> int:
    amount = 100 if not text else int(text) if _NICE.fullmatch(text) else NICE_ZERO
    if abs(amount) > NICE_ZERO - 3:
        raise ValueError("a whole number from -2147483645 to 2147483645")
    return NICE_ZERO + amount


def priority(text: str) -> int:
    return _MOST_32 if text.casefold() == "top" else whole(text, least=0, most=_MOST_32)


def threads(text: str) -> int:
    return whole(text, least=1, most=OF_THREADS - 1) | OF_THREADS


def array(text: str) -> str:
    if not re.fullmatch(r"[0-9][-:,0-9]*+(?:%[0-9]++)?", text):
        raise ValueError("numbers and ranges, such as 0-15, 1,3,5-7 or 0-99%10")
    return text


def nodes(text: str) -> tuple[int, int]:
    """`4` or `2-8`: at least and at most; 0 is no limit."""
    match = _NODES.fullmatch(text)
    if match is None:
        raise ValueError("a number of nodes, or the least and the most: 4 or 2-8")
    least = int(match[1]) * _FACTORS[match[2].casefold()]
    most = int(match[3]) * _FACTORS[match[4].casefold()] if match[3] else least
    if (most and most < least) or max(least, most) > MOST_TASKS:
        raise ValueError("the most not less than the least")
    return least, most


def node_names(text: str) -> list[str]:
    """The nodes of a list, each once, in the order that Slurm sorts them."""

    def key(name: str) -> tuple[list[Any], int, int]:
        before, digits, after = split_host(name)
        prefix = [int(part) if part.isdigit() else part for part in _DIGITS.split(before + after)]
        return prefix, len(digits), int(digits or -1)

    return sorted(set(host_names(text)), key=key)


def listed(names: list[str]) -> str:
    return fold(names)


def generic(text: str) -> str | None:
    """`gpu:2,nvme:1` as `gres:gpu:2,gres:nvme:1`; none asks for nothing."""
    if text.casefold() == "none":
        return None
    if not _LIST.fullmatch(text):
        raise ValueError("names with counts, such as gpu:2 or gpu:v100:2")
    return ",".join(f"gres:{item.removeprefix('gres:')}" for item in text.split(","))


def gpus(text: str) -> str:
    """`2` or `v100:2`."""
    if not _LIST.fullmatch(text):
        raise ValueError("a number, or types with numbers: 2 or v100:2")
    return ",".join(f"gres:gpu:{item}" for item in text.split(","))


def switches(text: str) -> tuple[int, int | None]:
    """`1` or `1@60`: how many at most, and how long to wait for them."""
    most, at, wait = text.partition("@")
    return tasks(most), duration(wait) if at else None


def sharing(text: str) -> Any:
    """Whole nodes, whole nodes for a user or a label, or shared ones."""
    return _SHARING(text or "exclusive")


def one_of(**choices: Any) -> Callable[[str], Any]:
    """One of these words."""

    def choose(text: str) -> Any:
        try:
            return choices[text.casefold().replace("-", "_")]
        except KeyError:
            raise ValueError(" or ".join(name.replace("_", "-") for name in choices if name)) from None

    return choose


_SHARING = one_of(exclusive=0, user=2, mcs=3, oversubscribe=1)
