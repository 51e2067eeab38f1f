"""Studies on Parsl: the same results as without it, and nothing left behind, whatever happens."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from schedlab.experiment.parsl_config import read_configuration
from schedlab.experiment.parsl_workers import AHEAD, UNKNOWN_WORKERS, ParslWorkers, room, run_task
from schedlab.model.errors import InputError
from schedlab.model.version import VERSION

EXAMPLES = Path(__file__).parents[2] / "examples"
SCHEDLAB = [sys.executable, "-c", "from schedlab.cli.main import main; main()"]

needs_parsl = pytest.mark.skipif(
    importlib.util.find_spec("parsl") is None,
    reason="needs Parsl: pip install 'schedlab[parallel]'",
)

STUDY = """
repetitions = {repetitions}
[workload]
model = "lublin"
jobs = 300
[run]
cluster = "64x2"
policy = {policies}
"""

MINE = """
import os
import signal
import time
from pathlib import Path

import schedlab as sl


class Greedy(sl.Policy):
    def decide(self, view, events):
        for job in view.queue:
            view.start(job)


class Broken(Greedy):
    def decide(self, view, events):
        raise RuntimeError("not today")


class Fatal(Greedy):
    \"\"\"Kills its worker, the first time.\"\"\"

    def decide(self, view, events):
        try:
            Path(__file__).with_name("killed").touch(exist_ok=False)
        except FileExistsError:
            return super().decide(view, events)
        os.kill(os.getpid(), signal.SIGKILL)


class Slow(Greedy):
    rested = False

    def decide(self, view, events):
        time.sleep(0 if self.rested else 0.5)
        self.rested = True
        super().decide(view, events)
