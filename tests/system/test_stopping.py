"""Asked to stop (Ctrl-C, SIGTERM) at any moment: gone at once, nothing half-written, no process left."""

from __future__ import annotations

import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.chaos import children
from tests.slurm_programs import slurm_programs

from schedlab.engine.checkpoint import Checkpoint
from schedlab.engine.folder import holds_run
from schedlab.generate.store import read_model

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-c", "from schedlab.cli.main import main; main()"]
# Of processor time after the signal, whatever else the machine is doing.
ENOUGH = 2.0  # seconds
UP = 0.06  # seconds of processor time: three times what Python needs before it looks at a program
LATEST = 1.0  # second after that: by then it simulates
# One pass of it takes minutes: contiguous nodes are planned node by node, and everybody comes at once.
SLOW = ["--cluster", "200x4", "--policy", "conservative:place=contiguous"]

POLICY = """import schedlab as sl

class Thoughtful(sl.Policy):
    def decide(self, view, events):
        sum(number * number for number in range(20_000))
        for job in view.queue:
            view.start(job)
"""


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`slow.swf`, whose jobs come all at once, and `long.swf`, which has many."""
    folder = tmp_path_factory.mktemp("logs")
    chance = random.Random(1)
    shapes = [(chance.randint(1, 300), chance.randint(60, 86_400)) for _ in range(8000)]
    slow = [f"{job} 0 -1 {t} {n} -1 -1 {n} {t} -1 1 1 1 -1 1 -1 -1 -1" for job, (n, t) in enumerate(shapes, 1)]
    rows = [f"{job} {job} -1 {1 + job % 97} 1 -1 -1 1 100 -1 1 1 1 -1 1 -1 -1 -1" for job in range(1, 300_000)]
    (folder / "slow.swf").write_text("\n".join(slow) + "\n")
    (folder / "long.swf").write_text("; MaxProcs: 60\n" + "\n".join(rows) + "\n")
    (folder / "thoughtful.py").write_text(POLICY)
    return folder


@dataclass
class Asked:
    """A command that is asked to stop, and what came of it."""

    arguments: list[str]
    environment: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.process = subprocess.Popen(
            [*COMMAND, *self.arguments],
            env=os.environ | self.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def is_up(self) -> None:
        """The interpreter is; what a signal does to it before that is not ours."""
        wait_until(lambda: _processor_time(self.process.pid) >= UP or self.is_over)

    def begins_to_write(self, folder: Path) -> None:
        wait_until(lambda: any(folder.iterdir()) or self.is_over)

    def stop(self, number: signal.Signals) -> float:
        """Send it, wait for the end, and return the processor time that it took from there."""
        before = sum(map(_processor_time, [self.process.pid, *children(self.process.pid)]))
        os.kill(self.process.pid, number)  # send_signal would take the status of one that has ended
        return self.end() - before

    def end(self) -> float:
        """The processor time of the whole process."""
        for _ in range(2400):
            pid, status, used = os.wait4(self.process.pid, os.WNOHANG)
            if pid:
                self.process.returncode = os.waitstatus_to_exitcode(status)
                break
            time.sleep(0.05)
        else:
            self.process.kill()
            raise AssertionError("it goes on and on")
        assert self.process.stderr is not None
        self.errors = self.process.stderr.read()
        self.process.stderr.close()
        return used.ru_utime + used.ru_stime

    @property
    def is_over(self) -> bool:
        """Leaves it to `end` to take its status."""
        return os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    @property
    def code(self) -> int:
        return int(self.process.returncode)


def _processor_time(pid: int) -> float:
    """As in wait4: of the process, and of its children that have ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def _session(leader: int) -> list[str]:
    """The processes of a session that are still there."""
    return [str(path) for path in Path("/proc").glob("[0-9]*") if _session_of(path) == leader]


