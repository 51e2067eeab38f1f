"""Plug-ins as a user meets them: files beside the log, packages that register, `schedlab new`."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests import commands
from tests.plugin_files import acme

import schedlab as sl
from schedlab.cli.new import NewKind

GUIDE = Path(__file__).parents[2] / "docs" / "extending.md"
COMMAND = [sys.executable, "-c", "from schedlab.cli.main import main; main()"]

# One core, busy until 100. Then a long job of user 1, a short one of user 2, and one that nobody knows.
LOG = """; MaxProcs: 1
1 0 -1 100 1 -1 -1 1 100 -1 1 1 1 -1 1 -1 -1 -1
2 10 -1 60 1 -1 -1 1 90 -1 1 1 1 -1 1 -1 -1 -1
3 20 -1 30 1 -1 -1 1 40 -1 1 2 1 -1 1 -1 -1 -1
"""

MINE = '''import numpy as np
import schedlab as sl

class Backwards(sl.Policy):
    """Last come, first served."""

    def __init__(self, first=None):
        self.first = first

    def decide(self, view, events):
        for job in view.queue.sorted(by=-view.queue.submit):
            if self.first is None or job.id == self.first or len(view.queue) == 1:
                view.start(job)

class Forty:
    def estimate(self, job):
        return 40

class Counter(sl.Observer):
    """Counts what ends."""

    def begin(self, view):
        self.jobs = 0

    def ended(self, view, job):
        self.jobs += 1

    def finish(self, view):
        return {"counted_jobs": self.jobs}

def by_estimate(jobs):
    return jobs.estimate

def by_age(jobs, now):
    return now - jobs.eligible

def from_the_right(job, cluster):
    return np.flatnonzero(cluster.free)[::-1]

def last_start(run):
    return run.tables.column("start").max()

last_start.unit = "time"
last_start.better = "lower"

def read_numbers(path):
    """Run times, one a line."""
    times = [float(line) for line in path.read_text().split()]
    return sl.Workload.of(name=path.stem, submit=[0] * len(times), runtime=times, count=[1] * len(times))
'''


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "log.swf").write_text(LOG)
    (tmp_path / "mine.py").write_text(MINE)
    return tmp_path


def schedlab(folder: Path, *arguments: object, path: Path | None = None) -> subprocess.CompletedProcess[str]:
    if path is None:
        return commands.schedlab(*arguments, folder=folder)
    return subprocess.run(
        [*COMMAND, *map(str, arguments)],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(path)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def succeeds(folder: Path, *arguments: object, path: Path | None = None) -> str:
    done = schedlab(folder, *arguments, path=path)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


def fails(folder: Path, *arguments: object) -> str:
    done = schedlab(folder, *arguments)
    assert done.returncode == 2, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr


def starts(run: sl.Run) -> list[float]:
    return [float(time) for time in run.jobs["start"]]


@pytest.mark.parametrize(
    ("policy", "options", "expected"),
    [
        ("mine.py:Backwards", [], [0, 130, 100]),
        ("mine.py:Backwards(first=2)", [], [0, 100, 160]),
        ("none:order=mine.py:by_estimate", [], [0, 130, 100]),
        ("none:order=mine.py:by_age", [], [0, 130, 100]),
        ("none:order=mine.py:by_estimate", ["--estimate", "mine.py:Forty"], [0, 100, 160]),  # all alike
        ("easy:order=mine.py:by_estimate,place=mine.py:from_the_right", [], [0, 130, 100]),
        ("fcfs", ["--estimate", "nearest(3)"], [0, 100, 160]),
        ("fcfs", ["--estimate", "user-mean"], [0, 100, 160]),
    ],
)
def test_from_the_command_line(folder: Path, policy: str, options: list[str], expected: list[float]) -> None:
    succeeds(folder, "run", "log.swf", "--policy", policy, *options, "--validate", "--out", "result")
    run = sl.read_run(folder / "result")
    assert starts(run) == expected
    assert run.policy == policy
    assert sl.check(run) == []


def test_from_python(folder: Path) -> None:
    jobs, cluster, mine = sl.read_workload(folder / "log.swf"), sl.Cluster.of_cores(1), folder / "mine.py"
    assert starts(sl.simulate(jobs, cluster, f"{mine}:Backwards")) == [0, 130, 100]
    assert starts(sl.simulate(jobs, cluster, f"none:order={mine}:by_estimate")) == [0, 130, 100]
    same = sl.simulate(jobs, cluster, f"none:order={mine}:by_estimate", estimate=f"{mine}:Forty")
    assert starts(same) == [0, 100, 160]


def test_learned_estimates(folder: Path) -> None:
    """Job 1 (user 1) runs 100 s; of what is submitted after its end, its user's is believed to take as long."""
    jobs = sl.Workload.of(
        submit=[0, 200, 400], runtime=[100, 50, 50], limit=[300, 300, 300], count=[1] * 3, user=[1, 1, 2]
    )
    for estimate, expected in (
        ("user-mean", [300, 100, 300]),
        ("nearest(2)", [300, 100, 75]),
        ("nearest(1)", [300, 100, 50]),
    ):
        run = sl.simulate(jobs, sl.Cluster.of_cores(1), "easy", estimate=estimate)
        assert run.jobs["estimate"].to_list() == expected