"""


def written(folder: Path, policies: list[str], repetitions: int = 2) -> Path:
    """The folder, with a study in it."""
    (folder / "mine.py").write_text(MINE)
    (folder / "study.toml").write_text(STUDY.format(policies=json.dumps(policies), repetitions=repetitions))
    return folder


class Started:
    """`schedlab experiment run` in a session of its own, by which all that it starts is found."""

    def __init__(self, folder: Path, *options: str | Path, path: str = "") -> None:
        self.process = subprocess.Popen(
            [*SCHEDLAB, "experiment", "run", "study.toml", *options],
            cwd=folder,
            env={**os.environ, "PATH": f"{path}{os.environ['PATH']}"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def ended(self) -> tuple[int, str, str]:
        out, err = self.process.communicate(timeout=60)
        return self.process.returncode, out, err

    def wait_for(self, sign: Callable[[], Any]) -> None:
        deadline = time.monotonic() + 60
        while not sign():
            assert self.process.poll() is None and time.monotonic() < deadline
            time.sleep(0.02)

    def alive(self) -> dict[int, int]:
        """Processes of the session and their parents, dead ones that nobody asked for aside."""
        found = {}
        for place in Path("/proc").glob("[0-9]*"):
            try:
                state, parent, _, session = (place / "stat").read_text().rpartition(")")[2].split()[:4]
            except (FileNotFoundError, ProcessLookupError):
                continue
            if int(session) == self.process.pid and state != "Z":
                found[int(place.name)] = int(parent)
        return found

    def left_nothing(self) -> bool:
        deadline = time.monotonic() + 5  # what was told to end may need a moment
        while self.alive() and time.monotonic() < deadline:
            time.sleep(0.02)
        return not self.alive()


@pytest.fixture
def start() -> Iterator[Callable[..., Started]]:
    """Starts a study; what a failed test leaves is ended."""
    started = []

    def run(*arguments: Any, **options: Any) -> Started:
        started.append(Started(*arguments, **options))
        return started[-1]

    yield run
    for study in started:
        for process in study.alive():
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        study.process.wait()


def results(folder: Path) -> dict[str, Any]:
    return {path.stem: json.loads(path.read_text()) for path in (folder / "results").glob("*.json")}


def status(folder: Path, study: str) -> dict[str, Any]:
    command = [*SCHEDLAB, "experiment", "status", study, "--json"]
    told: dict[str, Any] = json.loads(subprocess.run(command, cwd=folder, capture_output=True, check=True).stdout)
    return told


def described(run: Path) -> dict[str, Any]:
    found = json.loads((run / "run.json").read_text())
    return {key: value for key, value in found.items() if key != "timing"}


@needs_parsl
@pytest.mark.slow
def test_the_same_as_on_this_machine(tmp_path: Path, start: Callable[..., Started]) -> None:
    folder = written(tmp_path, ["easy", "fcfs", "mine.py:Broken", "mine.py:Fatal"])
    for name, options in {"plain": ["--workers", "2"], "parsl": ["--on", EXAMPLES / "parsl_local.py"]}.items():
        (folder / "killed").unlink(missing_ok=True)
        study = start(folder, "--out", name, *options)
        code, out, errors = study.ended()
        assert (code, errors) == (1, ""), errors  # since some runs have failed
        assert out.startswith("8 runs, 0 of them done before\nstudy: 8 runs planned, 6 done, 2 failed, 0 open\n")
        assert (folder / "killed").exists()
        assert study.left_nothing()

    plain, parsl = results(folder / "plain"), results(folder / "parsl")
    assert len(plain) == 6 and plain.keys() == parsl.keys()
    for identity, result in plain.items():
        assert parsl[identity]["summary"] == result["summary"]
        mine, theirs = (folder / name / "runs" / identity for name in ("parsl", "plain"))
        assert {path.name for path in mine.iterdir()} >= {"jobs.parquet", "timeline.parquet", "run.json"}
        for path in theirs.glob("*.parquet"):
            assert (mine / path.name).read_bytes() == path.read_bytes()
        assert described(mine) == described(theirs)

    told = status(folder, "parsl")
    assert (told["planned"], told["done"], len(told["failed"])) == (8, 6, 2)
    for failure in told["failed"]:
        assert failure["point"]["policy"] == "mine.py:Broken"
        assert "RuntimeError: not today" in failure["error"]
        assert "mine.py" in failure["traceback"]
    assert (folder / "parsl" / "parsl" / "000" / "parsl.log").exists()
    assert sorted(path.name for path in folder.iterdir() if path.is_dir() and path.name != "__pycache__") == [
        "parsl",
        "plain",
    ]


# Stand-ins for Slurm's commands: a job is a group of processes on this machine.
SLURM = {
    "sbatch": """
        set -m
        script="${@: -1}"
        bash "$script" > "$script.stdout" 2> "$script.stderr" < /dev/null &
        echo "Submitted batch job $!"
    """,
    "sacct": """
        for word in ${*//,/ }; do
            case $word in [0-9]*) kill -0 $word && echo "$word RUNNING" || echo "$word COMPLETED" ;; esac
        done
    """,
    "scancel": 'for id in "$@"; do kill -- -$id; done',
}


@needs_parsl
@pytest.mark.slow
def test_ctrl_c_on_slurm(tmp_path: Path, start: Callable[..., Started]) -> None:
    """Once: what is running ends well, and the jobs are cancelled."""
    folder = written(tmp_path, ["mine.py:Slow"], repetitions=16)
    commands = tmp_path / "bin"
    commands.mkdir()
    for name, script in SLURM.items():
        (commands / name).write_text(f"#!/bin/bash\n{script}\n")
        (commands / name).chmod(0o755)
    text = (EXAMPLES / "parsl_slurm.py").read_text()
    for old, new in {
        "address_by_hostname()": '"127.0.0.1"',
        "CORES = 32": "CORES = 1",
        "JOBS = 4": "JOBS = 2",
        "executors=[executor]": "executors=[executor], strategy_period=1",
    }.items():
        assert old in text
        text = text.replace(old, new)
    (folder / "slurm.py").write_text(text)

    study = start(folder, "--on", "slurm.py", path=f"{commands}:")
    study.wait_for(lambda: results(folder / "study"))
    os.killpg(study.process.pid, signal.SIGINT)  # as a terminal does it
    code, _, errors = study.ended()
    assert code == 130
    assert errors.startswith("warning: finishing ")
    assert errors.endswith("interrupted: what is done is kept in study; the same command goes on\n")
    assert study.left_nothing()
    told = status(folder, "study")
    assert 0 < told["done"] < 16 and not told["failed"]
    assert {path.name for path in (folder / "study" / "runs").iterdir()} == results(folder / "study").keys()


@needs_parsl
@pytest.mark.slow
def test_a_lost_interchange_ends_the_study(tmp_path: Path, start: Callable[..., Started]) -> None:
    folder = written(tmp_path, ["mine.py:Slow"], repetitions=16)
    study = start(folder, "--on", EXAMPLES / "parsl_local.py")
    study.wait_for(lambda: results(folder / "study"))
    (interchange,) = [process for process, parent in study.alive().items() if parent == study.process.pid]
    os.kill(interchange, signal.SIGKILL)
    code, _, errors = study.ended()
    assert code == 1
    assert errors.startswith("error: Parsl cannot go on: the interchange of the executor 'local' is gone\n")
    assert study.left_nothing()


LOCAL = (EXAMPLES / "parsl_local.py").read_text()


@needs_parsl
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("config = (", r"mine\.py, line 1: '\(' was never closed"),
        (LOCAL.replace("max_workers_per_node", "workers"), r"mine\.py, line 14: TypeError: .* argument 'workers'"),
        ("import nosuch", r"mine\.py, line 1: ModuleNotFoundError: No module named 'nosuch'"),
        ("configuration = 3", r"mine\.py: defines no config\n  hint: it is a Python file with config = "),
        ("config = 3", r"mine\.py: config is a int"),
        ("from parsl.config import Config\nconfig = Config()", r"mine\.py: the executor 'threads' has threads"),
        (
            LOCAL.replace('label="local"', 'interchange_launch_cmd=["nosuch"]'),
            r"mine\.py: Parsl does not start: FileNotFoundError: .*'nosuch'",
        ),
    ],
)
def test_mistakes_in_the_file(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "mine.py").write_text(text)
    with pytest.raises(InputError, match=message):
        ParslWorkers(tmp_path / "mine.py", tmp_path, {})


@needs_parsl
def test_no_such_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nosuch\.py: there is no such Python file"):
        ParslWorkers(tmp_path / "nosuch.py", tmp_path, {})


@needs_parsl
def test_a_config_is_used_once(tmp_path: Path) -> None:
    on = tmp_path / "mine.py"
    on.write_text(LOCAL.replace("def config()", "def made()") + "\nconfig = made()\n")
    assert read_configuration(on, tmp_path / "parsl").run_dir == str(tmp_path / "parsl")
    with pytest.raises(InputError, match="this process has used its config already"):
        read_configuration(on, tmp_path / "parsl")


def test_without_parsl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("parsl", "parsl.config"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(InputError, match=r"Parsl is not installed\n  hint: pip install 'schedlab\[parallel\]'"):
        ParslWorkers(EXAMPLES / "parsl_local.py", tmp_path, {})


@needs_parsl
def test_the_configurations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Twice as many runs are given out as there are workers."""
    from parsl.executors import HighThroughputExecutor
    from parsl.providers import LocalProvider
    from parsl.providers.kubernetes import kube

    monkeypatch.setattr(kube, "_kubernetes_enabled", True)
    monkeypatch.setattr(kube, "config", SimpleNamespace(load_kube_config=lambda: None), raising=False)
    monkeypatch.setattr(kube, "client", SimpleNamespace(CoreV1Api=object), raising=False)
    for name, workers in {"local": 2, "slurm": 4 * 32, "kubernetes": 8 * 2}.items():
        config = read_configuration(EXAMPLES / f"parsl_{name}.py", tmp_path)
        assert [room(executor) for executor in config.executors] == [AHEAD * workers]
    unknown = HighThroughputExecutor(address="127.0.0.1", provider=LocalProvider(max_blocks=3))
    assert room(unknown) == AHEAD * 3 * UNKNOWN_WORKERS


@pytest.mark.parametrize(
    ("version", "message"),
    [
        (VERSION, "the worker does not see the folder {folder}"),
        ("0.0", f"the worker has schedlab {VERSION}, the study 0.0"),
    ],
)
def test_a_worker_in_the_wrong_place(tmp_path: Path, version: str, message: str) -> None:
    said = run_task({"schedlab": version, "folder": str(tmp_path), "start": str(tmp_path), "asked": {}, "run": {}})
    assert message.format(folder=tmp_path) in said["error"]
    assert not said["disk"]
