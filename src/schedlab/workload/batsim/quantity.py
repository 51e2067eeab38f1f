"""Amounts as Kubernetes writes them: what Batkube's profiles ask for, as their pods did."""

from __future__ import annotations

import re
from typing import Any

_QUANTITY = re.compile(r"([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?(m|k|[MGTPE]|[KMGTPE]i)?")
_SUFFIXES = {"m": 1e-3, "": 1.0, "k": 1e3}
_SUFFIXES |= {letter: 1000.0**power for power, letter in enumerate("MGTPE", 2)}
_SUFFIXES |= {f"{letter}i": 1024.0**power for power, letter in enumerate("KMGTPE", 1)}


def quantity(value: Any) -> float | None:
    """The number of `2`, `"500m"` (a half) or `"64Mi"`; None if it is no amount."""
    if type(value) in (int, float):
        return float(value) if 0 <= value < 2.0**62 else None
    found = _QUANTITY.fullmatch(value.strip()) if isinstance(value, str) and len(value) < 40 else None
    if found is None:
        return None
    amount = float(found[1] + (found[2] or "")) * _SUFFIXES[found[3] or ""]
    return amount if amount < 2.0**62 else None
