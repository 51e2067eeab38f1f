"""Keys and values of other releases of Slurm: in the words of 22.05, or left out with the reason."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache

from schedlab.cluster.slurm.entries import Entry, items
from schedlab.cluster.slurm.keys import FIELDS, OLD, OTHER_RELEASES, RELEASE
from schedlab.cluster.slurm.lines import Value
from schedlab.model.suggest import closest
from schedlab.slurm.settings.differences import Difference
from schedlab.slurm.settings.list_items import LIST_ITEMS

_LATER = f"of a later release; Slurm {RELEASE} does not know it"
_EARLIER = "of an earlier release; it no longer does anything"

# Plug-ins that have another name, or none, in 22.05.
_PLUGINS = {"topology/flat": "topology/none", "topology/default": "topology/none"}
_PREFIXES = {
    "schedulertype": "sched",
    "prioritytype": "priority",
    "selecttype": "select",
    "preempttype": "preempt",
    "topologyplugin": "topology",
    "prioritysitefactorplugin": "site_factor",
    "mcsplugin": "mcs",
}
# Items of lists that have another name in 22.05, which refuses the old one (max_job_bf, since 14.03 bf_max_job_test;
# Task) or passes over it without a word (interval).
_RENAMED = {
    "schedulerparameters": {"max_job_bf": "bf_max_job_test", "interval": "bf_interval"},
    "debugflags": {"task": "CPU_Bind"},
}
_AS_USUAL = {"assoc_limit_continue": f"what Slurm {RELEASE} does unless it is told assoc_limit_stop"}
# PreemptParameters were parts of other keys.
_PREEMPT = {
    "reorder_count": ("SchedulerParameters", "preempt_reorder_count"),
    "strict_order": ("SchedulerParameters", "preempt_strict_order"),
    "youngest_first": ("SchedulerParameters", "preempt_youngest_first"),
    "send_user_signal": ("SlurmctldParameters", "preempt_send_user_signal"),
}


def is_of_another_release(kind: str, key: str) -> bool:
    return key in OTHER_RELEASES.get(kind, {})


def in_words_of_this_release(entries: Iterable[Entry], differences: list[Difference]) -> list[Entry]:
    """The entries with nothing in them that 22.05 would refuse or pass over without a word."""
    kept: list[Entry] = []
    moved: list[tuple[str, Value, str]] = []  # a key, where it comes from, and an item for its list
    for entry in entries:
        if entry.kind == "frontendname":
            differences.append(Difference("FrontendName", entry.subject.text, "", "every node is emulated by itself"))
        elif entry.kind:
            kept.append(_line(entry, differences))
        elif entry.subject.name == "preemptparameters":
            moved += _preemption(entry.subject, differences)
        elif known := _known("", entry.subject, entry.subject.key, differences):
            kept.append(Entry("", (known,)))
    for key, source, item in moved:
        kept = _with_item(kept, key, source, item)
    return kept


def _line(entry: Entry, differences: list[Difference]) -> Entry:
    fields = [
        _known(entry.kind, value, f"{entry.subject.key}={entry.subject.text} {value.key}", differences)
        for value in entry.values[1:]
    ]
    return Entry(entry.kind, (entry.subject, *(value for value in fields if value is not None)))


def _known(kind: str, value: Value, shown: str, differences: list[Difference]) -> Value | None:
    """The value if this release takes it, without items that it does not know; None if nothing is left."""
    key = value.name
    if (not kind and key in OLD) or key not in FIELDS[kind]:
        differences.append(Difference(shown, value.text, "", _why_not(kind, key)))
        return None
    text = ",".join(_known_items(key, value.text, shown, differences)) if _is_checked(kind, key) else value.text
    if key in _PREFIXES and not kind:
        text = text if "/" in text else f"{_PREFIXES[key]}/{text}"
        text = _PLUGINS.get(text, text)
        if text != value.text:
            differences.append(Difference(shown, value.text, text, f"its name in Slurm {RELEASE}"))
    if not text and value.text:
        return None
    return Value(text, value.file, value.line, FIELDS[kind][key])


def _is_checked(kind: str, key: str) -> bool:
    return key in LIST_ITEMS and (not kind or key == "preemptmode")


def _known_items(key: str, text: str, shown: str, differences: list[Difference]) -> Iterator[str]:
    renamed = _RENAMED.get(key, {})
    given = {item.partition("=")[0].casefold() for item in items(text)}
    for item in items(text):
        name, equals, amount = item.partition("=")
        if (now := renamed.get(name.casefold())) is not None:
            if now.casefold() in given:
                differences.append(Difference(shown, item, "", f"{now} says the same in Slurm {RELEASE}, and is given"))
                continue
            differences.append(Difference(shown, item, f"{now}{equals}{amount}", f"its name in Slurm {RELEASE}"))
            yield f"{now}{equals}{amount}"
        elif name.casefold() in _AS_USUAL:
            differences.append(Difference(shown, item, "", _AS_USUAL[name.casefold()]))
        elif name.casefold() in LIST_ITEMS[key]:
            yield item
        else:
            differences.append(Difference(shown, item, "", _has_no(item)))


def _has_no(item: str) -> str:
    return f"Slurm {RELEASE} has no {item.partition('=')[0]}"


@cache  # the same key may stand on thousands of lines
def _why_not(kind: str, key: str) -> str:
    if not kind and key in OLD:
        return _EARLIER
    if is_of_another_release(kind, key):
        return _LATER
    near = closest(key, FIELDS[kind].values())
    return f"Slurm {RELEASE} does not know it{f'; did you mean {near}?' if near else ''}"


def _preemption(value: Value, differences: list[Difference]) -> Iterator[tuple[str, Value, str]]:
    for item in items(value.text):
        name, equals, amount = item.partition("=")
        if name.casefold() in _PREEMPT:
            key, earlier = _PREEMPT[name.casefold()]
            text = f"{earlier}{equals}{amount}"
            differences.append(Difference("PreemptParameters", item, f"{key}={text}", f"its name in Slurm {RELEASE}"))
            yield key, value, text
        else:
            differences.append(Difference("PreemptParameters", item, "", _has_no(item)))


def _with_item(entries: list[Entry], key: str, source: Value, item: str) -> list[Entry]:
    """The entries with one more item in a list, which is made if there is none."""
    for position in reversed(range(len(entries))):
        entry = entries[position]
        if not entry.kind and entry.subject.key == key:
            old = entry.subject
            entries[position] = Entry("", (Value(f"{old.text},{item}", old.file, old.line, old.key),))
            return entries
    return [*entries, Entry("", (Value(item, source.file, source.line, key),))]
