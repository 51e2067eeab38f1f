"""Accounts as the records of slurmctld's files: numbered, in the order of the tree, what is inherited filled in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from typing import Any

from schedlab.slurm.accounts.layout import NO_VALUE
from schedlab.slurm.accounts.model import ROOT, Account, Accounts, Association, Limits, Member, Qos, is_change
from schedlab.slurm.accounts.resources import Resources
from schedlab.slurm.accounts.values import FLAGS, PARENT, PREEMPT_MODES, SHARES_OF_PARENT

_ADMINISTRATOR = 3
_ROOT = Account(name=ROOT, parent="")
_INHERITED = ("max_jobs", "max_jobs_accrue", "max_submit", "max_wall", "min_prio_threshold", "priority")
_INHERITED_TRES = ("max_tres", "max_tres_per_node", "max_tres_mins", "max_tres_run_mins")


def user_records(accounts: Accounts, uids: Mapping[str, int]) -> list[dict[str, Any]]:
    defaults = default_accounts(accounts)
    records = []
    for name in accounts.users:
        record = {"name": name, "default_account": defaults[name], "uid": uids.get(name, NO_VALUE)}
        records.append({**record, "admin_level": _ADMINISTRATOR} if name == ROOT else record)
    return records


def default_accounts(accounts: Accounts) -> dict[str, str]:
    """The account of each user who names none: the one that is said, or the first that has the user."""
    found: dict[str, str] = {}
    for member in accounts.members:
        found.setdefault(member.user, member.account)
    found.setdefault(ROOT, ROOT)
    return {**found, **{user: name for user, name in accounts.default_accounts.items() if user in found}}


def qos_records(accounts: Accounts, resources: Resources) -> list[dict[str, Any]]:
    ids = qos_ids(accounts)
    return [_qos_record(qos, ids, resources) for qos in accounts.qos]


def qos_ids(accounts: Accounts) -> dict[str, int]:
    return {qos.name: number for number, qos in enumerate(accounts.qos, 1)}


def _qos_record(qos: Qos, ids: Mapping[str, int], resources: Resources) -> dict[str, Any]:
    preempted = frozenset(ids[name] for name in qos.preempt if name in ids)
    return {
        **_limits(qos, resources),
        "id": ids[qos.name],
        "name": qos.name,
        "description": qos.description or qos.name,
        "flags": sum(FLAGS[name] for name in qos.flags),
        "preempt": (len(ids) + 1, preempted) if preempted else None,
        "preempt_mode": sum(PREEMPT_MODES[mode] for mode in qos.preempt_mode.split(",") if mode),
    }


def association_records(accounts: Accounts, uids: Mapping[str, int], resources: Resources) -> list[dict[str, Any]]:
    return list(_Tree(accounts, uids, resources).records())


class _Tree:
    """Walks from the root down; whoever is there before also has the number before."""

    def __init__(self, accounts: Accounts, uids: Mapping[str, int], resources: Resources) -> None:
        self.accounts, self.uids, self.resources = accounts, uids, resources
        self.qos_ids = qos_ids(accounts)
        self.defaults = default_accounts(accounts)
        member_of_root = next((m for m in accounts.members if m.user == m.account == ROOT and not m.partition), None)
        member_of_root = member_of_root or Member(user=ROOT, account=ROOT)
        members = (member_of_root, *(member for member in accounts.members if member != member_of_root))
        places: list[Account | Member] = [_ROOT, member_of_root, *accounts.accounts, *members[1:]]
        self.ids = {_key(place): number for number, place in enumerate(places, 1)}
        self.children: dict[str, list[Account | Member]] = {}
        children: tuple[Account | Member, ...] = (*members, *accounts.accounts)
        for child in children:
            self.children.setdefault(child.account if isinstance(child, Member) else child.parent, []).append(child)

    def records(self) -> Iterator[dict[str, Any]]:
        root = _resolved(self.accounts.root, Association())
        bounds: dict[tuple[str, ...], tuple[int, int]] = {}
        self._number(_ROOT, 1, bounds)
        yield self._record(root, (ROOT,), bounds, {"account": ROOT})
        yield from self._below(ROOT, root, bounds)

    def _number(self, place: Account | Member, left: int, bounds: dict[tuple[str, ...], tuple[int, int]]) -> int:
        """Numbers the ends of a part of the tree from `left`; returns the next free number. Slurm adds on the left."""
        following = left + 1
        if isinstance(place, Account):
            for child in reversed(self.children.get(place.name, ())):
                following = self._number(child, following, bounds)
        bounds[_key(place)] = (left, following)
        return following + 1

    def _below(
        self, name: str, above: Association, bounds: Mapping[tuple[str, ...], tuple[int, int]]
    ) -> Iterator[dict[str, Any]]:
        """The users of an account, then its accounts with all below them, each in alphabetical order."""
        for child in sorted(self.children.get(name, ()), key=lambda child: (isinstance(child, Account), _key(child))):
            own = _resolved(child, above)
            parent_id = self.ids[(name,)]
            if isinstance(child, Member):
                place = {
                    "account": child.account,
                    "parent_id": parent_id,
                    "user": child.user,
                    "uid": self.uids.get(child.user, NO_VALUE),
                    "partition": child.partition or None,
                    "is_default": int(child.account == self.defaults[child.user]),
                }
                yield self._record(own, _key(child), bounds, place)
            else:
                place = {"account": child.name, "parent": name, "parent_id": parent_id}
                yield self._record(own, _key(child), bounds, place)
                yield from self._below(child.name, own, bounds)

    def _record(
        self,
        own: Association,
        key: tuple[str, ...],
        bounds: Mapping[tuple[str, ...], tuple[int, int]],
        place: Mapping[str, Any],
    ) -> dict[str, Any]:
        left, right = bounds[key]
        return {
            **_limits(own, self.resources),
            **place,
            "id": self.ids[key],
            "left": left,
            "right": right,
            "cluster": self.accounts.cluster,
            "fairshare": SHARES_OF_PARENT if own.fairshare == PARENT else own.fairshare,
            "default_qos": self.qos_ids.get(own.default_qos, 0),
            "qos": [str(self.qos_ids[name]) for name in own.qos if name in self.qos_ids],
        }


def _key(place: Account | Member) -> tuple[str, ...]:
    return (place.name,) if isinstance(place, Account) else (place.user, place.account, place.partition)


def _limits(holder: Limits, resources: Resources) -> dict[str, Any]:
    """Numbers and resources as they are stored; what is not set keeps the default of the layout."""
    found: dict[str, Any] = {}
    for item in fields(holder):
        value = getattr(holder, item.name)
        if isinstance(value, dict):
            found[item.name] = resources.text(value)
        elif isinstance(value, int | float):
            found[item.name] = value
    return found


def _resolved(own: Association, above: Association) -> Association:
    """With what it has from above: slurmdbd does this for slurmctld."""
    changes: dict[str, Any] = {name: getattr(above, name) for name in _INHERITED if getattr(own, name) is None}
    changes |= {name: {**getattr(above, name), **getattr(own, name)} for name in _INHERITED_TRES}
    listed = [name for name in own.qos if not is_change(name)] or list(above.qos)
    if all(is_change(name) for name in own.qos):
        for change in own.qos:
            name = change[1:]
            listed = [other for other in listed if other != name] + ([name] if change.startswith("+") else [])
    return replace(own, **changes, qos=tuple(listed), default_qos=own.default_qos or above.default_qos)
