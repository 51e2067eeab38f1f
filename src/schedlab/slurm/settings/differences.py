"""What is not as the site has it, and why, in lines for people."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_WIDEST = 34  # of what is aligned
_SHOWN = 60  # characters of a value
_MOST = 4  # names of a group
_FEW = 3  # differences that have a line each


@dataclass(frozen=True, slots=True)
class Difference:
    """`before` is "" if the site says nothing about it, `after` is "" if it is left out."""

    key: str
    before: str
    after: str
    why: str


def differences_text(differences: Iterable[Difference]) -> list[str]:
    """One line a difference; many with the same reason share one."""
    by_reason: dict[str, list[Difference]] = {}
    for difference in differences:
        by_reason.setdefault(difference.why, []).append(difference)
    groups: list[list[Difference]] = []
    for group in by_reason.values():
        share_line = len(group) > _FEW or _change(group) != "replaced"
        groups += [group] if share_line else [[difference] for difference in group]
    rows = [(_subject(group), _change(group), group[0].why) for group in groups]
    width = max((len(subject) for subject, _, _ in rows if len(subject) <= _WIDEST), default=0)
    return [f"{f'{subject}:':<{width + 1}} {change} ({why})" for subject, change, why in rows]


def _subject(group: Sequence[Difference]) -> str:
    """Fields of lines, such as `PartitionName=debug MaxTime`, by the field."""
    owners: dict[str, list[str]] = {}
    for difference in group:
        owner, _, field = difference.key.rpartition(" ")
        owners.setdefault(field, []).append(owner)
    parts = [field if not names[0] else f"{field} of {_listed(names)}" for field, names in owners.items()]
    if len(parts) > _MOST and _change(group) == "replaced":
        return f"{', '.join(parts[:_MOST])} and {len(parts) - _MOST} more"
    return ", ".join(parts)


def _listed(names: Sequence[str]) -> str:
    names = list(dict.fromkeys(names))
    more = f" and {len(names) - _MOST} more" if len(names) > _MOST else ""
    return ", ".join(names[:_MOST]) + more


def _change(group: Sequence[Difference]) -> str:
    changes = dict.fromkeys((difference.before, difference.after) for difference in group)
    if len(changes) == 1:
        before, after = next(iter(changes))
        return f"{_shown(before) or 'not set'} -> {_shown(after) or 'left out'}"
    results = {difference.after for difference in group}
    return "replaced" if len(results) > 1 else next(iter(results)) or "left out"


def _shown(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
