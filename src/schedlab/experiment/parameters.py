"""What can be said in a study file: the parameters of a run, and which values they take."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

from schedlab.model.errors import InputError
from schedlab.model.units import parse_duration, parse_share
from schedlab.workload.options import CLEANINGS
from schedlab.workload.transform.steps import Steps

Value = str | int | float | bool


@dataclass(frozen=True, slots=True)
class Parameter:
    """One of them: in which table it stands, what it means, and a function that raises where a value is wrong."""

    table: str  # "workload" or "run"
    meaning: str
    check: Callable[[Any], None]


def _text(value: Any) -> None:
    if not isinstance(value, str) or not value.strip():
        raise InputError("expected a text")


def _flag(value: Any) -> None:
    if not isinstance(value, bool):
        raise InputError("expected true or false")


def _number(value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value <= 0:
        raise InputError("expected a number above 0")


def _whole(value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise InputError("expected a whole number of at least 1")


def _duration(value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise InputError('expected a duration such as "4h"')
    parse_duration(value)


def _until(value: Any) -> None:
    if value != "phases":
        _duration(value)


def _share(value: Any) -> None:
    if isinstance(value, bool):
        raise InputError("expected a share such as 0.5")
    parse_share(value)


def _one_of(*known: str) -> Callable[[Any], None]:
    def check(value: Any) -> None:
        if value not in known:
            raise InputError(f"expected {', '.join(known[:-1])} or {known[-1]}")

    return check


def _limit(value: Any) -> None:
    if value != "runtime":
        _duration(value)


def _policy(value: Any) -> None:
    from schedlab.policy.spec import parse_policy

    _text(value)
    parse_policy(value.replace("{seed}", "0"))


def _cluster(value: Any) -> None:
    from schedlab.cluster.read import read_cluster

    _text(value)
    read_cluster(value)


def _observers(value: Any) -> None:
    from schedlab.engine.scenario import load_observers

    _text(value)
    load_observers([value.replace("{seed}", "0")])


def _heatmap(value: Any) -> None:
    from schedlab.heatmap.read import read_heatmap

    _text(value)
    read_heatmap(value)


def _estimate(value: Any) -> None:
    from schedlab.policy.estimates import parse_estimate

    _text(value)
    parse_estimate(value)


def _pressure(value: Any) -> None:
    from schedlab.generate.prepare import parse_pressure

    parse_pressure(value)


def _model(value: Any) -> None:
    from schedlab.generate.store import read_model

    _text(value)
    read_model(value)


def _workflows(value: Any) -> None:
    from schedlab.generate.arrivals import parse_mix

    _text(value)
    parse_mix(value)


def _handling(value: Any) -> None:
    from schedlab.workflow.handling_text import parse_handling

    _text(value)
    parse_handling(value)


def _period(value: Any) -> None:
    if value != "none":
        _duration(value)


def _part(value: Any) -> None:
    _share(value)
    if parse_share(value) > 1:
        raise InputError("expected a share from 0 to 1, such as 0.05")


def _pattern(value: Any) -> None:
    from schedlab.model.plugins import load

    _text(value)
    load("pattern", value)


_STEP_CHECKS: dict[str, Callable[[Any], None]] = {
    **dict.fromkeys(("remove_flurries", "shuffle"), _flag),
    **dict.fromkeys(("sample_users", "thin", "duplicate"), _share),
    "stretch": _number,
    **dict.fromkeys(("cores_per_node", "machine", "machine_from"), _whole),
    "round_limits": _duration,
}

PARAMETERS: dict[str, Parameter] = {
    "log": Parameter("workload", "the file of a log", _text),
    "reader": Parameter("workload", "its format, where it does not tell", _text),
    "clean": Parameter("workload", "what is left out of it", _one_of(*CLEANINGS)),
    "procs": Parameter("workload", "which number of processors counts", _one_of("requested", "allocated")),
    "missing_limit": Parameter("workload", "the limit of a job without one", _limit),
    "bad_rows": Parameter("workload", "what becomes of rows that cannot be read", _one_of("fail", "drop")),
    "requests": Parameter("workload", "how much of the requests counts", _one_of("auto", "cores", "full")),
    "model": Parameter("workload", "a model file, or a model in words", _model),
    "jobs": Parameter("workload", "how many jobs the model makes", _whole),
    "span": Parameter("workload", "how much time they cover", _duration),
    **{
        step.name: Parameter("workload", f"the transformation {step.name}", _STEP_CHECKS.get(step.name, _text))
        for step in fields(Steps)
    },
    "load": Parameter("workload", "the offered load, to which times between submittals are scaled", _number),
    "pressure": Parameter("workload", "the job pressure that is held: 1.0, or a band such as 1.0..1.1", _pressure),
    "fill": Parameter("workload", "the wait for which the machine is filled first", _duration),
    "fill_cores": Parameter("workload", "the size of the jobs that fill it", _whole),
    "stabilisation": Parameter("workload", "the time after the fill that does not count", _duration),
    "experiment": Parameter("workload", "the time that counts", _duration),
    "drain": Parameter("workload", "the time after that", _duration),
    "workflows": Parameter("workload", "which workflows come: montage.json, or several with weights", _workflows),
    "handling": Parameter("workload", "how they are submitted: pilot, chained, aware …", _handling),
    "period": Parameter("workload", "the time from one to the next; 0: none come", _period),
    "share": Parameter("workload", "which part of the core-hours they are; 0: none come", _part),
    "inject": Parameter("workload", "a function that says which other jobs are put in, and when", _pattern),
    "cluster": Parameter("run", "the machine", _cluster),
    "policy": Parameter("run", "the scheduler", _policy),
    "estimate": Parameter("run", "how long jobs are believed to run", _estimate),
    "overrun": Parameter("run", "what happens to a job at its limit", _one_of("kill", "run")),
    "passes": Parameter("run", "how often the scheduler is asked", _one_of("instant", "event")),
    "dependencies": Parameter("run", "whether jobs wait for preceding jobs", _one_of("ignore", "follow")),
    "beliefs": Parameter("run", "whether estimated ends follow rates", _one_of("limit", "rates")),
    "until": Parameter("run", "when it ends: a time, or phases, the end of the last one", _until),
    "observe": Parameter("run", "an observer, such as failures(mtbf=1e6), or a list of several", _observers),
    "heatmap": Parameter("run", "how fast jobs run beside one another: the observer interference(heatmap)", _heatmap),
}
