"""What the repetitions of a study and their confidence intervals cover, and what they do not, in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from schedlab.analysis.study import copies
from schedlab.generate.empirical.model import Empirical
from schedlab.generate.store import read_model
from schedlab.generate.weeks.model import WEEK, Weeks
from schedlab.model.errors import SchedlabError

if TYPE_CHECKING:
    import polars as pl

SLURM = "slurm-real("  # the policy whose repetitions differ in nothing but their phase
_NOT = (
    "They do not cover whether another year, another machine or another site would be like it. Users do not react: "
    "they submit at the generated times, however long they wait under a policy."
)


def coverage(models: Iterable[Any], repetitions: int) -> list[str]:
    """What the intervals over repetitions of these models cover; nothing where there are none."""
    found = [_covered(str(model)) for model in models] if repetitions > 1 else []
    return [*found, _NOT] if found else []


def coverage_of_logs(points: Sequence[Mapping[str, Any]], repetitions: int) -> list[str]:
    """What the intervals over repetitions on the logs of these points cover; nothing where there are none."""
    logs = [Path(text).name for text in dict.fromkeys(str(point["log"]) for point in points if "log" in point)]
    if repetitions < 2 or not logs:
        return []
    slurm = [point for point in points if str(point.get("policy", "")).startswith(SLURM)]
    drawn = ["the phase of Slurm's loops"] if slurm else []
    if len(slurm) < len(points) or any(point.get("observe", "none") != "none" for point in slurm):
        drawn.append("what is drawn anew in each repetition")
    where = f"this one log, {logs[0]}" if len(logs) == 1 else f"these {len(logs)} logs"
    return [
        f"The intervals cover only {' and '.join(drawn)}, on {where}. They do not cover whether other jobs (another "
        "month, another site) would be like it."
    ]


def copies_told(table: pl.DataFrame, *, costs: bool) -> str:
    """A sentence where repetitions are the same schedule; nothing where there are none. `costs`: these are told too."""
    found = copies(table)
    if not found:
        return ""
    every = len(found) == table["group"].n_unique()
    whose = "each" if every else ", ".join(found) if len(found) <= 3 else f"{len(found):,} groups"
    return (
        f"The {max(found.values()):,} repetitions of {whose} are the same schedule (nothing random in it): "
        f"they count once{', except for what they cost' if costs else ''}."
    )


def _covered(text: str) -> str:
    name = Path(text).name if Path(text).suffix else text
    drawn = f"The intervals cover the drawing of jobs from the model {name}"
    try:
        model = read_model(text)
    except SchedlabError:  # moved away since: the study has its results all the same
        return f"{drawn}, and nothing else."
    if isinstance(model, Weeks):
        return f"{drawn} of one log, {model.source.get('name', 'unknown')}: {_weeks(model)}"
    if isinstance(model, Empirical):
        return (
            f"{drawn} of one log, {model.source.get('name', 'unknown')}: evenly from its distributions, so that "
            "repetitions differ less than years do. Such jobs may wait much longer or shorter than those of the log: "
            "the first line of schedlab fit says whether they do."
        )
    return f"{drawn}: its assumptions are not in them."


def _weeks(model: Weeks) -> str:
    steps = f"{model.steps} {'weeks' if model.step == WEEK else 'days'}"
    if model.replacement:
        return (
            f"which of its {steps} come, and in which order, drawn with replacement: some come more than once, others "
            "not at all."
        )
    return (
        f"in which order its {steps} come, and which of them if a repetition is shorter than the log. Repetitions as "
        "long as the log all have the same ones, in another order: they differ less than years do "
        "(schedlab fit --with-replacement makes a model whose repetitions differ more)."
    )
