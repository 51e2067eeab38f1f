"""The nodes of a slurm.conf: the same reading of NodeName and DownNodes lines as that of Slurm 22.05."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from schedlab.cluster.slurm.entries import Entry, Settings, items, with_defaults
from schedlab.cluster.slurm.gres import GresConf, NodeGres
from schedlab.cluster.slurm.lines import Value, listed
from schedlab.files.slurm_values import gres_items, whole
from schedlab.model.mistakes import Mistakes
from schedlab.model.nodeset import fold

MOST_NODES = 262_144  # of a configuration; Slurm itself has room for 65,536
_ABSENT = ("future", "down", "drain", "fail")  # what such states begin with
_STATES = ("future", "down", "drain", "fail", "unknown", "idle", "cloud", "external", "up")
_KILO = re.compile(r"([0-9]{1,15})[kK]")


@dataclass(frozen=True, slots=True)
class NodeSpec:
    """What a slurmd says of its node; memory and disk in MB."""

    name: str
    cpus: int
    boards: int
    sockets: int
    cores_per_socket: int
    threads: int
    memory: int | None  # None: slurm.conf does not say, and Slurm takes 1
    tmp_disk: int = 0
    features: tuple[str, ...] = ()
    gres: tuple[NodeGres, ...] = ()
    weight: int = 1
    core_spec_count: int = 0
    cpu_spec_list: str = ""
    mem_spec_limit: int = 0
    state: str = ""  # FUTURE: there is no such node yet; DOWN, DRAIN, FAIL; "" if it is in service

    @property
    def in_service(self) -> bool:
        return not self.state

    @property
    def cores(self) -> int:
        return self.sockets * self.cores_per_socket


def read_nodes(settings: Settings, notes: list[str], mistakes: Mistakes) -> dict[str, NodeSpec]:
    """All nodes by name, in the order of the file."""
    found: dict[str, NodeSpec] = {}
    gres = GresConf(settings.gres, mistakes)
    down = dict(_down(settings, mistakes))
    for _, entry, fields in with_defaults(settings.entries, "nodename"):
        spec = _Line(entry, fields, notes, mistakes).spec()
        names = listed(entry.subject, mistakes)
        if twice := [name for name, times in Counter(names).items() if times > 1 or name in found]:
            entry.subject.wrong(mistakes, f"described twice: {', '.join(twice[:3])}{'…' * (len(twice) > 3)}")
        if len(found) + len(names) > MOST_NODES:
            entry.subject.wrong(mistakes, f"more than {MOST_NODES:,} nodes in all")
            break
        for name in names:
            state, own = spec.state or down.get(name, ""), gres.merged(name, spec.gres)
            found[name] = replace(spec, name=name, state=state, gres=own)
    for where, mentioned in (("DownNodes", down), (settings.gres and settings.gres[0].file, gres.by_node)):
        if unknown := [name for name in mentioned if name not in found]:
            notes.append(f"{where} has nodes that are not there: {fold(unknown)}")
    for resource, names in _not_counted(found, gres).items():
        notes.append(f"Gres= of {fold(names)} has no {resource}, so Slurm does not hand out what gres.conf has of it")
    return found


def _down(settings: Settings, mistakes: Mistakes) -> Iterator[tuple[str, str]]:
    """Nodes that DownNodes lines put out of service, and the state that they give them."""
    for entry in settings.of("downnodes"):
        state = entry.fields["state"].text.upper() if "state" in entry.fields else "DOWN"
        names = listed(entry.subject, mistakes)
        yield from ((name, state) for name in names if state.casefold().startswith(_ABSENT))


def _not_counted(nodes: Mapping[str, NodeSpec], gres: GresConf) -> dict[str, list[str]]:
    """Resources of gres.conf that slurm.conf does not count, with the nodes."""
    found: dict[str, list[str]] = {}
    for name in gres.by_node:
        counted = {own.name for own in nodes[name].gres} if name in nodes else set()
        for resource in dict.fromkeys(line.name for line in gres.by_node[name] if name in nodes):
            if resource not in counted:
                found.setdefault(resource, []).append(name)
    return found


class _Line:
    """What a NodeName line says, what it inherits included."""

    def __init__(self, entry: Entry, fields: Mapping[str, Value], notes: list[str], mistakes: Mistakes) -> None:
        self._entry, self._fields, self._notes, self._mistakes = entry, fields, notes, mistakes

    def spec(self) -> NodeSpec:
        cpus, boards, sockets, cores, threads = self._processors()
        memory = self._number("realmemory", least=0, unit=" (MB)")
        weight = self._number("weight", least=0, most=2**32)
        said = (self._entry.fields, self._fields)
        spellings = [fields[key] for fields in said for key in ("feature", "features") if key in fields]
        return NodeSpec(
            name="",
            cpus=cpus,
            boards=boards if sockets >= boards else 1,
            sockets=sockets,
            cores_per_socket=cores,
            threads=threads,
            memory=memory,
            tmp_disk=self._number("tmpdisk", least=0) or 0,
            features=tuple(items(spellings[0].text)) if spellings else (),
            gres=tuple(self._gres()),
            weight=1 if weight is None else weight,
            core_spec_count=self._kept("corespeccount", sockets * cores),
            cpu_spec_list=self._fields["cpuspeclist"].text if "cpuspeclist" in self._fields else "",
            mem_spec_limit=self._kept("memspeclimit", memory),
            state=self._state(),
        )

    def _processors(self) -> tuple[int, int, int, int, int]:
        """CPUs, boards, sockets, cores of a socket, threads of a core. CPUs gives way where it disagrees."""
        boards, cores, threads = (self._number(key) or 1 for key in ("boards", "corespersocket", "threadspercore"))
        cpus, sockets, of_board = (
            self._number(*keys) for keys in (("cpus", "procs"), ("sockets",), ("socketsperboard",))
        )
        if of_board:
            sockets = boards * of_board
        elif not sockets and cpus and cpus % (cores * threads) == 0:
            sockets = cpus // (cores * threads)
        sockets = sockets or boards
        if cpus in (sockets, sockets * cores, sockets * cores * threads):
            return cpus, boards, sockets, cores, threads
        if cpus is not None:
            note = f"CPUs={cpus} where sockets and cores give {sockets * cores}: the latter counts"
            self._notes += [note] if note not in self._notes else []
        return sockets * cores * threads, boards, sockets, cores, threads

    def _state(self) -> str:
        value = self._fields.get("state")
        state = value.text.casefold() if value else "unknown"
        if value and state not in _STATES and not state.startswith(("drain", "fail", "cloud")):
            value.wrong(self._mistakes, f"expected one of {', '.join(name.upper() for name in _STATES)}")
        return state.upper() if state.startswith(_ABSENT) else ""

    def _gres(self) -> Iterator[NodeGres]:
        value = self._fields.get("gres")
        if value is None or value.text.casefold() in ("", "none", "(null)"):
            return
        note = f"no_consume in Gres={value.text}: what a job asks for is used up all the same"
        self._notes += [note] if "no_consume" in value.text and note not in self._notes else []
        try:
            yield from (NodeGres(*item) for item in gres_items(value.text))
        except ValueError as error:
            value.wrong(self._mistakes, f"expected {error}")

    def _number(self, *keys: str, least: int = 1, most: int = 10**9, unit: str = "") -> int | None:
        """The value of the first of the keys that is there."""
        value = next((self._fields[key] for key in keys if key in self._fields), None)
        if value is None:
            return None
        kilo = _KILO.fullmatch(value.text)
        try:
            return whole(str(int(kilo[1]) * 1024) if kilo else value.text, least=least, most=most)
        except ValueError as error:
            value.wrong(self._mistakes, f"expected {error}{unit}")
            return None

    def _kept(self, key: str, amount: int | None) -> int:
        """How much is kept for the system."""
        kept = self._number(key, least=0) or 0
        if kept and amount is not None and kept >= amount:
            self._fields[key].wrong(self._mistakes, f"expected less than all there is, {amount}")
            return 0
        return kept
