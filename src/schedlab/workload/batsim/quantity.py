"""Amounts as Kubernetes writes them: what Batkube's profiles ask for, as their pods did."""

from __future__ import annotations

from typing import Any

from schedlab.files.quantity import parse_quantity


def quantity(value: Any) -> float | None:
    """The number of `2`, `"500m"` (a half) or `"64Mi"`; None if it is no amount."""
    found = parse_quantity(value.strip() if isinstance(value, str) else value)
    return float(found) if found is not None and 0 <= found < 2**62 else None
