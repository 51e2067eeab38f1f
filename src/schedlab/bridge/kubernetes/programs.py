"""Schedulers with the simulated clock: which one is used, and what it is."""

from __future__ import annotations

import mmap
import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from schedlab.bridge.kubernetes.build import Progress, build, built_path, kube_scheduler
from schedlab.bridge.kubernetes.clock import VARIABLE
from schedlab.bridge.kubernetes.golang.toolchain import find_fitting_go
from schedlab.model.errors import InputError

NAMED_BY = "SCHEDLAB_KUBE_SCHEDULER"
BUILD = "schedlab kube doctor builds one"
WITHOUT_CHANCE = (1, 35)  # earlier releases choose among nodes that are equally good at random
_VERSION = re.compile(r"v(\d+)\.(\d+)[\w.+-]*")
_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Program:
    """A scheduler. `version` is what it says of itself; empty if nothing."""

    path: Path
    version: str

    @property
    def release(self) -> tuple[int, int] | None:
        """1.35 of v1.35.8, of programs that say so."""
        found = _VERSION.search(self.version)
        return (int(found[1]), int(found[2])) if found else None


def find_program(
    given: str | Path | None = None, *, may_build: bool = False, progress: Progress | None = None
) -> Program:
    """The given one, else that of `$SCHEDLAB_KUBE_SCHEDULER`, else the one that was built into the cache."""
    named = given or os.environ.get(NAMED_BY)
    if named:
        return program_at(Path(named))
    go = find_fitting_go()
    path = built_path(kube_scheduler(), go.version)
    if not path.is_file():
        if not may_build:
            raise InputError(f"no kube-scheduler with the simulated clock: {path} is not there", hint=BUILD)
        path = build(kube_scheduler(), progress)
    return program_at(path)


def program_at(path: Path) -> Program:
    if not path.is_file():
        hint = f"give the path of a scheduler that was built with schedlab kube build; {BUILD}"
        raise InputError("is not there", where=str(path), hint=hint)
    if not has_clock(path):
        hint = "build it with schedlab kube build, or use it as it is with schedlab kube serve"
        raise InputError("is not a program with the simulated clock", where=str(path), hint=hint)
    try:
        answer = subprocess.run(
            [str(path), "--version"],
            capture_output=True,
            text=True,
            check=False,
            timeout=_SECONDS,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise InputError(f"does not run: {error}", where=str(path), hint=BUILD) from error
    said = answer.stdout.strip().splitlines()[:1]
    return Program(path, said[0] if said and _VERSION.search(said[0]) and answer.returncode == 0 else "")


def has_clock(path: Path) -> bool:
    """Whether the clock of golang/ is in it: the name of its variable is."""
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            return content.find(f"{VARIABLE}=".encode()) >= 0
    except (OSError, ValueError):  # a folder, or empty
        return False
