"""Metrics of the jobs of one phase, and names of users and accounts in comparisons."""

from __future__ import annotations

import pytest

import schedlab as sl
from schedlab.analysis.classes import by_class
from schedlab.analysis.compare import summary_of
from schedlab.analysis.trim import InPhase


def run_with_phases() -> sl.Run:
    """Ten jobs one after the other on one core, submitted at once five by five: each waits for those before it."""
    workload = sl.Workload.of(
        submit=[0.0] * 5 + [1000.0] * 5,
        runtime=[10.0] * 10,
        count=[1] * 10,
        user=[0, 1] * 5,
        labels={"user": ["ann", "bob"], "executable": ["a", "b"]},
    )
    workload.phases = (sl.Phase("fill", 0.0, 1000.0), sl.Phase("experiment", 1000.0, 2000.0))
    return sl.simulate(workload, sl.Cluster.of_cores(1), "fcfs")


def test_a_phase_is_those_submitted_in_it() -> None:
    run = run_with_phases()
    phase = InPhase("experiment").of(run)
    assert (phase.begin, phase.end) == (1000.0, 2000.0)
    summary = summary_of(run, trim=InPhase("experiment"))
    assert summary["jobs"] == 5
    assert summary["wait"]["mean"] == 20.0  # 0, 10, 20, 30, 40
    assert summary["trim"] == {"phase": "experiment", "begin": 1000.0, "end": 2000.0}
    assert summary_of(run)["jobs"] == 10


def test_an_unknown_phase_is_refused() -> None:
    with pytest.raises(sl.InputError, match=r"no phase 'experimen'(?s:.*)did you mean 'experiment'"):
        summary_of(run_with_phases(), trim=InPhase("experimen"))


def test_users_have_names() -> None:
    run = run_with_phases()
    assert run.workload["labels"] == {"user": ["ann", "bob"]}  # programs stay in the log: there can be very many
    table = by_class(run.tables, "user", labels=run.workload["labels"])
    assert table["class"].to_list() == ["ann", "bob"]
    assert by_class(run.tables, "user")["class"].to_list() == [0, 1]
