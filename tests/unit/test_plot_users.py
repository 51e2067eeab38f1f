"""Boxes by user, over the runs of each policy: numbers computed by hand from five jobs, and the folder of a study."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.batches import TWO_NODES, config, job_batch, time_batch
from tests.unit.test_plot import LONG_NAMES, assert_readable, figure_drawn, five_jobs
from tests.unit.test_plot_command import call
from tests.unit.test_study_report import STUDY, simulated

from schedlab.engine.store import MemoryWriter
from schedlab.model.errors import InputError
from schedlab.model.run import Run
from schedlab.plot.users import MOST_USERS, plot_users, user_means

TABLES = STUDY.replace('keep = "summary"', 'keep = "tables"')


def runs_of(users: list[str], policy: str, late: float = 0.0) -> Run:
    """Two jobs of each user: one does not wait, the other `late` seconds and a minute for each user before."""
    jobs = []
    for number in range(len(users)):
        size = 1 + number % 3  # cores
        jobs += [(2 * number, 0, 0.0, 0.0, 100.0, "completed", size, False, {})]
        start = late + 60.0 * number
        jobs += [(2 * number + 1, 0, 0.0, start, start + 100.0, "completed", size, False, {})]
    batch = job_batch(jobs)
    batch["user"] = np.arange(len(jobs), dtype=np.int32) // 2
    described = config(policy)
    described["workload"]["labels"] = {"user": users}
    with MemoryWriter(TWO_NODES) as writer:
        writer.write("jobs", batch)
        writer.write("timeline", time_batch())
        return writer.finish(described)


def test_the_means_of_users() -> None:
    # User 1 has jobs 1 and 3, with waits of 0 and 90 s and 2·100 + 4·50 core seconds; user 0 has 0 and 70 s, and 210.
    runs = [five_jobs("easy"), five_jobs("fcfs"), five_jobs("easy")]
    means, users = user_means(runs, [run.policy for run in runs], "wait")
    assert means == {"user 1": {"easy": [45, 45], "fcfs": [45]}, "user 0": {"easy": [35, 35], "fcfs": [35]}}
    assert (list(means), users) == (["user 1", "user 0"], 2)
    early, _ = user_means(runs[:1], ["easy"], "turnaround", (0, 15))
    assert early == {"user 1": {"easy": [100]}, "user 0": {"easy": [100]}}


def test_a_box_for_each_user_and_policy() -> None:
    before = [runs_of(["ann", "bob"], "easy", late) for late in (0.0, 7200.0, 10800.0)]
    after = [runs_of(["ann", "bob"], "fcfs", 3600.0)]
    axes = plot_users([*before, *after])
    # Of ann in minutes: 0, 60 and 90 before, 30 after; of bob half a minute more. Bob has the larger jobs.
    drawn: Any = axes.patches
    assert [box.get_x() for box in drawn] == pytest.approx([30.5, 30.5, 30, 30])
    assert [box.get_width() for box in drawn] == pytest.approx([45, 0, 45, 0])
    assert [label.get_text() for label in axes.get_yticklabels()] == ["bob", "ann"]
    points = [line for line in axes.get_lines() if line.get_marker() == "o"]
    np.testing.assert_allclose(np.asarray(points[2].get_xdata()), [0, 60, 90])
    assert [box.get_y() + box.get_height() / 2 for box in drawn] == pytest.approx([-0.21, 0.21, 0.79, 1.21])
    assert axes.get_xlabel() == "mean wait in each run (minutes)"
    assert [text.get_text() for text in axes.figure.legends[0].texts] == ["easy", "fcfs"]


@pytest.mark.parametrize("width", ["column", "page"])
def test_no_text_is_on_another_with_many_users_and_long_names(width: Any) -> None:
    users = [f"{name}@department-{number}" for number, name in enumerate([*LONG_NAMES, "one", "two"])]
    slurm = "slurm-real(conf='examples/micro_cluster/slurm.conf',accounts='examples/micro_cluster/accounts.toml'"
    policies = [f"{slurm})", f"{slurm},set='PriorityWeightFairshare*=1.2')"]
    axes = plot_users([runs_of(users, policy) for policy in policies], width=width)
    assert len(axes.get_yticks()) == MOST_USERS
    assert axes.get_ylabel() == f"{MOST_USERS} of {len(users)} users"
    assert_readable(figure_drawn(axes))


def test_the_folder_of_a_study(tmp_path: Path) -> None:
    simulated(tmp_path / "study", TABLES)
    figure = tmp_path / "figure.svg"
    call(tmp_path / "study", "-k", "users", "--label", "before", "--label", "after", "-o", figure)
    assert "</svg>" in figure.read_text()
    with pytest.raises(InputError, match=r"labels: 1, groups of the study: 2\n.*fcfs; easy"):
        call(tmp_path / "study", "-k", "users", "--label", "before", "-o", figure, "--force")
    with pytest.raises(InputError, match="is the folder of a study"):
        call(tmp_path / "study", "-k", "box", "-o", figure, "--force")


def test_a_study_that_has_not_kept_its_jobs(tmp_path: Path) -> None:
    simulated(tmp_path, STUDY)
    with pytest.raises(InputError, match="has not kept the jobs"):
        call(tmp_path, "-k", "users", "-o", tmp_path / "figure.png")
