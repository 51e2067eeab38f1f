"""Which mapping a table needs: the one that is given, one beside it, or what the titles of its columns tell."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from schedlab.model.errors import InputError
from schedlab.model.mistakes import printable
from schedlab.workload.options import ReadOptions
from schedlab.workload.table import alibaba, opendc
from schedlab.workload.table.files import TableFile, open_table
from schedlab.workload.table.mapping import TARGETS, Column, Mapping
from schedlab.workload.table.own import is_own, own_mapping
from schedlab.workload.table.toml import read_mapping

KNOWN = ((opendc.NEEDED, opendc.TASKS), ((*alibaba.NEEDED, *alibaba.TIMES), alibaba.PODS))

# What people call things, for a first draft of a mapping. Lower case, without anything but letters and digits.
USUAL = {
    "id": ("jobid", "id", "job", "jobnumber", "taskid", "name"),
    "submit": ("submittime", "submissiontime", "submit", "submitted", "arrival", "arrivaltime", "queuedtime", "dt"),
    "start": ("starttime", "startingtime", "start", "started", "scheduledtime"),
    "end": ("endtime", "finishtime", "end", "stop", "completiontime", "deletiontime"),
    "runtime": ("runtime", "walltime", "elapsed", "executiontime", "duration"),
    "limit": ("timelimit", "requestedtime", "wallclockreq", "walltimelimit", "walllimit", "timereq", "limit"),
    "wait": ("waittime", "waitingtime", "wait"),
    "nodes": ("nodesreq", "nodes", "nnodes", "numnodes", "reqnodes", "nodesalloc"),
    "cores": ("processorsreq", "requestednumberofresources", "requestednumberofprocessors", "ncpus", "ntasks", "cores",
              "cpus", "processors", "cpucount", "corereq"),
    "gpus": ("gpusreq", "gpus", "ngpus", "numgpu", "gpucount"),
    "memory": ("memreq", "memory", "mem", "reqmem", "memcapacity"),
    "user": ("user", "userid", "username", "uid"),
    "group": ("account", "group", "groupid", "project"),
    "queue": ("qos", "queue", "queueid"),
    "partition": ("partition",),
    "features": ("constraint", "constraints", "features"),
    "status": ("state", "status", "success"),
}  # fmt: skip


def find_mapping(path: Path, mapping: Mapping | Path | None, options: ReadOptions) -> tuple[TableFile, Mapping]:
    """The table, and how to read it."""
    if mapping is None:
        mapping = next((beside for beside in _beside(path) if beside.is_file()), None)
    found = read_mapping(mapping) if isinstance(mapping, Path) else mapping
    separator, header = (found.separator, found.header) if found else ("auto", True)
    table = open_table(path, separator=separator, header=header, progress=options.progress)
    if found is None or found in (alibaba.PODS, alibaba.SHARES):
        alibaba.check_times(path, table.titles)
    if found is None:
        found = _told_by_titles(table.titles)
    if found is None:
        raise _unknown(path, table.titles)
    return table, found.fitted(table.titles, str(path))


def _beside(path: Path) -> list[Path]:
    """`jobs.csv.gz.toml`, `jobs.mapping.toml`."""
    plain = path.name
    for ending in (".gz", ".zst", ".csv", ".tsv", ".parquet"):
        plain = plain.removesuffix(ending)
    return [path.with_name(f"{path.name}.toml"), path.with_name(f"{plain}.mapping.toml")]


def _told_by_titles(titles: Sequence[str]) -> Mapping | None:
    if is_own(titles):
        return own_mapping(titles)
    for needed, mapping in KNOWN:
        if set(needed) <= set(titles):
            return mapping
    columns = {name: Column(name) for name in TARGETS if name in titles}
    enough = {"submit", "runtime"} <= columns.keys() or {"submit", "start", "end"} <= columns.keys()
    return Mapping(columns) if enough and columns.keys() & {"cores", "nodes"} else None


def _unknown(path: Path, titles: Sequence[str]) -> InputError:
    lines = "".join(f"\n    {printable(line)}" for line in draft(titles).split("\n"))
    place = f"{_beside(path)[1].name} beside it (or elsewhere: --reader table:FILE)"
    return InputError(
        f"nothing tells which column is what; there are {printable(', '.join(titles))}",
        where=str(path),
        hint=f"write a mapping into {place}, and correct what is guessed wrong:{lines}",
    )


def draft(titles: Sequence[str]) -> str:
    """A mapping to begin with: titles that are like what others use, and gaps for what a job needs."""
    folded = {"".join(char for char in title.casefold() if char.isalnum()): title for title in titles}
    folded.pop("", None)
    guessed: dict[str, str] = {}
    for exactly in (True, False):
        for name, words in USUAL.items():
            fits = [short for word in words for short in folded if short == word or (not exactly and word in short)]
            if name not in guessed and fits:
                guessed[name] = folded.pop(fits[0])
    if not guessed.keys() & {"cores", "nodes"}:
        guessed["cores"] = "…"
    guessed.setdefault("submit", "…")
    if "runtime" not in guessed and not {"start", "end"} <= guessed.keys():
        guessed["runtime"] = "…"
    return '[columns]  # times in seconds; others: limit = { column = …, unit = "min" }\n' + "\n".join(
        f"{name} = {json.dumps(guessed[name], ensure_ascii=False)}" for name in USUAL if name in guessed
    )
