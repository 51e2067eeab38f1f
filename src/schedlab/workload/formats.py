"""The formats of workloads."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

from schedlab.files.formats import Format, named, recognise, to_write
from schedlab.model.errors import InputError
from schedlab.model.workload import Workload
from schedlab.workload.options import ReadOptions
from schedlab.workload.plugged import Plugged, plugged_reader, read_with


def _format(name: str, what: str, package: str, write: str = "", *endings: str, **more: Any) -> Format[Workload]:
    """Its package has `read.looks_like`, `read.read_…`, and a function that writes, if one is named."""
    reads, recognises = more.pop("reads", f"read.read_{package}"), more.pop("recognises", "read.looks_like")
    return Format(name, what, f"schedlab.workload.{package}", reads, write, recognises, endings, **more)


SWF = _format("swf", "Standard Workload Format", "swf", "write.write_swf", ".swf")
FOREIGN: Format[Workload] = Format(
    "foreign", "what holds no jobs", "schedlab.workload", "foreign.refuse", recognises="foreign.looks_like"
)
# In the order in which a file is looked at; SWF also is what remains.
FORMATS = (
    SWF,
    _format("sacct", "Slurm accounting, sacct -P", "sacct", "write.write_sacct", ".sacct"),
    _format(
        *("slurm-events", "sbatch lines of the Slurm simulators", "slurm", "write.write_slurm_events", ".events"),
        reads="read.read_slurm_events",
    ),
    _format("batsim", "Batsim workload (JSON)", "batsim", "write.write_batsim", ".json", takes=("speed", float)),
    _format("batkube", "the same as Batkube has it: pods", "batsim", reads="batkube.read_batkube", recognises=""),
    _format("alea", "Alea's extended SWF", "alea"),
    _format("opendc", "OpenDC tasks (Parquet)", "table", reads="opendc.read_opendc", recognises=""),
    _format("alibaba", "Alibaba GPU pods (CSV)", "table", reads="alibaba.read_alibaba", recognises=""),
    _format(
        *("alibaba-shares", "the same, shares of cores and GPUs exact", "table"),
        reads="alibaba.read_alibaba_shares",
        recognises="",
    ),
    _format(
        *(
            "table",
            "CSV or Parquet, columns explained by a TOML file",
            "table",
            "write.write_table",
            ".csv",
            ".parquet",
        ),
        takes=("mapping", Path),
    ),
)


Reader: TypeAlias = "Plugged | Format[Workload]"


def reader_for(path: Path, reader: Reader | None = None) -> Callable[[Path, ReadOptions], Workload]:
    """Who reads this file: as said, or as an installed package registers for its name, or as its beginning tells."""
    reader = load_reader(reader) if isinstance(reader, str) else reader
    if reader is None:
        reader = plugged_reader(path)
    if isinstance(reader, Format):
        return reader.reader()
    if reader is not None:
        return lambda log, _options: read_with(reader, log)
    return (recognise(path, (SWF, FOREIGN, *FORMATS[1:])) or SWF).reader()


def load_reader(reader: str | None) -> Reader | None:
    """What the text of `--reader` stands for: a format, or a plug-in."""
    if reader is None:
        return None
    if any(reader.partition(":")[0] == known.name for known in FORMATS):
        return named(reader, FORMATS)
    from schedlab.model.plugins import load

    return load("reader", reader)


def write_workload(path: str | os.PathLike[str], workload: Workload, format: str | None = None) -> list[str]:
    """Write jobs in the format that is named, or that the file's name ends in. What it cannot hold is said."""
    from schedlab.workload.losses import unkept

    target = Path(path)
    lost = format_to_write(target, format).write(target, workload)
    return [*unkept(workload), *lost]


def format_to_write(path: Path, name: str | None = None) -> Format[Workload]:
    found = to_write(path, FORMATS) if name is None else named(name, FORMATS)
    if found is None or not found.writes:
        endings = ", ".join(ending for known in FORMATS if known.writes for ending in known.endings)
        hint = f"let the name end in one of {endings}"
        raise InputError("jobs cannot be written in that format", where=str(path), hint=hint)
    return found
