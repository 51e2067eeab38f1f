"""A cluster from slurm.conf, and gres.conf and topology.conf beside it. `docs/formats/slurm.md` states the rules."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import replace
from pathlib import Path

from schedlab.cluster.slurm.beside import add_gres, beside, read_switches
from schedlab.cluster.slurm.groups import group_nodes, name_groups
from schedlab.cluster.slurm.keys import GENERAL_KEYS, NODE_KEYS, PARTITION_KEYS, SCHEDULING
from schedlab.cluster.slurm.lines import Mistakes, Record, Value, read_records
from schedlab.cluster.slurm.nodes import Nodes, read_nodes
from schedlab.cluster.slurm.partitions import read_partitions
from schedlab.model.cluster import Cluster, Partition
from schedlab.model.errors import InputError
from schedlab.model.nodeset import fold
from schedlab.model.suggest import closest
from schedlab.model.units import LARGEST_AMOUNT

_TELLING = re.compile(r"^\s*(?:ClusterName|SlurmctldHost|ControlMachine|NodeName|PartitionName)\s*=", re.I | re.M)
_SHOWN_KEYS = 10


def looks_like(start: str, name: str) -> bool:
    other = any(kind in name for kind in ("gres", "topology", "cgroup", "slurmdbd"))
    return name.endswith(".conf") and not other and _TELLING.search(start) is not None


def read_slurm_conf(path: Path) -> Cluster:
    """The nodes and partitions of a slurm.conf. What it says and a cluster cannot have is in `notes`."""
    mistakes = Mistakes()
    records = read_records(path, mistakes)
    nodes = read_nodes(records, _general(records, "selecttypeparameters"), mistakes)
    gres_file, topology = beside(path, "gres"), beside(path, "topology")
    if gres_file and gres_file.is_file():
        add_gres(gres_file, nodes, mistakes)
    partitions = read_partitions(records, nodes, mistakes)
    switches = read_switches(topology, nodes, mistakes) if topology and topology.is_file() else ()
    mistakes.raise_all()
    _check(path, nodes)

    ordered = sorted(nodes.present.values(), key=lambda node: node.weight)  # Slurm takes small weights first
    bare = group_nodes(ordered, [*partitions.members.values(), *partitions.sets.values()])
    names = name_groups(bare, partitions.sets)
    groups = tuple(replace(group, name=name) for group, name in zip(bare, names, strict=True))
    return Cluster(
        groups,
        tuple(
            Partition(name, tuple(g.name for g in groups if g.node_name(0) in members), name == partitions.default)
            for name, members in partitions.members.items()
        ),
        name=_general(records, "clustername") or path.stem,
        switches=switches,
        notes=(*_absent(nodes), *nodes.notes, *partitions.notes, *_other_notes(records)),
    )


def _general(records: Sequence[Record], key: str) -> str:
    """The value of a key of the whole cluster; the last one counts."""
    return next((record[key].text for record in reversed(records) if key in record and _kind(record) == ""), "")


def _kind(record: Record) -> str:
    """What a line describes: a node, a partition…, or "" if it is about the whole cluster."""
    first = next(iter(record))
    return first if first in _KINDS else ""


_KINDS: dict[str, Set[str]] = {
    "nodename": NODE_KEYS | {"procs", "features", "socketsperboard"},
    "partitionname": PARTITION_KEYS,
    "nodeset": {"nodeset", "nodes", "feature"},
    "downnodes": {"downnodes", "state", "reason"},
    "frontendname": {"frontendname", "frontendaddr", "port", "reason", "state", "allowgroups", "allowusers"},
}


def _check(path: Path, nodes: Nodes) -> None:
    if not nodes.present:
        hint = "a node is described by a line such as NodeName=n[001-087] CPUs=32 RealMemory=187000"
        raise InputError("describes no node that could run jobs", where=str(path), hint=hint)
    totals: dict[str, int] = {}
    for node in nodes.present.values():
        for name, amount in node.resources.items():
            totals[name] = totals.get(name, 0) + amount
    for name, total in totals.items():
        if total > LARGEST_AMOUNT:
            raise InputError(f"the nodes have {name} of more than {LARGEST_AMOUNT:,} together", where=str(path))


def _absent(nodes: Nodes) -> Iterator[str]:
    for state in dict.fromkeys(nodes.absent.values()):
        names = [name for name, its in nodes.absent.items() if its == state]
        yield f"nodes in state {state} are left out: {fold(names)}"


def _other_notes(records: Sequence[Record]) -> Iterator[str]:
    select = _general(records, "selecttypeparameters")
    if select and "memory" not in select.casefold() and any("realmemory" in record for record in records):
        yield f"SelectTypeParameters={select} does not share out memory; here jobs use up what they ask for"
    general = [value for record in records if _kind(record) == "" for value in record.values()]
    scheduling = dict.fromkeys(v.key for v in general if v.key.casefold().startswith(SCHEDULING))
    if scheduling:
        yield f"how to schedule is not part of a cluster: {', '.join(scheduling)}"
    unknown = list(_unknown(records))
    if unknown:
        more = f" and {len(unknown) - _SHOWN_KEYS} more" if len(unknown) > _SHOWN_KEYS else ""
        yield f"keys that Slurm does not know: {', '.join(unknown[:_SHOWN_KEYS])}{more}"


def _unknown(records: Sequence[Record]) -> Iterator[str]:
    for record in records:
        known = _KINDS.get(_kind(record), GENERAL_KEYS)
        for key, value in record.items():
            if key not in known and not (known is GENERAL_KEYS and key.startswith(SCHEDULING)):
                yield _described(value, known)


def _described(value: Value, known: Set[str]) -> str:
    near = closest(value.key, known)
    guess = f", did you mean {near}?" if near else ""
    return f"{value.key} ({Path(value.file).name}, line {value.line}{guess})"
