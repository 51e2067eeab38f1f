"""Pieces of runs of format 1, which tell each change of a rate as a piece that ends "slowed": as those of format 2."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.check.offences import Offences
from schedlab.model.states import PIECE_ENDS

Columns = dict[str, NDArray[Any]]
_SLOWED = PIECE_ENDS.index("slowed")


def as_stays(old: Columns, offences: Offences) -> tuple[Columns, Columns]:
    """The pieces, those of one job together, as stays on nodes; and the rates that they tell.

    What cannot be one stay, though it says so, is an offence.
    """
    goes_on = np.append(old["sequence"][1:] == old["sequence"][:-1], False)[: len(old["how"])]
    slowed = (old["how"] == _SLOWED) & goes_on
    after = {name: np.append(column[1:], column[-1:]) for name, column in old.items()}
    length = old["end"] - old["begin"]
    with np.errstate(invalid="ignore"):
        left = old["work"] - old["rate"] * length
        slack = np.maximum(1e-6, 1e-12 * np.nan_to_num(np.maximum(old["work"], old["rate"] * old["end"])))
        off = np.abs(after["work"] - left) > slack

    def report(kind: str, wrong: NDArray[np.bool_], message: Any) -> None:
        offences.add_where(kind, wrong, old["job"], old["begin"], message)

    gap = slowed & (after["begin"] != old["end"])
    report("pieces", gap, lambda i: f"it was slowed at {old['end'][i]} and goes on only at {after['begin'][i]}")
    shape = slowed & ((after["count"] != old["count"]) | (after["request"] != old["request"]))
    report("pieces", shape, lambda i: "it was slowed and goes on in another shape")
    moved = slowed & (after["nodes"] != old["nodes"])
    report("pieces", moved, lambda i: "it was slowed and goes on on other nodes")
    report("work", slowed & off, lambda i: f"{left[i]} s were left to do, the next piece has {after['work'][i]} s")

    joined = slowed & ~gap & ~shape & ~moved
    ends = np.flatnonzero(~joined)
    begins = np.append(0, ends[:-1] + 1)[: len(ends)]
    stay = np.cumsum(np.append(0, ~joined[:-1]))[: len(joined)]
    stays = {name: column[begins] for name, column in old.items() if name != "rate"}
    stays |= {name: old[name][ends] for name in ("end", "how")}
    stays["done"] = np.bincount(stay, np.nan_to_num(old["rate"] * length), minlength=len(ends))
    stays["whole"] = np.full(len(ends), np.nan)
    rates = {name: old[name] for name in ("job", "sequence", "rate")}
    rates |= {"time": old["begin"], "factor": old["rate"], "at": stay, "owner": np.zeros(len(stay), np.int64)}
    return stays, rates
