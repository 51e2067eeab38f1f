"""Apache YuniKorn, which is no kube-scheduler: in exact time, and as it is on the clock on the wall.

Two nodes of one core, four jobs of ten seconds, three at 0 and one at 5: two run at once, the others when these end.
YuniKorn looks at its applications once in a second, and at what can be allocated ten times in a second, so the first
pods start a while after they came; what comes after that is a matter of counting.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from tests.commands import schedlab
from tests.kube_programs import yunikorn

from schedlab.engine.check import check
from schedlab.engine.store import read_run

ROUNDS = 3.0  # seconds: its two rounds of a second each, and some of a tenth


@pytest.fixture
def place(tmp_path: Path) -> Path:
    labels = {"applicationId": "app", "queue": "root.default"}
    profile = {"type": "delay", "delay": 10, "scheduler": "yunikorn", "pod": {"metadata": {"labels": labels}}}
    jobs = [{"id": str(n), "subtime": at, "res": 1, "profile": "a"} for n, at in enumerate((0, 0, 0, 5), 1)]
    (tmp_path / "w.json").write_text(json.dumps({"nb_res": 2, "jobs": jobs, "profiles": {"a": profile}}))
    return tmp_path


def starts(run: Path) -> list[float]:
    found = read_run(run)
    assert not check(found)
    return [float(start) for start in found.jobs.sort("job")["start"]]


def test_in_exact_time(place: Path) -> None:
    """Its rounds are in simulated time, and the same every time."""
    words = ("--cluster", "2x1", "--workload", "w.json", "--command", yunikorn(), "--serves", "yunikorn")
    for name in ("one", "two"):
        done = schedlab("kube", "run", *words, "--out", name, folder=place)
        assert done.returncode == 0, done.stderr
    found = starts(place / "one")
    assert 0 < found[0] < ROUNDS
    assert [start - found[0] for start in found] == pytest.approx([0, 0, 10, 10], abs=0.002)
    assert starts(place / "two") == found
    (used,) = read_run(place / "one").config["decider"]["schedulers"]
    assert used["names"] == ["yunikorn"] and used["cpu_seconds"] > 0


@pytest.mark.skipif("SCHEDLAB_REAL_TIME" not in os.environ, reason="needs a machine to itself: make kube-others")
def test_as_it_is(place: Path) -> None:
    """Nothing happens between two of its rounds, so the quiet window is longer than these."""
    words = ("--cluster", "2x1", "--workload", "w.json", "--quiet-window", f"{ROUNDS:g}s", "--out", "result")
    done = schedlab("kube", "serve", *words, "--", yunikorn(), folder=place)
    assert done.returncode == 0, done.stderr
    *at_once, last = starts(place / "result")
    assert (sorted(at_once), last) == ([0, 0, 10], 10)  # which of those that came at once is first is YuniKorn's to say
    facts = read_run(place / "result").config["decider"]
    assert facts["mode"] == "oracle: approximate" and facts["cpu_seconds"] > 0


def test_pods_of_another_scheduler_are_not_its_own(place: Path) -> None:
    done = schedlab("kube", "run", "--cluster", "2x1", "--workload", "w.json", "--command", yunikorn(), folder=place)
    assert done.returncode == 2 and "pods want the scheduler yunikorn" in done.stderr
