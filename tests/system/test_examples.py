"""Every example runs, and says what it promises."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import schedlab as sl

EXAMPLES = Path(__file__).parents[2] / "examples"

# What a line of the output has to look like; None: another test runs it (or it only holds functions).
PROMISES: dict[str, str | None] = {
    "batsim_oar.py": None,
    "easy_in_python.py": "the same schedule",
    "easy_with_a_reservation.py": "the same schedule",
    # At least 95 % busy, and within a fifth of the four hours that were asked for.
    "edison_fill.py": r"experiment +[\d,]+ jobs, utilisation 0\.9[5-9]\d, median wait (3\.[2-9]|4\.[0-7])\d h",
    "edison_model.py": None,
    "fault_aware.py": r"Careful: \d+ jobs hit",
    "learn_figure.py": None,
    "learn_policy.py": None,
    "learned_estimates.py": r"Forest +median error",
    "make_demo_log.py": None,
    "moldable.py": r"Grow: mean turnaround [\d.]+ h, 0 offences",
    "orders.py": None,
    "parsl_kubernetes.py": None,
    "parsl_local.py": None,
    "parsl_slurm.py": None,
    "preemption.py": "Preempt: urgent jobs wait 0 s",
    "readme_figure.py": r"figure\.png",
    "slurm_fairshare.py": None,
    "temperature.py": "CoolestFirst: the hottest rack has",
}
ARGUMENTS = {"readme_figure.py": ["figure.png"]}


def test_no_example_is_forgotten() -> None:
    assert sorted(PROMISES) == sorted(path.name for path in EXAMPLES.glob("*.py"))


@pytest.mark.parametrize("name", [name for name, promise in PROMISES.items() if promise])
def test_it_runs(tmp_path: Path, name: str) -> None:
    command = [sys.executable, EXAMPLES / name, *ARGUMENTS.get(name, [])]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert re.search(PROMISES[name] or "", done.stdout), done.stdout


def test_the_demo_log_is_made_by_its_script(tmp_path: Path) -> None:
    (tmp_path / "make.py").write_text((EXAMPLES / "make_demo_log.py").read_text())
    subprocess.run([sys.executable, tmp_path / "make.py"], check=True, capture_output=True, timeout=60)
    assert (tmp_path / "demo.swf").read_bytes() == (EXAMPLES / "demo.swf").read_bytes()


@pytest.mark.parametrize("order", ["saf", "lxf"])
def test_orders_give_the_schedules_of_their_twins(order: str) -> None:
    jobs, cluster = sl.read_workload(EXAMPLES / "demo.swf"), sl.Cluster.uniform(64, cores=4)
    for backfill in ("none", "skip", "easy", "easy-strict", "conservative", "easy:reservations=2"):
        mark = "," if ":" in backfill else ":"
        mine = sl.simulate(jobs, cluster, f"{backfill}{mark}order={EXAMPLES / 'orders.py'}:{order}")
        twin = sl.simulate(jobs, cluster, f"{backfill}{mark}order={order}")
        assert mine.jobs["start"].to_list() == twin.jobs["start"].to_list()
        assert mine.jobs["priority"].to_list() == twin.jobs["priority"].to_list()


def test_learned_estimates_with_an_order_in_python() -> None:
    """Then the order cannot be computed ahead: it is asked for each job when it is submitted."""
    jobs, cluster = sl.read_workload(EXAMPLES / "demo.swf"), sl.Cluster.uniform(64, cores=4)
    for estimate in ("last-two", "user-mean", "exact", "limit*0.5"):
        mine = sl.simulate(jobs, cluster, f"easy:order={EXAMPLES / 'orders.py'}:saf", estimate=estimate)
        twin = sl.simulate(jobs, cluster, "easy:order=saf", estimate=estimate)
        assert mine.jobs["start"].to_list() == twin.jobs["start"].to_list()


@pytest.mark.parametrize("example", ["easy_in_python.py", "easy_with_a_reservation.py"])
def test_easy_in_python_starts_twenty_thousand_jobs_when_the_native_one_does(example: str) -> None:
    rng = np.random.default_rng(20)
    runtime = np.clip(rng.lognormal(7, 1.7, 20_000), 1, 250_000).round()
    count = 2 ** rng.integers(0, 6, 20_000)
    submit = np.cumsum(rng.exponential((runtime * count).mean() / (480 * 0.8), 20_000)).round()
    jobs = sl.Workload.of(
        submit=submit, runtime=runtime, limit=runtime * rng.integers(1, 6, 20_000), count=count, user=count
    )
    cluster = sl.Cluster.uniform(120, cores=4)
    mine, native = (sl.simulate(jobs, cluster, policy) for policy in (f"{EXAMPLES / example}:Easy", "easy"))
    assert mine.jobs["start"].to_list() == native.jobs["start"].to_list()
    assert native.summary["backfilled_share"] > 0.1  # it is not too easy
