"""Errors of code that users wrote, told so that they find the line."""

from __future__ import annotations

import linecache
import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import timedelta
from math import inf
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

import schedlab
from schedlab import _core
from schedlab.model.errors import DecisionError, PolicyError, SchedlabError
from schedlab.model.workload import Workload

if TYPE_CHECKING:
    from schedlab.engine.build import Chosen

_JOB = re.compile(r"\bjob (\d+)\b")
_OURS = Path(schedlab.__file__).parent
# Packages that we use ourselves: a failure inside them need not be a user's.
_LIBRARIES = ("numpy", "pyarrow", "polars")


def explained_failure(
    error: Exception,
    choice: Chosen,
    view: _core.View,
    simulation: _core.Simulation,
    workload: Workload,
    names: Mapping[int, str],
) -> SchedlabError | None:
    """What went wrong where and when; None if no code of a user's had a part in it.

    `names` has the ids of jobs as their log writes them, where those are not numbers.
    """
    if isinstance(error, SchedlabError) and not isinstance(error, _core.DecisionError):
        return error  # of a decider elsewhere, which has said it all
    line = _their_line(error.__traceback__)
    observer = getattr(error, "observer", "")
    last = simulation.last_job
    job = f", job {names.get(last, last)} being the last one dealt with" if last >= 0 else ""
    if isinstance(error, _core.DecisionError):
        who = f"observer {observer}: " if observer else ""
        said, about = _JOB.subn(lambda job: f"job {names.get(int(job[1]), job[1])}", str(error))
        under = "" if about else f"\n  under {choice.name}{job}"
        return DecisionError(f"{who}{said}{under}" + (f"\n  {line}" if line else ""))
    if not line:
        return None
    clock = f"{view.now:.15g} s"
    if workload.origin is not None:
        with suppress(OverflowError):  # no date is so late, or nothing has happened yet
            clock += f" ({workload.origin + timedelta(seconds=view.now):%Y-%m-%d %H:%M:%S})"
    who = f"observer {observer}" if observer else choice.name
    return PolicyError(
        f"{who}: {type(error).__name__}: {error}\n  {line}\n  at simulated time {clock}{job}",
        time=view.now,
        job=simulation.last_job,
    )


def explained_before_the_run(error: Exception) -> Exception:
    """The same of an observer that was asked before anything happened; the error itself, if it was not a user's."""
    line = _their_line(error.__traceback__)
    if isinstance(error, SchedlabError) or not line:
        return error
    observer = getattr(error, "observer", "")
    return PolicyError(f"observer {observer}: {type(error).__name__}: {error}\n  {line}", time=-inf, job=-1)


def _their_line(trace: TracebackType | None) -> str:
    """The deepest line that is neither ours nor of a library that we use."""
    found = ""
    while trace is not None:
        file, line = trace.tb_frame.f_code.co_filename, trace.tb_lineno
        if not _is_ours(Path(file)):
            name, text = trace.tb_frame.f_code.co_name, linecache.getline(file, line).strip()
            found = f"{file}, line {line}, in {name}: {text}"
        trace = trace.tb_next
    return found


def _is_ours(file: Path) -> bool:
    if file.is_relative_to(_OURS):
        return True
    return "site-packages" in file.parts and any(name in file.parts for name in _LIBRARIES)
