"""Amounts with units, as people write them in files and options: `"192 GiB"`, `"64GB"`, `"1d12h"`, `"90 s"`."""

from __future__ import annotations

import math
import re

from schedlab.model.errors import InputError

LARGEST_AMOUNT = 2**63 - 1  # the engine counts resources in 64-bit integers

BINARY_UNITS = {"KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40, "PiB": 2**50, "EiB": 2**60}
DECIMAL_UNITS = {"kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "PB": 10**15, "EB": 10**18}
BYTE_UNITS = {"B": 1, **BINARY_UNITS, **DECIMAL_UNITS}

# Largest first, which is also the order in which people write them.
DURATION_UNITS = {"y": 31_536_000.0, "w": 604_800.0, "d": 86_400.0, "h": 3_600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
_DURATION_WORDS = {
    "y": ("year", "years"),  # of 365 days
    "w": ("week", "weeks"),
    "d": ("day", "days"),
    "h": ("hr", "hrs", "hour", "hours"),
    "m": ("min", "mins", "minute", "minutes"),
    "s": ("sec", "secs", "second", "seconds"),
}

_BYTE_FACTORS = {unit.casefold(): factor for unit, factor in BYTE_UNITS.items()}
_DURATION_NAMES = {unit: unit for unit in DURATION_UNITS} | {
    word: unit for unit, words in _DURATION_WORDS.items() for word in words
}

_NUMBER = r"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_BYTES = re.compile(rf"\s*({_NUMBER})\s*([A-Za-z]*)\s*")
_DURATION_PART = re.compile(rf"\s*({_NUMBER})\s*([A-Za-z]*)\s*")
_LONGEST = 64  # characters; nothing sensible is longer

_BYTES_EXPECTED = 'write a whole number of bytes, or a number with a unit: "192 GiB", "64 GB", "512 MiB"'
_DURATION_EXPECTED = 'write a number of seconds, or numbers with units: "90 s", "4h", "1d12h" (units: y w d h m s ms)'


def parse_bytes(value: str | int, *, where: str = "") -> int:
    """Bytes from `"192 GiB"` (2^30), `"64GB"` (10^9) or a whole number of bytes; rounded to the nearest byte."""
    if isinstance(value, int) and not isinstance(value, bool):
        return _checked_bytes(value, value, where)
    match = _BYTES.fullmatch(value) if isinstance(value, str) and len(value) <= _LONGEST else None
    if match is None:
        raise InputError(f"{_shown(value)} is not an amount of bytes", where=where, hint=_BYTES_EXPECTED)
    number, unit = match.groups()
    factor = _BYTE_FACTORS.get((unit or "B").casefold())
    if factor is None:
        raise InputError(f"{_shown(value)}: unknown unit '{unit}'", where=where, hint=_unit_hint(number, unit))
    if number.isdigit():
        return _checked_bytes(int(number) * factor, value, where)
    amount = float(number) * factor
    if factor == 1 and not amount.is_integer():
        raise InputError(f"{_shown(value)} is not a whole number of bytes", where=where, hint=_BYTES_EXPECTED)
    return _checked_bytes(round(amount) if math.isfinite(amount) else LARGEST_AMOUNT + 1, value, where)


def format_bytes(amount: int) -> str:
    """`206158430208` as `"192 GiB"`, `64000000000` as `"64 GB"`; rounded to two decimals if no unit makes it short."""
    if amount < 0:
        return f"-{format_bytes(-amount)}"
    for units in (BINARY_UNITS, DECIMAL_UNITS):
        unit, factor = _largest_within(units, amount)
        if amount * 1000 % factor == 0:
            return f"{_trimmed(amount / factor, 3)} {unit}"
    unit, factor = _largest_within(BINARY_UNITS, amount)
    return f"{_trimmed(amount / factor, 2)} {unit}"


def parse_duration(value: str | float, *, where: str = "") -> float:
    """Seconds from `"4h"`, `"90 s"`, `"1d12h"`, `"1.5 hours"`, or a plain number of seconds."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _checked_seconds(float(value) if abs(value) <= LARGEST_AMOUNT else math.inf, value, where)
    if not isinstance(value, str) or not value.strip() or len(value) > _LONGEST:
        raise InputError(f"{_shown(value)} is not a duration", where=where, hint=_DURATION_EXPECTED)
    seconds: dict[str, float] = {}
    position = 0
    while position < len(value):
        part = _DURATION_PART.match(value, position)
        if part is None:
            raise InputError(f"{_shown(value)} is not a duration", where=where, hint=_DURATION_EXPECTED)
        number, word = part.groups()
        alone = position == 0 and part.end() == len(value)
        unit = _DURATION_NAMES.get(word.casefold() if word or not alone else "s")
        if unit is None or unit in seconds:
            problem = (
                f"unit '{word}' appears twice" if unit else f"unknown unit '{word}'" if word else "a unit is missing"
            )
            raise InputError(f"{_shown(value)}: {problem}", where=where, hint=_DURATION_EXPECTED)
        seconds[unit] = float(number) * DURATION_UNITS[unit]
        position = part.end()
    return _checked_seconds(math.fsum(seconds.values()), value, where)


def parse_share(value: str | float, *, where: str = "") -> float:
    """0.5 from `"50%"` or `0.5`."""
    text = str(value).strip()
    try:
        share = float(text[:-1]) / 100 if text.endswith("%") else float(text)
    except ValueError:
        share = math.nan
    if not share >= 0:
        raise InputError(f"{_shown(value)} is not a share", where=where, hint="write 50% or 0.5")
    return share


def format_duration(seconds: float) -> str:
    """`129600` as `"1d 12h"`, `90` as `"1m 30s"`; to the millisecond."""
    if not math.isfinite(seconds):
        return str(seconds)
    if seconds < 0:
        return f"-{format_duration(-seconds)}"
    rest = round(seconds * 1000)
    parts = []
    for unit, length in (("d", 86_400_000), ("h", 3_600_000), ("m", 60_000)):
        whole, rest = divmod(rest, length)
        if whole:
            parts.append(f"{whole}{unit}")
    if rest or not parts:
        parts.append(f"{_trimmed(rest / 1000, 3)}s")
    return " ".join(parts)


def _checked_bytes(amount: int, value: str | int, where: str) -> int:
    if amount < 0:
        raise InputError(f"{_shown(value)}: an amount cannot be negative", where=where, hint=_BYTES_EXPECTED)
    if amount > LARGEST_AMOUNT:
        raise InputError(f"{_shown(value)} is too large", where=where, hint="the largest amount is just below 8 EiB")
    return amount


def _checked_seconds(seconds: float, value: str | float, where: str) -> float:
    if seconds < 0:
        raise InputError(f"{_shown(value)}: a duration cannot be negative", where=where, hint=_DURATION_EXPECTED)
    if not math.isfinite(seconds):
        raise InputError(f"{_shown(value)} is not a finite duration", where=where, hint=_DURATION_EXPECTED)
    return seconds


def _unit_hint(number: str, unit: str) -> str:
    """`64 G` means 2^30 to Slurm and 10^9 to others: ask instead of guessing."""
    letter = unit.casefold()
    if letter in ("k", "m", "g", "t", "p", "e"):
        decimal = "kB" if letter == "k" else f"{letter.upper()}B"
        return f"write '{number} {letter.upper()}iB' (powers of 1024) or '{number} {decimal}' (powers of 1000)"
    return f"units: {', '.join(BYTE_UNITS)}"


def _largest_within(units: dict[str, int], amount: int) -> tuple[str, int]:
    within = [(unit, factor) for unit, factor in units.items() if factor <= amount]
    return within[-1] if within else ("B", 1)


def _trimmed(number: float, decimals: int) -> str:
    text = f"{number:.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _shown(value: object) -> str:
    """The value as an error message quotes it, cut where it gets absurd."""
    if isinstance(value, int) and value.bit_length() > 256:  # Python refuses to print integers of thousands of digits
        return "a number of more than 70 digits"
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
