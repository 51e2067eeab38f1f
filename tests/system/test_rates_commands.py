"""Beliefs that follow rates, and nodes of different speeds, by the command line and in studies, as in Python."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests import commands

import schedlab as sl
from schedlab.workload.formats import write_workload

CLUSTER = """
[[nodes]]
name = "fast"
count = 2
cores = 4
speed = 4e9

[[nodes]]
name = "slow"
count = 2
cores = 4
speed = 1e9
"""
SHARING = "sharing(0.5)"


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Jobs 1 and 2 share a node, job 3 needs all nodes, job 4 may pass it if it is believed to be over before."""
    jobs = sl.Workload.of(submit=[0, 0, 1, 2], runtime=[100, 100, 50, 150], limit=[400] * 4, count=[2, 2, 16, 4])
    write_workload(tmp_path / "log.parquet", jobs)
    (tmp_path / "cluster.toml").write_text(CLUSTER)
    monkeypatch.chdir(tmp_path)


def by_command(*more: str) -> sl.Run:
    done = commands.schedlab(
        "run", "log.parquet", "-c", "cluster.toml", "-p", "easy", "--estimate", "exact", *more, "--out", "command"
    )
    assert done.returncode == 0, done.stderr
    return sl.read_run("command")


def by_study(run: str) -> dict[str, sl.Run]:
    """By what run.json says of beliefs."""
    Path("study.toml").write_text(f'[workload]\nlog = "log.parquet"\n[run]\ncluster = "cluster.toml"\n{run}\n')
    done = commands.schedlab("experiment", "run", "study.toml", "--out", "study", "--quiet")
    assert done.returncode == 0, done.stderr
    runs = [sl.read_run(folder) for folder in Path("study/runs").iterdir()]
    return {each.options["beliefs"]: each for each in runs}


def by_python(**options: Any) -> sl.Run:
    return sl.simulate("log.parquet", "cluster.toml", "easy", estimate="exact", **options)


def test_beliefs_that_follow_rates() -> None:
    expected = {beliefs: by_python(observers=[SHARING], beliefs=beliefs) for beliefs in ("limit", "rates")}
    # At half their rates jobs 1 and 2 are believed to end at 100, or at 200: then job 4 (150 s) delays nobody.
    assert expected["rates"].jobs["start"].to_list() == [0, 0, 200, 2]
    assert expected["limit"].jobs["start"][3] > 100
    found = by_command("--observe", SHARING, "--beliefs", "rates")
    assert found.jobs.equals(expected["rates"].jobs)
    assert json.loads(Path("command/run.json").read_text())["options"]["beliefs"] == "rates"
    study = by_study(f'policy = "easy"\nestimate = "exact"\nobserve = [["{SHARING}"]]\nbeliefs = ["limit", "rates"]')
    assert study.keys() == expected.keys()
    for beliefs, run in study.items():
        assert run.jobs.equals(expected[beliefs].jobs), beliefs
    refused = commands.schedlab("run", "log.parquet", "-c", "cluster.toml", "--beliefs", "rumours")
    assert refused.returncode == 2 and "rumours" in refused.stderr


def test_nodes_of_different_speeds() -> None:
    expected = by_python(observers=["speeds"])
    assert not expected.jobs["end"].equals(by_python().jobs["end"])
    assert by_command("--observe", "speeds").jobs.equals(expected.jobs)
    (run,) = by_study('policy = "easy"\nestimate = "exact"\nobserve = [["speeds"]]').values()
    assert run.jobs.equals(expected.jobs) and run.config["execution"] == expected.config["execution"]
