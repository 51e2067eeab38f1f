"""The nodes of a slurm.conf, and what its NodeName lines say of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from schedlab.cluster.slurm.lines import Mistakes, Record, listed
from schedlab.files.slurm_values import gres, whole

MEGABYTE = 2**20

_ALIASES = {"procs": "cpus", "features": "feature", "socketsperboard": "sockets"}
_ABSENT = ("future", "down", "drain", "fail", "failing")
_STATES = (*_ABSENT, "unknown", "idle", "cloud", "external", "up")


@dataclass(frozen=True, slots=True)
class Node:
    name: str
    resources: dict[str, int]
    sockets: int
    features: frozenset[str]
    weight: int


@dataclass
class Nodes:
    """All nodes by name in the order of the file, those that are left out, and what is to be said about them."""

    present: dict[str, Node] = field(default_factory=dict)
    absent: dict[str, str] = field(default_factory=dict)  # name, and the state it is in
    notes: list[str] = field(default_factory=list)
    complete: bool = True  # False: names are missing, because they could not be read

    def known(self, name: str) -> bool:
        return name in self.present or name in self.absent


def read_nodes(records: Iterable[Record], select: str, mistakes: Mistakes) -> Nodes:
    """The nodes of NodeName and DownNodes lines; `select` is SelectTypeParameters."""
    found, defaults = Nodes(), Record()
    threads = no_memory = False
    for record in records:
        if "downnodes" in record:
            _take_down(record, found, mistakes)
        if "nodename" not in record:
            continue
        given = {_ALIASES.get(key, key): value for key, value in record.items()}
        subject = given.pop("nodename")
        if subject.text.upper() == "DEFAULT":
            defaults |= given
            continue
        line = _Line(defaults | given, mistakes)
        names = listed(subject, mistakes)
        found.complete &= bool(names)
        spec = line.node(counts_threads="CR_CPU" in select.upper())
        threads |= line.threads > 1 and "CR_CPU" not in select.upper()
        no_memory |= "memory" not in spec.resources
        state = line.state()
        twice = [name for name, times in Counter(names).items() if times > 1 or found.known(name)]
        if twice:
            mistakes.add(subject, f"described twice: {', '.join(twice[:3])}{'…' * (len(twice) > 3)}")
        for name in names:
            if state in _ABSENT:
                found.absent[name] = state.upper()
            else:
                found.present[name] = Node(name, spec.resources, spec.sockets, spec.features, spec.weight)
        found.notes += [note for note in line.notes if note not in found.notes]
    if threads:
        found.notes.append("hardware threads are not counted: a core is one core, however many threads it has")
    if no_memory:
        found.notes.append("nodes without RealMemory have no memory: jobs that ask for some cannot run there")
    return found


class _Line:
    """What a NodeName line says, what it inherits included."""

    def __init__(self, values: Record, mistakes: Mistakes) -> None:
        self._values, self._mistakes = values, mistakes
        self.threads = self._whole("threadspercore", 1) or 1
        self.notes: list[str] = []

    def node(self, *, counts_threads: bool) -> Node:
        cores, sockets = self._cores(counts_threads=counts_threads)
        cores = self._without("corespeccount", cores)
        resources = {"cores": cores}
        memory, weight = self._whole("realmemory", 0, unit=" (MB)"), self._whole("weight", 0, 2**32)
        if memory is not None:
            resources["memory"] = self._without("memspeclimit", memory) * MEGABYTE
        return Node(
            name="",
            resources=resources | self._gres(),
            sockets=sockets,
            features=frozenset(self._words("feature")),
            weight=1 if weight is None else weight,
        )

    def state(self) -> str:
        value = self._values.get("state")
        if value is None:
            return "unknown"
        state = value.text.casefold()
        if state not in _STATES:
            self._mistakes.add(value, f"expected one of {', '.join(name.upper() for name in _STATES)}")
        return state

    def _cores(self, *, counts_threads: bool) -> tuple[int, int]:
        """Cores and sockets. What CPUs says gives way to sockets and cores, where they are there."""
        cpus, cores, sockets = (self._whole(key, 1) for key in ("cpus", "corespersocket", "sockets"))
        boards = self._whole("boards", 1)
        if sockets and boards and "boards" in self._values and self._values["sockets"].key.casefold() != "sockets":
            sockets *= boards
        if cores is None and sockets is None:
            found = max((cpus or 1) // self.threads, 1)
            return (cpus or self.threads) if counts_threads else found, 1
        known = (cores or 1) * (sockets or 1) * self.threads
        missing = max((cpus or known) // known, 1)
        cores, sockets = cores or missing, sockets or missing
        by_threads = cores * sockets * self.threads
        if cpus is not None and cpus not in (sockets, cores * sockets, by_threads):
            self.notes.append(f"CPUs={cpus} where sockets and cores give {cores * sockets}: the latter counts")
        return by_threads if counts_threads else cores * sockets, sockets

    def _gres(self) -> dict[str, int]:
        value = self._values.get("gres")
        if value is None or value.text.casefold() in ("", "none", "(null)"):
            return {}
        if "no_consume" in value.text:
            self.notes.append(f"no_consume in Gres={value.text}: what a job asks for is used up all the same")
        try:
            return gres(value.text)
        except ValueError as error:
            self._mistakes.add(value, f"expected {error}")
            return {}

    def _words(self, key: str) -> list[str]:
        value = self._values.get(key)
        return [] if value is None else [word.strip() for word in value.text.split(",") if word.strip()]

    def _whole(self, key: str, least: int, most: int = 10**9, unit: str = "") -> int | None:
        value = self._values.get(key)
        try:
            return None if value is None else whole(value.text, least=least, most=most)
        except ValueError as error:
            self._mistakes.add(self._values[key], f"expected {error}{unit}")
            return None

    def _without(self, key: str, amount: int) -> int:
        """The amount less what is kept for the system."""
        kept = self._whole(key, 0) or 0
        if kept >= amount and kept:
            self._mistakes.add(self._values[key], f"expected less than all there is, {amount}")
            return amount
        return amount - kept


def _take_down(record: Record, found: Nodes, mistakes: Mistakes) -> None:
    """Nodes that a DownNodes line declares to be out of order."""
    value = record["downnodes"]
    state = record["state"].text.upper() if "state" in record else "DOWN"
    for name in listed(value, mistakes):
        if found.present.pop(name, None) is not None:
            found.absent[name] = state
        elif name not in found.absent and found.complete:
            mistakes.add(value, f"there is no node {name}")
