"""Wrong arguments in Python: errors of ours that name the argument, the row, the value and the remedy."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import schedlab as sl
from schedlab.learn.env import SchedulingEnv
from schedlab.model.workload import JobBatch

TABLE = {"submit": [0, 1], "runtime": [5, 5], "count": [1, 1]}
W: Any = sl.Workload.of
TWO: Any = W(submit=[0, 1], runtime=[5, 6])
DEMO = Path(__file__).parents[2] / "examples" / "demo.swf"


def run(workload: Any = TWO, cluster: Any = "4x1", policy: Any = "easy", **options: Any) -> sl.Run:
    return sl.simulate(workload, cluster, policy, **options)


def group(**fields: Any) -> sl.Cluster:
    return sl.Cluster((sl.NodeGroup(**({"name": "g", "count": 2, "resources": {"cores": 2}} | fields)),))


CASES: dict[str, tuple[Callable[[], object], str]] = {
    "polars": (lambda: run(pl.DataFrame(TABLE)), r"a DataFrame is not a workload.*\n.*Workload.of\(submit=table"),
    "pandas": (lambda: run(pd.DataFrame(TABLE)), r"a DataFrame is not a workload.*\n.*Workload.of\(submit=table"),
    "dictionary": (lambda: run({"submit": [0]}), r"{'submit': \[0\]} is not a workload"),
    "nothing": (lambda: run(None), "None is not a workload"),
    "cluster": (lambda: run(cluster=64), "64 is not a cluster.*\n.*64x4"),
    "policy": (lambda: run(policy=3), "3"),
    "option": (lambda: run(polcy="x"), "there is no option 'polcy'.*\n.*did you mean 'policy'"),
    "until": (lambda: run(until=[]), r"until is \[\], expected a number or a text or None"),
    "repetition": (lambda: run(repetition="a"), "repetition is 'a', expected a whole number"),
    "overrun": (lambda: run(overrun="kil"), "overrun cannot be 'kil'.*\n.*did you mean 'kill'"),
    "request": (
        lambda: W(request=[sl.Request()], runtime=[1]),
        "row 0: a Request is not a whole.*\n.*positions",
    ),
    "requests": (lambda: W(requests=[{"cores": 2}], runtime=[1]), "requests has {'cores': 2} at position 0"),
    "which request": (
        lambda: W(request=[0, 3], runtime=[1, 1]),
        "job 2: request is 3, expected a position",
    ),
    "chunk": (lambda: run(W(requests=[sl.Request({"cores": "x"})], runtime=[1])), "a chunk has 'x' of 'cores'"),
    "features": (lambda: run(W(requests=[sl.Request(features=3)], runtime=[1])), "features is 3, expected a set"),  # type: ignore[arg-type]
    "lengths": (lambda: W(submit=[0, 1], runtime=[1]), "different numbers of rows: submit has 2, runtime has 1"),
    "scalar": (lambda: W(submit=0, runtime=[1]), "column submit: 0 is no list of values"),
    "two dimensions": (lambda: W(submit=[[0, 1]], runtime=[1]), "column submit: .* is no list of values"),
    "no runtime": (lambda: W(submit=[0]), "jobs need a runtime"),
    "unknown column": (
        lambda: W(runtime=[1], run_time=[3]),
        "no column 'run_time'.*\n.*did you mean 'runtime'",
    ),
    "text": (lambda: W(runtime=[1, "a"]), "column runtime, row 0: '1' is not a number|row 1: 'a' is not a number"),
    "user": (lambda: W(runtime=[1], user=["bob"]), "column user, row 0: 'bob' is not a whole number.*\n.*labels="),
    "fraction": (lambda: W(runtime=[1, 1], count=[1, 1.5]), "column count, row 1: 1.5 is not a whole number"),
    "no number": (lambda: W(runtime=[1], count=[math.nan]), "column count, row 0: nan is not a whole number"),
    "beyond 64 bits": (lambda: W(runtime=[1], count=[10**30]), "column count, row 0: 1000"),
    "beyond 8 bits": (lambda: W(runtime=[1], status=[300]), "row 0: 300 is not a whole number from -128 to 127"),
    "beyond floats": (lambda: W(runtime=[10**400]), "column runtime, row 0: 1000"),
    "dates": (lambda: W(submit=np.array(["2020-01-01"], "datetime64[s]"), runtime=[1]), "row 0: .*\n.*seconds: "),
    "runtime 1e15": (
        lambda: W(id=[7, 9], runtime=[1, 1e15]),
        r"job 9: runtime is 10{15}.0, .*1e\+12.*\n.*row 1",
    ),
    "runtime 1e300": (lambda: W(runtime=[1e300]), r"job 1: runtime is 1e\+300, expected a duration"),
    "runtime -1": (lambda: W(runtime=[-1]), "job 1: runtime is -1.0, expected a duration"),
    "submit inf": (lambda: W(runtime=[1], submit=[math.inf]), "job 1: submit is inf, expected a time"),
    "cancel nan": (lambda: W(runtime=[1], cancel=[math.nan]), "job 1: cancel is nan, expected a time"),
    "shapes": (lambda: W(runtime=[1], shapes=[[3]]), "column shapes, row 0: 3 is no Shape"),
    "a shape": (lambda: W(runtime=[1], shapes=[[sl.Shape("x", 3)]]), "column count of shapes, row 0: 'x'"),  # type: ignore[arg-type]
    "predecessors": (lambda: W(runtime=[1], predecessors=[["x"]]), "a predecessor is 'x', expected the id of a job"),
    "delay": (lambda: W(runtime=[1], predecessors=[[sl.Predecessor(1, "ended", "x")]]), "has the delay 'x'"),  # type: ignore[arg-type]
    "labels": (lambda: W(runtime=[1], labels={"user": 3}), "labels has 3 for 'user'"),
    "names": (lambda: W(runtime=[1], names=["a", "b"]), "names are given for 2 jobs, there are 1"),
    "attachments": (lambda: W(runtime=[1], attachments=[3]), "column attachments, row 0: 3"),
    "resources": (lambda: group(resources={"cores": 1.5}), "NodeGroup g: 'cores' is 1.5 in resources"),
    "count": (lambda: group(count=0), "NodeGroup g: count is 0, expected a number from 1"),
    "width": (lambda: group(width=-1), "NodeGroup g: width is -1"),
    "prefix": (lambda: group(prefix=None), "prefix is None, expected a text"),
    "group": (lambda: sl.Cluster(("a",)), "'a' among groups is no NodeGroup"),  # type: ignore[arg-type]
    "uniform": (lambda: sl.Cluster.uniform("4"), "nodes is '4', expected a whole number"),  # type: ignore[arg-type]
    "pool": (lambda: sl.Cluster.of_cores(1.5), "cores is 1.5, expected a whole number"),  # type: ignore[arg-type]
    "tasks": (lambda: sl.Workflow.of("w", ["a"]), "'a' among tasks is no Task"),  # type: ignore[list-item]
    "task": (lambda: sl.Workflow.of("w", [sl.Task("a", "x", 1, 1)]), "cores is 'x', expected a whole number"),  # type: ignore[arg-type]
    "log": (lambda: sl.read_workload(3), "3 is not the name of a log"),  # type: ignore[arg-type]
    "reading": (lambda: sl.read_workload(DEMO, max_procs="x"), "max_procs is 'x', expected a whole number"),  # type: ignore[arg-type]
    "machine": (lambda: sl.read_cluster(None), "None is not a cluster"),  # type: ignore[arg-type]
    "workflow": (lambda: sl.read_workflow(3), "3 is not the name of a workflow"),  # type: ignore[arg-type]
    "folder": (lambda: sl.read_run(None), "None is not the folder of a run"),  # type: ignore[arg-type]
    "judged": (lambda: sl.check(3), "3 is not a run"),  # type: ignore[arg-type]
    "observation": (lambda: SchedulingEnv(DEMO, "64x4", observation="x"), "there is no option 'observation'"),
    "window": (lambda: SchedulingEnv(DEMO, "64x4", window="x"), "window is 'x', expected a whole number"),  # type: ignore[arg-type]
    "reward": (lambda: SchedulingEnv(DEMO, "64x4", reward=3), "there is no reward '3'"),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("case", CASES)
def test_wrong_arguments(case: str) -> None:
    call, said = CASES[case]
    with pytest.raises(sl.InputError) as error:
        call()
    assert re.search(said, str(error.value)), str(error.value)


def test_columns_of_tables_are_taken() -> None:
    for table in (pl.DataFrame(TABLE), pd.DataFrame(TABLE)):
        jobs = W(submit=table["submit"], runtime=table["runtime"], count=table["count"])
        assert run(jobs).jobs["end"].to_list() == [5.0, 6.0]


def test_a_job_without_end_is_none_of_them() -> None:
    assert len(W(runtime=[1, math.inf], limit=[5, math.inf]))


def test_numbers_of_requests_are_looked_at_in_sources_of_ones_own() -> None:
    batch = JobBatch.of(submit=[0.0], runtime=[1.0], request=[3])
    with pytest.raises(sl.InputError, match="the column request has numbers from 3 to 3, there are 1 requests"):
        run(sl.Workload("own", lambda: iter((batch,))))


def test_a_workload_without_jobs() -> None:
    nobody = W(submit=[], runtime=[])
    assert run(nobody).summary["jobs"] == 0 and len(nobody) == 0


class Wakes(sl.Policy):
    def decide(self, view: Any, events: list[Any]) -> None:
        for job in list(view.queue):
            view.start(job)
            view.wake_at(view.now - 3)


class Woken(sl.Observer):
    def started(self, view: Any, job: Any, nodes: Any) -> None:
        view.wake_at(view.now)


def test_a_wake_up_in_the_past_is_told_with_times_and_whoever_asks() -> None:
    late = W(id=[4], submit=[7], runtime=[5])
    with pytest.raises(sl.DecisionError) as error:
        run(late, policy=Wakes())
    told = "cannot wake the policy at 4 s: it is 7 s, and a time after that is expected\n  under Wakes, job 4 being"
    assert told in str(error.value) and "view.wake_at(view.now - 3)" in str(error.value)
    with pytest.raises(sl.DecisionError, match=r"observer Woken: cannot wake the policy at 7 s: it is 7 s"):
        run(late, observers=[Woken()])
