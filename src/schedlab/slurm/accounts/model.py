"""Accounts as slurmctld knows them: a tree of accounts, the users in them, their shares, limits and QOS.

Every setting says how it is written by sacctmgr, so that all readers go by the same table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal

from schedlab.slurm.accounts import values

ROOT = "root"  # the account above all, and the user who is always in it
UNNAMED = "default"  # the account of those who name none
Tres = Mapping[str, int]
Reader = Callable[[str], Any]


def _setting(read: Reader, *words: str, default: Any = None) -> Any:
    return field(default=default, metadata={"read": read, "words": words})


def _tres(*words: str) -> dict[str, Any]:
    return {"read": values.tres, "words": words}


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The limits that an association and a QOS have in common. None, or a resource not named, is no limit."""

    grp_tres: Tres = field(default_factory=dict, metadata=_tres("GrpTRES"))
    grp_tres_mins: Tres = field(default_factory=dict, metadata=_tres("GrpTRESMins"))
    grp_tres_run_mins: Tres = field(default_factory=dict, metadata=_tres("GrpTRESRunMins"))
    grp_jobs: int | None = _setting(values.count, "GrpJobs")
    grp_jobs_accrue: int | None = _setting(values.count, "GrpJobsAccrue")
    grp_submit: int | None = _setting(values.count, "GrpSubmitJobs", "GrpSubmit")
    grp_wall: int | None = _setting(values.minutes, "GrpWall")  # minutes
    max_tres: Tres = field(default_factory=dict, metadata=_tres("MaxTRESPerJob", "MaxTRES", "MaxTRESPJ"))
    max_tres_per_node: Tres = field(default_factory=dict, metadata=_tres("MaxTRESPerNode", "MaxTRESPN"))
    max_tres_mins: Tres = field(
        default_factory=dict, metadata=_tres("MaxTRESMinsPerJob", "MaxTRESMins", "MaxTRESMinsPJ")
    )
    max_wall: int | None = _setting(values.minutes, "MaxWallDurationPerJob", "MaxWallDuration", "MaxWall")  # minutes
    min_prio_threshold: int | None = _setting(values.count, "MinPrioThreshold", "MinPrioThresh", "MinPrioThres")


@dataclass(frozen=True, slots=True, kw_only=True)
class Association(Limits):
    """One place in the tree. Where max_…, the priority or the QOS are not set, those of the account above hold."""

    fairshare: int | Literal["parent"] = _setting(values.fairshare, "Fairshare", "Shares", default=1)
    default_qos: str = _setting(str.lower, "DefaultQOS", "DefQOS", default="")
    qos: tuple[str, ...] = _setting(
        values.names, "QOS", "QosLevel", default=()
    )  # +name and -name change what is inherited
    max_tres_run_mins: Tres = field(default_factory=dict, metadata=_tres("MaxTRESRunMins"))
    max_jobs: int | None = _setting(values.count, "MaxJobs")
    max_jobs_accrue: int | None = _setting(values.count, "MaxJobsAccrue")
    max_submit: int | None = _setting(values.count, "MaxSubmitJobs", "MaxSubmit")
    priority: int | None = _setting(values.count, "Priority")


@dataclass(frozen=True, slots=True, kw_only=True)
class Account(Association):
    name: str
    parent: str = ROOT


@dataclass(frozen=True, slots=True, kw_only=True)
class Member(Association):
    """A user in an account, in all partitions or in one."""

    user: str
    account: str
    partition: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Qos(Limits):
    name: str
    description: str = _setting(str, "Descr", "Description", default="")
    priority: int | None = _setting(values.count, "Priority")
    usage_factor: float = _setting(values.number, "UsageFactor", default=1.0)
    usage_threshold: float | None = _setting(values.number, "UsageThreshold", "UsageThres")
    limit_factor: float | None = _setting(values.number, "LimitFactor")
    flags: tuple[str, ...] = _setting(values.flags, "Flags", default=())
    grace_time: int | None = _setting(values.plain_seconds, "GraceTime")  # seconds
    preempt: tuple[str, ...] = _setting(values.names, "Preempt", default=())
    preempt_mode: str = _setting(values.preempt_mode, "PreemptMode", default="")
    preempt_exempt_time: int | None = _setting(values.plain_seconds, "PreemptExemptTime")  # seconds
    max_tres_per_user: Tres = field(default_factory=dict, metadata=_tres("MaxTRESPerUser", "MaxTRESPU"))
    max_tres_per_account: Tres = field(
        default_factory=dict, metadata=_tres("MaxTRESPerAccount", "MaxTRESPerAcct", "MaxTRESPA")
    )
    max_tres_run_mins_per_user: Tres = field(
        default_factory=dict, metadata=_tres("MaxTRESRunMinsPerUser", "MaxTRESRunMinsPU")
    )
    max_tres_run_mins_per_account: Tres = field(
        default_factory=dict, metadata=_tres("MaxTRESRunMinsPerAccount", "MaxTRESRunMinsPerAcct", "MaxTRESRunMinsPA")
    )
    max_jobs_per_user: int | None = _setting(values.count, "MaxJobsPerUser", "MaxJobsPU", "MaxJobs")
    max_jobs_per_account: int | None = _setting(values.count, "MaxJobsPerAccount", "MaxJobsPerAcct", "MaxJobsPA")
    max_jobs_accrue_per_user: int | None = _setting(values.count, "MaxJobsAccruePerUser", "MaxJobsAccruePU")
    max_jobs_accrue_per_account: int | None = _setting(
        values.count, "MaxJobsAccruePerAccount", "MaxJobsAccruePerAcct", "MaxJobsAccruePA"
    )
    max_submit_per_user: int | None = _setting(
        values.count, "MaxSubmitJobsPerUser", "MaxSubmitJobsPU", "MaxSubmitPU", "MaxSubmit"
    )
    max_submit_per_account: int | None = _setting(
        values.count, "MaxSubmitJobsPerAccount", "MaxSubmitJobsPerAcct", "MaxSubmitJobsPA", "MaxSubmitPA"
    )
    min_tres: Tres = field(default_factory=dict, metadata=_tres("MinTRESPerJob", "MinTRES", "MinTRESPJ"))


