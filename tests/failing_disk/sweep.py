"""Commands on a disk that fails at one call after the other: what they say, what is left, and whether they go on."""

from __future__ import annotations

import errno
import json
import os
import random
import re
import shutil
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tests.failing_disk.disk import FOR_EVER, ONCE, READS, SHORT, SIGNAL, Ended, FailingDisk, Fault
from tests.studies import found

from schedlab.experiment.keeping import verify

LOG = "; MaxProcs: 8\n" + "".join(
    f"{job} {40 * job} -1 {30 + 17 * job % 200} {1 + job % 8} -1 -1 {1 + job % 8} 300 -1 1 {job % 3} 1 -1 1 -1 -1 -1\n"
    for job in range(1, 200)
)
STUDY = """
name = "small"
repetitions = 2
baseline = { policy = "fcfs" }
[workload]
model = "lublin(processors=64)"
jobs = 40
[run]
cluster = "pool:64"
policy = ["fcfs", "easy"]
"""
MOST_LINES = 4  # of a message
# What SQLite says of one error that does not come again: it keeps to itself what the system has said.
SQLITE = "unable to open database file|attempt to write a readonly database"
FAULTS = {
    "full": Fault(how=FOR_EVER, number=errno.ENOSPC),
    "gone": Fault(how=FOR_EVER, number=errno.EIO),
    "EIO": Fault(how=ONCE, number=errno.EIO),
    "EIO at a read": Fault(how=ONCE, number=errno.EIO, counted=READS),
    "short": Fault(how=SHORT),
    "killed": Fault(how=SIGNAL, number=signal.SIGKILL),
    "terminated": Fault(how=SIGNAL, number=signal.SIGTERM),
    "interrupted": Fault(how=SIGNAL, number=signal.SIGINT),
}
Found = dict[str, Any]  # by the name of what a command makes


@dataclass(frozen=True, slots=True)
class Case:
    """A command, and what it makes that is the same whenever it is executed."""

    words: tuple[str, ...]
    results: Callable[[Path], Found]
    before: tuple[tuple[str, ...], ...] = ()  # commands that make what it needs
    left: str = "$^"  # what may be left of it where it has failed, beside results that are whole


def runs(*names: str) -> Callable[[Path], Found]:
    return lambda folder: {name: _run(folder / name) for name in names if (folder / name).exists()}


def _run(folder: Path) -> Found:
    """All bytes of a run, without the time that it took."""
    content: Found = {path.name: path.read_bytes() for path in folder.iterdir()}
    if "run.json" in content:
        content["run.json"] = json.loads(content["run.json"])
        content["run.json"].pop("timing")
    return content


def study(name: str) -> Callable[[Path], Found]:
    """Its finished runs; those that are damaged are named."""

    def results(folder: Path) -> Found:
        whole = {f"{name} {identity}": result for identity, result in found(folder / name).items()}
        return whole | dict.fromkeys(verify(folder / name))

    return results


def files(*names: str) -> Callable[[Path], Found]:
    return lambda folder: {name: (folder / name).read_bytes() for name in names if (folder / name).exists()}


def there(name: str) -> Callable[[Path], Found]:
    """A file whose bytes are not the same each time."""
    return lambda folder: {name: None} if (folder / name).exists() else {}


def nothing(_: Path) -> Found:
    return {}


RUN = ("run", "log.swf", "-p", "easy", "--out", "x", "--reasons", "--places")
OF_STUDY = ("experiment", "run", "small.toml")
OFTEN = ("--checkpoint-every", "0s")
SMALL = r"small(/(study\.toml|plan\.json|ledger\.sqlite.*|\.lock|(backups|results|runs|checkpoints)(/[^.].*)?))?"
CHECKPOINT = r"x\.checkpoint(/.*)?"
BATSIM = ("o_jobs.csv", "o_schedule.csv", "o_machine_states.csv", "o_schedule.trace")
CASES = {
    "run": Case(RUN, runs("x")),
    "two runs": Case(
        ("run", "log.swf", "-p", "easy", "-p", "fcfs", "--out", "two/x"), runs("two/x/easy", "two/x/fcfs"), left="two.*"
    ),
    "run again": Case((*RUN, "--force"), runs("x"), before=(("run", "log.swf", "-p", "fcfs", "--out", "x"),)),
    "checkpoint": Case((*RUN, *OFTEN), runs("x"), left=CHECKPOINT),
    "study": Case(OF_STUDY, study("small"), left=SMALL),
    "checkpoints": Case((*OF_STUDY, *OFTEN), study("small"), left=SMALL),
    "study again": Case(OF_STUDY, study("small"), before=(OF_STUDY,), left=SMALL),
    "import": Case(
        ("experiment", "import", "whole", "small"), study("small"), before=((*OF_STUDY, "--out", "whole"),), left=SMALL
    ),
    "export": Case(
        ("experiment", "export", "small", "--out", "s.tar.gz"), there("s.tar.gz"), before=(OF_STUDY,), left=SMALL
    ),
    "table": Case(("experiment", "table", "small", "--out", "t.parquet"), files("t.parquet"), before=(OF_STUDY,)),
    "table as text": Case(("experiment", "table", "small", "--out", "t.csv"), files("t.csv"), before=(OF_STUDY,)),
    "report": Case(("experiment", "report", "small", "--out", "r.html"), there("r.html"), before=(OF_STUDY,)),
    "status": Case(("experiment", "status", "small"), nothing, before=(OF_STUDY,)),
    "verify": Case(("experiment", "verify", "small"), nothing, before=(OF_STUDY,)),
    "transform": Case(("transform", "log.swf", "--stretch", "0.9", "--out", "o.swf.gz"), files("o.swf.gz")),
    "convert": Case(("convert", "log.swf", "o.csv"), files("o.csv")),
    "convert to Batsim": Case(("convert", "log.swf", "o.json", "--to", "batsim"), files("o.json")),
    "generate": Case(("generate", "lublin(processors=64)", "--jobs", "500", "--out", "o.swf.zst"), files("o.swf.zst")),
    "fit": Case(("fit", "log.swf", "--model", "empirical", "--out", "m.json"), files("m.json")),
    "export of a run": Case(("export", "x", "o.swf"), files("o.swf"), before=(RUN,)),
    "export to Batsim": Case(("export", "x", "o", "--to", "batsim"), files(*BATSIM), before=(RUN,)),
    "figure": Case(("plot", "x", "--out", "p.png"), files("p.png"), before=(RUN,)),
    "Gantt chart": Case(("plot", "x", "--kind", "gantt", "--out", "p.svg"), there("p.svg"), before=(RUN,)),
    "check": Case(("check", "x"), nothing, before=(RUN,)),
    "compare": Case(("compare", "x"), nothing, before=(RUN,)),
}


