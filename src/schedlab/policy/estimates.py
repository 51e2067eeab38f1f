"""Where the scheduler's belief about a runtime comes from."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from schedlab.model.errors import InputError
from schedlab.model.suggest import did_you_mean


@dataclass(frozen=True, slots=True)
class Estimate:
    """`kind` is limit, exact or last-two; `factor` multiplies the limit."""

    kind: str
    factor: float = 1.0

    def __str__(self) -> str:
        return self.kind if self.factor == 1.0 else f"{self.kind}*{self.factor:.17g}"


@dataclass(frozen=True, slots=True)
class NamedEstimate:
    """A row of the table."""

    name: str
    summary: str
    reference: str = ""


_TABLE = (
    NamedEstimate("limit", "the limit that the user asked for (default)"),
    NamedEstimate("limit*F", "F times the limit, for example limit*0.5"),
    NamedEstimate("exact", "the runtime itself, at most the limit: a clairvoyant scheduler"),
    NamedEstimate(
        "last-two",
        "mean runtime of the user's two most recently ended jobs, at most the limit, corrected when a job runs longer",
        "Tsafrir, Etsion and Feitelson, TPDS 2007 (EASY++)",
    ),
)
ESTIMATES = {estimate.name: estimate for estimate in _TABLE}

_FACTOR = re.compile(r"limit\s*[*×]\s*([0-9.]+(?:[eE][+-]?[0-9]+)?)")


def parse_estimate(text: str) -> Estimate:
    """`limit`, `exact`, `limit*0.5` or `last-two`."""
    written = text.strip()
    if written in ("limit", "exact", "last-two"):
        return Estimate(written)
    where, listing = f"estimate '{text}'", f"estimates: {', '.join(ESTIMATES)}"
    if not re.match(r"limit\s*[*×]", written):
        raise InputError("there is no such estimate", where=where, hint=did_you_mean(written, ESTIMATES, listing))
    match = _FACTOR.fullmatch(written)
    try:
        factor = float(match.group(1)) if match else math.nan
    except ValueError:  # 1.2.3
        factor = math.nan
    if not 0 < factor < math.inf:
        raise InputError("the factor is not a number above 0", where=where, hint="write for example limit*0.5")
    return Estimate("limit", factor)
