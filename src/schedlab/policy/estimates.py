"""Where the scheduler's belief about a runtime comes from."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from schedlab.model.errors import InputError
from schedlab.model.plugin_text import names_code, registered_name
from schedlab.model.suggest import did_you_mean

if TYPE_CHECKING:
    from schedlab.model.plugins import Plugin


@dataclass(frozen=True, slots=True)
class Estimate:
    """`kind` is limit, exact, last-two or plugin; `factor` multiplies the limit."""

    kind: str
    factor: float = 1.0
    plugin: Plugin | None = None  # makes an object with estimate(job), and ended(job, runtime) if it learns

    def __str__(self) -> str:
        if self.plugin is not None:
            return self.plugin.text
        return self.kind if self.factor == 1.0 else f"{self.kind}*{self.factor:.17g}"


@dataclass(frozen=True, slots=True)
class NamedEstimate:
    """A row of the table."""

    name: str
    summary: str
    reference: str = ""
    code: str = ""  # where it is, if it is written in Python


_TABLE = (
    NamedEstimate("limit", "the limit that the user asked for (default)"),
    NamedEstimate("limit*F", "F times the limit, for example limit*0.5"),
    NamedEstimate("exact", "the runtime itself, at most the limit: a clairvoyant scheduler"),
    NamedEstimate(
        "last-two",
        "mean runtime of the user's two most recently ended jobs, at most the limit, corrected when a job runs longer",
        "Tsafrir, Etsion and Feitelson, TPDS 2007 (EASY++)",
    ),
    NamedEstimate(
        "user-mean",
        "mean runtime of all the user's ended jobs, at most the limit; the limit while there is none",
        code="schedlab.policy.learned:UserMean",
    ),
    NamedEstimate(
        "nearest(k)",
        "mean runtime of the k ended jobs most alike in cores and limit, at most the limit; nearest means k = 5",
        code="schedlab.policy.learned:Nearest",
    ),
)
ESTIMATES = {estimate.name: estimate for estimate in _TABLE}

_LEARNED = {registered_name(estimate.name): estimate.code for estimate in _TABLE if estimate.code}
LARGEST_FACTOR = 1e6
_FACTOR = re.compile(r"limit\s*[*×]\s*([0-9.]+(?:[eE][+-]?[0-9]+)?)")


def parse_estimate(text: str) -> Estimate:
    """`limit`, `exact`, `limit*0.5`, `last-two`, `user-mean`, `nearest(3)`, or one that somebody wrote in Python."""
    written = text.strip()
    if written in ("limit", "exact", "last-two"):
        return Estimate(written)
    where, listing = f"estimate '{text}'", f"estimates: {', '.join(ESTIMATES)}"
    if registered_name(written) in _LEARNED:
        return Estimate("plugin", plugin=_learned(written, where))
    if not re.match(r"limit\s*[*×]", written):
        from schedlab.model.plugins import is_registered, load

        if names_code(written) or is_registered("estimator", written):
            return Estimate("plugin", plugin=load("estimator", written))
        raise InputError("there is no such estimate", where=where, hint=did_you_mean(written, ESTIMATES, listing))
    match = _FACTOR.fullmatch(written)
    try:
        factor = float(match.group(1)) if match else math.nan
    except ValueError:  # 1.2.3
        factor = math.nan
    if not 0 < factor <= LARGEST_FACTOR:
        hint = "write for example limit*0.5"
        raise InputError(f"the factor is not a number above 0, up to {LARGEST_FACTOR:.0e}", where=where, hint=hint)
    return Estimate("limit", factor)


def _learned(written: str, where: str) -> Plugin:
    """One of ours in Python. NumPy is imported with it, and only then."""
    from schedlab.model.plugins import BUILT_IN, load

    name, bracket, arguments = written.partition("(")
    try:
        plugin = load("estimator", f"{_LEARNED[name.strip()]}{bracket}{arguments}")
        plugin.make()  # a bad argument is found now
    except InputError as error:
        raise InputError(error.message, where=where, hint=error.hint) from None
    return replace(plugin, text=name.strip() + "".join(plugin.text.partition("(")[1:]), source=BUILT_IN)
