"""The edits of a command line: `Key=value`, `Key+=item`, `Key-=item`, `Key*=1.2`, `PartitionName=debug:MaxTime=60`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from schedlab.cluster.slurm.entries import Entry, Settings, items, with_defaults
from schedlab.cluster.slurm.hosts import host_names
from schedlab.cluster.slurm.keys import FIELDS, RELEASE
from schedlab.cluster.slurm.lines import Value
from schedlab.model.errors import InputError, InputErrors
from schedlab.model.nodeset import fold
from schedlab.model.suggest import did_you_mean
from schedlab.slurm.settings.change import changed
from schedlab.slurm.settings.releases import is_of_another_release
from schedlab.slurm.settings.replaced import why_replaced

_EDIT = re.compile(r"\s*+(?:(PartitionName|NodeName)=([^:=]++):\s*+)?([A-Za-z0-9_]++)\s*+([-+*]?=)(.*)", re.I | re.S)
_EXAMPLES = "SchedulerParameters+=bf_window=4320, PriorityMaxAge=7-0 or PartitionName=debug:MaxTime=2:00:00"
_SAME = {"procs": "cpus", "features": "feature", "shared": "oversubscribe"}  # earlier names of fields
_LATER_PRIORITIES = ("prioritytier", "priorityjobfactor")


@dataclass(frozen=True, slots=True)
class _Edit:
    text: str
    kind: str
    names: str
    key: str  # in lower case
    operator: str
    value: str

    def new_value(self, old: Value | None) -> Value | None:
        """None: the value is removed."""
        text = changed(self.kind, self.key, None if old is None else old.text, self.operator, self.value)
        return Value(text, f"--set {self.text}", 0, FIELDS[self.kind][self.key]) if text else None


def edited(settings: Settings, edits: Sequence[str]) -> Settings:
    """The settings after the changes that texts such as `SchedulerParameters+=bf_window=4320` ask for.

    One after the other; all mistakes are raised together.
    """
    mistakes: list[InputError] = []
    for text in edits:
        try:
            edit = _parsed(text)
            settings = replace(settings, entries=tuple(_applied(edit, settings)))
        except InputError as error:
            mistakes.append(error)
        except ValueError as error:
            mistakes.append(InputError(f"{error}", where=f"--set {text}"))
    if mistakes:
        raise InputErrors(mistakes)
    return settings


def _parsed(text: str) -> _Edit:
    match = _EDIT.fullmatch(text)
    if match is None:
        raise InputError("this is not an edit", where=f"--set {text}", hint=f"write such as {_EXAMPLES}")
    kind, names, written, operator, value = match.groups()
    kind = (kind or "").casefold()
    key = _SAME.get(written.casefold(), written.casefold()) if kind else written.casefold()
    if not kind and key in ("partitionname", "nodename"):
        hint = f"say which field: {written}={value.strip()}:{'MaxTime=60' if key == 'partitionname' else 'Weight=5'}"
        raise InputError("an edit changes fields of lines that are there", where=f"--set {text}", hint=hint)
    _check_key(kind, key, written, text)
    return _Edit(text, kind, names or "", key, operator, value.strip())


def _check_key(kind: str, key: str, written: str, text: str) -> None:
    why = why_replaced(kind, key)
    if why is not None:
        raise InputError(f"{written} has no effect in emulation: {why}", where=f"--set {text}")
    if is_of_another_release(kind, key):
        raise InputError(f"{written} belongs to another release; this is Slurm {RELEASE}", where=f"--set {text}")
    if key not in FIELDS[kind] or key == kind:
        subject = {"partitionname": " of a partition", "nodename": " of a node"}.get(kind, "")
        hint = did_you_mean(written, [name for name in FIELDS[kind].values() if name.casefold() != kind])
        raise InputError(f"Slurm {RELEASE} knows no {written}{subject}", where=f"--set {text}", hint=hint)


def _applied(edit: _Edit, settings: Settings) -> list[Entry]:
    entries = list(settings.entries)
    if edit.kind:
        if edit.key in _LATER_PRIORITIES:
            entries = _without_priority(entries)
        return _lines_changed(edit, entries)
    value = edit.new_value(settings.general(edit.key))
    places = [at for at, entry in enumerate(entries) if not entry.kind and entry.subject.name == edit.key]
    kept = [entry for at, entry in enumerate(entries) if at not in places]
    if value is not None:
        kept.insert(places[0] if places else 0, Entry("", (value,)))
    return kept


def _lines_changed(edit: _Edit, entries: list[Entry]) -> list[Entry]:
    is_node = edit.kind == "nodename"
    wanted = dict.fromkeys(host_names(edit.names.strip()) if is_node else items(edit.names))
    there = dict.fromkeys(name for entry in entries if entry.kind == edit.kind for name in _names(entry))
    missing = [name for name in wanted if name not in there or name.upper() == "DEFAULT"]
    if missing:
        what = "node" if is_node else "partition"
        hint = did_you_mean(missing[0], list(there)[:1000])
        raise InputError(f"there is no {what} {', '.join(missing[:3])}", where=f"--set {edit.text}", hint=hint)
    found: list[Entry] = []
    effective = {position: fields for position, _, fields in with_defaults(entries, edit.kind)}
    for position, entry in enumerate(entries):
        names = _names(entry) if position in effective else []
        if not any(name in wanted for name in names):
            found.append(entry)
            continue
        for chosen, part in _parts(entry, names, set(wanted)):
            found.append(_line_changed(edit, part, effective[position]) if chosen else part)
    return found


def _names(entry: Entry) -> list[str]:
    if entry.kind == "nodename" and not entry.is_default:
        return host_names(entry.subject.text)
    return [entry.subject.text]


def _parts(entry: Entry, names: Sequence[str], wanted: set[str]) -> list[tuple[bool, Entry]]:
    """A line of nodes cut where an edit begins or ends to be about them; their order stays."""
    runs: list[tuple[bool, list[str]]] = []
    for name in names:
        if runs and runs[-1][0] == (name in wanted):
            runs[-1][1].append(name)
        else:
            runs.append((name in wanted, [name]))
    if len(runs) == 1:
        return [(runs[0][0], entry)]
    subject = entry.subject
    return [
        (chosen, Entry(entry.kind, (Value(fold(part), subject.file, subject.line, subject.key), *entry.values[1:])))
        for chosen, part in runs
    ]


def _line_changed(edit: _Edit, entry: Entry, fields: Mapping[str, Value]) -> Entry:
    """`fields` is what the line says with what it inherits."""
    earlier_names = [earlier for earlier, key in _SAME.items() if key == edit.key]
    old = next((fields[name] for name in (edit.key, *earlier_names) if name in fields), None)
    value = edit.new_value(old)
    if value is None and old is not None and old.name not in entry.fields:
        hint = "give a value of its own with ="
        raise InputError(f"{old.key}={old.text} comes from DEFAULT", where=f"--set {edit.text}", hint=hint)
    entry = entry.without(*earlier_names)
    return entry.without(edit.key) if value is None else entry.with_field(value)


def _without_priority(entries: list[Entry]) -> list[Entry]:
    """Priority of a partition, own or of DEFAULT, beats the two keys that it stands for: say it with these."""
    resolved = list(entries)
    for position, entry, fields in with_defaults(entries, "partitionname"):
        if "priority" in fields:
            value = fields["priority"]
            for name in _LATER_PRIORITIES:
                own = Value(value.text, value.file, value.line, FIELDS["partitionname"][name])
                entry = entry.with_field(own)
            resolved[position] = entry
    return [entry.without("priority") if entry.kind == "partitionname" else entry for entry in resolved]
