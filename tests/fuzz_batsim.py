"""Fuzz both ends of Batsim's protocol: what is said is understood and done, or refused with an error that quotes it.

python -m tests.fuzz_batsim --seconds 600 --seed 1
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.batsim_talk import Fcfs, small_platform, write_workload
from tests.batsim_world import Delay, World
from tests.fuzzing import main, mutate

from schedlab.bridge.batsim import told
from schedlab.bridge.batsim.decider import Batsim
from schedlab.bridge.batsim.documents import Documents
from schedlab.bridge.batsim.errors import LONGEST_QUOTE, BatsimError, quoted
from schedlab.bridge.batsim.mirror import Mirror
from schedlab.bridge.batsim.zmtp import GREETING, Frames, WireError
from schedlab.engine.scenario import Scenario
from schedlab.engine.simulate import simulate
from schedlab.model.cluster import Cluster
from schedlab.model.errors import SchedlabError

ODD = [
    *("", "0", "-1", "1e400", "nan", "null", "true", '"', "{", "}", "[", "]", ",", ":", "\n", "\0", "ä", "9" * 30),
    *('"w0!1"', '"w0!2"', '"0-1"', '"3"', '"9-0"', "5.0", "1e9", "{}", "[]", '"timestamp"', '"data"', '"now"'),
    *('"EXECUTE_JOB"', '"KILL_JOB"', '"REJECT_JOB"', '"NOTIFY"', '"JOB_COMPLETED"', '"SIMULATION_BEGINS"', "[[["),
]
JOBS = ("w0!1", "w0!2", "w0!3", "dyn!1", "w0!9", "")
STATES = ("RUNNING", "COMPLETED_SUCCESSFULLY", "COMPLETED_KILLED", "REJECTED", "TEA")
NOTES = ("registration_finished", "continue_registration", "tea")
PROFILES: list[Any] = [{"type": "delay", "delay": 3}, {"type": "delay"}, {"type": "parallel", "cpu": [1]}, {}, "x"]


def data_of(kind: str, chance: random.Random, now: float) -> Any:
    """Of an event that a scheduler might send."""
    job = chance.choice(JOBS)
    return {
        "EXECUTE_JOB": lambda: {
            "job_id": job,
            "alloc": chance.choice(("0", "1", "0-1", "2 3", "3-9", "", "x")),
            **({"mapping": {"0": chance.choice((0, "0", 7))}} if chance.random() < 0.2 else {}),
        },
        "REJECT_JOB": lambda: {"job_id": job},
        "KILL_JOB": lambda: {"job_ids": chance.choices(JOBS, k=chance.randint(0, 2))},
        "CALL_ME_LATER": lambda: {"timestamp": now + chance.choice((-1, 0, 1, 4.5))},
        "REGISTER_JOB": lambda: {
            "job_id": job,
            "job": {"id": job, "subtime": 0, "res": chance.choice((0, 1, 9)), "profile": chance.choice(("ten", "p"))},
        },
        "REGISTER_PROFILE": lambda: {
            "workload_name": chance.choice(("dyn", "w0")),
            "profile_name": chance.choice(("p", "ten")),
            "profile": chance.choice(PROFILES),
        },
        "SET_RESOURCE_STATE": lambda: {"resources": chance.choice(("0", "0-3", "8")), "state": chance.choice("019x")},
        "SET_JOB_METADATA": lambda: {"job_id": job, "metadata": "m"},
        "CHANGE_JOB_STATE": lambda: {"job_id": job, "job_state": chance.choice(STATES)},
        "NOTIFY": lambda: {"type": chance.choice(NOTES)},
        "QUERY": lambda: {"requests": {chance.choice(("consumed_energy", "tea")): {}}},
        "ANSWER": lambda: {"estimate_waiting_time": {}},
        "TO_JOB_MSG": lambda: {"job_id": job, "msg": "hello"},
    }[kind]()


KINDS = (
    *("EXECUTE_JOB", "EXECUTE_JOB", "REJECT_JOB", "KILL_JOB", "CALL_ME_LATER", "REGISTER_JOB", "REGISTER_PROFILE"),
    *("SET_RESOURCE_STATE", "SET_JOB_METADATA", "CHANGE_JOB_STATE", "NOTIFY", "QUERY", "ANSWER", "TO_JOB_MSG"),
)


class Sane(Fcfs):
    """It lets jobs that somebody else has started end in peace."""

    def __call__(self, message: dict[str, Any]) -> list[Any]:
        for event in message["events"]:
            if event["type"] == "JOB_COMPLETED":
                self.has.setdefault(event["data"]["job_id"], [])
        return super().__call__(message)


class Whimsical:
    """At the scheduler's end: it mostly does what is sensible, and sometimes anything, in words that may be garbled."""

    def __init__(self, chance: random.Random) -> None:
        self.chance, self.sane, self.asked = chance, Sane(), 0
        self.last = b""

    def exchange(self, message: bytes) -> bytes:
        heard = json.loads(message)
        now, chance = heard["now"], self.chance
        said = [(kind, data) for kind, data, *_ in self.sane(heard)]
        self.asked += 1
        if self.asked > 30:
            self.last = b"enough"
            return self.last
        if chance.random() < 0.12:
            kinds = chance.choices(KINDS, k=chance.randint(1, 3))
            said += [(kind, data_of(kind, chance, now)) for kind in kinds]
            chance.shuffle(said)
        events = [
            {"timestamp": now + chance.choice((0,) * 9 + (2,)), "type": kind, "data": data} for kind, data in said
        ]
        later = max([now, *(event["timestamp"] for event in events)])
        self.last = json.dumps({"now": later, "events": events}).encode()
        if chance.random() < 0.04:
            self.last = mutate(self.last, chance, ODD)
        return self.last

    def exchange_last(self, message: bytes, patience: float) -> bytes:
        return b"bye"

    def close(self) -> None:
        pass