def _session_of(process: Path) -> int | None:
    try:
        state, *fields = (process / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if state == "Z" else int(fields[2])


def _with(text: str) -> list[str]:
    """The processes that were started with this word."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().decode(errors="replace")
        except OSError:
            continue
        if text in words:
            found.append(words)
    return found


def wait_until(condition: Callable[[], object]) -> None:
    for _ in range(1200):
        if condition():
            return
        time.sleep(0.02)
    raise AssertionError("it did not come to that")


def stop_six_times(arguments: list[str], folder: Path, seed: int, environment: dict[str, str] | None = None) -> None:
    """Three times at a moment from the start on, one in each third of it; three times while results are written."""
    chance = random.Random(seed)
    for moment in range(6):
        out = folder / f"run{moment}"
        number = (signal.SIGINT, signal.SIGTERM)[moment % 2]
        asked = Asked([*arguments, "--out", str(out)], environment or {})
        under_way = moment >= 3
        if under_way:
            asked.begins_to_write(folder)
        else:
            asked.is_up()
        time.sleep(LATEST * (moment % 3 + chance.random()) / 3 * (0.5 if under_way else 1))
        used = asked.stop(number)
        about = f"moment {moment}, {number.name}: {asked.errors}"
        assert used < ENOUGH, about
        complete = holds_run(out)
        # Before it has begun to listen, the signal ends it as it ends any program.
        expected = {128 + number} | ({0} if complete else set()) | (set() if under_way else {-number})
        assert asked.code in expected, about
        assert list(folder.iterdir()) == ([out] if complete else []), about
        assert not _session(asked.process.pid), about
        if asked.code > 0:
            assert asked.errors.startswith("interrupted: "), about
        if complete:
            shutil.rmtree(out)


@pytest.fixture
def results(tmp_path: Path) -> Path:
    (tmp_path / "results").mkdir()
    return tmp_path / "results"


@pytest.mark.slow
def test_a_slow_native_run(results: Path, logs: Path) -> None:
    stop_six_times(["run", str(logs / "slow.swf"), *SLOW], results, seed=1)


@pytest.mark.slow
def test_a_week_of_a_site_under_conservative(results: Path, traces: Path) -> None:
    slurm = traces / "slurm"
    log, conf = slurm / "ubccr-ubhpc-workload_week.events.gz", slurm / "ubccr-ubhpc-slurm.conf"
    stop_six_times(["run", str(log), "--cluster", str(conf), "--policy", "conservative"], results, seed=2)


@pytest.mark.slow
def test_a_fast_native_run(results: Path, logs: Path) -> None:
    stop_six_times(["run", str(logs / "long.swf"), "--policy", "easy"], results, seed=3)


@pytest.mark.slow
def test_a_policy_in_python(results: Path, logs: Path) -> None:
    policy = ["--cluster", "64x4", "--policy", f"{logs}/thoughtful.py:Thoughtful"]
    stop_six_times(["run", str(ROOT / "examples" / "demo.swf"), *policy], results, seed=4)


def test_while_python_makes_a_class(results: Path, tmp_path: Path) -> None:
    """What `__set_name__` raises becomes a RuntimeError in Python 3.11: a request to stop all the same."""
    asks = "def __set_name__(self, owner, name): signal.raise_signal(signal.SIGTERM)"
    policy = tmp_path / "made.py"
    policy.write_text(f"import signal\nclass Asks:\n    {asks}\nclass Made:\n    field = Asks()\n")
    asked = Asked(
        ["run", str(ROOT / "examples" / "demo.swf"), "--policy", f"{policy}:Made", "--out", str(results / "o")]
    )
    asked.end()
    assert asked.code == 143, asked.errors
    assert asked.errors.startswith("interrupted: "), asked.errors
    assert not list(results.iterdir())


@pytest.fixture
def workplaces() -> Iterator[Path]:
    """Where the files of slurmctld go; nothing may be left there."""
    slurm_programs()
    place = Path(tempfile.mkdtemp(prefix="schedlab-test-"))
    yield place
    assert not list(place.iterdir()), "a folder of slurmctld is still there"
    assert not _with(str(place)), "a slurmctld is still there"
    place.rmdir()


REPLAY = ["slurm", "replay", "--conf", str(ROOT / "examples/micro_cluster/slurm.conf")]
REPLAY += ["--jobs", str(ROOT / "examples/micro_cluster/jobs.events")]


@pytest.mark.slow
def test_the_real_slurm(results: Path, workplaces: Path) -> None:
    stop_six_times(REPLAY, results, seed=5, environment={"SCHEDLAB_TMP": str(workplaces)})


# What else is promised


def test_what_is_stopped_is_resumed(results: Path, logs: Path) -> None:
    """SIGTERM after a checkpoint; then to the end: the bytes of a run that was not stopped."""
    log, out = str(logs / "long.swf"), results / "out"
    subprocess.run([*COMMAND, "run", log, "--policy", "easy", "--out", str(results / "whole")], check=True)
    asked = Asked(["run", log, "--policy", "easy", "--validate", "--out", str(out), "--checkpoint-every", "0.2s"])
    checkpoint = Checkpoint(results / "out.checkpoint")
    wait_until(lambda: (checkpoint.describe() or {"passes": -1})["passes"] > 0 or asked.is_over)
    asked.stop(signal.SIGTERM)
    assert asked.code == 143, asked.errors
    assert f"schedlab resume {out} takes it up at its last checkpoint; " in asked.errors
    assert sorted(path.name for path in results.iterdir()) == ["out.checkpoint", "whole"]
    subprocess.run([*COMMAND, "resume", str(out)], check=True, stdout=subprocess.DEVNULL)
    assert (out / "jobs.parquet").read_bytes() == (results / "whole" / "jobs.parquet").read_bytes()


@pytest.mark.parametrize("signals", [[signal.SIGTERM], [signal.SIGINT, signal.SIGINT]], ids=["SIGTERM", "Ctrl-C twice"])
def test_workers_in_a_slow_pass_end_with_their_study(tmp_path: Path, logs: Path, signals: list[signal.Signals]) -> None:
    study = tmp_path / "study.toml"
    study.write_text(
        f'name = "slow"\nrepetitions = 2\nkeep = "tables"\n[workload]\nlog = "{logs / "slow.swf"}"\n'
        '[run]\ncluster = "200x4"\npolicy = "conservative:place=contiguous"\n'
    )
    asked = Asked(["experiment", "run", str(study), "--workers", "2"])
    wait_until(lambda: len(list((tmp_path / "study" / "runs").glob(".*.partial-*"))) == 2)
    workers = children(asked.process.pid)
    assert len(workers) == 2
    for number in signals[:-1]:
        asked.process.send_signal(number)
        time.sleep(0.5)
    assert asked.stop(signals[-1]) < ENOUGH
    assert asked.code == 128 + signals[-1]
    assert asked.errors.endswith(f"what is done is kept in {tmp_path / 'study'}; the same command goes on\n")
    assert not _session(asked.process.pid)
    assert not list((tmp_path / "study" / "results").iterdir())


@pytest.mark.parametrize(
    "command",
    [
        ["fit", "{log}", "--out", "{out}.json"],
        ["transform", "{log}", "--stretch", "0.9", "--out", "{out}.swf"],
        ["generate", "lublin(processors=256)", "--jobs", "3000000", "--out", "{out}.swf"],
        ["inspect", "{log}"],
    ],
    ids=lambda command: str(command[0]),
)
def test_commands_that_do_not_simulate(results: Path, logs: Path, command: list[str]) -> None:
    filled = [word.format(log=logs / "long.swf", out=results / "new") for word in command]
    asked = Asked(filled)
    wait_until(lambda: _processor_time(asked.process.pid) > 1.0 or asked.is_over)
    assert asked.stop(signal.SIGTERM) < ENOUGH
    assert asked.code in (143, 0), asked.errors  # 0: it had ended before
    if asked.code == 143:
        assert asked.errors == "interrupted: a file that was being written is not there; others are whole\n"
        for path in results.iterdir():  # it was whole already: fit was still simulating its model, others were ending
            if command[0] == "fit":
                assert read_model(path).kind == "weeks"
            else:
                jobs = {"transform": _jobs(logs / "long.swf"), "generate": 3_000_000}[command[0]]
                assert _jobs(path) == jobs


def _jobs(log: Path) -> int:
    """How many lines of an SWF file are jobs."""
    with log.open("rb") as lines:
        return sum(not line.startswith(b";") for line in lines)


# How far it is


def test_status_lines_go_on_in_the_middle_of_a_pass(results: Path, logs: Path) -> None:
    arguments = ["run", str(logs / "slow.swf"), *SLOW, "--out", str(results / "out")]
    line = r"conservative:place=contiguous: day 0.0, 0 of 8,000 jobs done, deciding for \d+ s\n"
    asked = Asked([*arguments, "--status-every", "0.5s"])
    assert asked.process.stderr is not None
    lines = [asked.process.stderr.readline() for _ in range(6)]
    assert len({line_ for line_ in lines if re.fullmatch(line, line_)}) >= 2, lines
    asked.stop(signal.SIGINT)
    assert asked.code == 130


def test_asking_in_the_middle_of_a_pass(results: Path, logs: Path) -> None:
    asked = Asked(["run", str(logs / "slow.swf"), *SLOW, "--out", str(results / "out")])
    assert asked.process.stderr is not None
    wait_until(lambda: list(results.glob(".out.partial-*")))
    asked.process.send_signal(signal.SIGUSR1)
    assert "0 of 8,000 jobs done" in asked.process.stderr.readline()
    asked.stop(signal.SIGTERM)
    assert asked.code == 143


def test_asking_the_real_slurm(results: Path, workplaces: Path) -> None:
    asked = Asked([*REPLAY, "--out", str(results / "out")], {"SCHEDLAB_TMP": str(workplaces)})
    assert asked.process.stderr is not None
    wait_until(lambda: list(results.glob(".out.partial-*")))
    asked.process.send_signal(signal.SIGUSR1)
    line = asked.process.stderr.readline()
    assert re.match(r"slurm-real: .*, [\d,]+ of 500 jobs done, \d+ running, \d+ waiting, ", line), line
    asked.stop(signal.SIGINT)
    assert asked.code == 130
    assert asked.errors == "interrupted: nothing was written, and slurmctld is stopped\n"


def test_the_real_slurm_has_lines_too(results: Path, workplaces: Path) -> None:
    arguments = [*REPLAY, "--out", str(results / "out"), "--status-every", "0.2s"]
    asked = Asked(arguments, {"SCHEDLAB_TMP": str(workplaces)})
    assert asked.process.stderr is not None
    lines = [asked.process.stderr.readline() for _ in range(3)]
    assert all(line.startswith(("slurm-real: ", "reading ")) for line in lines), lines
    asked.stop(signal.SIGTERM)
    assert asked.code == 143
