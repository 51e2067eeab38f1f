"""What a run of a study costs: seconds of the clock and of processors, and memory."""

from __future__ import annotations

import ctypes
import gc
import resource
import time
from contextlib import suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from schedlab.engine.simulate import simulate
from schedlab.model.errors import SchedlabError
from schedlab.model.run import Run
from schedlab.model.workload import Workload

DECIDING = "performance.deciding"  # the one metric for which a run has to be measured while it goes on
_PROCESS = Path("/proc/self")


@cache
def warm_up() -> None:
    """The first run of a process would pay for what all of them need: modules that are imported when they are used."""
    with suppress(OSError, SchedlabError), TemporaryDirectory() as place:
        jobs = Workload.of(submit=[0.0], runtime=[1.0], count=[1])
        simulate(jobs, "pool:1", "fcfs", out=Path(place) / "run", performance=True)
    gc.collect()
    gc.freeze()  # modules stay: the collection before each run need not look at them again


class Meter:
    """Counts from when it is made."""

    def __init__(self) -> None:
        self._of_this_run = _forget_peak()
        self._wall, self._cpu = time.perf_counter(), _processor_seconds()

    def read(self, run: Run) -> dict[str, float | None]:
        """The metrics `performance.total` …, without the first part of their names."""
        deciding = run.tables.column("decide_seconds", "performance")
        return {
            "total": time.perf_counter() - self._wall,
            "cpu": _processor_seconds() - self._cpu,
            **({"deciding": float(deciding.sum(dtype=np.float64))} if len(deciding) else {}),
            "memory": _peak_memory() if self._of_this_run else None,
        }


def _processor_seconds() -> float:
    """Of this process and of those that it has started and that have ended."""
    used = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in used)


def _forget_peak() -> bool:
    """Of earlier runs, and give back what they have freed; whether that can be done here, as on Linux."""
    gc.collect()
    with suppress(OSError, AttributeError):  # AttributeError: not the GNU library
        ctypes.CDLL(None).malloc_trim(0)
    try:
        (_PROCESS / "clear_refs").write_text("5")
    except OSError:
        return False
    return True


def _peak_memory() -> float | None:
    """Resident since it was forgotten, in 10⁶ bytes."""
    with suppress(OSError, ValueError, IndexError):
        status = (_PROCESS / "status").read_text()
        return int(status.split("VmHWM:")[1].split()[0]) * 1024 / 1e6
    return None
