"""Which workflows come, and how often each in proportion to the others: `0.4 montage.json, 0.6 sipht.json`."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from schedlab.model.errors import InputError, InputErrors
from schedlab.model.plugin_text import split_outside
from schedlab.model.workflow import Workflow

_WEIGHTED = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)\s+(\S.*)")


@dataclass(frozen=True)
class Mix:
    """Workflows and their weights."""

    workflows: Sequence[Workflow]
    weights: Sequence[float]

    def __post_init__(self) -> None:
        names = [workflow.name for workflow in self.workflows]
        wrong = [f"two workflows are called {name}" for name in dict.fromkeys(names) if names.count(name) > 1]
        if wrong:
            raise InputErrors([InputError(one, where="workflows", hint="give each a name of its own") for one in wrong])


def split_mix(text: str, where: str = "workflows") -> list[tuple[float | None, str]]:
    """The weights and what they are the weights of. Commas within brackets and quotes do not count."""
    parts = [_weighted(part.strip()) for part in split_outside(text, ",") if part.strip()]
    hint = "write one workflow, or several with weights: 0.4 montage.json, 0.6 sipht.json"
    if not parts:
        raise InputError("there are no workflows", where=where, hint=hint)
    known = [weight for weight, _ in parts if weight is not None]
    if known and len(known) < len(parts):
        raise InputError(f"'{text}': only some have weights", where=where, hint=hint)
    if known and not sum(known) > 0:
        raise InputError(f"'{text}': the weights are all 0", where=where, hint=hint)
    return parts


def located_mix(text: str, locate: Callable[[str], str]) -> str:
    """The same text with the names of files as `locate` has them."""
    parts = split_mix(text)
    return ", ".join(locate(named) if weight is None else f"{weight:g} {locate(named)}" for weight, named in parts)


def _weighted(part: str) -> tuple[float | None, str]:
    found = _WEIGHTED.fullmatch(part)
    return (float(found[1]), found[2]) if found else (None, part)
