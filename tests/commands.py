"""`schedlab …` in a process of its own, forked from one that has imported the command line: no start-up time."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import tempfile
from collections.abc import Collection, Mapping
from multiprocessing import forkserver
from pathlib import Path

FORKSERVER = multiprocessing.get_context("forkserver")
FORKSERVER.set_forkserver_preload(["tests.preloaded"])
SECONDS = 400


def begin() -> None:
    """Start the process that commands are forked from: it imports from the folder it is in, and tests change theirs."""
    forkserver.ensure_running()


def schedlab(
    *words: object, folder: Path | None = None, cores: Collection[int] = ()
) -> subprocess.CompletedProcess[str]:
    """As `subprocess.run(["schedlab", *words], cwd=folder, capture_output=True, text=True)`, on all or some cores."""
    return _run(["schedlab", *map(str, words)], folder, cores)


def pytest(*words: object, folder: Path) -> subprocess.CompletedProcess[str]:
    """As `subprocess.run(["pytest", *words], cwd=folder, capture_output=True, text=True)`."""
    return _run(["pytest", *map(str, words)], folder)


def _run(command: list[str], folder: Path | None, cores: Collection[int] = ()) -> subprocess.CompletedProcess[str]:
    with tempfile.TemporaryDirectory() as place:
        told = Path(place, "stdout"), Path(place, "stderr")
        process = FORKSERVER.Process(
            target=_perform, args=(command, folder or Path.cwd(), dict(os.environ), told, cores)
        )
        process.start()
        process.join(SECONDS)
        if process.exitcode is None:
            process.kill()
            process.join()
            raise subprocess.TimeoutExpired(command, SECONDS)
        return subprocess.CompletedProcess(command, process.exitcode, *(path.read_text() for path in told))


def _perform(
    command: list[str], folder: Path, environment: Mapping[str, str], told: tuple[Path, Path], cores: Collection[int]
) -> None:
    for stream, path in enumerate(told, start=1):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT), stream)
    os.chdir(folder)
    if cores:
        os.sched_setaffinity(0, cores)
    os.environ.clear()
    os.environ.update(environment)
    os.cpu_count = lambda: 1  # workers for a study that does not say how many: the other cores have tests of their own
    sys.argv = command

    if command[0] == "pytest":
        from pytest import console_main

        sys.exit(console_main())
    from schedlab.cli.start import main

    main()
