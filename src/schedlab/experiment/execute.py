"""One run of a study: made, simulated, measured, and its result put where the study keeps it."""

from __future__ import annotations

import json
import math
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from schedlab.analysis.common_jobs import missing_jobs
from schedlab.analysis.compare import metric_called, summary_of
from schedlab.analysis.trim import InPhase, Selection, Trim
from schedlab.engine.scenario import Scenario
from schedlab.engine.simulate import simulate
from schedlab.experiment.checkpoint import StudyCheckpoint
from schedlab.experiment.folder import checkpoint_folder, file_hashes, result_file, run_folder
from schedlab.experiment.inputs import Inputs
from schedlab.experiment.meter import DECIDING, Meter, warm_up
from schedlab.experiment.plan import PlannedRun
from schedlab.experiment.workflow_file import write_workflows
from schedlab.files.whole_file import whole_file
from schedlab.model.cluster import Cluster
from schedlab.model.run import Run
from schedlab.model.version import VERSION
from schedlab.model.workload import Workload

REPORTED = ("kept", "dropped", "filled", "unkept", "for_slurm")  # of what reading the log met
_RULES = ("estimate", "overrun", "passes", "dependencies", "beliefs", "requests", "heatmap", "until")


def execute(run: PlannedRun, asked: dict[str, Any], folder: Path, inputs: Inputs) -> dict[str, Any]:
    """Simulate one run into `folder` (of the study). Its result file, written last, is the proof that it is whole.

    `asked` is what the study wants of every run: keep, phase, trim, metrics, and how often a checkpoint is made. One
    that is there is taken up. What is returned has a `note` besides, if something is lost.
    """
    warm_up()
    begin = time.perf_counter()
    workload, cluster = inputs.of(run.point, run.seed)
    made = time.perf_counter()
    meter = Meter()
    place = run_folder(folder, run.identity) if asked["keep"] == "tables" else None
    name = asked.get("names", {}).get("policy", {}).get(str(run.point.get("policy", "")), "")
    scenario = scenario_of(run, workload, cluster, place, name)
    checkpoint = _checkpoint(run, asked, folder)
    simulated = simulate(replace(scenario, checkpoint=checkpoint, performance=DECIDING in asked["metrics"]))
    if place is None and write_workflows(simulated, selection(asked), run_folder(folder, run.identity)):
        place = run_folder(folder, run.identity)
    result = run.to_dict() | {
        "schedlab": VERSION,
        "workload": workload.name,
        "cluster": cluster.name,
        "not_counted": simulated.workload.get("not_counted", {}),
        "report": {name: simulated.workload["report"][name] for name in REPORTED},
        "decider": simulated.config.get("decider", {}),
        "summary": _plain(summary_of(simulated, trim=selection(asked))),
        "missing": missing_jobs(simulated, selection(asked)),
        "metrics": _measured(simulated, asked["metrics"]),
        "files": (hashes := {} if place is None else file_hashes(place)),
        "sizes": {name: (place / name).stat().st_size for name in hashes} if place else {},
        "seconds": {
            "workload": made - begin,
            "engine": simulated.config.get("timing", {}).get("engine", 0.0),
            "all": time.perf_counter() - begin,
        },
        # Of one that was taken up, a part: nobody knows the whole.
        "performance": None if checkpoint and checkpoint.taken_up else meter.read(simulated),
    }
    with whole_file(result_file(folder, run.identity)) as file:
        file.write((json.dumps(result, ensure_ascii=False, allow_nan=False) + "\n").encode())
    if checkpoint is not None:
        checkpoint.remove()
    return result | {"note": checkpoint.note if checkpoint else ""}


def _checkpoint(run: PlannedRun, asked: dict[str, Any], folder: Path) -> StudyCheckpoint | None:
    """Also where none is asked for any more, if there is one."""
    every = asked.get("checkpoint_every")
    if every is None and not checkpoint_folder(folder, run.identity).is_dir():
        return None
    return StudyCheckpoint(folder, run.identity, math.inf if every is None else every)


def scenario_of(
    run: PlannedRun, workload: Workload, cluster: Cluster, out: Path | None = None, name: str = ""
) -> Scenario:
    """What one run of a study simulates. `{seed}` in its texts stands for the seed of the repetition."""
    rules: dict[str, Any] = {name: run.point[name] for name in _RULES if name in run.point}
    texts = {name: str(run.point.get(name, "")).replace("{seed}", str(run.seed)) for name in ("policy", "observe")}
    return Scenario(
        workload,
        cluster,
        texts["policy"],
        observers=[texts["observe"]],
        out=out,
        force=True,  # what an earlier attempt left
        repetition=run.repetition,
        name=name,
        **rules,
    )


def selection(asked: dict[str, Any]) -> Selection | None:
    """Which jobs of a run count."""
    if asked["phase"] is not None:
        return InPhase(asked["phase"])
    return None if asked["trim"] is None else Trim.parse(asked["trim"])


def _measured(run: Run, metrics: list[str]) -> dict[str, float | None]:
    """The metrics that no summary has: functions in Python files or packages."""
    own = [metric for metric in metrics if not metric_called(metric)]
    if not own:
        return {}
    from schedlab.analysis.measure import measure
    from schedlab.model.plugins import load

    return {name: value for name, (value, _) in measure(run, [load("metric", text) for text in own]).items()}


def _plain(summary: dict[str, Any]) -> dict[str, Any]:
    """As JSON gives it back."""
    plain: dict[str, Any] = json.loads(json.dumps(summary))
    return plain
