"""What `schedlab transform` prints and writes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from schedlab.model.errors import InputError
from schedlab.model.workload import LABELLED, JobBatch, Workload
from schedlab.workload.flurries import FLURRY_COLUMNS, Flurry, flurry_rows
from schedlab.workload.offered import Offered

_UNFIT = re.compile(r"[^\w.@+-]")  # for a file name
_ENDINGS = re.compile(r"((?:\.[A-Za-z]\w*)?(?:\.(?:gz|zst))?)$")


class Measured:
    """A workload whose size is measured by each pass over it."""

    def __init__(self, workload: Workload, machine: int | None = None) -> None:
        from schedlab.workload.transform.machine import processors

        self.found = Offered()
        self._machine = machine or processors(workload)
        self._inner = workload
        self.workload = replace(workload, source=self._batches)

    def _batches(self) -> Iterator[JobBatch]:
        found = Offered()
        for batch in self._inner.batches():
            found.add(batch, self._inner.requests)
            yield batch
        self.found = found

    def __str__(self) -> str:
        found = self.found
        if not found.jobs:
            return "no jobs"
        said = f"{found.jobs:,} jobs in {found.span / 86_400:,.1f} days"
        load = found.load(self._machine) if self._machine else None
        return said if load is None else f"{said}, offered load {load:.3f}"


def read(log: str, options: dict[str, Any]) -> Workload:
    from schedlab.cli.progress import ReadingBar, watched
    from schedlab.workload.read import read_workload

    with ReadingBar(Path(log).name) as bar:
        progress = bar if watched(quiet=False) else None
        return read_workload(log, in_memory=False, progress=progress, **options)


def print_flurries(flurries: Sequence[Flurry], workload: Workload) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    from schedlab.cli.output import console, say

    if not flurries:
        say("no flurries")
        return
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for column in FLURRY_COLUMNS:
        table.add_column(column, justify="left" if column in ("user", "begin") else "right")
    for row in flurry_rows(flurries, workload.origin):
        table.add_row(*row)
    console().print(table)


def write(jobs: Workload, out: Path, split: str | None, before: Measured, *, force: bool) -> None:
    """Write the jobs into one file or several, and say what came of it."""
    from schedlab.cli.output import check_new_file, say, warn
    from schedlab.workload.formats import format_to_write, write_workload
    from schedlab.workload.notes import reading_notes

    format_to_write(out)  # a name that says nothing is refused before anything is done
    if split is None:
        check_new_file(out, force)
    parts = {out: jobs} if split is None else _parts(jobs, out, split)
    for path in parts:
        check_new_file(path, force)
    for number, (path, part) in enumerate(parts.items()):
        after = Measured(part)
        lost = write_workload(path, after.workload)
        if not number:
            say(f"before: {before}")
            for note in reading_notes(before.workload.report.to_dict()):
                say(f"  {note}", "dim")
        if not after.found.jobs:
            warn(f"no job is left in {path}")
        say(f"{path}: {after}")
        for sentence in lost:
            say(f"  lost: {sentence}", "yellow")
        for what, count in _differences(part, before.workload):
            say(f"  {count:,} {what}")


def _parts(jobs: Workload, out: Path, split: str) -> dict[Path, Workload]:
    from schedlab.workload.transform import split_by, split_time

    if split.isdigit():
        found = {str(number): part for number, part in enumerate(split_time(jobs, int(split)), 1)}
    elif split in LABELLED:
        found = split_by(jobs, split)
    else:
        hint = f"a number of parts, or one of {', '.join(LABELLED)}"
        raise InputError(f"a log cannot be split by '{split}'", where="--split", hint=hint)
    ending = _ENDINGS.search(out.name)
    stem, rest = (out.name[: ending.start()], ending[1]) if ending else (out.name, "")
    paths = {out.with_name(f"{stem}-{_UNFIT.sub('_', name)}{rest}"): part for name, part in found.items()}
    if len(paths) < len(found):
        raise InputError("two parts would have the same file name", where="--split")
    return paths


def _differences(after: Workload, before: Workload) -> list[tuple[str, int]]:
    """What the transformations have counted, beyond what reading had."""
    found = []
    for kind in ("dropped", "filled"):
        was: dict[str, int] = getattr(before.report, kind)
        found += [(what, n - was.get(what, 0)) for what, n in getattr(after.report, kind).items()]
    return [(what, count) for what, count in found if count]
