"""The workflows of a workload in words, as commands and study files have them."""

from __future__ import annotations

import csv
import math
from functools import lru_cache
from pathlib import Path
from typing import Any

from schedlab.files.bytestream import plain_name, text_of
from schedlab.generate.workflows import Arrivals, with_workflows
from schedlab.model.errors import InputError, InputErrors
from schedlab.model.units import parse_duration, parse_share
from schedlab.model.workflow import Workflow
from schedlab.model.workload import JobBatch, Workload
from schedlab.workflow.handling import handled
from schedlab.workflow.handling_text import parse_handling
from schedlab.workflow.mix import Mix, split_mix

HANDLING = "chained"
_COLUMNS = ("time", "workflow")


def parse_arrivals(
    workflows: str,
    handling: str = HANDLING,
    period: str | float | None = None,
    share: str | float | None = None,
    where: str = "workflows",
) -> Arrivals:
    """Workflows every `period`, as a `share` of the work, or at the times of a CSV file that is named instead."""
    mix, times = parse_mix(workflows, where)
    option = "--" if where.startswith("--") else ""
    how = parse_handling(handling, f"{option}handling")
    for workflow in mix.workflows:
        handled(workflow, how, f"{option}handling")
    often = None if period is None else parse_period(period, f"{option}period")
    part = None if share is None else parse_share(share, where=f"{option}share")
    if times and (often or part):
        hint = "leave out period and share"
        raise InputError("the file says when workflows come", where=workflows, hint=hint)
    if times:
        return Arrivals(mix=mix, handling=str(how), times=times)
    return Arrivals(mix=mix, handling=str(how), period=often, share=part)


def parse_period(value: str | float, where: str = "") -> float:
    """Seconds; 0 and "none" are none."""
    return 0.0 if value == "none" else parse_duration(value, where=where)


def parse_mix(text: str, where: str = "workflows") -> tuple[Mix, list[tuple[float, int]]]:
    """The workflows, and when each of them comes, if it is a file that says that."""
    if is_list(text):
        return _listed(Path(text.strip()))
    parts = split_mix(text, where)
    found = [_workflow(named, _mark(named)) for _, named in parts]
    return Mix(found, [1.0 if weight is None else weight for weight, _ in parts]), []


def is_list(text: str) -> bool:
    """Whether it names a table of times and workflows."""
    return plain_name(Path(text.strip())).casefold().endswith(".csv")


def files_of_mix(text: str) -> list[str]:
    """The files that are read for it."""
    if not is_list(text):
        return [file for _, named in split_mix(text) if (file := _file(named))]
    path = Path(text.strip())
    named = [str(row.get("workflow") or "").strip() for row in _rows(path)] if path.is_file() else []
    return [str(path), *dict.fromkeys(file for one in named if (file := _file(_beside(path, one))))]


def only_workflows(workflows: str, handling: str = HANDLING, where: str = "workflows") -> Workload:
    """These workflows alone, each once at second 0; or as the CSV file has them that is named."""
    mix, times = parse_mix(workflows, where)
    name = " and ".join(workflow.name for workflow in mix.workflows[:3])
    empty = Workload(name, lambda: iter((JobBatch.of(submit=[], runtime=[]),)))
    how = parse_handling(handling, where)
    arrivals = Arrivals(mix=mix, handling=str(how), times=times or [(0.0, kind) for kind in range(len(mix.workflows))])
    return with_workflows(empty, arrivals)


def _listed(path: Path) -> tuple[Mix, list[tuple[float, int]]]:
    """`time,workflow` in each line; files are named relative to the list."""
    rows = _rows(path)
    if not rows or not set(_COLUMNS) <= set(rows[0]):
        raise InputError(f"expected the columns {', '.join(_COLUMNS)}", where=str(path), hint="0,montage.json")
    mistakes: list[InputError] = []
    found: dict[str, Workflow] = {}
    times: list[tuple[float, str]] = []
    for line, row in enumerate(rows, 2):
        at = f"{path}:{line}"
        try:
            when, named = _seconds(row, at), _beside(path, str(row["workflow"] or "").strip())
            if named not in found:
                found[named] = _workflow(named, _mark(named))
            times.append((when, named))
        except InputError as error:
            mistakes.append(error)
    if mistakes:
        raise InputErrors(mistakes)
    places = {named: place for place, named in enumerate(found)}
    mix = Mix(list(found.values()), [1.0] * len(found))
    return mix, sorted((when, places[named]) for when, named in times)


def _seconds(row: dict[str, Any], where: str) -> float:
    try:
        seconds = float(row["time"])
    except (TypeError, ValueError):
        seconds = math.nan
    if not 0 <= seconds < math.inf:
        raise InputError(f"'{row['time']}' is not a time", where=where, hint="write seconds since second 0")
    return seconds


@lru_cache(maxsize=64)
def _workflow(named: str, _mark: tuple[int, int]) -> Workflow:
    """Runs of a study have the same ones again and again."""
    from schedlab.workflow.read import read_workflow

    return read_workflow(named)


def _mark(named: str) -> tuple[int, int]:
    """Changes with the file."""
    if file := _file(named):
        known = Path(file).stat()
        return known.st_mtime_ns, known.st_size
    return 0, 0


def _file(named: str) -> str:
    """The file of `FILE` or `FILE.toml:NAME`; empty if there is none."""
    return next((name for name in (named, named.rpartition(":")[0]) if name and Path(name).is_file()), "")


def _rows(path: Path) -> list[dict[str, Any]]:
    return list(csv.DictReader(text_of(path).splitlines(), skipinitialspace=True))


def _beside(path: Path, named: str) -> str:
    """A file that is named relative to another one."""
    return str(path.parent / named) if _file(str(path.parent / named)) else named
