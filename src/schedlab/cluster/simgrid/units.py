"""Values as SimGrid platforms write them: speeds (`100.0Mf`), bandwidths, latencies, numbers of hosts (`0-15,20`)."""

from __future__ import annotations

import math
import re

from schedlab.model.nodeset import MOST_NODES

_SCALES = {"": 0, "k": 3, "K": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18, "Z": 21, "Y": 24}
_WORDS = ("", "kilo", "mega", "giga", "tera", "peta", "exa", "zetta", "yotta")
_FACTORS = (
    {f"{letter}f": 10.0**power for letter, power in _SCALES.items()}
    | {f"{letter}flops": 10.0**power for letter, power in _SCALES.items()}
    | {f"{word}flops": 10.0 ** (3 * place) for place, word in enumerate(_WORDS)}
    | {f"{letter}if": 1024.0 ** (place + 1) for place, letter in enumerate("KMGTPEZY")}
    | {"": 1.0}
)
_BANDWIDTHS = {
    f"{letter}{unit}": scale * value
    for unit, value in (("Bps", 1.0), ("bps", 0.125))
    for letter, scale in (
        *((letter, 10.0**power) for letter, power in _SCALES.items()),
        *((f"{letter}i", 1024.0 ** (place + 1)) for place, letter in enumerate("KMGTPEZY")),
    )
} | {"": 1.0}
_TIMES = {
    "w": 604800.0,
    "d": 86400.0,
    "h": 3600.0,
    "m": 60.0,
    "s": 1.0,
    "ms": 1e-3,
    "us": 1e-6,
    "ns": 1e-9,
    "ps": 1e-12,
}
_TIMES |= {"": 1.0}
_NUMBER = re.compile(r"\s*([0-9.]+(?:[eE][+-]?[0-9]+)?)\s*([A-Za-z]*)\s*")
_RANGE = re.compile(r"\s*([0-9]{1,18})(?:\s*-\s*([0-9]{1,18}))?\s*")


def parse_speeds(text: str) -> list[float]:
    """Flops a second of each state: `100.0Mf, 50Mf` as [1e8, 5e7]. ValueError says what is wrong."""
    return [_speed(part) for part in text.split(",")]


def parse_bandwidth(text: str) -> float:
    """Bytes a second: `125MBps`, `10Gbps` (bits), `1.25E8Bps`. ValueError says what is wrong."""
    return _value(text, _BANDWIDTHS, "a bandwidth; expected a number with a unit, like 125MBps or 10Gbps")


def parse_latency(text: str) -> float:
    """Seconds: `50us`, `1.5ms`, `2.4E-5s`. ValueError says what is wrong."""
    return _value(text, _TIMES, "a time; expected a number with a unit, like 50us or 1.5ms")


def _speed(text: str) -> float:
    return _value(text, _FACTORS, "a speed; expected a number with a unit, like 100Mf or 2.5Gf")


def _value(text: str, factors: dict[str, float], expected: str) -> float:
    match = _NUMBER.fullmatch(text)
    try:
        value = float(match[1]) * factors[match[2]] if match else math.nan
    except (KeyError, ValueError):
        value = math.nan
    if not 0 <= value < math.inf:
        raise ValueError(f"{text.strip()!r} is not {expected}")
    return value


def format_speed(speed: float) -> str:
    """As it can be read back exactly; in Gf or Mf where that is so."""
    for letter in "GMk":
        text = f"{speed / 10.0 ** _SCALES[letter]:.15g}{letter}f"
        if "e" not in text and speed >= 10.0 ** _SCALES[letter] and _speed(text) == speed:
            return text
    return f"{speed!r}f"


def parse_radical(text: str) -> list[tuple[int, int]]:
    """First and last number of each stretch: `0-15,20` as [(0, 15), (20, 20)]. ValueError says what is wrong."""
    found = []
    for part in text.split(","):
        match = _RANGE.fullmatch(part)
        if match is None:
            raise ValueError(f"{part.strip()!r} is not a number or a range; expected numbers like 0-15,20")
        first, last = int(match[1]), int(match[2] or match[1])
        if last < first:
            raise ValueError(f"the range {part.strip()!r} goes backwards")
        if last - first >= MOST_NODES:
            raise ValueError(f"the range {part.strip()!r} has more than {MOST_NODES:,} hosts")
        found.append((first, last))
    return found
