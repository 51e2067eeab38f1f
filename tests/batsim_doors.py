"""`schedlab batsim` twice, on the same files and with a scheduler that says the same: by Python, and by the program
that needs none."""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import threading
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol

import zmq
from tests.batsim_scheduler import Fcfs
from tests.fuzz_batsim import ODD, Whimsical
from tests.fuzzing import mutate

import schedlab
from schedlab.bridge.batsim.resources import hosts_text
from schedlab.cli.batsim import run_batsim
from schedlab.cli.batsim_arguments import parse
from schedlab.cli.batsim_program import PROGRAM, program_arguments

NOT_CARRIED = 77  # the exit code of what is started for what the program does not carry
HOSTS = 4
SECONDS = 60


class Partner(Protocol):
    def exchange(self, message: bytes) -> bytes: ...


class Lively(Fcfs):
    """What it asks for can be had: it also kills, rejects, runs jobs elsewhere, is busy and wants to be called."""

    def __init__(self, chance: random.Random) -> None:
        super().__init__(HOSTS)
        self.chance, self.elsewhere = chance, set[str]()
        self.gone: list[str] = []

    def exchange(self, message: bytes) -> bytes:
        heard, chance = json.loads(message), self.chance
        now = heard["now"]
        self.gone += [event["data"]["job_id"] for event in heard["events"] if event["type"] == "JOB_COMPLETED"]
        said = list(self(heard))
        for _, data in said:
            data["alloc"] = self._written(data["alloc"])
        running = [job for job in (*self.has, *self.gone[-2:]) if job not in self.elsewhere]
        if running and chance.random() < 0.1:
            said.append(("KILL_JOB", {"job_ids": chance.choices(running, k=chance.randint(1, 2))}))
        if self.queue and chance.random() < 0.15:
            said.append(("REJECT_JOB", {"job_id": self.queue.pop(0)[0]}))
        if self.queue and chance.random() < 0.15:
            job = self.queue.pop()[0]
            self.elsewhere.add(job)
            said.append(("CHANGE_JOB_STATE", {"job_id": job, "job_state": "RUNNING"}))
        if self.has and chance.random() < 0.2:
            said.append(("SET_JOB_METADATA", {"job_id": next(iter(self.has)), "metadata": "ä,1"}))
        if chance.random() < 0.1:
            said.append(("CALL_ME_LATER", {"timestamp": now + chance.choice((1, 4.5, 1 / 3))}))
        events = [{"timestamp": now, "type": kind, "data": data} for kind, data in said]
        done = sorted(self.elsewhere)
        self.elsewhere.clear()
        for job in done:
            data = {"job_id": job, "job_state": f"COMPLETED_{chance.choice(('SUCCESSFULLY', 'FAILED', 'KILLED'))}"}
            events.append({"timestamp": now + 1, "type": "CHANGE_JOB_STATE", "data": data})
        later = max([now, *(event["timestamp"] for event in events)]) + chance.choice((0, 0, 0, 2))
        return json.dumps({"now": later, "events": events}).encode()

    def _written(self, alloc: str) -> str:
        """The same hosts in other words."""
        hosts = list(map(int, alloc.split()))
        texts = alloc, hosts_text(hosts), " ".join(map(str, reversed(hosts))), f"{alloc} {hosts[0]}"
        return self.chance.choice(texts)


@dataclass
class Played:
    """What can be seen of a simulation from outside."""

    code: int
    heard: list[Any]
    said: str  # on standard error
    files: dict[str, str]

    def mistake(self) -> str:
        """The last line, if it is about a mistake, without what it quotes, and without what readers of JSON say."""
        lines = [line for line in self.said.splitlines() if "/ERROR]" in line]
        if lines and re.search(r"reply is not (JSON|as the protocol has it)", lines[-1]):
            return "a reply that cannot be read"
        return "".join(lines[-1:]).partition("; {")[0]


class Listening(threading.Thread):
    """The partner at a socket."""

    def __init__(self, partner: Partner) -> None:
        super().__init__(daemon=True)
        self.partner, self.over = partner, threading.Event()
        self.context = zmq.Context()
        self.socket = self.context.socket(zmq.REP)
        self.endpoint = f"tcp://127.0.0.1:{self.socket.bind_to_random_port('tcp://127.0.0.1')}"
        self.heard: list[Any] = []
        self.start()

    def run(self) -> None:
        try:
            while not self.over.is_set():
                if self.socket.poll(20):
                    message = self.socket.recv()
                    self.heard.append(json.loads(message))
                    self.socket.send(self.partner.exchange(message))
        finally:
            self.socket.close(1000)
            self.context.term()


def by_python(words: Sequence[str], socket: str) -> tuple[int, str]:
    said = StringIO()
    with redirect_stderr(said):
        code = run_batsim([*words, "-s", socket])
    return code, said.getvalue()


def by_the_program(words: Sequence[str], socket: str) -> tuple[int, str]:
    program = next(path for folder in schedlab.__path__ if os.access(path := f"{folder}/{PROGRAM}", os.X_OK))
    arguments = program_arguments(parse([*words, "-s", socket]))
    if arguments is None:
        return NOT_CARRIED, ""
    otherwise = ["/bin/sh", "-c", f"exit {NOT_CARRIED}"]
    done = subprocess.run(
        [program, *arguments, "--", *otherwise],
        capture_output=True,
        timeout=SECONDS,
    )
    return done.returncode, done.stderr.decode(errors="replace")


