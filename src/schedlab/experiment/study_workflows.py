"""What a study file may say of workflows, taken together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from schedlab.generate.arrivals import is_list, parse_period
from schedlab.model.errors import InputError
from schedlab.model.units import parse_share

_OWN = ("handling", "period", "share")


def wrong_workflows(grid: Mapping[str, tuple[Any, ...]], points: Iterable[Any]) -> Iterator[tuple[str, str]]:
    """Mistakes of a grid and of what its explicit points add to it, each with a remedy."""
    named = set(grid).union(*(point for point in points if isinstance(point, dict)))
    if "workflows" not in named:
        for name in _OWN:
            if name in named:
                yield f"{name}: of which workflows?", "workflows = 'montage.json'"
        return
    if "inject" in named:
        yield "workflows and inject both put jobs in", "let the function give the workflows too, or leave one out"
    alone = not {"log", "model"} & named
    listed = any(is_list(str(value)) for value in grid.get("workflows", ()))
    often = {"period", "share"} & named
    if alone or listed:
        for name in sorted(often):
            why = "there are no jobs that they could come among" if alone else "the file says when workflows come"
            yield f"{name} has no meaning: {why}", f"leave {name} out"
    elif not often:
        yield "how often do workflows come?", "period = '12h', or share = 0.05"


def refuse_both(points: Iterable[Mapping[str, Any]], where: str) -> None:
    """A period and a share in one point: at most one of them may be more than 0."""
    for point in points:
        if parse_period(point.get("period", 0)) and parse_share(point.get("share", 0)):
            raise InputError(
                f"period = {point['period']} and share = {point['share']} both say how many workflows come",
                where=where,
                hint="let one of them be 0: leave points out with [[exclude]], or name them with [[point]]",
            )
