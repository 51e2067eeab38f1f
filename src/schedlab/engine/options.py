"""The rules of time: how a simulation is to go about what the workload and the policy leave open."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from schedlab.model.errors import InputError
from schedlab.model.suggest import did_you_mean

Overrun = Literal["kill", "run"]
Passes = Literal["instant", "event"]
Dependencies = Literal["ignore", "follow"]


@dataclass(frozen=True, slots=True)
class Options:
    """The rules of time (docs/semantics.md)."""

    estimate: str = "limit"
    overrun: Overrun = "kill"
    passes: Passes = "instant"
    dependencies: Dependencies = "ignore"

    def __post_init__(self) -> None:
        for name, allowed in (("overrun", Overrun), ("passes", Passes), ("dependencies", Dependencies)):
            value, choices = getattr(self, name), get_args(allowed)
            if value not in choices:
                hint = did_you_mean(str(value), choices, f"one of {', '.join(choices)}")
                raise InputError(f"{name} cannot be {value!r}", hint=hint)
