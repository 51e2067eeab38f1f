"""What `schedlab transform` reads from its options, and what it writes."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from schedlab.model.errors import InputError
from schedlab.model.units import parse_duration
from schedlab.model.workload import LABELLED, JobBatch, Workload
from schedlab.workload.flurries import FLURRY_COLUMNS, Flurry, flurry_rows

_UNFIT = re.compile(r"[^\w.@+-]")  # for a file name
_ENDINGS = re.compile(r"((?:\.[A-Za-z]\w*)?(?:\.(?:gz|zst))?)$")


class Measured:
    """A workload whose size is measured by each pass over it."""

    def __init__(self, workload: Workload, machine: int | None = None) -> None:
        from schedlab.workload.transform.machine import processors

        self.jobs, self._first, self._last, self._work = 0, 0.0, 0.0, 0.0
        self._machine = machine or processors(workload)
        self._inner = workload
        self.workload = replace(workload, source=self._batches)

    def _batches(self) -> Iterator[JobBatch]:
        from schedlab.workload.transform.select import cores

        jobs, first, last, work = 0, math.inf, 0.0, 0.0
        for batch in self._inner.batches():
            if len(batch):
                jobs += len(batch)
                first, last = min(first, float(batch.submit[0])), float(batch.submit[-1])
                work += float(cores(batch, self._inner) @ batch.runtime)
            yield batch
        self.jobs, self._first, self._last, self._work = jobs, first, last, work

    def __str__(self) -> str:
        span = self._last - self._first
        if not self.jobs:
            return "no jobs"
        said = f"{self.jobs:,} jobs in {span / 86_400:,.1f} days"
        return f"{said}, offered load {self._work / (self._machine * span):.3f}" if self._machine and span else said


def read(log: str, options: dict[str, Any]) -> Workload:
    from schedlab.cli.progress import ReadingBar, watched
    from schedlab.workload.read import read_workload

    with ReadingBar(Path(log).name) as bar:
        return read_workload(log, in_memory=False, progress=bar if watched(quiet=False) else None, **options)


def parse_window(text: str) -> tuple[float | datetime | None, float | datetime | None]:
    """`30d..60d`, `2012-03-01..2012-04-01`, `90d..`, `..2012-03-01T12:00`."""
    first, last = _ends(text, "--window")
    return _moment(first), _moment(last)


def parse_range(text: str, option: str) -> tuple[float, float]:
    """`1..64` or `1-64` cores; `1m..`, `..2h` for run times; `8` is 8 and nothing else."""
    first, last = _ends(text.replace("-", "..", 1), option)
    amount = parse_duration if option == "--runtimes" else _count
    low = amount(first, where=option) if first else 0.0
    return low, amount(last, where=option) if last else math.inf


def parse_estimates(text: str) -> tuple[float, bool]:
    """The factor, and whether it is the upper end of a random one."""
    if text == "exact":
        return 1.0, False
    number = text.removeprefix("f-model:")
    try:
        return float(number), number != text
    except ValueError:
        hint = "exact, a factor such as 2, or f-model:5"
        raise InputError(f"'{text}' is no way to estimate", where="--estimates", hint=hint) from None


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
    from schedlab.cli.output import say, warn
    from schedlab.workload.formats import format_to_write, write_workload

    format_to_write(out)  # a name that says nothing is refused before anything is done
    if split is None:
        _refuse_existing([out], force)
    parts = {out: jobs} if split is None else _parts(jobs, out, split)
    _refuse_existing(parts, force)
    for number, (path, part) in enumerate(parts.items()):
        after = Measured(part)
        lost = write_workload(path, after.workload)
        if not number:
            say(f"before: {before}")
        if not after.jobs:
            warn(f"no job is left in {path}")
        say(f"{path}: {after}")
        for sentence in lost:
            warn(f"{path}: {sentence}")
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


def _refuse_existing(paths: Sequence[Path] | dict[Path, Workload], force: bool) -> None:
    there = [path for path in paths if path.exists() and not path.is_dir()]
    if there and not force:
        hint = "choose another name, or replace it with --force"
        raise InputError("is already there", where=str(there[0]), hint=hint)


def _differences(after: Workload, before: Workload) -> list[tuple[str, int]]:
    """What the transformations have counted, beyond what reading had."""
    found = []
    for kind in ("dropped", "filled"):
        was: dict[str, int] = getattr(before.report, kind)
        found += [(what, n - was.get(what, 0)) for what, n in getattr(after.report, kind).items()]
    return [(what, count) for what, count in found if count]


def _ends(text: str, option: str) -> tuple[str, str]:
    first, dots, last = (part.strip() for part in text.partition(".."))
    if not first and not last:
        raise InputError(f"'{text}' is no range", where=option, hint="write FROM..TO, FROM.. or ..TO")
    return (first, last) if dots else (first, first)


def _moment(text: str) -> float | datetime | None:
    if not text:
        return None
    if not re.match(r"\d{4}-\d\d", text):
        return parse_duration(text, where="--window")
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        raise InputError(f"'{text}' is not a date", where="--window", hint="write 2012-03-01, or with T12:00") from None
    return when if when.tzinfo else when.replace(tzinfo=UTC)


def _count(text: str, *, where: str) -> float:
    if not text.isdigit():
        raise InputError(f"'{text}' is not a number of cores", where=where, hint="write 1..64")
    return float(text)
