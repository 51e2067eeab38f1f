"""Values of a Batsim workload: checked, and shown in messages as the file has them."""

from __future__ import annotations

from typing import Any

from schedlab.model.errors import InputError

LARGEST_TIME = 1e18  # seconds; Batsim's own test of distant jobs has 1e17
LARGEST_AMOUNT = 1e30  # flops or bytes


def is_whole(value: Any, lowest: int) -> bool:
    return type(value) is int and lowest <= value < 2**63


def shown(value: Any) -> str:
    """A value as the file has it, cut where it gets long."""
    import json

    if value is None:
        return "missing"
    if isinstance(value, int) and value.bit_length() > 256:  # Python refuses to print thousands of digits
        return "a number of more than 70 digits"
    text = json.dumps(value, ensure_ascii=False) if not isinstance(value, list | dict) else _outline(value)
    return text if len(text) <= 60 else f"{text[:57]}…"


def _outline(value: list[Any] | dict[str, Any]) -> str:
    kind = "a list" if isinstance(value, list) else "an object"
    return f"{kind} of {len(value)}" if value else f"an empty {kind.split()[1]}"


def number(spec: dict[str, Any], key: str, unit: str, where: str) -> float:
    value: Any = spec.get(key)
    if type(value) not in (int, float) or not 0 <= value <= LARGEST_AMOUNT:
        raise InputError(f"'{key}' is {shown(value)}, expected a number of {unit}, at least 0", where=where)
    return float(value)


def numbers(spec: dict[str, Any], key: str, where: str) -> list[float]:
    """The amounts of a list that may be missing."""
    values = spec.get(key, [])
    if not isinstance(values, list):
        raise InputError(f"'{key}' is {shown(values)}, expected a list of numbers", where=where)
    for place, value in enumerate(values):
        if type(value) not in (int, float) or not 0 <= value <= LARGEST_AMOUNT:
            raise InputError(f"'{key}[{place}]' is {shown(value)}, expected a number, at least 0", where=where)
    return values


def text(spec: dict[str, Any], key: str, what: str, where: str) -> str:
    value = spec.get(key)
    if not isinstance(value, str) or not value:
        raise InputError(f"'{key}' is {shown(value)}, expected {what}", where=where)
    return value