def test_nodes_from_the_right(folder: Path) -> None:
    policy = "easy:place=mine.py:from_the_right"
    succeeds(folder, "run", "log.swf", "--cluster", "3x1", "--policy", policy, "--out", "result")
    assert sl.read_run(folder / "result").jobs["nodes"].to_list() == ["n3", "n2", "n1"]


def test_observers_are_new_for_every_policy(folder: Path) -> None:
    policies = ["--policy", "easy", "--policy", "mine.py:Backwards"]
    out = succeeds(folder, "run", "log.swf", *policies, "--observe", "mine.py:Counter", "--json")
    for run in json.loads(out)["runs"]:
        assert run["summary"]["observed"]["counted_jobs"] == 3


def test_folders_are_friendly(folder: Path) -> None:
    policies = ["mine.py:Backwards", "easy:order=mine.py:by_estimate", "easy"]
    succeeds(folder, "run", "log.swf", *(f"--policy={policy}" for policy in policies), "--out", "results")
    names = sorted(path.name for path in (folder / "results").iterdir())
    assert names == ["easy", "easy-order=mine.by_estimate", "mine.Backwards"]


def test_metrics_are_columns(folder: Path) -> None:
    succeeds(folder, "run", "log.swf", "--policy", "sjf", "--policy", "fcfs", "--out", "results")
    table = succeeds(folder, "compare", "results", "--metric", "mine.py:last_start").splitlines()
    (row,) = [line.split() for line in table if line.startswith("sjf")]
    assert [line.split()[-2:] for line in table if "start min" in line] == [["start", "min"]]
    assert row[-1] == "2.17*"
    document = json.loads(succeeds(folder, "compare", "results", "--metric", "mine.py:last_start", "--json"))
    found = {run["policy"]: run["summary"]["metrics"] for run in document["runs"]}
    assert found == {"sjf": {"last_start": 130}, "fcfs": {"last_start": 160}}
    assert document["best"]["metrics.last_start"] == ["sjf"]


def test_readers(folder: Path) -> None:
    (folder / "log.numbers").write_text("10\n20\n30\n")
    reader = ["log.numbers", "--reader", "mine.py:read_numbers", "--cluster", "pool:1"]
    succeeds(folder, "run", *reader, "--policy", "fcfs", "--out", "result")
    assert starts(sl.read_run(folder / "result")) == [0, 10, 30]
    assert json.loads(succeeds(folder, "inspect", *reader, "--json"))["jobs"] == 3
    assert "--cluster" in fails(folder, "run", *reader[:3])  # such a log does not know its machine


