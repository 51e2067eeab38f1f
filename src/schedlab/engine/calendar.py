"""The calendar: nodes that observers set aside for a time, known before the run. It binds whoever decides."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import inf
from typing import Any, NamedTuple

from schedlab.model.cluster import Cluster
from schedlab.model.errors import InputError
from schedlab.model.suggest import did_you_mean


class Window(NamedTuple):
    """Nodes (by number) that are set aside from `start` until `until`, except for the jobs of some `users`."""

    nodes: Sequence[int]
    start: float
    until: float
    users: Sequence[int | str] = ()  # numbers as in the table of jobs, or names
    by: str = ""  # who has set them aside: the observer's name, if nothing else is said
    # The nodes are closed then, and what becomes of jobs that are still there (estimates err): "requeue", "kill", or
    # "drain", they may end. "": the nodes stay open, and such jobs may end.
    victims: str = ""


def calendar_of(
    asked: Iterable[tuple[str, Iterable[Any]]], cluster: Cluster, users: Sequence[str] = (), *, known: bool = True
) -> list[Window]:
    """The windows that observers, by their names, have; none if they cannot be `known` to whoever decides.

    `users` are the names of users, in the order of their numbers, where the log has names.
    """
    found = [_checked(Window(*fields), observer, cluster, users) for observer, windows in asked for fields in windows]
    if known:
        return found
    for window in found:
        if not window.victims:
            hint = "maintenance comes as a surprise to it; or take a built-in policy"
            raise InputError(f"this policy cannot keep nodes for a {window.by}", hint=hint)
    return []


def recorded(calendar: Sequence[Window], cluster: Cluster) -> dict[str, Any]:
    """What run.json says of it: nothing, if nothing is set aside."""
    names = cluster.node_names()
    windows = [
        {
            "nodes": [names[node] for node in window.nodes],
            "from": window.start,
            "until": window.until if window.until < inf else None,
            "users": list(window.users),
            "by": window.by,
            "victims": window.victims,
        }
        for window in calendar
    ]
    return {"calendar": windows} if windows else {}


def _checked(window: Window, observer: str, cluster: Cluster, users: Sequence[str]) -> Window:
    nodes, by = sorted({int(node) for node in window.nodes}), window.by or observer
    count = sum(group.count for group in cluster.groups)
    start, until = float(window.start), float(window.until)
    if nodes and not 0 <= nodes[0] <= nodes[-1] < count:
        hint = f"nodes are numbered from 0 to {count - 1}"
        raise InputError(f"the calendar of {by} has a node number that is not there: {nodes}", hint=hint)
    if not -inf < start < inf or not start <= until:
        raise InputError(f"the calendar of {by} has a time from {start} until {until}", hint="give seconds")
    allowed = [_number(user, users, by) for user in window.users]
    return Window(nodes, start, until, allowed, by, window.victims)


def _number(user: object, users: Sequence[str], by: str) -> int:
    """Of a user who is named, or whose number is given."""
    if isinstance(user, int) and not isinstance(user, bool):
        return user
    if isinstance(user, str) and user in users:
        return list(users).index(user)
    known = did_you_mean(str(user), users, f"its users are {', '.join(users[:3])}, …") if users else ""
    hint = known or "this log has no names: give the numbers of users"
    raise InputError(f"the calendar of {by} names a user {user!r} who is not in the log", hint=hint)
