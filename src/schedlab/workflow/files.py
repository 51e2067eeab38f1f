"""What the readers of workflows share: the bytes that go from task to task, and names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from schedlab.files.bytestream import plain_name
from schedlab.model.errors import InputError, InputErrors
from schedlab.model.mistakes import printable
from schedlab.model.workflow import Task, Workflow

# A task: its id, the files that it takes and makes, and the ids that it comes after.
Files = tuple[str, Sequence[str], Sequence[str], Sequence[str]]
_ENDINGS = (".json", ".dax.xml", ".xml", ".dax", ".toml", ".events", ".sacct", ".swf", ".sh")
MOST_NAMED = 5


def transfers(tasks: Iterable[Files], sizes: Mapping[str, float]) -> list[dict[str, float]]:
    """Of each task: the bytes that it takes from each that it comes after, of files that one makes and it takes."""
    tasks = list(tasks)
    makers: dict[str, list[str]] = {}
    for id, _, outputs, _ in tasks:
        for file in dict.fromkeys(outputs):
            makers.setdefault(file, []).append(id)
    found = []
    for _, inputs, _, after in tasks:
        parents = set(after)
        taken: dict[str, float] = {}
        for file in dict.fromkeys(inputs):
            for maker in makers.get(file, ()):
                if maker in parents:
                    taken[maker] = taken.get(maker, 0.0) + sizes.get(file, 0.0)
        found.append({parent: taken[parent] for parent in after if taken.get(parent)})
    return found


def workflow_of(
    name: str, tasks: list[Task], where: str, negative_as_zero: bool, at: Callable[[int], str] | None = None
) -> Workflow:
    """As `Workflow.of`. Negative run times, which some generators draw, count as 0 if that is asked for."""
    negative = [task.id for task in tasks if task.runtime < 0]
    if not (negative and negative_as_zero):
        try:
            return Workflow.of(name, tasks, where, at)
        except InputErrors as errors:
            raise _with_remedy(errors, where) if negative else errors from None
    tasks = [replace(task, runtime=max(task.runtime, 0.0), limit=max(task.limit, 0.0)) for task in tasks]
    note = f"negative run times count as 0, of {named_ids(negative)}"
    return replace(Workflow.of(name, tasks, where, at), notes=(note,))


def _with_remedy(errors: InputErrors, where: str) -> InputErrors:
    remedy = InputError(
        "some run times are negative",
        where=where,
        hint="correct them, or let them count as 0: --negative-times zero, read_workflow(…, negative_times='zero')",
    )
    return InputErrors([*errors.errors, remedy])


def file_stem(where: str) -> str:
    """montage of lab/montage.dax.xml.gz."""
    name = Path(where).name[: len(plain_name(Path(where)))]
    return next((name.removesuffix(end) for end in _ENDINGS if name.casefold().endswith(end)), name)


def named_ids(ids: Sequence[str]) -> str:
    """`3 tasks: a, b, c`, and of many the first."""
    more = f" and {len(ids) - MOST_NAMED:,} more" if len(ids) > MOST_NAMED else ""
    listed = ", ".join(printable(id, 60) for id in ids[:MOST_NAMED])
    return f"{len(ids):,} task{'' if len(ids) == 1 else 's'}: {listed}{more}"
