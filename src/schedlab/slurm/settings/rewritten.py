"""Lines about nodes and partitions as emulation needs them; all that says what may run where and when stays."""

from __future__ import annotations

from collections.abc import Iterable

from schedlab.cluster.slurm.entries import Entry, items
from schedlab.cluster.slurm.lines import Value
from schedlab.slurm.settings.differences import Difference
from schedlab.slurm.settings.replaced import NODE_FIELDS, PARTITION_FIELDS

# Without slurmdbd these resources exist, and no others.
_PLAIN_TRES = ("cpu", "mem", "energy", "node", "billing", "fs/disk", "vmem", "pages")
_OF_ACCOUNTS = ("qos", "allowqos", "denyqos", "allowaccounts", "denyaccounts")
NO_ACCOUNTS = "no accounts, no QOS and no limits of theirs are emulated in this run"
NO_SUCH_TRES = "without accounts only cpu, mem, energy, node and billing are counted"

_STATES = {
    "cloud": ("UNKNOWN", "nodes of a cloud are always there"),
    "external": ("UNKNOWN", "nodes that others manage are always there"),
    "up": ("UNKNOWN", "nodes are up when they register"),
    "down": ("DRAIN", "so that it stays out of service though the emulated node answers"),
}


def rewritten(entry: Entry, *, accounting: bool, differences: list[Difference]) -> Entry:
    """A line of slurm.conf (not one about the whole cluster) with what emulation replaces in it."""
    if entry.kind == "nodename":
        entry = _without_address(entry, differences)
        entry = _with_state(entry, differences)
        entry = entry if accounting else _plain_weights(entry, "tresweights", differences)
        address = Value("127.0.0.1", entry.subject.file, entry.subject.line, "NodeAddr")
        return entry if entry.is_default else entry.with_field(address)
    if entry.kind == "downnodes":
        return _with_state(entry, differences, default="DOWN")
    if entry.kind == "partitionname":
        everybody = [key for key in ("allowgroups", "allocnodes") if _is_all(entry, key)]
        entry = _without(entry.without(*everybody), PARTITION_FIELDS, differences)
        if not accounting:
            entry = _without(entry, dict.fromkeys(_OF_ACCOUNTS, NO_ACCOUNTS), differences)
            entry = _plain_weights(entry, "tresbillingweights", differences)
    return entry


def plain_weights(text: str) -> str:
    """Those weights that are of resources which exist without slurmdbd."""
    return ",".join(item for item in items(text) if item.partition("=")[0].strip().casefold() in _PLAIN_TRES)


def _without(entry: Entry, reasons: dict[str, str], differences: list[Difference]) -> Entry:
    given = {key: value for key, value in entry.fields.items() if key in reasons}
    for key, value in given.items():
        differences.append(Difference(_shown(entry, value.key), value.text, "", reasons[key]))
    return entry.without(*given)


def _without_address(entry: Entry, differences: list[Difference]) -> Entry:
    """All nodes have the same new one: it is said once, without their names."""
    given = {key: value for key, value in entry.fields.items() if key in NODE_FIELDS}
    for key, value in given.items():
        after = "127.0.0.1" if key == "nodeaddr" else ""
        difference = Difference(value.key, value.text, after, NODE_FIELDS[key])
        if value.text != after and all(value.key != other.key for other in differences):
            differences.append(difference)
    return entry.without(*given)


def _with_state(entry: Entry, differences: list[Difference], default: str = "") -> Entry:
    given = entry.fields.get("state")
    before = given.text if given else default
    if before.casefold() not in _STATES:
        return entry
    after, why = _STATES[before.casefold()]
    differences.append(Difference(_shown(entry, "State"), before, after, why))
    return entry.with_field(Value(after, entry.subject.file, entry.subject.line, "State"))


def _plain_weights(entry: Entry, key: str, differences: list[Difference]) -> Entry:
    value = entry.fields.get(key)
    kept = plain_weights(value.text) if value else ""
    if value is None or items(kept) == items(value.text):
        return entry
    differences.append(Difference(_shown(entry, value.key), value.text, kept, NO_SUCH_TRES))
    return entry.with_field(Value(kept, value.file, value.line, value.key)) if kept else entry.without(key)


def _is_all(entry: Entry, key: str) -> bool:
    return key in entry.fields and entry.fields[key].text.casefold() == "all"


def _shown(entry: Entry, key: str) -> str:
    return f"{entry.subject.key}={entry.subject.text} {key}"


def lines_of(entries: Iterable[Entry]) -> str:
    """Entries as they stand in a file."""
    return "".join(f"{' '.join(_pair(value) for value in entry.values)}\n" for entry in entries)


def _pair(value: Value) -> str:
    text = value.text.replace("#", "\\#")
    return f'{value.key}="{text}"' if not text or any(letter.isspace() for letter in text) else f"{value.key}={text}"
