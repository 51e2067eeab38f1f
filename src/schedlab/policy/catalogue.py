"""Everything that can be chosen, as one list: what a policy can be made of, and what installed packages add."""

from __future__ import annotations

from dataclasses import dataclass

from schedlab.model.plugins import BUILT_IN, KINDS, described, origin, registered
from schedlab.policy.backfills import BACKFILLS, Key
from schedlab.policy.estimates import ESTIMATES
from schedlab.policy.orders import EXPRESSION_ORDER, FAIR_ORDER, MULTIFACTOR_ORDER, ORDERS, RANDOM_ORDER
from schedlab.policy.placements import PLACEMENTS

SEED = Key("seed", "a whole number; the same seed gives the same choice", "0")
WINDOW = Key("window", "seconds, a whole number", "0")
WEIGHTS = (
    Key("age, large, small, small_by_time, user, group", "weights, numbers from 0", "0"),
    Key("max_age", "the wait at which age counts in full", "7d"),
)
FACTOR = Key("F", "a number above 0", "")
NEIGHBOURS = Key("k", "how many jobs, a whole number above 0", "5")


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing to choose. An order has a formula, a backfill has keys, what is written with (…) has a parameter."""

    kind: str  # backfill, order, placement or estimate; of packages also policy, observer, metric or reader
    name: str
    summary: str
    formula: str = ""
    parameters: tuple[Key, ...] = ()
    reference: str = ""
    source: str = BUILT_IN  # or the distribution and its version
    code: str = ""  # package.module:Name, of what a package registers


def catalogue() -> list[Entry]:
    """Backfills, orders, placements and estimates, in the order of their tables."""
    backfills = [Entry("backfill", b.name, b.summary, "", b.keys, b.reference) for b in BACKFILLS.values()]
    orders = [Entry("order", o.name, o.summary, o.formula, (), o.reference) for o in ORDERS.values()]
    orders.append(Entry("order", FAIR_ORDER.name, FAIR_ORDER.summary, FAIR_ORDER.formula, (WINDOW,)))
    many = MULTIFACTOR_ORDER
    orders.append(Entry("order", many.name, many.summary, many.formula, WEIGHTS, many.reference))
    orders.append(Entry("order", RANDOM_ORDER.name, RANDOM_ORDER.summary, RANDOM_ORDER.formula, (SEED,)))
    orders.append(Entry("order", EXPRESSION_ORDER.name, EXPRESSION_ORDER.summary, EXPRESSION_ORDER.formula))
    placements = [
        Entry(
            "placement", "random(seed)" if p.name == "random" else p.name, p.summary, "", (SEED,) * (p.name == "random")
        )
        for p in PLACEMENTS.values()
    ]
    parameters = {"limit*F": (FACTOR,), "nearest(k)": (NEIGHBOURS,)}
    estimates = [
        Entry("estimate", e.name, e.summary, "", parameters.get(e.name, ()), e.reference) for e in ESTIMATES.values()
    ]
    return [*backfills, *orders, *placements, *estimates]


def registered_entries() -> list[Entry]:
    """What installed packages register, of every kind. Imports it, and says of what cannot be imported why."""
    found = []
    for kind in KINDS:
        for entry in registered(kind):
            name = "estimate" if kind == "estimator" else kind
            found.append(Entry(name, entry.name, described(kind, entry), source=origin(entry), code=entry.value))
    return found
