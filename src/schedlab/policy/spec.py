"""A policy in one line: `easy:order=sjf,place=best-fit` is order × backfill × placement.

backfill[:key=value,…]        easy:scan=sjf,depth=100
the name of an order          sjf, which means none:order=sjf
a policy in Python            mine.py:Cap(watts=4000), package.module:Cap, or a name that a package registers
such a name and a text        batsim:tcp://localhost:28000, which means batsim('tcp://localhost:28000')
"""

from __future__ import annotations

import math
import re
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, TypeVar

from schedlab.model.arguments import shown
from schedlab.model.errors import InputError
from schedlab.model.plugin_text import names_code
from schedlab.model.suggest import did_you_mean
from schedlab.model.units import parse_duration
from schedlab.policy.backfills import BACKFILLS, KEYS, Backfill
from schedlab.policy.orders import ORDERS, Order, names_an_order, order_names, parse_order
from schedlab.policy.placements import Placement, parse_placement

if TYPE_CHECKING:
    from schedlab.model.plugins import Plugin

__all__ = ["Order", "Placement", "PolicySpec", "parse_policy"]

LARGEST_NUMBER = 2**31 - 1
LONGEST_TEXT = 10_000  # characters
HALF_LIFE = 7 * 86400.0
WITH_THRESHOLD = ("occupied-first", "best-pair", "first-fit")  # placements that can mind who sits with whom

Part = TypeVar("Part", Order, Placement)

# folder/file.py:Name, module:Name; a second time among arguments, where no folder has a bracket in its name.
_CODE = re.compile(
    r"(?:\A(?:[^=,:]*/)?([^=,:/]+?)|(?<=[=,:(])(?:[^=,:(]*/)?([^=,:/(]+?))(?:\.py)?:([A-Za-z_]\w*)(?=[(,]|$)"
)


@dataclass(frozen=True, slots=True)
class Periods:
    """Times in seconds; 0: whenever something happens."""

    every: float = 0.0  # jobs are started
    backfill_every: float = 0.0  # others than the first ones of the queue
    keys_every: float = 0.0  # keys that change with time are computed anew
    half_life: float = HALF_LIFE  # of what users have used

    def texts(self) -> list[str]:
        """As they are written, without those at their default."""
        given = (("every", 0.0), ("backfill_every", 0.0), ("keys_every", 0.0), ("half_life", HALF_LIFE))
        return [f"{name}={getattr(self, name):.15g}" for name, usual in given if getattr(self, name) != usual]

    def next_backfill(self, now: float) -> float:
        """The next time at which there is backfilling, where it has times of its own."""
        unit = self.every or self.backfill_every
        units = round(self.backfill_every / unit) if self.backfill_every else 1
        passed = math.floor(now / (units * unit)) - 1  # the quotient may be rounded up, or down
        return next(time for k in range(passed, passed + 4) if (time := k * units * unit) > now)


@dataclass(frozen=True, slots=True)
class PolicySpec:
    """A policy that is understood. `text` is canonical: what is at its default is left out."""

    text: str
    backfill: str
    order: Order
    scan: Order | None  # None: candidates are tried in the queue's order
    place: Placement
    exclusive: bool
    depth: int | None  # None: all waiting jobs are examined
    reservations: int
    fraction: Fraction | None = None  # of every socket, for jobs that share nodes; None: as many cores as they need
    periods: Periods = field(default_factory=lambda: Periods())
    threshold: float = 0.0  # no pair of jobs shares a node of which one would be slower than this
    plugin: Plugin | None = None  # who decides; the backfill is then "none", and the rest as by default

    def __str__(self) -> str:
        return self.text

    @property
    def folder(self) -> str:
        """A name for the folder of its run: `easy`, `fcfs`, `easy-order=sjf,place=best-fit`, `mine.Cap`."""
        plain = re.sub(r"random\((\d+)\)", r"random-\1", self.text)
        plain = _CODE.sub(r"\1\2.\3", plain).replace(":", "-", 1)
        friendly = re.sub(r"[^A-Za-z0-9=,._-]+", "_", plain)
        if friendly == plain and len(plain) <= 100 and "/" not in self.text:
            return plain
        # Two expressions may look alike without their operators, two files without their folders; the checksum tells
        # them apart.
        return f"{friendly[:100].strip('_')}-{zlib.crc32(self.text.encode()):08x}"


