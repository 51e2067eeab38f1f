"""Dependencies in the words of `sbatch`, such as `afterok:12:13,after:14+5`. What they mean: docs/formats/slurm.md."""

from __future__ import annotations

from schedlab.model.predecessors import STARTED, Predecessor, Predecessors

_KINDS = ("afterany", "afterok", "afternotok", "after")  # of each of CONDITIONS


def dependency_texts(before: Predecessors) -> list[str]:
    """For each job what `--dependency` says; "" if it waits for nobody."""
    return [
        ("?" if suffices else ",").join(map(_condition, some))
        for some, suffices in zip(before.lists(), before.any.tolist(), strict=True)
    ]


def _condition(predecessor: Predecessor) -> str:
    minutes = predecessor.delay / 60
    later = f"+{minutes:.0f}" if predecessor.condition == STARTED and minutes and minutes.is_integer() else ""
    return f"{_KINDS[predecessor.condition]}:{predecessor.job}{later}"
