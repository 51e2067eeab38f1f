"""The formats of descriptions of clusters."""

from __future__ import annotations

import os
from pathlib import Path

from schedlab.files.formats import Format, named, to_write
from schedlab.model.cluster import Cluster
from schedlab.model.errors import InputError


def _format(name: str, what: str, package: str, write: str, ending: str, read: str = "") -> Format[Cluster]:
    """Its package has `read.looks_like` and `read.read_…`; one that is a single module has both functions itself."""
    module, _, function = (read or f"read.read_{package}").partition(".")
    home = "schedlab.cluster" if module == package else f"schedlab.cluster.{package}"
    return Format(name, what, home, f"{module}.{function}", write, f"{module}.looks_like", (ending,) if ending else ())


# In the order in which a file is looked at.
FORMATS = (
    _format("toml", "schedlab's own", "toml", "write.write_toml", ".toml"),
    _format(
        *("slurm", "slurm.conf, with gres.conf and topology.conf", "slurm", "write.write_slurm_conf", ".conf"),
        "read.read_slurm_conf",
    ),
    _format("simgrid", "SimGrid platform (XML)", "simgrid", "write.write_simgrid", ".xml"),
    _format("accasim", "AccaSim system (JSON)", "accasim", "accasim.write_accasim", ".json", "accasim.read_accasim"),
    _format("alea", "Alea machines", "alea", "alea.write_alea", ".machines", "alea.read_alea"),
    _format(
        *("kubernetes", "nodes of Kubernetes, kubectl get nodes -o yaml or json", "kubernetes", "", ""),
        "kubernetes.read_kubernetes",
    ),
    _format("alibaba", "Alibaba GPU nodes (CSV)", "alibaba", "", "", "alibaba.read_alibaba"),
)


def write_cluster(path: str | os.PathLike[str], cluster: Cluster, format: str | None = None) -> list[str]:
    """Write a cluster in the format that is named, or that the file's name ends in. What it cannot hold is said."""
    target = Path(path)
    return format_to_write(target, format).write(target, cluster)


def format_to_write(path: Path, name: str | None = None) -> Format[Cluster]:
    found = to_write(path, FORMATS) if name is None else named(name, FORMATS)
    if found is None or not found.writes:
        endings = ", ".join(ending for known in FORMATS if known.writes for ending in known.endings)
        hint = f"let the name end in one of {endings}"
        raise InputError("a cluster cannot be written in that format", where=str(path), hint=hint)
    return found
