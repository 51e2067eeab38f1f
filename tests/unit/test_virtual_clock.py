"""The virtual clock: a program on it never sees time move while one of its threads can run."""

import os
import resource
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from schedlab.model.errors import InputError
from schedlab.slurm.clock import Clock, ClockLost, environment, shim_path

ROOT = Path(__file__).parents[2]
SECOND = 10**9
EPOCH = 1000
START = EPOCH * SECOND


def compile_with(compiler: str, output: Path, *arguments: str | Path) -> Path:
    flags = ("-std=gnu11", "-O2", "-g", "-Wall", "-Wextra", "-Werror")
    subprocess.run([compiler, *flags, *arguments, "-o", output], check=True)
    return output


@pytest.fixture(scope="session")
def compiler() -> str:
    found = shutil.which("cc")
    if not found:
        pytest.skip("needs a C compiler (cc)")
    return found


@pytest.fixture(scope="session")
def shim(compiler: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    sources = sorted((ROOT / "native" / "virtual_clock").glob("*.c"))
    library = tmp_path_factory.mktemp("clock") / "libschedlab_clock.so"
    return compile_with(compiler, library, "-shared", "-fPIC", *sources)


@pytest.fixture(scope="session")
def probe(compiler: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    source = ROOT / "tests" / "virtual_clock" / "probe.c"
    return compile_with(compiler, tmp_path_factory.mktemp("probe") / "probe", source, "-pthread")


@pytest.fixture(scope="session")
def stress(compiler: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    sources = [ROOT / "tests" / "virtual_clock" / name for name in ("stress.c", "known.c", "unknown.c")]
    return compile_with(compiler, tmp_path_factory.mktemp("stress") / "stress", *sources, "-pthread")


@pytest.fixture(scope="session")
def memory(compiler: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    source = ROOT / "tests" / "virtual_clock" / "memory.c"
    return compile_with(compiler, tmp_path_factory.mktemp("memory") / "memory", source, "-pthread", "-fno-builtin")


@pytest.fixture(scope="session")
def ends(compiler: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    source = ROOT / "tests" / "virtual_clock" / "ends.c"
    return compile_with(compiler, tmp_path_factory.mktemp("ends") / "ends", source, "-pthread")


@pytest.fixture
def folder() -> Iterator[Path]:
    """Pytest's own folders can be too deep for the path of a socket."""
    with tempfile.TemporaryDirectory(prefix="clock-") as name:
        yield Path(name)


class Program:
    """A program on the clock, and what it says."""

    def __init__(
        self,
        folder: Path,
        shim: Path,
        *arguments: str | Path,
        tick: int = 0,
        cpu: float = 0.0,
        coalesce: str = "",
        unwanted: tuple[str, ...] = (),
    ):
        self.sockets = folder / "sockets"
        self.sockets.mkdir()
        self.clock = Clock(folder / "clock")
        variables = environment(
            clock=folder / "clock",
            epoch=EPOCH,
            sockets=self.sockets,
            shim=shim,
            tick=tick,
            cpu_factor=cpu,
            coalesce=coalesce,
            unwanted=unwanted,
        )
        self.process = subprocess.Popen(arguments, env=variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.clock.wait_for(self.process)

    def close(self) -> None:
        self.clock.close()
        self.process.communicate()

    def finish(self, until: int = 10**19 // 2) -> str:
        """Lets time pass until the program ends; what it has printed."""
        with pytest.raises(ClockLost):
            while self.clock.now < until:
                self.clock.run(until)
        output, errors = self.process.communicate()
        assert (self.process.returncode, errors.decode()) == (0, "")
        return output.decode()


@contextmanager
def hogs() -> Iterator[None]:
    """On one core, with two processes that are busy: the others have tests of their own."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(cores)})
    processes = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2)]
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)
        for process in processes:
            process.kill()
            process.wait()


def stress_once(folder: Path, shim: Path, stress: Path, parts: str, name: str) -> str:
    (folder / name).mkdir()
    with closing(Program(folder / name, shim, stress, parts)) as program:
        return program.finish()


# ---- nobody is runnable when time moves


def test_time_never_moves_while_a_thread_can_run(folder: Path, shim: Path, stress: Path) -> None:
    logs = {stress_once(folder, shim, stress, "known", f"quiet{i}") for i in range(5)}
    with hogs():
        logs |= {stress_once(folder, shim, stress, "known", f"busy{i}") for i in range(5)}
    assert len(logs) == 1, "the order of events differs between repetitions"
    assert len(logs.pop().splitlines()) > 800


def test_threads_in_calls_that_the_shim_does_not_know_are_seen(folder: Path, shim: Path, stress: Path) -> None:
    for i in range(5):
        stress_once(folder, shim, stress, "all", f"quiet{i}")
    with hogs():
        for i in range(5):
            stress_once(folder, shim, stress, "all", f"busy{i}")


# ---- the protocol


def test_run_stops_at_its_time_and_tells_the_next_timer(folder: Path, shim: Path, probe: Path) -> None:
    with closing(Program(folder, shim, probe, "sleeps")) as program:
        clock = program.clock
        clock.idle()
        assert (clock.now, clock.next, clock.calls, clock.wakes, clock.threads) == (START, START + SECOND, 0, 0, 1)
        clock.run(START + SECOND // 2)
        assert (clock.now, clock.next, clock.wakes) == (START + SECOND // 2, START + SECOND, 0)
        clock.run(START + SECOND)
        assert (clock.now, clock.next, clock.wakes) == (START + SECOND, START + 3 * SECOND, 1)
        times = [START + seconds * SECOND for seconds in (1, 3, 6)]
        assert program.finish() == "".join(f"{time} {time}\n" for time in times)


def test_run_stops_when_the_program_calls_somebody(folder: Path, shim: Path, probe: Path) -> None:
    with closing(Program(folder, shim, probe, "calls")) as program, socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(program.sockets / "9000"))
        listener.listen()
        clock = program.clock
        clock.run(START + 100 * SECOND)
        assert (clock.now, clock.calls, clock.next) == (START + SECOND, 1, START + 11 * SECOND)
        connection, _ = listener.accept()
        with connection:
            connection.sendall(b"hello")
            output, _ = program.process.communicate()
    assert output.decode() == f"1 hello {START + SECOND}\n-1 ECONNREFUSED\n"
    assert program.process.returncode == 0


def test_an_unanswered_call_times_out_at_its_time(folder: Path, shim: Path, probe: Path) -> None:
    with closing(Program(folder, shim, probe, "calls")) as program, socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(program.sockets / "9000"))
        listener.listen()
        program.clock.run(START + 100 * SECOND)
        with pytest.raises(ClockLost):
            program.clock.run(START + 100 * SECOND)
        program.process.communicate()
        assert program.process.returncode == 4  # nothing to read from a socket that does not block


def test_a_program_that_never_waits_is_noticed(folder: Path, shim: Path) -> None:
    clock = Clock(folder / "clock")
    variables = environment(clock=folder / "clock", sockets=folder, shim=shim)
    process = subprocess.Popen(["true"], env=variables | {"PATH": os.environ["PATH"]})
    with closing(clock), pytest.raises(ClockLost, match="ended with status 0"):
        clock.wait_for(process)


def test_without_a_driver_the_program_does_not_start(folder: Path, shim: Path, probe: Path) -> None:
    variables = environment(clock=folder / "nobody", sockets=folder, shim=shim)
    done = subprocess.run([probe, "sleeps"], env=variables, capture_output=True, check=False)
    assert (done.returncode, done.stderr.decode()) == (70, f"schedlab clock: nobody listens at {folder}/nobody\n")


def test_paths_that_no_socket_can_have_are_refused() -> None:
    with pytest.raises(InputError, match="too long for the path of a socket"):
        environment(sockets=Path("/" + "x" * 110))


@pytest.mark.parametrize("activity", ["sleeps", "computes"])
def test_the_program_ends_when_its_driver_is_killed(folder: Path, shim: Path, probe: Path, activity: str) -> None:
    driver = textwrap.dedent(f"""
        import subprocess, time
        from pathlib import Path
        from schedlab.slurm.clock import Clock, environment
        clock = Clock(Path("{folder}/clock"))
        variables = environment(clock=Path("{folder}/clock"), sockets=Path("{folder}"), shim=Path("{shim}"))
        process = subprocess.Popen(["{probe}", "{activity}"], env=variables)
        clock.wait_for(process)
        clock.run(1)
        print(process.pid, flush=True)
        clock.run(1000) if "{activity}" == "computes" else time.sleep(1000)
    """)
    with subprocess.Popen([sys.executable, "-c", driver], stdout=subprocess.PIPE) as process:
        assert process.stdout
        watched = os.pidfd_open(int(process.stdout.readline()))
        process.kill()
    poll = select.poll()
    poll.register(watched, select.POLLIN)
    try:
        assert poll.poll(60_000), "the program is still there"
    finally:
        os.close(watched)


# ---- cost of scheduling, coalescing


def test_each_look_at_the_clock_can_take_time(folder: Path, shim: Path, probe: Path) -> None:
    with closing(Program(folder, shim, probe, "looks", tick=1000)) as program:
        assert program.finish() == f"{START + 7000}\n{START + 7000 + SECOND + 1000}\n"


def test_processor_time_can_pass_as_simulated_time(folder: Path, shim: Path, probe: Path) -> None:
    with closing(Program(folder, shim, probe, "burns", cpu=100.0)) as program:
        lines = [tuple(map(int, line.split())) for line in program.finish().splitlines()]
    assert len(lines) == 3
    for used, passed, slept in lines:
        assert passed >= used * 100
        assert slept >= SECOND // 2


def test_run_returns_when_time_has_passed_it_by_itself(folder: Path, shim: Path, probe: Path) -> None:
    with closing(Program(folder, shim, probe, "burns", cpu=100.0)) as program:
        program.clock.run(START + SECOND)
        assert program.clock.now >= START + 2 * SECOND  # 20 ms of work, a hundred times as long
        assert program.clock.next > START + SECOND


def test_short_naps_are_taken_together(folder: Path, shim: Path, probe: Path) -> None:
    with closing(Program(folder, shim, probe, "naps", coalesce="100000:10")) as program:
        program.clock.run(START + SECOND)
        assert (program.clock.wakes, program.clock.next) == (1, START + 2 * SECOND)
        times = [(int(line) - START) // SECOND for line in program.finish().splitlines()]
    assert times == [0] * 9 + [1] * 10 + [2] * 6


# ---- signals, cancellation, children


def interrupt(pid: int) -> None:
    """A signal that comes just before a wait is handled, and does not end it: so only when the thread is asleep."""
    while Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "S":
        time.sleep(0.001)
    os.kill(pid, signal.SIGUSR1)


def test_signals_end_sleeps_and_polls(folder: Path, shim: Path, probe: Path) -> None:
    with closing(Program(folder, shim, probe, "handles")) as program:
        program.clock.run(START + 4 * SECOND)
        interrupt(program.process.pid)
        while program.clock.next == START + 10 * SECOND:  # a signal from outside takes its time
            program.clock.idle()
        assert program.clock.next == START + 9 * SECOND
        interrupt(program.process.pid)
        output, _ = program.process.communicate()
    assert output.decode() == f"6\n-1 EINTR\n{START + 4 * SECOND}\n"


def test_signals_that_came_before_end_the_wait_that_lets_them_through(folder: Path, shim: Path, probe: Path) -> None:
    with closing(Program(folder, shim, probe, "lets-through")) as program:
        lines = program.finish().splitlines()
    assert lines[:3] == ["-1 EINTR 0 1"] * 3  # handled, and blocked again
    assert lines[3] == "0 0"  # one that nobody handles ends nothing
    assert lines[4] == "1 1"  # a descriptor that is ready comes first
    assert lines[5:] == [f"{START + SECOND}"]


def test_threads_can_be_cancelled_in_waits(folder: Path, shim: Path, probe: Path) -> None:
    with closing(Program(folder, shim, probe, "cancels")) as program:
        assert program.finish() == f"unlocks 0\n1 {START + SECOND}\n1 {START + 2 * SECOND}\n"


def test_a_forked_child_has_real_time(folder: Path, shim: Path, probe: Path) -> None:
    with closing(Program(folder, shim, probe, "forks")) as program:
        child, parent = map(int, program.finish().split())
    assert child > 1_600_000_000 * SECOND
    assert parent == START + 1000


# ---- locks with timeouts


def test_another_process_unlocks_a_mutex_that_is_awaited_with_a_timeout(folder: Path, shim: Path, probe: Path) -> None:
    begin = START + 1000
    with closing(Program(folder, shim, probe, "shares")) as program:
        program.clock.run(begin + SECOND)
        output, _ = program.process.communicate(timeout=30)
    assert output.decode() == f"ETIMEDOUT {begin + SECOND}\n0 {begin + SECOND}\n"


def test_mutexes_with_timeouts_report_mistakes_of_their_owner(folder: Path, shim: Path, probe: Path) -> None:
    begin, unlocked = START + 1000, START + 2 * SECOND
    with closing(Program(folder, shim, probe, "reports")) as program:
        assert program.finish() == f"ETIMEDOUT {begin + SECOND}\n0 {unlocked}\nEDEADLK {unlocked}\n"


def test_read_write_locks_have_timeouts_of_any_clock(folder: Path, shim: Path, probe: Path) -> None:
    with closing(Program(folder, shim, probe, "reads-and-writes")) as program:
        output = program.finish()
    rounds = [START, START + 2 * SECOND]
    assert output == "".join(f"ETIMEDOUT {at + 1000 + SECOND}\n0 {at + 2 * SECOND}\n" for at in rounds)


# ---- sockets and people


def listening(pid: int) -> set[str]:
    """The process's sockets that listen on the network."""
    own = {str(link.readlink()) for link in Path(f"/proc/{pid}/fd").iterdir()}
    rows = [
        row.split()
        for table in ("tcp", "tcp6")
        for row in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]
    ]
    return {f"socket:[{row[9]}]" for row in rows if row[3] == "0A"} & own


def test_nothing_listens_on_the_network(folder: Path, shim: Path, probe: Path) -> None:
    with closing(Program(folder, shim, probe, "listens")) as program:
        program.clock.idle()
        assert program.process.stdout
        port = int(program.process.stdout.readline())
        assert not listening(program.process.pid)
        with socket.socket(socket.AF_UNIX) as caller:
            caller.connect(str(program.sockets / str(port)))
            assert program.process.stdout.read() == b"127.0.0.1\n"
        assert program.process.wait() == 0


def test_a_client_has_real_time_and_the_people_of_the_file(folder: Path, shim: Path, probe: Path) -> None:
    people = folder / "people"
    people.write_text("charles:x:3002:3002::/home/charles:/bin/sh\nada:x:3001:3001::/home/ada:/bin/sh\n")
    variables = environment(sockets=folder, people=people, uid=3001, shim=shim)
    done = subprocess.run([probe, "people"], env=variables, capture_output=True, check=True, text=True)
    ada, charles = "ada 3001 3001 /home/ada", "charles 3002 3002 /home/charles"
    assert done.stdout.splitlines() == [
        ada,
        charles,
        charles,
        "root 0 0 /root",
        ada,
        "34",  # ERANGE: the buffer is too small
        "charles 3002 1",
        "1 3001",
        ada,
        charles,
        "3001 3001 3001 3001",
        "1",
    ]


def test_every_host_is_this_one(folder: Path, shim: Path, probe: Path) -> None:
    with closing(Program(folder, shim, probe, "resolves")) as program:
        assert program.finish() == "127.0.0.1 6817\n127.0.0.1 6817\n 6817\n"


def test_output_that_nobody_wants_is_not_written(folder: Path, shim: Path, probe: Path) -> None:
    with closing(Program(folder, shim, probe, "writes", unwanted=("nonsense", "cannot reach"))) as program:
        assert program.finish() == "0 all is well\n2 all is well\n"


# ---- memory and cores


@pytest.mark.parametrize("addresses", [None, 4 << 30], ids=["enough", "no room of its own"])
def test_memory_is_whole_also_where_threads_really_run_beside_each_other(
    shim: Path, memory: Path, addresses: int | None
) -> None:
    def limited() -> None:
        if addresses is not None:
            resource.setrlimit(resource.RLIMIT_AS, (addresses, addresses))

    variables = {"LD_PRELOAD": str(shim)}
    found = subprocess.run([memory], env=variables, capture_output=True, text=True, timeout=300, preexec_fn=limited)
    assert (found.returncode, found.stdout, found.stderr) == (0, "ok\n", "")


def test_threads_that_take_turns_do_so_on_one_core_and_children_go_anywhere(
    folder: Path, shim: Path, memory: Path
) -> None:
    every = len(os.sched_getaffinity(0))
    if every == 1:
        pytest.skip("needs two cores")
    with closing(Program(folder, shim, memory, "cores")) as program:
        child, parent = map(int, program.finish().split())
    assert (child, parent) == (every, 1)


def test_nobody_hands_over_to_a_thread_that_has_ended(folder: Path, shim: Path, ends: Path) -> None:
    if len(os.sched_getaffinity(0)) == 1:
        pytest.skip("needs two cores")
    with closing(Program(folder, shim, ends)) as program:
        seen, gone = map(int, program.finish().split())
    assert (seen, gone) == (1, 0)


def test_the_library_lies_beside_the_core() -> None:
    assert shim_path().name == "libschedlab_clock.so"