def test_what_packages_register(folder: Path) -> None:
    site = acme(folder / "site")
    out = succeeds(folder, "policies", path=site)
    (row,) = [line for line in out.splitlines() if "acme-cap" in line]
    assert row.split("  ")[1:2] == ["acme-cap"]
    assert "acme_plugins:Cap" in row
    assert row.endswith("from acme 1.2")
    assert [line for line in out.splitlines() if "conservative" in line and line.rstrip().endswith("built in")]
    assert "built in" not in succeeds(folder, "policies")
    listed = json.loads(succeeds(folder, "policies", "--json", path=site))
    assert {entry["source"] for entry in listed} == {"built in", "acme 1.2"}
    (folder / "log.xyz").write_text("10 20")
    succeeds(folder, "run", "log.xyz", "--cluster", "pool:1", "--policy", "fcfs", "--quiet", path=site)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--policy", "mine.py:Backward"], "did you mean 'Backwards'?"),
        (["--policy", "mine.py:Backwards(last=1)"], "it is Backwards(first=None)"),
        (["--policy", "nime.py:Backwards"], "did you mean mine.py?"),
        (["--policy", "easy:place=mine.py:by_estimate"], "by_estimate takes 1 parameter, not 2"),
        (["--policy", "bad.py:Backwards"], "bad.py, line 2"),
        (["--policy", "acme-cap"], "there is no policy 'acme-cap'"),
        (["--policy", "mine:Backwards"], "mine.py:Backwards"),
        (["--estimate", "mine.py:Fourty"], "did you mean 'Forty'?"),
        (["--observe", "mine.py:Count"], "did you mean 'Counter'?"),
        (["--observe", "counter"], "no package registers the observer 'counter'"),
        (["--reader", "mine.py:read"], "mine.py has no 'read'"),
    ],
)
def test_mistakes(folder: Path, arguments: list[str], message: str) -> None:
    (folder / "bad.py").write_text("import os\nclass Backwards\n")
    assert message in fails(folder, "run", "log.swf", *arguments)


def test_built_in_names_ask_no_package(folder: Path) -> None:
    code = "import sys\nfrom schedlab.cli.main import main\ntry:\n    main()\nfinally:\n    print(*sys.modules)"
    run = ["run", "log.swf", "--policy", "easy:order=saf", "--estimate", "last-two", "--quiet"]
    done = subprocess.run([sys.executable, "-c", code, *run], cwd=folder, capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert not loaded & {
        "importlib.metadata",
        "schedlab.model.plugins",
        "polars",
        "matplotlib",
        "pydantic",
        "schedlab.policy.learned",
    }


def test_the_guide_works(folder: Path) -> None:
    blocks = re.findall(r"```python\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    (folder / "guide.py").write_text(
        "\n\n".join(block for block in blocks if re.search("^(def|class) ", block, re.MULTILINE))
    )
    policies = [
        "guide.py:SmallestThatFits",
        "easy:order=guide.py:by_area,scan=guide.py:by_age,place=guide.py:left_to_right",
    ]
    options = ["--estimate", "guide.py:HalfOfIt", "--observe", "guide.py:LongestQueue", "--validate"]
    succeeds(folder, "run", "log.swf", *(f"--policy={policy}" for policy in policies), *options, "--out", "results")
    document = json.loads(succeeds(folder, "compare", "results", "--metric", "guide.py:tail_wait", "--json"))
    for run in document["runs"]:
        assert run["summary"]["observed"]["longest_queue"] == 2
        assert run["summary"]["metrics"]["tail_wait"] > 0
    (folder / "log.csv").write_text("submit,seconds,cores\n0,10,1\n5,10,1\n")
    jobs = sl.read_workload(folder / "log.csv", reader=f"{folder / 'guide.py'}:read_jobs")
    assert starts(sl.simulate(jobs, sl.Cluster.of_cores(1), "fcfs")) == [0, 10]


@pytest.mark.parametrize("kind", NewKind)
def test_what_new_writes_passes_its_test(tmp_path: Path, kind: str) -> None:
    out = succeeds(tmp_path, "new", kind, "mine.py")
    assert "pytest test_mine.py" in out
    done = commands.pytest("-q", "test_mine.py", folder=tmp_path)
    assert done.returncode == 0, done.stdout
    assert "passed" in done.stdout
    assert "is already there" in fails(tmp_path, "new", kind, "mine.py")
    succeeds(tmp_path, "new", kind, "mine.py", "--force")
