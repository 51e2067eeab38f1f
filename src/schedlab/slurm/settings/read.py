"""Read a slurm.conf, and the gres.conf and topology.conf beside it, as they are."""

from __future__ import annotations

from pathlib import Path

from schedlab.cluster.slurm.beside import beside
from schedlab.cluster.slurm.lines import Mistakes, listed, read_records
from schedlab.model.errors import InputError
from schedlab.slurm.settings.entries import KINDS, Entry, Settings


def read_settings(path: Path, *, gres: Path | None = None, topology: Path | None = None) -> Settings:
    """The entries of a slurm.conf. Without paths, `gres.conf` and `topology.conf` are looked for beside it."""
    mistakes = Mistakes()
    entries = _entries(path, mistakes, KINDS)
    gres_file, topology_file = gres or _beside(path, "gres"), topology or _beside(path, "topology")
    settings = Settings(
        path=path,
        entries=entries,
        gres=_entries(gres_file, mistakes, ("nodename", "name")) if gres_file else (),
        topology=_entries(topology_file, mistakes, ("switchname",)) if topology_file else (),
        has_topology=topology_file is not None,
    )
    for entry in entries:
        if entry.kind in ("nodename", "downnodes") and not entry.is_default:
            listed(entry.subject, mistakes)
        elif entry.kind == "partitionname":
            mistakes.check_name(entry.subject)
    mistakes.raise_all()
    for kind, what, example in (
        ("nodename", "node", "NodeName=n[001-087] CPUs=32 RealMemory=187000"),
        ("partitionname", "partition", "PartitionName=normal Nodes=ALL Default=YES"),
    ):
        if not any(entry.kind == kind and not entry.is_default for entry in entries):
            raise InputError(f"describes no {what}", where=str(path), hint=f"a line such as {example}")
    return settings


def _beside(path: Path, kind: str) -> Path | None:
    found = beside(path, kind)
    return found if found and found.is_file() else None


def _entries(path: Path, mistakes: Mistakes, kinds: tuple[str, ...]) -> tuple[Entry, ...]:
    found: list[Entry] = []
    for record in read_records(path, mistakes):
        values = tuple(record.values())
        first = next(iter(record))
        if first in kinds:
            found.append(Entry(first, values))
        else:
            found += [Entry("", (value,)) for value in values]
    return tuple(found)
