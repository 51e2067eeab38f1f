"""Quantities as Kubernetes writes them: 500m, 1.5, 750Mi, 1e3."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from typing import Any

_SUFFIXES = {
    "n": Decimal("1e-9"),
    "u": Decimal("1e-6"),
    "m": Decimal("1e-3"),
    "": Decimal(1),
    **{letter: Decimal(1000) ** power for power, letter in enumerate(("k", "M", "G", "T", "P", "E"), 1)},
    **{letter + "i": Decimal(1024) ** power for power, letter in enumerate(("K", "M", "G", "T", "P", "E"), 1)},
}
_QUANTITY = re.compile(r"([+-]?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++))(?:([eE][+-]?[0-9]{1,3})|([numkMGTPE]|[KMGTPE]i)?)")
_LONGEST = 64  # characters


def parse_quantity(text: Any) -> Decimal | None:
    """The number that is meant, or None if it is not a quantity. JSON may have it as a number, too."""
    if isinstance(text, bool) or not isinstance(text, (str, int, float)):
        return None
    written = str(text)
    match = _QUANTITY.fullmatch(written) if len(written) <= _LONGEST else None
    if match is None:
        return None
    number, exponent, suffix = match.groups()
    return Decimal(number + exponent) if exponent else Decimal(number) * _SUFFIXES[suffix or ""]


def millis(quantity: Decimal) -> int:
    """In thousandths, rounded up as Kubernetes does: cores as millicores."""
    return math.ceil(quantity * 1000)


def whole(quantity: Decimal) -> int:
    """In ones, rounded up."""
    return math.ceil(quantity)


def cpu_text(millicores: int) -> str:
    """Millicores as a quantity: 2000 is 2, 1500 is 1500m."""
    return f"{millicores}m" if millicores % 1000 else str(millicores // 1000)


def memory_text(size: int) -> str:
    """Bytes as a quantity, with the largest binary unit that needs no fraction."""
    for power, letter in ((4, "Ti"), (3, "Gi"), (2, "Mi"), (1, "Ki")):
        if size and size % 1024**power == 0:
            return f"{size // 1024**power}{letter}"
    return str(size)
