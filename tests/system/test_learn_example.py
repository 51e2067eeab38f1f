"""The example that learns: with a budget too small to learn much, and (slow) with the one of which it makes claims."""

from __future__ import annotations

import json
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import schedlab as sl

ROOT = Path(__file__).parents[2]
EXAMPLE, DEMO = ROOT / "examples" / "learn_policy.py", ROOT / "examples" / "demo.swf"


def test_it_runs_and_its_policy_can_be_used(tmp_path: Path) -> None:
    command = [sys.executable, EXAMPLE, DEMO, "--generations", "2", "--windows", "2", "--out", "picture.png"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")
    assert [line.split()[0] for line in done.stdout.splitlines()[5:9]] == ["FCFS", "SJF", "SAF", "learnt"]

    found = json.loads((tmp_path / "picture.json").read_text())
    assert len(found["weights"]) == 5 and found["cores"] == 256
    policy = f"easy:order={EXAMPLE}:Learnt(weights='{tmp_path / 'picture.json'}')"
    line = [sys.executable, "-c", "from schedlab.cli.main import main; main()", "run", DEMO, "--cluster", "64x4"]
    subprocess.run([*line, "--policy", policy, "--out", tmp_path / "run"], check=True, capture_output=True, timeout=120)


def test_a_learnt_order_gives_the_same_schedule_in_the_environment_and_in_a_native_run(tmp_path: Path) -> None:
    example = runpy.run_path(str(EXAMPLE))
    weights = np.array([-0.5, -1.0, -1.5, 0.3, 0.2])
    (tmp_path / "weights.json").write_text(json.dumps({"weights": weights.tolist(), "cores": 256}))
    _, env = example["environment"](str(DEMO), "64x4")
    for start in (0, 600, 1744):
        cost = example["play"](env, start, weights)
        policy = f"easy:order={EXAMPLE}:Learnt(weights='{tmp_path / 'weights.json'}')"
        native = sl.simulate(env.jobs, env.cluster, policy)
        assert env.finish().jobs["start"].to_list() == native.jobs["start"].to_list()
        np.testing.assert_allclose(cost, native.summary["bounded_slowdown"]["mean"])


def test_windows_to_learn_from_and_windows_for_later_share_no_job() -> None:
    example = runpy.run_path(str(EXAMPLE))
    _, env = example["environment"](str(DEMO), "64x4")
    known, unknown = example["split"](env)
    last_known = known[-1] + example["EPISODE"] - 1
    assert (known[0], last_known, unknown) == (0, 1199, [1200, 1456, 1712])


@pytest.mark.slow
def test_on_windows_never_seen_the_learnt_order_beats_fcfs_and_sjf() -> None:
    example = runpy.run_path(str(EXAMPLE))
    _, env = example["environment"](None, "64x4")
    known, unknown = example["split"](env)
    *_, weights = example["train"](env, known, generations=2, windows=8, random=np.random.default_rng(0))
    costs = {name: each.mean() for name, each in example["compare"](env, unknown, weights).items()}
    assert len(unknown) == 31
    assert costs["learnt"] < costs["SJF"] < costs["FCFS"]
