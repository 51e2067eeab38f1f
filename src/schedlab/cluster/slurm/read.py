"""A cluster from slurm.conf, and gres.conf and topology.conf beside it. `docs/formats/slurm.md` states the rules."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from schedlab.cluster.slurm.entries import Settings, read_entries
from schedlab.cluster.slurm.groups import Node, group_nodes, name_groups
from schedlab.cluster.slurm.keys import KNOWN, SCHEDULING
from schedlab.cluster.slurm.nodes import NodeSpec, read_nodes
from schedlab.cluster.slurm.partitions import read_partitions
from schedlab.cluster.slurm.topology import read_switches
from schedlab.cluster.slurm.write import MEGABYTE
from schedlab.files.slurm_values import gres_amounts
from schedlab.model.cluster import Cluster, Partition
from schedlab.model.errors import InputError
from schedlab.model.mistakes import Mistakes
from schedlab.model.nodeset import fold
from schedlab.model.suggest import closest
from schedlab.model.units import LARGEST_AMOUNT

_TELLING = re.compile(
    r"^[ \t]*+(?:ClusterName|SlurmctldHost|ControlMachine|NodeName|PartitionName)[ \t]*=", re.I | re.M
)
_SHOWN_KEYS = 10


def looks_like(start: str, name: str) -> bool:
    other = any(kind in name for kind in ("gres", "topology", "cgroup", "slurmdbd"))
    return name.endswith(".conf") and not other and _TELLING.search(start) is not None


def read_slurm_conf(path: Path) -> Cluster:
    """The nodes and partitions of a slurm.conf. What it says and a cluster cannot have is in `notes`."""
    mistakes = Mistakes()
    return cluster_of(read_entries(path, mistakes), mistakes)


def read_settings(path: Path) -> Settings:
    """What a slurm.conf says, with nothing in it that `read_slurm_conf` would refuse."""
    mistakes = Mistakes()
    settings = read_entries(path, mistakes)
    cluster_of(settings, mistakes)
    return settings


def files_read(path: Path) -> list[Path]:
    """A slurm.conf and all that is read with it, whatever may be wrong in them."""
    return list(read_entries(path, Mistakes()).files)


def cluster_of(settings: Settings, mistakes: Mistakes, *, cpus: bool = False) -> Cluster:
    """The machine of settings; all `mistakes` are raised.

    `cpus`: its cores are all that Slurm calls CPUs. Otherwise they are cores that jobs can have, unless Slurm hands
    out CPUs.
    """
    notes: list[str] = []
    nodes = read_nodes(settings, notes, mistakes)
    by_cpu = "CR_CPU" in settings.text("SelectTypeParameters").upper()
    if not cpus and not by_cpu and any(node.threads > 1 for node in nodes.values()):
        notes.append("hardware threads are not counted: a core is one core, however many threads it has")
    if any(node.memory is None for node in nodes.values()):
        notes.append("nodes without RealMemory have no memory: jobs that ask for some cannot run there")
    partitions = read_partitions(settings, nodes, mistakes)
    switches = read_switches(settings, nodes, notes, mistakes)
    mistakes.raise_all()

    found = [
        Node(node.name, _resources(node, cpus, by_cpu), node.sockets, frozenset(node.features), node.weight)
        for node in sorted(nodes.values(), key=lambda node: node.weight)  # Slurm takes small weights first
        if node.in_service
    ]
    _check(settings.path, found)
    bare = group_nodes(found, [*partitions.members.values(), *partitions.sets.values()])
    names = name_groups(bare, partitions.sets)
    groups = tuple(replace(group, name=name) for group, name in zip(bare, names, strict=True))
    return Cluster(
        groups,
        tuple(
            Partition(name, tuple(g.name for g in groups if g.node_name(0) in members), name == partitions.default)
            for name, members in partitions.members.items()
        ),
        name=settings.text("ClusterName") or settings.path.stem,
        switches=switches,
        notes=(*_absent(nodes.values()), *notes, *partitions.notes, *_other_notes(settings)),
    )


def _resources(node: NodeSpec, cpus: bool, by_cpu: bool) -> dict[str, int]:
    cores = node.cores - node.core_spec_count
    if cpus or by_cpu:  # a core is one CPU, or as many as it has threads
        cores = node.cpus if cpus else node.cpus * cores // node.cores
    memory = {} if node.memory is None else {"memory": (node.memory - node.mem_spec_limit) * MEGABYTE}
    return {"cores": cores, **memory, **gres_amounts((gres.name, gres.type, gres.count) for gres in node.gres)}


def _check(path: Path, nodes: Sequence[Node]) -> None:
    if not nodes:
        hint = "a node is described by a line such as NodeName=n[001-087] CPUs=32 RealMemory=187000"
        raise InputError("describes no node that could run jobs", where=str(path), hint=hint)
    totals: dict[str, int] = {}
    for node in nodes:
        for name, amount in node.resources.items():
            totals[name] = totals.get(name, 0) + amount
    for name, total in totals.items():
        if total > LARGEST_AMOUNT:
            raise InputError(f"the nodes have {name} of more than {LARGEST_AMOUNT:,} together", where=str(path))


def _absent(nodes: Iterable[NodeSpec]) -> Iterator[str]:
    by_state: dict[str, list[str]] = {}
    for node in nodes:
        if node.state:
            by_state.setdefault(node.state, []).append(node.name)
    return (f"nodes in state {state} are left out: {fold(names)}" for state, names in by_state.items())


def _other_notes(settings: Settings) -> Iterator[str]:
    select = settings.text("SelectTypeParameters")
    has_memory = any("realmemory" in entry.fields for entry in settings.of("nodename"))
    if select and "memory" not in select.casefold() and has_memory:
        yield f"SelectTypeParameters={select} does not share out memory; here jobs use up what they ask for"
    scheduling = dict.fromkeys(e.subject.key for e in settings.of("") if e.subject.name.startswith(SCHEDULING))
    if scheduling:
        yield f"how to schedule is not part of a cluster: {', '.join(scheduling)}"
    unknown = list(_unknown(settings))
    if unknown:
        more = f" and {len(unknown) - _SHOWN_KEYS} more" if len(unknown) > _SHOWN_KEYS else ""
        yield f"keys that Slurm does not know: {', '.join(unknown[:_SHOWN_KEYS])}{more}"


def _unknown(settings: Settings) -> Iterator[str]:
    for entry in settings.entries:
        known = KNOWN[entry.kind]
        for value in entry.values:
            if value.name not in known and not (not entry.kind and value.name.startswith(SCHEDULING)):
                yield f"{value.key} ({entry.file}, line {value.line}{_guess(entry.kind, value.name)})"


@cache  # the same key may stand on thousands of lines
def _guess(kind: str, name: str) -> str:
    near = closest(name, KNOWN[kind].values())
    return f", did you mean {near}?" if near else ""
