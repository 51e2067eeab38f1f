"""The nodes of a slurm.conf as their slurmd registers them: the same reading of NodeName lines as Slurm's."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from schedlab.cluster.slurm.lines import Mistakes, Value, listed
from schedlab.slurm.settings.entries import Entry, items, with_defaults

_WHOLE = re.compile(r"([0-9]{1,18})([kK]?)")


@dataclass(frozen=True, slots=True)
class NodeGres:
    """Generic resources of a node of one name and type ("" if it has none). `cores` and `links` are as in gres.conf."""

    name: str
    type: str
    count: int
    cores: str = ""
    links: str = ""
    flags: str = ""
    has_file: bool = False  # there are device files, so Slurm hands out each device by its number


@dataclass(frozen=True, slots=True)
class NodeSpec:
    """What a slurmd says of its node; memory and disk in MB."""

    name: str
    cpus: int
    boards: int
    sockets: int
    cores_per_socket: int
    threads: int
    memory: int
    tmp_disk: int = 0
    features: tuple[str, ...] = ()
    gres: tuple[NodeGres, ...] = ()
    core_spec_count: int = 0
    cpu_spec_list: str = ""
    mem_spec_limit: int = 0
    in_service: bool = True  # False: slurm.conf says DOWN, DRAIN or FAIL


def node_specs(entries: Sequence[Entry], mistakes: Mistakes) -> tuple[list[NodeSpec], dict[str, str]]:
    """The nodes that register, in the order of the file, still without `gres`; and what Gres= says by node.

    Nodes in state FUTURE do not exist yet.
    """
    found: dict[str, NodeSpec] = {}
    gres: dict[str, str] = {}
    down = _down(entries, mistakes)
    for _, entry, fields in with_defaults(entries, "nodename"):
        state = fields["state"].text.casefold() if "state" in fields else "unknown"
        if state.startswith("future"):
            continue
        for name in listed(entry.subject, mistakes):
            in_service = not state.startswith(("down", "drain", "fail")) and name not in down
            if name in found:
                mistakes.add(entry.subject, f"{name} is described twice")
            found[name] = _spec(name, entry, fields, in_service, mistakes)
            gres[name] = fields["gres"].text if "gres" in fields else ""
    return list(found.values()), gres


def _down(entries: Sequence[Entry], mistakes: Mistakes) -> set[str]:
    lines = [entry for entry in entries if entry.kind == "downnodes"]
    return {
        name
        for entry in lines
        if "state" not in entry.fields or entry.fields["state"].text.casefold() != "unknown"
        for name in listed(entry.subject, mistakes)
    }


def _spec(name: str, entry: Entry, fields: Mapping[str, Value], in_service: bool, mistakes: Mistakes) -> NodeSpec:
    def number(*keys: str, default: int = 1) -> int:
        value = next((fields[key] for key in keys if key in fields), None)
        match = _WHOLE.fullmatch(value.text) if value else None
        if value is not None and match is None:
            mistakes.add(value, "expected a whole number")
        return int(match[1]) * (1024 if match[2] else 1) if match else default

    boards, cores, threads = (max(number(key), 1) for key in ("boards", "corespersocket", "threadspercore"))
    cpus = number("cpus", "procs")
    has_cpus = "cpus" in fields or "procs" in fields
    if "socketsperboard" in fields:
        sockets = boards * number("socketsperboard")
    elif "sockets" in fields:
        sockets = number("sockets")
    elif has_cpus and cpus and cpus % (cores * threads) == 0:
        sockets = cpus // (cores * threads)
    else:
        sockets = boards
    sockets = max(sockets, 1)
    if not has_cpus or cpus not in (sockets, sockets * cores, sockets * cores * threads):
        cpus = sockets * cores * threads
    spellings = [said[key] for said in (entry.fields, fields) for key in ("feature", "features") if key in said]
    return NodeSpec(
        name=name,
        cpus=cpus,
        boards=boards if sockets >= boards else 1,
        sockets=sockets,
        cores_per_socket=cores,
        threads=threads,
        memory=number("realmemory"),
        tmp_disk=number("tmpdisk", default=0),
        features=tuple(items(spellings[0].text)) if spellings else (),
        core_spec_count=number("corespeccount", default=0),
        cpu_spec_list=fields["cpuspeclist"].text if "cpuspeclist" in fields else "",
        mem_spec_limit=number("memspeclimit", default=0),
        in_service=in_service,
    )
