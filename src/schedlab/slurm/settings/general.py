"""The keys of the whole cluster as emulation needs them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from schedlab.cluster.slurm.entries import Entry, items
from schedlab.cluster.slurm.lines import Value
from schedlab.slurm.settings.differences import Difference
from schedlab.slurm.settings.plugins import submit_plugins
from schedlab.slurm.settings.replaced import ACCOUNTING_PORT, ACCOUNTS_FILE, LEFT_OUT, LOG, REPLACED
from schedlab.slurm.settings.rewritten import NO_ACCOUNTS, NO_SUCH_TRES, plain_weights

_LEVELS = ("quiet", "fatal", "error", "info", "verbose", "debug", "debug2", "debug3", "debug4", "debug5")
_CONTROLLER_PARAMETERS = (
    *("allow_user_triggers", "disable_triggers", "node_reg_mem_percent", "preempt_send_user_signal"),
    "user_resv_delete",
)
_CHANGED_DEFAULTS = {
    "SelectType": ("select/linear", "what Slurm 22.05 does; releases from 23.11 on take select/cons_tres"),
    "PriorityType": ("priority/basic", "what Slurm 22.05 does; releases from 23.11 on take priority/multifactor"),
}


@dataclass
class General:
    """Keys of the whole cluster by their names; changing one notes the difference."""

    values: dict[str, Value]
    differences: list[Difference]
    added: dict[str, str] = field(default_factory=dict)

    def set(self, key: str, after: str, why: str, default: str = "") -> None:
        before = self.values.pop(key).text if key in self.values else default
        self.added[key] = after
        if before != after:
            self.differences.append(Difference(key, before, after, why))

    def leave_out(self, key: str, why: str) -> None:
        if key in self.values:
            self.differences.append(Difference(key, self.values.pop(key).text, "", why))

    def change(self, key: str, after: str, why: str) -> None:
        """In its place in the file; left out if nothing remains."""
        value = self.values[key]
        if items(after) == items(value.text):
            return
        self.differences.append(Difference(key, value.text, after, why))
        if after:
            self.values[key] = Value(after, value.file, value.line, key)
        else:
            del self.values[key]

    def text(self, key: str) -> str:
        return self.values[key].text if key in self.values else ""

    def entries(self) -> list[Entry]:
        added = [Entry("", (Value(text, "", 0, key),)) for key, text in self.added.items()]
        return [*added, *(Entry("", (value,)) for value in self.values.values())]


def emulated_general(
    values: dict[str, Value],
    run: Mapping[str, str],
    *,
    accounting: bool,
    has_plugin: Callable[[str], bool],
    differences: list[Difference],
) -> list[Entry]:
    """`values` by key, each once; `run` has the values of this run that the table of replacements names."""
    general = General(values, differences)
    for key, row in REPLACED.items():
        general.set(key, row.value.format_map(run), row.why, row.default)
    for key, why in LEFT_OUT.items():
        general.leave_out(key, why)
    if not general.text("ClusterName"):
        general.set("ClusterName", "cluster", "Slurm needs a name")
    _storage(general, accounting=accounting)
    _submission(general, has_plugin)
    level = general.text("SlurmctldDebug")
    if "SlurmctldDebug" in general.values and _level(level) < _LEVELS.index("info"):
        general.change("SlurmctldDebug", "info", LOG)
    if "SlurmctldParameters" in general.values:
        kept = [item for item in items(general.text("SlurmctldParameters")) if _name(item) in _CONTROLLER_PARAMETERS]
        general.change("SlurmctldParameters", ",".join(kept), "the others need machines or a database")
    for key, (default, why) in _CHANGED_DEFAULTS.items():
        if key not in general.values:
            differences.append(Difference(key, "", default, why))
    return general.entries()


def _storage(general: General, *, accounting: bool) -> None:
    if accounting:
        general.set("AccountingStorageType", "accounting_storage/slurmdbd", ACCOUNTS_FILE)
        general.set("AccountingStorageHost", "127.0.0.1", ACCOUNTS_FILE)
        general.set("AccountingStoragePort", str(ACCOUNTING_PORT), ACCOUNTS_FILE)
        enforced = items(general.text("AccountingStorageEnforce"))
        if any(item.casefold() in ("wckeys", "all") for item in enforced):
            every = ["associations", "limits", "qos", "safe"] if "all" in map(str.casefold, enforced) else []
            kept = dict.fromkeys([*every, *(item for item in enforced if item.casefold() not in ("wckeys", "all"))])
            general.change("AccountingStorageEnforce", ",".join(kept), LEFT_OUT["TrackWCKey"])
        return
    general.set("AccountingStorageType", "accounting_storage/none", NO_ACCOUNTS, "accounting_storage/none")
    for key in ("AccountingStorageHost", "AccountingStoragePort", "AccountingStorageEnforce", "AccountingStorageTRES"):
        general.leave_out(key, NO_ACCOUNTS)
    if "PriorityWeightTRES" in general.values:
        general.change("PriorityWeightTRES", plain_weights(general.text("PriorityWeightTRES")), NO_SUCH_TRES)
    for key in ("PriorityWeightAge", "PriorityWeightFairshare"):
        if general.text(key) not in ("", "0"):
            why = "Slurm 22.05 ignores it without accounts"
            general.differences.append(Difference(key, general.text(key), "no effect", why))


def _submission(general: General, has_plugin: Callable[[str], bool]) -> None:
    if "JobSubmitPlugins" not in general.values:
        return
    kept, dropped = submit_plugins(general.text("JobSubmitPlugins"), has_plugin)
    if dropped:
        names = ", ".join(dropped)
        why = f"{names} is not run: what it would change in jobs, or refuse, can decide what starts when"
        general.change("JobSubmitPlugins", ",".join(kept), why)


def _level(text: str) -> int:
    if text.isdigit():
        return int(text)
    return _LEVELS.index(text.casefold()) if text.casefold() in _LEVELS else _LEVELS.index("info")


def _name(item: str) -> str:
    return item.partition("=")[0].casefold()