def parse_policy(text: str) -> PolicySpec:
    """The policy that `text` describes; an `InputError` says what is wrong with it, and what there is instead."""
    if not isinstance(text, str):
        raise InputError(f"{shown(text)} is not the text of a policy", hint="such as easy, or easy:order=sjf")
    where = f"policy '{text if len(text) <= 100 else text[:97] + '…'}'"
    if len(text) > LONGEST_TEXT:
        raise InputError(
            f"the policy is longer than {LONGEST_TEXT:,} characters", where=where, hint="write a shorter one"
        )
    name, colon, rest = (part.strip() for part in text.partition(":"))
    if names_code(text):
        return _plugged(text)
    if name in BACKFILLS:
        backfill, values = BACKFILLS[name], _split(rest, where) if colon else {}
    elif names_an_order(name):
        if colon:
            hint = f"write none:order={name},{rest or '…'}, or another backfill before the colon"
            raise InputError(f"'{name}' is an order, and only a backfill takes keys", where=where, hint=hint)
        backfill, values = BACKFILLS["none"], {"order": name}
    elif _is_registered(text):
        return _plugged(text)
    elif colon and _is_registered(name):  # its first argument, without brackets and quotes
        return _plugged(f"{name}({rest.strip()!r})")
    else:
        raise _unknown_policy(text.strip(), name, where)
    _check_keys(backfill, values, where)
    return _cosched(values, where) if backfill.name == "cosched" else _build(backfill.name, values, where)


def _is_registered(text: str) -> bool:
    from schedlab.model.plugins import is_registered

    return is_registered("policy", text)


def _plugged(text: str) -> PolicySpec:
    from schedlab.model.plugins import load

    plugin = load("policy", text)
    return replace(_build("none", {}, ""), text=plugin.text, plugin=plugin)


def _split(rest: str, where: str) -> dict[str, str]:
    """`order=max(cores,2),depth=3` as a dictionary; commas in parentheses belong to the value."""
    values: dict[str, str] = {}
    for item in _items(rest, where):
        key, equals, value = (part.strip() for part in item.partition("="))
        if not (key and equals and value):
            found = f"'{item.strip()}'" if item.strip() else "nothing"
            raise InputError(f"found {found} where key=value was expected", where=where, hint=_keys_hint())
        if key in values:
            raise InputError(f"the key '{key}' appears twice", where=where, hint="give it once")
        values[key] = value
    return values


def _items(rest: str, where: str) -> list[str]:
    items, depth, start, quote = [], 0, 0, ""
    for position, character in enumerate(rest):
        if depth and (character == quote or (not quote and character in "'\"")):
            quote = "" if quote else character  # text among the arguments of a plug-in
        if quote:
            continue
        depth += (character == "(") - (character == ")")
        if depth < 0:
            raise InputError(f"a ')' too many in '{rest}'", where=where, hint="every ( needs its )")
        if character == "," and depth == 0:
            items.append(rest[start:position])
            start = position + 1
    if depth:
        raise InputError(f"a '(' without its ')' in '{rest}'", where=where, hint="every ( needs its )")
    return [*items, rest[start:]]


def _check_keys(backfill: Backfill, values: dict[str, str], where: str) -> None:
    known = [key.name for key in backfill.keys]
    listing = f"{backfill.name} takes {', '.join(known) or 'no keys'}"
    for key in values:
        if key not in known:
            problem = f"{backfill.name} has no key '{key}'" if key in KEYS else f"there is no key '{key}'"
            raise InputError(problem, where=where, hint=did_you_mean(key, known, listing))


def _build(backfill: str, values: dict[str, str], where: str) -> PolicySpec:
    order = _understood("order", parse_order, values.get("order", "fcfs"), where)
    scan = _understood("scan", parse_order, values["scan"], where) if "scan" in values else None
    if scan == order:
        scan = None
    place = _understood("place", parse_placement, values.get("place", "first-fit"), where)
    exclusive = _exclusive(values.get("nodes", "shared"), where)
    depth = _number("depth", values["depth"], 0, where) if "depth" in values else None
    reservations = _number("reservations", values.get("reservations", "1"), 1, where)
    periods = _periods(values, where)

    parts = [
        f"order={order}" if order.text != "fcfs" else "",
        f"scan={scan}" if scan else "",
        f"place={place}" if place.name != "first-fit" else "",
        "nodes=exclusive" if exclusive else "",
        f"depth={depth}" if depth is not None else "",
        f"reservations={reservations}" if reservations != 1 else "",
        *periods.texts(),
    ]
    written = [part for part in parts if part]
    text = f"{backfill}:{','.join(written)}" if written else backfill
    if backfill == "none" and names_an_order(order.text) and len(written) == (order.text != "fcfs"):
        text = order.text  # nothing but an order: its name says it all
    return PolicySpec(text, backfill, order, scan, place, exclusive, depth, reservations, periods=periods)


def _periods(values: dict[str, str], where: str) -> Periods:
    names = ("every", "backfill_every", "keys_every", "half_life")
    found = {name: _period(name, values[name], where) for name in names if name in values}
    every, backfill = found.get("every", 0.0), found.get("backfill_every", 0.0)
    if every and backfill and not _is_multiple_of(backfill, every):
        hint = f"such as every={every:g},backfill_every={2 * every:g}"
        raise InputError(f"backfill_every: {backfill:g} s is no multiple of every, {every:g} s", where=where, hint=hint)
    return Periods(**found)


def _is_multiple_of(length: float, unit: float) -> bool:
    """As they are written: 0.3 is three times 0.1, although the product of the floats is a hair more."""
    times = round(length / unit)
    return times > 0 and math.isclose(times * unit, length, rel_tol=1e-9)


