"""The formats of descriptions of clusters."""

from __future__ import annotations

import os
from pathlib import Path

from schedlab.files.formats import Format, named, to_write
from schedlab.model.cluster import Cluster
from schedlab.model.errors import InputError


def _format(
    name: str, what: str, reads: str, writes: str = "", recognises: str = "", endings: tuple[str, ...] = ()
) -> Format[Cluster]:
    return Format(name, what, "schedlab.cluster", reads, writes, recognises, endings)


# In the order in which a file is looked at.
FORMATS = (
    _format("toml", "schedlab's own", "toml.read_toml", "write_toml.write_toml", "toml.looks_like", (".toml",)),
    _format(
        *("slurm", "slurm.conf (and gres.conf, topology.conf)", "slurm_conf.read_slurm_conf"),
        *("write_slurm.write_slurm_conf", "slurm_conf.looks_like", (".conf",)),
    ),
    _format(
        *("simgrid", "SimGrid platform (XML)", "simgrid.read_simgrid", "simgrid.write_simgrid", "simgrid.looks_like"),
        (".xml",),
    ),
)


def write_cluster(path: str | os.PathLike[str], cluster: Cluster, format: str | None = None) -> list[str]:
    """Write a cluster in the format that is named, or that the file's name ends in. What it cannot hold is said."""
    target = Path(path)
    return format_to_write(target, format).write(target, cluster)


def format_to_write(path: Path, name: str | None = None) -> Format[Cluster]:
    found = to_write(path, FORMATS) if name is None else named(name, FORMATS)
    if found is None or not found.writes:
        endings = ", ".join(ending for known in FORMATS if known.writes for ending in known.endings)
        hint = f"let the name end in one of {endings}, or name the format"
        raise InputError("a cluster cannot be written in that format", where=str(path), hint=hint)
    return found
