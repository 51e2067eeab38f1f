"""Where a process may take little memory (`ulimit -v`, batch systems): libraries that cannot start there are told.

Some of them end the process when there is not enough for them, or wait for threads that never come, and listen to no
signal meanwhile. So each is started in a process of its own first.
"""

from __future__ import annotations

import importlib
import importlib.abc
import os
import resource
import signal
import sys
import time
from typing import Any, NoReturn

from schedlab.model.errors import SchedlabError

ENOUGH = 16 << 30  # bytes with which nothing is tried: threads of a hundred cores start
PATIENCE = 60.0  # seconds that a library may take
POLL = 0.01
ROOM = 64 << 20  # bytes that are left to work with
LIBRARIES = (
    *("schedlab._core", "numpy", "pyarrow", "pyarrow.parquet", "polars"),
    *("scipy.special", "scipy.stats", "matplotlib.pyplot"),
)
# Each thread takes addresses that it never uses.
_ALONE = {
    **dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "POLARS_MAX_THREADS"), "1"),
    "_RJEM_MALLOC_CONF": "background_thread:false,narenas:1",
}


class LittleMemoryError(SchedlabError):
    """There is not enough to go on with."""

    def __init__(self, what: str) -> None:
        limit, _ = resource.getrlimit(resource.RLIMIT_AS)
        limited = limit != resource.RLIM_INFINITY
        allowed = f": this process may take {limit / 1e6:,.0f} MB (ulimit -v)" if limited else ""
        hint = "allow more; 2,000 MB are enough to start anything" if limited else "choose a machine with more"
        super().__init__(f"not enough memory {what}{allowed}\n  hint: {hint}")


def shortage(error: BaseException) -> LittleMemoryError | None:
    """What an error says of memory, if it does."""
    if isinstance(error, LittleMemoryError):
        return error
    unloaded = isinstance(error, ImportError) and "failed to map segment" in str(error)
    return LittleMemoryError("to go on") if unloaded or isinstance(error, MemoryError) else None


def be_careful() -> None:
    """From now on, if there is a limit: few threads, and no library without a trial."""
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit != resource.RLIM_INFINITY and limit < ENOUGH:
        for name, value in _ALONE.items():
            os.environ.setdefault(name, value)
        sys.meta_path.insert(0, _TriedFirst())


class _TriedFirst(importlib.abc.MetaPathFinder):
    """Finds nothing: the others do, once a library has started elsewhere."""

    def __init__(self) -> None:
        self._left = set(LIBRARIES)

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> None:
        if fullname in self._left:
            self._left.discard(fullname)
            if not _starts(fullname):
                raise LittleMemoryError(f"for {fullname.partition('.')[0]} to start")


def _starts(library: str) -> bool:
    child = os.fork()
    if not child:
        _try(library)
    deadline = time.monotonic() + PATIENCE
    try:
        while time.monotonic() < deadline:
            pid, status = os.waitpid(child, os.WNOHANG)
            if pid:
                child = 0
                return status == 0
            time.sleep(POLL)
        return False
    finally:
        if child:  # it hangs, or we are asked to stop
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)


def _try(library: str) -> NoReturn:
    code = 1
    try:
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in (1, 2):
            os.dup2(nowhere, stream)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        importlib.import_module(library)
        if library == "polars":  # its threads start with the first work
            frame = sys.modules["polars"].DataFrame({"a": [2, 1]})
            frame.sort("a").group_by("a").len()
        bytearray(ROOM)
        code = 0
    finally:
        os._exit(code)
