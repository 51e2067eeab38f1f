"""The orders that have a name: one table for the parser, `schedlab policies` and the documentation.

An order gives each waiting job a key; the smallest goes first, ties by (eligible time, position in the workload).
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from schedlab.model.errors import InputError
from schedlab.model.plugin_text import names_code, registered_name
from schedlab.model.suggest import did_you_mean
from schedlab.model.units import parse_duration
from schedlab.policy.expression import COLUMNS, Program, compile_expression, is_dynamic

if TYPE_CHECKING:
    from schedlab.model.plugins import Plugin


@dataclass(frozen=True, slots=True)
class NamedOrder:
    """A row of the table."""

    name: str
    formula: str
    summary: str
    reference: str = ""


@dataclass(frozen=True, slots=True)
class Order:
    """An order that is ready to use: its canonical text, and the program or the function that computes keys."""

    text: str
    program: Program  # empty for a plug-in
    dynamic: bool  # contains wait or now: keys are computed anew at every pass
    plugin: Plugin | None = None  # called with (jobs), or (jobs, now) if dynamic

    def __str__(self) -> str:
        return self.text


_TANG = "Tang, Lan, Desai and Buettner, CLUSTER 2009"
_CARASTAN_SANTOS = "Carastan-Santos and de Camargo, SC'17"

_TABLE = (
    NamedOrder("fcfs", "eligible", "first come, first served"),
    NamedOrder("sjf", "estimate", "shortest job first, by estimate"),
    NamedOrder("ljf", "-estimate", "longest job first, by estimate"),
    NamedOrder("smallest", "cores", "fewest cores first"),
    NamedOrder("largest", "-cores", "most cores first"),
    NamedOrder("saf", "cores * estimate", "smallest (estimated) area first"),
    NamedOrder("lxf", "-(wait + estimate) / max(estimate, 1)", "largest expansion factor first"),
    NamedOrder("wfp3", "-(wait / max(estimate, 1))**3 * cores", "long waits first, large jobs favoured", _TANG),
    NamedOrder(
        "unicef",
        "-wait / (log2(max(cores, 2)) * max(estimate, 1))",
        "quick turnaround for small and short jobs; cores below 2 count as 2",
        _TANG,
    ),
    NamedOrder(
        "f1",
        "log10(max(estimate, 1)) * cores + 870 * log10(max(submit, 1))",
        "learnt by regression from simulated schedules, first of four",
        _CARASTAN_SANTOS,
    ),
    NamedOrder(
        "f2",
        "sqrt(estimate) * cores + 25600 * log10(max(submit, 1))",
        "learnt by regression from simulated schedules, second of four",
        _CARASTAN_SANTOS,
    ),
    NamedOrder(
        "f3",
        "estimate * cores + 6860000 * log10(max(submit, 1))",
        "learnt by regression from simulated schedules, third of four",
        _CARASTAN_SANTOS,
    ),
    NamedOrder(
        "f4",
        "estimate * sqrt(cores) + 530000 * log10(max(submit, 1))",
        "learnt by regression from simulated schedules, fourth of four",
        _CARASTAN_SANTOS,
    ),
    NamedOrder(
        "filler",
        "-fill * waiting / (sequence + 1)",
        "what fills the free cores best, early jobs favoured",
        "ELiSE's Filler co-scheduler, JSSPP 2025",
    ),
)
ORDERS = {order.name: order for order in _TABLE}

# More that are not names for one formula.
RANDOM_ORDER = NamedOrder(
    "random(seed)", "mix(seed, sequence)", "a random order that the seed fixes; random means seed 0"
)
_FILLED = "fill * waiting / (sequence + 1)"
FAIR_ORDER = NamedOrder(
    "fair(window)",
    f"2 * floor(promised / window) - {_FILLED} / (1 + abs({_FILLED}))",
    "as whole nodes would start them; among those within a window of seconds, as filler; fair means promised",
)
MULTIFACTOR_ORDER = NamedOrder(
    "multifactor(…)",
    "age * aged(max_age) / max_age - (large * cores / machine + small * (1 - cores / machine)"
    " + small_by_time * (1 - cores / machine / max(limit / 60, 1)) + user * 2**-user_usage + group * 2**-group_usage)",
    "Slurm's priority: a sum of factors from 0 to 1, each with its weight; those with weight 0 (default) are left out",
    "Slurm's priority/multifactor",
)
EXPRESSION_ORDER = NamedOrder(
    "an expression", "-cores * estimate", "any formula of job columns, for example order=-cores*estimate"
)

_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_RANDOM = re.compile(r"random\s*(?:\(\s*([0-9]+)\s*\))?")
_MULTIFACTOR = re.compile(r"multifactor\s*\((.*)\)")
_FACTORS = {
    "large": "cores / machine",
    "small": "(1 - cores / machine)",
    "small_by_time": "(1 - cores / machine / max(limit / 60, 1))",
    "user": "2**-user_usage",
    "group": "2**-group_usage",
}
_FAIR = re.compile(r"fair\s*(?:\(\s*([0-9]{1,9})\s*\))?")


def parse_order(text: str) -> Order:
    """The order that has this name, that this expression describes, or that somebody wrote in Python."""
    written = text.strip()
    if names_code(written):
        return _plugged(written)
    try:
        return _built_in(written)
    except InputError:
        from schedlab.model.plugins import is_registered

        if _WORD.fullmatch(registered_name(written)) and is_registered("order", written):
            return _plugged(written)
        raise


def _plugged(text: str) -> Order:
    from schedlab.model.plugins import load

    plugin = load("order", text)
    return Order(plugin.text, (), plugin.arity == 2, plugin)


@lru_cache(maxsize=256)
def _built_in(written: str) -> Order:
    if written in ORDERS:
        _, program = compile_expression(ORDERS[written].formula)
        return Order(written, program, is_dynamic(program))
    if fair := _FAIR.fullmatch(written):
        window = int(fair.group(1) or 0)
        formula = FAIR_ORDER.formula.replace("window", str(window)) if window else "promised"
        _, program = compile_expression(formula)
        return Order(f"fair({window})" if window else "fair", program, is_dynamic(program))
    if factors := _MULTIFACTOR.fullmatch(written):
        return _multifactor(factors.group(1))
    if written == "random":
        written = "random(0)"
    try:
        canonical, program = compile_expression(written)
    except InputError as error:
        if _WORD.fullmatch(written):  # a name that went wrong is more likely than an expression
            listing = f"orders: {order_names()}; or an expression of the columns {', '.join(COLUMNS)}"
            hint = did_you_mean(written, [*ORDERS, "fair", "random", *COLUMNS], listing)
            raise InputError(f"there is no order '{written}'", hint=hint) from None
        raise error
    return Order(canonical, program, is_dynamic(program))


def _multifactor(arguments: str) -> Order:
    """`age=50e6,max_age=7d,small=6e8`: the weights of the factors."""
    known = ["age", *_FACTORS, "max_age"]
    given: dict[str, float] = {}
    for argument in filter(None, (part.strip() for part in arguments.split(","))):
        name, _, value = (part.strip() for part in argument.partition("="))
        if name not in known or name in given:
            hint = did_you_mean(name, known, f"multifactor has {', '.join(known)}, each once")
            raise InputError(f"multifactor: '{argument}' is not the weight of a factor", hint=hint)
        given[name] = parse_duration(value) if name == "max_age" else _weight(name, value)
    max_age = given.pop("max_age", 7 * 86400.0)
    weights = {name: given[name] for name in ("age", *_FACTORS) if given.get(name)}
    if not weights or not max_age > 0:
        hint = "such as multifactor(age=1000,small=500,max_age=7d)"
        raise InputError("multifactor: at least one factor needs a weight, and max_age is above 0", hint=hint)
    # Age less what is the same for all jobs, age * now / max_age: then keys change only once a job has its full age.
    terms = [f"- {weight!r} * {_FACTORS[name]}" for name, weight in weights.items() if name != "age"]
    aged = f"{weights['age'] / max_age!r} * aged({max_age!r})" if "age" in weights else "0"
    _, program = compile_expression(" ".join([aged, *terms]))
    shown = [f"{name}={weight:.15g}" for name, weight in weights.items()]
    shown += [f"max_age={max_age:.15g}"] if "age" in weights and max_age != 7 * 86400.0 else []
    return Order(f"multifactor({','.join(shown)})", program, is_dynamic(program))


def _weight(name: str, value: str) -> float:
    try:
        weight = float(value)
    except ValueError:
        weight = math.nan
    if not 0 <= weight < math.inf:
        raise InputError(f"multifactor: {name}={value}: a weight is a number from 0", hint=f"write {name}=1000")
    return weight


def names_an_order(text: str) -> bool:
    """Whether `text` alone can stand for an order: `sjf`, `random(3)`; not an expression."""
    return text in ORDERS or bool(_RANDOM.fullmatch(text) or _FAIR.fullmatch(text) or _MULTIFACTOR.fullmatch(text))


def order_names() -> str:
    return ", ".join([*ORDERS, FAIR_ORDER.name, MULTIFACTOR_ORDER.name, RANDOM_ORDER.name])
