"""One log on one machine under any number of policies: what `schedlab run` does, for everybody."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from schedlab.analysis.common_jobs import missing_jobs
from schedlab.analysis.compare import (
    Comparison,
    Row,
    beside,
    compare,
    observed,
    of_workflows,
    summary_of,
    with_improvement,
)
from schedlab.engine.checkpoint import Checkpoint, checkpoint_beside
from schedlab.engine.folder import check_target, holds_run
from schedlab.engine.scenario import Scenario
from schedlab.engine.simulate import simulate
from schedlab.engine.store import read_run
from schedlab.model.errors import InputError, InputErrors
from schedlab.model.run import Run
from schedlab.policy.spec import PolicySpec, parse_policy


@dataclass(frozen=True, slots=True)
class Result:
    """What is kept of a finished run; the rest is in its folder."""

    policy: str
    folder: Path | None
    summary: dict[str, Any]
    config: dict[str, Any]  # run.json
    seconds: float
    missing: str = ""  # which jobs did not start, see `missing_jobs`


def parse_policies(texts: Sequence[str]) -> list[PolicySpec]:
    """All policies, or all that is wrong with them."""
    found: list[PolicySpec] = []
    errors: list[InputError] = []
    for text in texts:
        try:
            policy = parse_policy(text)
        except InputError as error:
            errors.append(error)
            continue
        if policy in found:
            same = "" if text == policy.text else f" (it is the same as {policy})"
            errors.append(InputError(f"given twice{same}", where=f"policy '{text}'", hint="name each policy once"))
        found.append(policy)
    _raise(errors)
    return found


def run_folders(
    out: Path | None, policies: Sequence[PolicySpec], *, force: bool = False, go_on: bool = False
) -> list[Path | None]:
    """The folder of each policy: `out` itself for a single one, unless `out` holds runs; else one inside it.

    To go on with runs that were interrupted, some of them may be there already.
    """
    if out is None:
        return [None] * len(policies)
    if len(policies) == 1 and not _holds_runs(out):
        folders = [out]
    elif holds_run(out):
        hint = "choose another folder: with several policies each gets one inside it"
        raise InputError("is itself the folder of a run", where=str(out), hint=hint)
    else:
        folders = [out / policy.folder for policy in policies]
    errors: list[InputError] = []
    for folder in folders:
        if go_on and holds_run(folder):
            continue
        try:
            check_target(folder, force)
        except InputError as error:
            errors.append(error)
    if errors and any((checkpoint_beside(folder) / "checkpoint.json").is_file() for folder in folders):
        hint = f"to go on with what was interrupted: schedlab resume {out}; else "
        errors = [InputError(error.message, where=error.where, hint=hint + error.hint) for error in errors]
    _raise(errors)
    return list(folders)


def scenarios(
    common: Scenario,
    policies: Sequence[PolicySpec],
    folders: Sequence[Path | None],
    *,
    checkpoint_every: float | None = None,
    recipe: Mapping[str, Any] | None = None,
) -> list[Scenario]:
    """The scenario of each policy. `recipe` tells `schedlab resume` how to go on."""
    if checkpoint_every is not None and None in folders:
        raise InputError("checkpoints need a folder for the results", hint="say where: --out DIR, or out=")
    return [
        replace(
            common,
            policy=policy,
            out=folder,
            checkpoint=None
            if checkpoint_every is None or folder is None
            else Checkpoint(checkpoint_beside(folder), checkpoint_every, dict(recipe or {})),
        )
        for policy, folder in zip(policies, folders, strict=True)
    ]


def run_all(
    scenarios: Sequence[Scenario],
    *,
    go_on: bool = False,
    tau: float | None = None,
    run: Callable[[Scenario], Run] = simulate,
) -> Iterator[Result]:
    """One after the other. To go on, what is finished is taken as it is, and what a mistake has left is replaced."""
    for scenario in scenarios:
        folder = None if scenario.out is None else Path(scenario.out)
        if folder is not None and go_on and holds_run(folder):
            before = read_run(folder)
            if not before.incomplete:
                yield _result(scenario, before, tau, again=True)
                continue
            scenario = replace(scenario, force=True)
        yield _result(scenario, run(scenario), tau)


def _result(scenario: Scenario, run: Run, tau: float | None, *, again: bool = False) -> Result:
    seconds = 0.0 if again else float(run.config.get("timing", {}).get("engine", 0.0))
    folder = None if scenario.out is None else Path(scenario.out)
    return Result(run.config["policy"], folder, summary_of(run, tau=tau), run.config, seconds, missing_jobs(run))


def compared(results: Sequence[Result], tau: float | None = None) -> Comparison:
    """Side by side; where they did not start the same jobs and are kept, over the jobs that all of them started."""
    same = len({result.missing for result in results if result.summary["started"]}) < 2
    folders = [result.folder for result in results if result.folder is not None]
    together = compare([read_run(folder) for folder in folders], tau=tau) if not same and folders else None
    summaries = [row.summary for row in together.rows] if together else [result.summary for result in results]
    rows = tuple(Row(result.policy, summary) for result, summary in zip(results, summaries, strict=True))
    common = together.common if together else None
    rows = tuple(with_improvement(rows, [result.config for result in results], same_jobs=True))
    return Comparison(
        rows, metrics=(*beside(rows), *of_workflows(rows), *observed(rows)), same_started=same, common=common
    )


def _holds_runs(folder: Path) -> bool:
    return folder.is_dir() and not holds_run(folder) and any(holds_run(entry) for entry in folder.iterdir())


def _raise(errors: Sequence[InputError]) -> None:
    if errors:
        raise errors[0] if len(errors) == 1 else InputErrors(errors)