def _period(key: str, value: str, where: str) -> float:
    try:
        seconds = parse_duration(value)
    except InputError as error:
        raise InputError(f"{key}: {error.message}", where=where, hint=f"write {key}=30s") from None
    if not 0 < seconds < math.inf:
        raise InputError(f"{key}: '{value}' is not a time above 0", where=where, hint=f"write {key}=30s")
    return seconds


def _cosched(values: dict[str, str], where: str) -> PolicySpec:
    """Jobs side by side: the same disciplines, orders and placements, with a part of each node for every job."""
    backfill = values.get("backfill", "easy")
    known = [name for name in BACKFILLS if name not in ("cosched", "reject")]
    if backfill not in known:
        hint = did_you_mean(backfill, known, f"one of {', '.join(known)}")
        raise InputError(f"backfill: there is no backfill '{backfill}'", where=where, hint=hint)
    own = ("backfill", "fraction", "threshold")
    inner = {"place": "occupied-first"} | {key: value for key, value in values.items() if key not in own}
    _check_keys(BACKFILLS[backfill], inner, where)
    built = _build(backfill, inner, where)
    fraction, threshold = _fraction(values.get("fraction", "1/2"), where), _threshold(values, built.place.name, where)
    shown = {
        "backfill": backfill if backfill != "easy" else "",
        "order": built.order.text if built.order.text != "fcfs" else "",
        "scan": built.scan.text if built.scan else "",
        "place": str(built.place) if built.place.name != "occupied-first" else "",
        "fraction": str(fraction) if fraction != Fraction(1, 2) else "",
        "threshold": repr(threshold).removesuffix(".0") if threshold else "",
        "depth": str(built.depth) if built.depth is not None else "",
        "reservations": str(built.reservations) if built.reservations != 1 else "",
    }
    written = ",".join(f"{key}={value}" for key, value in shown.items() if value)
    text = f"cosched:{written}" if written else "cosched"
    return replace(built, text=text, fraction=fraction, threshold=threshold)


def _fraction(value: str, where: str) -> Fraction:
    try:
        fraction = Fraction(value)
    except (ValueError, ZeroDivisionError):
        fraction = Fraction(0)
    if not 0 < fraction < 1:
        raise InputError(f"fraction: '{value}' is not a part of a socket", where=where, hint="write fraction=1/2")
    return fraction


def _threshold(values: dict[str, str], place: str, where: str) -> float:
    value = values.get("threshold", "0")
    try:
        threshold = float(value)
    except ValueError:
        threshold = -1.0
    if not 0 <= threshold < float("inf"):
        hint = "write threshold=0.9: no job may be slowed down to less than 90 %"
        raise InputError(f"threshold: '{value}' is not a speed-up", where=where, hint=hint)
    if threshold and place not in WITH_THRESHOLD:
        hint = f"choose one of {', '.join(WITH_THRESHOLD)}"
        raise InputError(f"threshold: the placement {place} does not look at who is where", where=where, hint=hint)
    return threshold


def _understood(key: str, parse: Callable[[str], Part], value: str, where: str) -> Part:
    try:
        return parse(value)
    except InputError as error:
        if error.where:  # in somebody's file
            raise
        raise InputError(f"{key}: {error.message}", where=where, hint=error.hint) from None


def _exclusive(value: str, where: str) -> bool:
    if value not in ("shared", "exclusive"):
        hint = did_you_mean(value, ["shared", "exclusive"], "write nodes=shared or nodes=exclusive")
        raise InputError(f"nodes: '{value}' is not a way to use nodes", where=where, hint=hint)
    return value == "exclusive"


def _number(key: str, value: str, least: int, where: str) -> int:
    number = int(value) if re.fullmatch(r"[0-9]{1,10}", value) else -1
    if not least <= number <= LARGEST_NUMBER:
        message = f"{key}: '{value}' is not a whole number from {least} to {LARGEST_NUMBER}"
        raise InputError(message, where=where, hint=f"write for example {key}=100")
    return number


def _unknown_policy(text: str, name: str, where: str) -> InputError:
    if not text:
        return InputError("the policy is empty", where=where, hint=_policies_hint())
    if re.fullmatch(r"\w+:[A-Za-z_]\w*(\(.*\))?", text):
        return InputError(
            f"there is no policy '{name}'", where=where, hint=f"of a file, write {text.replace(':', '.py:', 1)}"
        )
    try:
        hint = f"an expression needs a key: write none:order={parse_order(text)}"
    except InputError:
        from schedlab.model.plugins import registered

        names = [entry.name for entry in registered("policy")]
        hint = did_you_mean(name, [*BACKFILLS, *ORDERS, "random", *names], _policies_hint())
    return InputError(f"there is no policy '{name}'", where=where, hint=hint)


def _policies_hint() -> str:
    return f"backfills: {', '.join(BACKFILLS)}; orders: {order_names()}; see 'schedlab policies'"


def _keys_hint() -> str:
    return f"for example easy:order=sjf,place=best-fit; keys: {', '.join(KEYS)}"