NORMAL = Qos(name="normal", description="Normal QOS default")  # there is one of this name wherever a slurmdbd was


def settings(kind: type[Limits]) -> dict[str, Reader]:
    """The settings of an association or a QOS by our names, each with what reads its text."""
    return {item.name: item.metadata["read"] for item in fields(kind) if item.metadata}


def words(kind: type[Limits]) -> dict[str, str]:
    """Our names of settings by the words that sacctmgr uses, in lower case."""
    return {word.lower(): item.name for item in fields(kind) for word in item.metadata.get("words", ())}


@dataclass(frozen=True, slots=True, kw_only=True)
class Accounts:
    """Everything about one cluster. The user root is in the account root, said or not."""

    cluster: str
    root: Association = field(default_factory=lambda: Association(qos=(NORMAL.name,)))
    accounts: tuple[Account, ...] = ()
    members: tuple[Member, ...] = ()
    default_accounts: Mapping[str, str] = field(default_factory=dict)  # by user; else the first that lists the user
    qos: tuple[Qos, ...] = (NORMAL,)

    @property
    def users(self) -> tuple[str, ...]:
        """All who have an association, in alphabetical order, root first."""
        return (ROOT, *sorted({member.user for member in self.members} - {ROOT}))

    def for_cluster(self, name: str) -> Accounts:
        """The same on a cluster of another name."""
        return replace(self, cluster=name)

    def with_users(self, users: Mapping[str, Sequence[str]], qos: Iterable[str] = ()) -> tuple[Accounts, list[str]]:
        """With what jobs need and this does not have, and sentences that say what was added.

        `users` has for each user the accounts it names. What is new has equal shares, no limits; new QOS are for all.
        """
        wanted = [(user, name.lower()) for user, names in users.items() for name in names if name]
        known = {member.user for member in self.members} | {ROOT}
        wanted += [(user, UNNAMED) for user, names in users.items() if user not in known and not any(names)]
        have = {(member.user, member.account) for member in self.members} | {(ROOT, ROOT)}
        missing = [pair for pair in dict.fromkeys(wanted) if pair not in have]
        accounts = {account.name for account in self.accounts} | {ROOT}
        new_accounts = [name for name in dict.fromkeys(name for _, name in missing) if name not in accounts]
        grown = replace(
            self,
            accounts=(*self.accounts, *(Account(name=name) for name in new_accounts)),
            members=(*self.members, *(Member(user=user, account=name) for user, name in missing)),
        )
        has = {item.name for item in self.qos}
        new_qos = [name for name in dict.fromkeys(name.lower() for name in qos if name) if name not in has]
        sentences = [
            *_sentence("account", new_accounts, "under root with fairshare 1"),
            *_sentence("user", [f"{user} in {name}" for user, name in missing], "with fairshare 1"),
            *_sentence("QOS", new_qos, "without limits, for all users"),
        ]
        return grown._with_qos(new_qos), sentences

    def _with_qos(self, new: Sequence[str]) -> Accounts:
        """More QOS, allowed to all: also to those who have a list of their own."""
        if not new:
            return self
        return replace(
            self,
            qos=(*self.qos, *(Qos(name=name) for name in new)),
            root=replace(self.root, qos=(*self.root.qos, *new)),
            accounts=tuple(replace(account, qos=_longer(account.qos, new)) for account in self.accounts),
            members=tuple(replace(member, qos=_longer(member.qos, new)) for member in self.members),
        )


def is_change(qos: str) -> bool:
    """Whether an entry of a list of QOS changes what is inherited."""
    return qos.startswith(("+", "-"))


def _longer(listed: tuple[str, ...], new: Sequence[str]) -> tuple[str, ...]:
    return (*listed, *new) if any(not is_change(name) for name in listed) else listed


def _sentence(what: str, names: Sequence[str], how: str) -> list[str]:
    if not names:
        return []
    listed = ", ".join(names[:8]) + (f" and {len(names) - 8:,} more" if len(names) > 8 else "")
    plural = "" if len(names) == 1 or what == "QOS" else "s"
    verb = "is" if len(names) == 1 else "are"
    return [f"{len(names):,} {what}{plural} of the jobs {verb} not in the accounts and {verb} added {how}: {listed}"]