class Sweep:
    """One case on one disk."""

    def __init__(self, disk: FailingDisk, case: Case) -> None:
        self.disk, self.case, self.folder = disk, case, disk.folder
        self._before = disk.folder.with_name(f"{disk.folder.name}-before")
        shutil.rmtree(self._before, ignore_errors=True)
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()
        (self.folder / "log.swf").write_text(LOG)
        (self.folder / "small.toml").write_text(STUDY)
        for words in case.before:
            ended = disk.run(words)
            assert ended.code == 0, ended
        shutil.copytree(self.folder, self._before)
        self.calls: dict[int, int] = {}  # that could fail, of those that are counted
        for counted in {fault.counted for fault in FAULTS.values()}:
            self.begin()
            ended = disk.run(case.words, Fault(counted=counted))
            assert ended.code == 0, ended
            self.calls[counted] = ended.calls
        self.expected = case.results(self.folder)

    def faults(self, most: int, chance: random.Random) -> Iterator[tuple[str, Fault]]:
        """Of each kind at every call, or at so many of them in all."""
        every = [
            (kind, replace(fault, at=at))
            for kind, fault in FAULTS.items()
            for at in range(1, self.calls[fault.counted] + 1)
        ]
        yield from every if len(every) <= most else chance.sample(every, most)

    def offences(self, kind: str, fault: Fault) -> list[str]:
        """What is wrong with how the command takes it, and with how the same command goes on."""
        self.begin()
        ended = self.disk.run(self.case.words, fault)
        wrong = [*self._of_words(fault, ended), *self._of_files(ended)]
        again = self.disk.run(self.case.words)
        if re.search("is already there|already holds a run", again.stderr) and self.case.results(self.folder):
            again = self.disk.run((*self.case.words, "--force"))  # some of it was finished
        if again.code:
            wrong.append(f"it does not go on: exit code {again.code}: {again.stderr[-600:]}")
        elif self.case.results(self.folder) != self.expected:
            wrong.append("it ends with other results than one that was not disturbed")
        # A single file, whose process was killed, is left under its other name: no other command is to touch it.
        single = r"\.[^/]*\.partial-[^/]*(/.*)?" if ended.code == -signal.SIGKILL else "$^"
        wrong += [f"{path} is left after all" for path in self._new(single) if ".partial" in path]
        return [f"{kind} at {fault.at} ({ended.failed}), exit code {ended.code}: {one}" for one in wrong]

    def _of_words(self, fault: Fault, ended: Ended) -> Iterator[str]:
        if not ended.code:
            if self.case.results(self.folder) != self.expected:
                yield f"no error, but other results: {ended.stderr[-300:]}"
            return
        if fault.how == SIGNAL:
            if ended.code not in (-fault.number, 128 + fault.number) or "Traceback" in ended.stderr:
                yield f"no end by a signal: {ended.stderr[-600:]}"
            return
        said = ended.stderr or ended.stdout  # a verdict of `check` is no error
        if ended.code not in (1, 2) or "Traceback" in said or len(said.splitlines()) > MOST_LINES:
            yield f"{len(said.splitlines())} lines: {said[:200]} … {said[-600:]}"
        elif ended.stderr and not re.search(r"^error: .+: .+\n  hint: .+", said, re.MULTILINE):
            yield f"no error, or no hint: {said}"
        elif fault.number and not re.search(f"{os.strerror(fault.number)}|{SQLITE}|cannot be read", said):
            yield f"not the cause: {said}"
        if "mean" in ended.stdout:
            yield f"it has concluded something: {ended.stdout[:300]}"

    def _of_files(self, ended: Ended) -> Iterator[str]:
        before, now = self.case.results(self._before), self.case.results(self.folder)
        for name, result in now.items():
            if name not in self.expected:
                yield name
            elif result not in (self.expected[name], before.get(name)):
                yield f"{name} is half written"
        for name in before.keys() - now.keys():
            yield f"{name} is lost"
        if ended.code and ended.code != -signal.SIGKILL:
            whole = "|".join(f"{re.escape(name)}(/.*)?" for name in now) or "$^"
            if strange := self._new(f"{self.case.left}|{whole}"):
                yield f"left: {strange[:5]}"

    def _new(self, allowed: str) -> list[str]:
        known = {path.relative_to(self._before).as_posix() for path in self._before.rglob("*")}
        now = (path.relative_to(self.folder).as_posix() for path in self.folder.rglob("*"))
        return [path for path in sorted(now) if path not in known and not re.fullmatch(allowed, path)]

    def begin(self) -> None:
        shutil.rmtree(self.folder)
        shutil.copytree(self._before, self.folder)
