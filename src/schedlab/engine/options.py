"""The rules of time: how a simulation is to go about what the workload and the policy leave open."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from schedlab.model.arguments import shown
from schedlab.model.errors import InputError
from schedlab.model.suggest import did_you_mean

Overrun = Literal["kill", "run"]
Passes = Literal["instant", "event"]
Beliefs = Literal["limit", "rates"]  # whether estimated ends stay, or follow the rates of running jobs
Dependencies = Literal[
    "ignore", "follow", "workflows"
]  # whether jobs wait for others; the last: those of workflows alone
Detail = Literal["auto", "cores", "full"]  # how much of what jobs ask for counts (engine/requests.py)


@dataclass(frozen=True, slots=True)
class Options:
    """The rules of time (docs/semantics.md)."""

    estimate: str = "limit"
    overrun: Overrun = "kill"
    passes: Passes = "instant"
    dependencies: Dependencies = "ignore"
    beliefs: Beliefs = "limit"

    def __post_init__(self) -> None:
        choices = {"overrun": Overrun, "passes": Passes, "dependencies": Dependencies, "beliefs": Beliefs}
        for name, allowed in choices.items():
            refuse_other(name, getattr(self, name), get_args(allowed))

    @property
    def follows(self) -> bool:
        """Whether some jobs of the workload wait for others."""
        return self.dependencies != "ignore"

    def to_dict(self) -> dict[str, str]:
        return {name: getattr(self, name) for name in self.__slots__}


def refuse_other(name: str, value: object, choices: tuple[str | None, ...]) -> None:
    """Raise unless the value of the option is one of the choices."""
    if not isinstance(value, str | None) or value not in choices:
        texts = [choice for choice in choices if choice is not None]
        hint = did_you_mean(str(value), texts, f"one of {', '.join(texts)}")
        raise InputError(f"{name} cannot be {shown(value)}", hint=hint)
