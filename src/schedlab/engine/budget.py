"""A budget of the whole machine, such as power: what nodes and jobs take of it, and a limit that jobs wait for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from math import inf
from typing import Any

from schedlab.model.errors import InputError
from schedlab.model.states import NODE_STATES

# The core counts in whole millionths, so that what is taken and given back adds up exactly.
UNIT = 1_000_000


@dataclass(frozen=True, slots=True)
class Rates:
    """What a node of a group takes: without jobs by its state, with jobs `active` and `per_core` for each in use."""

    idle: Mapping[str, float]
    active: float
    per_core: float


@dataclass(frozen=True, slots=True)
class Budget:
    """`limit` is on the whole machine, infinite if there is none; `groups` are the rates of each of its node groups."""

    name: str
    groups: tuple[Rates, ...]
    limit: float = inf

    def for_core(self) -> tuple[Any, ...]:
        rates = [
            (tuple(_units(group.idle[state]) for state in NODE_STATES), _units(group.active), _units(group.per_core))
            for group in self.groups
        ]
        return self.name, float(UNIT), None if self.limit == inf else _units(self.limit), rates

    def to_dict(self) -> dict[str, Any]:
        """As run.json has it, so that a schedule can be judged by it."""
        groups = [
            {"idle": dict(group.idle), "active": group.active, "per_core": group.per_core} for group in self.groups
        ]
        return {"name": self.name, "limit": None if self.limit == inf else self.limit, "groups": groups}

    @classmethod
    def from_dict(cls, described: Mapping[str, Any]) -> Budget:
        limit = described["limit"]
        groups = tuple(Rates(group["idle"], group["active"], group["per_core"]) for group in described["groups"])
        return cls(described["name"], groups, inf if limit is None else float(limit))


def one_budget(asked: Iterable[tuple[str, Budget | None]], *, known: bool = True) -> Budget | None:
    """That of all observers together, by their names. Several may want the same; then the lowest limit holds.

    Whoever decides has to keep the limit, if there is one; `known` says whether they can.
    """
    found: Budget | None = None
    first = ""
    for observer, budget in asked:
        if budget is None:
            continue
        if found is None:
            found, first = budget, observer
            continue
        if budget.name != found.name:
            hint = f"leave one of the observers {first} and {observer} out"
            raise InputError(f"a machine has one budget: {found.name} and {budget.name} cannot both be kept", hint=hint)
        if budget.groups != found.groups:
            hint = "give the same numbers to both, or leave one of them out"
            by = f"by the observers {first} and {observer}"
            raise InputError(f"{budget.name} is given twice, with different numbers, {by}", hint=hint)
        found = replace(found, limit=min(found.limit, budget.limit))
    if found is not None and found.limit < inf and not known:
        hint = f"leave the cap out: {found.name} is measured all the same; or take a built-in policy"
        raise InputError(f"this policy cannot keep a cap of {found.name}", hint=hint)
    return found


def _units(amount: float) -> int:
    return round(amount * UNIT)
