"""The placements: in which order nodes are offered to a job that starts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from schedlab.model.errors import InputError
from schedlab.model.plugin_text import names_code
from schedlab.model.suggest import did_you_mean
from schedlab.policy.expression import LARGEST_SEED

if TYPE_CHECKING:
    from schedlab.model.plugins import Plugin


@dataclass(frozen=True, slots=True)
class Placement:
    """A placement that is ready to use. `name` is that of a row of the table, or `plugin`."""

    name: str
    seed: int = 0
    plugin: Plugin | None = None  # called with (job, cluster)

    def __str__(self) -> str:
        if self.plugin is not None:
            return self.plugin.text
        return f"random({self.seed})" if self.name == "random" else self.name


@dataclass(frozen=True, slots=True)
class NamedPlacement:
    """A row of the table."""

    name: str
    summary: str


_TABLE = (
    NamedPlacement("first-fit", "nodes in the order of the cluster file"),
    NamedPlacement("best-fit", "nodes with the fewest free cores first"),
    NamedPlacement("spread", "chunk by chunk, each to the node with most free cores left"),
    NamedPlacement("contiguous", "the first run of neighbouring nodes that is large enough; without one the job waits"),
    NamedPlacement(
        "random", "nodes in a random order that the seed and the job fix: random(seed); random means seed 0"
    ),
    NamedPlacement("occupied-first", "nodes that have jobs before idle ones, each in the order of the cluster file"),
    NamedPlacement(
        "best-pair", "nodes whose jobs and this one slow each other down least, or speed up most (needs a heatmap)"
    ),
)
PLACEMENTS = {placement.name: placement for placement in _TABLE}

_RANDOM = re.compile(r"random\s*\(\s*([0-9]{1,16})\s*\)")


def parse_placement(text: str) -> Placement:
    written = text.strip()
    if written in PLACEMENTS:
        return Placement(written)
    if match := _RANDOM.fullmatch(written):
        seed = int(match.group(1))
        if seed <= LARGEST_SEED:
            return Placement("random", seed)
    name = written.partition("(")[0].strip()
    if name == "random":
        hint = f"write random(7): a whole number from 0 to {LARGEST_SEED}"
        raise InputError(f"'{written}' does not name a seed", hint=hint)
    if name in PLACEMENTS:
        raise InputError(f"'{written}': {name} takes no parameter", hint=f"write {name}")
    from schedlab.model.plugins import is_registered, load

    if names_code(written) or is_registered("placement", written):
        return Placement("plugin", plugin=load("placement", written))
    hint = did_you_mean(name, PLACEMENTS, f"placements: {placement_names()}")
    raise InputError(f"there is no placement '{written}'", hint=hint)


def placement_names() -> str:
    return ", ".join("random(seed)" if name == "random" else name for name in PLACEMENTS)