def scheduler(chance: random.Random, folder: Path) -> bool:
    """Nonsense from a scheduler, in a whole run."""
    partner = Whimsical(chance)
    jobs = [{"id": 1}, {"id": 2, "subtime": 5, "res": 2, "walltime": 4}, {"id": 3, "subtime": 5, "res": 4}]
    known = Documents.read([write_workload(folder, jobs)], small_platform())
    policy = Batsim(
        documents=known,
        link=partner,
        dynamic=chance.random() < 0.5,
        acknowledge=chance.random() < 0.5,
        compute_sharing=chance.random() < 0.3,
    )
    try:
        run = simulate(Scenario(known.workload(), Cluster.uniform(1), policy, validate=True))
    except BatsimError as error:
        assert quotes(str(error), partner.last), (str(error), partner.last)
        assert error.run is not None
        return False
    assert run.summary["jobs"] >= 3
    return True


def quotes(error: str, said: bytes) -> bool:
    """Whether an error has the whole of what was said, its beginning and end, or the event that it is about."""
    whole = quoted(said)
    if whole[: LONGEST_QUOTE // 4] in error:
        return True
    try:
        events = json.loads(said.decode("utf-8", "replace"))["events"]  # as errors quote what is no UTF-8
    except (ValueError, TypeError, KeyError):
        return False
    return any(f'"{event["type"]}"' in error for event in events) or not events


class CrashError(Exception):
    """Something else than an error of ours."""


class Garbler:
    """Between a simulator and a policy of ours: messages may be changed on the way."""

    def __init__(self, chance: random.Random, policy: str) -> None:
        self.chance, self.policy, self.changed = chance, policy, False
        self.mirror: Mirror | None = None

    def __call__(self, content: bytes) -> bytes:
        told_as = mutate(content, self.chance, ODD) if self.chance.random() < 0.1 else content
        self.changed |= told_as != content
        try:
            message = told.read_message(told_as)
            if self.mirror is None:
                if not message.events:
                    raise BatsimError("it has not begun")
                self.mirror = Mirror(self.policy, told.read_begins(message.events[0]))
            return self.mirror.answer(message)
        except SchedlabError:
            raise
        except Exception as error:
            raise CrashError(told_as) from error


def simulator(chance: random.Random, _: Path) -> bool:
    """Nonsense from a simulator, to a policy of ours."""
    garbler = Garbler(chance, chance.choice(("easy", "conservative", "fcfs")))
    world = World([Delay(f"w0!{n}", n // 2, 3, chance.choice((2, 9)), chance.randint(1, 4)) for n in range(5)], 3)
    try:
        world.play(garbler)
        return True
    except (SchedlabError, AssertionError, KeyError):
        if not garbler.changed:
            raise
        return False  # told of another world, it decides for that one
    finally:
        if garbler.mirror is not None:
            garbler.mirror.close()


def wire(chance: random.Random, _: Path) -> bool:
    """Nonsense on the wire."""
    replies = [chance.randbytes(chance.choice((0, 1, 40, 300))) for _ in range(3)]
    ready = b"\x04\x19\x05READY\x0bSocket-Type\0\0\0\x03REP"
    content = GREETING + ready
    for reply in replies:
        size = bytes((0, len(reply))) if len(reply) < 256 else b"\x02" + len(reply).to_bytes(8, "big")
        content += b"\x01\0" + size + reply
    garbled = mutate(content, chance, ODD)
    cuts = sorted(chance.randint(0, len(garbled)) for _ in range(4))
    pieces = [garbled[a:b] for a, b in zip((0, *cuts), (*cuts, len(garbled)), strict=True) if a < b]

    def read() -> bytes:
        if not pieces:
            raise ConnectionError("closed")
        return pieces.pop(0)

    frames = Frames(read)
    try:
        frames.greet()
        frames.meet()
        heard = [frames.reply() for _ in replies]
    except (WireError, ConnectionError):
        return False
    assert garbled != content or heard == replies
    return True


CASES: tuple[Callable[[random.Random, Path], bool], ...] = (scheduler, simulator, wire)


def fuzz(chance: random.Random, folder: Path) -> bool:
    return chance.choice(CASES)(chance, folder)


if __name__ == "__main__":
    sys.setrecursionlimit(2000)
    main(fuzz, __doc__)
