"""Workers on this machine: processes that are given runs, and replaced when they die."""

from __future__ import annotations

import itertools
import json
import os
import selectors
import subprocess
import sys
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Protocol

from schedlab.experiment.inputs import workload_key
from schedlab.experiment.plan import PlannedRun
from schedlab.model.stopping import how_it_ended

LOOK_AHEAD = 1000  # runs


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a run: seconds, or an error; `lost` if its worker died."""

    run: PlannedRun
    seconds: float = 0.0
    error: str = ""
    traceback: str = ""
    lost: bool = False
    disk: bool = False  # it fails, as it would the others
    memory: bool = False  # there is too little, for the others too
    note: str = ""  # what the user should know


class Workers(Protocol):
    """Who executes runs. `asked` and the folder of the study are known when they are made."""

    @property
    def busy(self) -> int:
        """How many runs are being executed."""
        ...

    def take(self, waiting: deque[PlannedRun]) -> None:
        """Take from those waiting as many as can be executed now."""
        ...

    def outcomes(self, timeout: float) -> list[Outcome]:
        """Those that came in; waits for the first one, but not longer than so many seconds."""
        ...

    def close(self, *, abort: bool = False) -> None:
        """No more work. With `abort` what they are at is given up."""
        ...


class LocalWorkers:
    """As many processes as there are cores, or as asked for."""

    def __init__(self, folder: Path, asked: dict[str, Any], count: int | None = None) -> None:
        self._folder, self._asked = folder, asked
        self._selector = selectors.DefaultSelector()
        self._count = count or os.cpu_count() or 1
        self._processes: dict[int, _Process] = {}  # by the number of their pipe

    @property
    def busy(self) -> int:
        return sum(process.run is not None for process in self._processes.values())

    def take(self, waiting: deque[PlannedRun]) -> None:
        while waiting and self.busy < self._count:
            process = next((one for one in self._processes.values() if one.run is None), None) or self._start()
            run = self._best_for(process, waiting)
            waiting.remove(run)
            process.start(run, {"run": run.to_dict(), "asked": self._asked, "folder": str(self._folder)})

    def _best_for(self, process: _Process, waiting: deque[PlannedRun]) -> PlannedRun:
        """One whose workload the worker has at hand; else one that no other worker is about to make."""
        others = {one.workload for one in self._processes.values() if one is not process}
        fresh = None
        for run in itertools.islice(waiting, LOOK_AHEAD):
            key = workload_key(run.point, run.seed)
            if key == process.workload:
                return run
            if fresh is None and key not in others:
                fresh = run
        return fresh or waiting[0]

    def outcomes(self, timeout: float) -> list[Outcome]:
        found: list[Outcome] = []
        for key, _ in self._selector.select(timeout):
            process = self._processes[key.fd]
            found.extend(process.received())
            if process.ended:
                self._forget(process)
                if process.run is not None:
                    how = how_it_ended(process.process.wait())
                    found.append(Outcome(process.run, error=f"the worker {how}", lost=True))
        return found

    def close(self, *, abort: bool = False) -> None:
        for process in list(self._processes.values()):
            self._forget(process)
            process.stop(abort)

    def _start(self) -> _Process:
        # One thread for each: the cores are shared by workers, not by the threads of one.
        threads = dict.fromkeys(("OMP_NUM_THREADS", "POLARS_MAX_THREADS", "OPENBLAS_NUM_THREADS"), "1")
        started = subprocess.Popen(
            [sys.executable, "-m", "schedlab.experiment.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **threads},
        )
        process = _Process(started)
        self._processes[process.pipe.fileno()] = process
        self._selector.register(process.pipe, selectors.EVENT_READ)
        return process

    def _forget(self, process: _Process) -> None:
        del self._processes[process.pipe.fileno()]
        self._selector.unregister(process.pipe)


class _Process:
    """One worker and the run it is at."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self.process = process
        self.pipe: IO[bytes] = process.stdout
        self.run: PlannedRun | None = None
        self.workload = ""  # that it has at hand
        self.ended = False
        self._rest = b""

    def start(self, run: PlannedRun, task: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.run, self.workload = run, workload_key(run.point, run.seed)
        with suppress(BrokenPipeError):  # it is dead, which its other pipe will tell
            self.process.stdin.write(json.dumps(task).encode() + b"\n")
            self.process.stdin.flush()

    def received(self) -> Iterator[Outcome]:
        piece = os.read(self.pipe.fileno(), 1 << 16)
        self.ended = not piece
        *lines, self._rest = (self._rest + piece).split(b"\n")
        for line in lines:
            assert self.run is not None
            run, self.run = self.run, None
            yield Outcome(run, **json.loads(line))

    def stop(self, abort: bool) -> None:
        assert self.process.stdin is not None
        if abort:
            self.process.kill()
        with suppress(BrokenPipeError):
            self.process.stdin.close()
        self.process.wait()
        self.pipe.close()