def play(
    how: Callable[[Sequence[str], str], tuple[int, str]], words: Sequence[str], partner: Partner, folder: Path
) -> Played:
    listening = Listening(partner)
    with TemporaryDirectory(dir=folder) as out:
        try:
            code, said = how([*words, "-e", f"{out}/out"], listening.endpoint)
        finally:
            listening.over.set()
            listening.join(SECONDS)
        files = {path.name: _without_our_time(path.read_text()) for path in Path(out).iterdir()}
    said = said.replace(listening.endpoint, "SOCKET").replace(out, "OUT")
    return Played(code, listening.heard, re.sub("Sending '.*'", "Sending", said), files)  # what was sent was heard


def _without_our_time(text: str) -> str:
    """schedule.csv ends with the seconds that it took, by our clock."""
    return re.sub(r"(batsim_version.*\n.*),[^,\n]*,[^,\n]*(,.*){9}\n", r"\1\2\n", text)


def write_case(chance: random.Random, folder: Path) -> list[str]:
    """Files and options of one simulation."""
    words = ["-p", str(_platform(chance, folder))]
    for number in range(chance.choice((1, 1, 1, 2))):
        words += ["-w", str(_workload(chance, folder, number))]
    for option in (
        *("--forward-profiles-on-submission", "--acknowledge-dynamic-jobs", "--disable-schedule-tracing"),
        *("--disable-machine-state-tracing", "--disable-storage-sharing", '--sched-cfg=ä "b"\t\\', "--mmax=4"),
    ):
        words += [option] if chance.random() < 0.25 else []
    return [*words, "-v", chance.choice(("quiet", "network-only", "information", "debug"))]


def _platform(chance: random.Random, folder: Path) -> Path:
    hosts = chance.choice(
        (
            "".join(
                f'<host id="a{n}" speed="1Gf"><prop id="x{n % 2}" value="&quot;{n}"/></host>\n' for n in range(HOSTS)
            ),
            '<!-- one --><cluster id="c" prefix="n-" suffix=".org" radical="0-2,7" speed="1.5Gf, 100Mf" core="2" '
            'bw="125MBps" lat="50us"><prop id="rack" value="7"/><prop id="group" value="g"/></cluster>',
            '<zone id="in" routing="Full"><prop id="colour" value="red"/><host id="z" speed="1e9"/>'
            '<link id="l" bandwidth="10Gbps" latency="1.5ms"/><route src="z" dst="a"><link_ctn id="l"/></route>'
            '<host id="a" speed="1f" core="3"><prop id="role" value="compute_node"/></host></zone>'
            '<cluster id="d" prefix="m" suffix="" radical="8-9" speed="1Gf"/>',
        )
    )
    master = chance.choice(
        (
            '<host id="master_host" speed="1Gf"/>',
            '<host id="master_host7" speed="1Gf"/>',
            '<host id="m" speed="1f"><prop id="role" value="master"/></host>',
        )
    )
    path = folder / "platform.xml"
    path.write_text(
        "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
        '<platform version="4.1">\n<zone id="AS0" routing="Full">\n<prop id="cluster" value="it"/>'
        f'<prop id="colour" value="blue"/><prop id="site" value="s"/>{master}{hosts}</zone></platform>\n'
    )
    return path


def _workload(chance: random.Random, folder: Path, number: int) -> Path:
    seconds = chance.sample((1, 2.5, 10, 1e-3, 100000.1, 7, 1 / 3), k=3)
    profiles = {
        f"p{place}": {
            "type": "delay",
            "delay": delay,
            **({"ret": chance.choice((1, -3))} if chance.random() < 0.2 else {}),
        }
        for place, delay in enumerate(seconds)
    }
    jobs = []
    for place in range(chance.randint(0, 12)):
        name = chance.choice((place, place, str(place), f"job {place}", f"w{number}!{place}"))
        job = {"id": name, "subtime": chance.choice((0, 0, 3, 7.25, place / 3)), "res": chance.choice((1, 1, 2, 3, 4))}
        job |= {"profile": chance.choice(list(profiles))}
        job |= {"walltime": chance.choice((-1, 2, 2.5, 10, 12.5, 1000))} if chance.random() < 0.6 else {}
        job |= {"user": {"name": 'ä"\\', "groups": [1, None, True]}} if chance.random() < 0.2 else {}
        jobs.append(dict(chance.sample(list(job.items()), k=len(job))))
    path = folder / f"workload{number}.json"
    text = json.dumps(
        {"description": "some", "nb_res": HOSTS, "jobs": jobs, "profiles": profiles},
        indent=chance.choice((None, 2)),
        ensure_ascii=chance.random() < 0.5,
    )
    path.write_text(text)
    return path


def compare(chance: random.Random, folder: Path, *, garbled: bool = False) -> Played | None:
    """A random simulation; `garbled`: one of its files may have had an accident."""
    words = write_case(chance, folder)
    if garbled:
        path = chance.choice([Path(word) for word in words if word.endswith((".xml", ".json"))])
        path.write_bytes(mutate(path.read_bytes(), chance, ODD, times=(0, 1, 1), lengths=(0, 1, 3)))
    partner: Callable[[random.Random], Partner] = chance.choice((Lively, Whimsical))
    seed = chance.random()
    return twice(words, lambda: partner(random.Random(seed)), folder)


def twice(words: Sequence[str], partner: Callable[[], Partner], folder: Path) -> Played | None:
    """What the program makes of a simulation has to be what Python makes of it; nothing if it does not carry it."""
    program = play(by_the_program, words, partner(), folder)
    if program.code == NOT_CARRIED:
        return None
    python = play(by_python, words, partner(), folder)
    assert program.heard == python.heard, python.said
    assert program.files == python.files
    assert (program.code, program.mistake()) == (python.code, python.mistake())
    if not python.mistake():
        assert program.said == python.said
    return program
