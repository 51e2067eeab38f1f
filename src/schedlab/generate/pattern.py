"""A pattern of one's own: `inject = "mine.py:every_night"`."""

from __future__ import annotations

from schedlab.generate.triggers.inject import inject
from schedlab.model.errors import InputError
from schedlab.model.plugins import load
from schedlab.model.workload import Workload


def with_pattern(workload: Workload, text: str, seed: int = 0) -> Workload:
    """The workload with what the function of that name puts into it."""
    plugin = load("pattern", text)
    with plugin.blamed():
        answer = plugin.make()(workload)
    if not (isinstance(answer, tuple) and len(answer) == 2 and hasattr(answer[0], "next_time")):
        hint = "return a pair, such as Periodic(every=3600), JobTemplate(name='mine', runtime=60)"
        raise InputError(f"gave {type(answer).__name__}, not a trigger and what it puts in", where=text, hint=hint)
    trigger, what = answer
    return inject(workload, trigger, what, seed=seed, name=workload.name)
