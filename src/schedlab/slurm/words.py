"""Slurm's own words: what its log says last, and what its error numbers mean."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Sequence
from errno import EAGAIN
from functools import cache
from pathlib import Path

from schedlab.slurm.install.programs import Programs

LINES = 3
LIBRARY = "libslurmfull.so"
_TAIL = 64 << 10
_STAMP = re.compile(r"^(?:\[[^\]]*\] |slurmctld: )+")
_TELLING = re.compile(r"fatal|error", re.IGNORECASE)


def last_words(logs: Sequence[Path]) -> str:
    """The last lines that tell of an error; else the last lines."""
    lines: list[str] = []
    for path in logs:
        if path.is_file():
            with path.open("rb") as file:
                file.seek(max(path.stat().st_size - _TAIL, 0))
                lines += [_STAMP.sub("", line) for line in file.read().decode(errors="replace").splitlines()]
    telling = [line for line in lines if _TELLING.search(line)]
    return "; ".join(list(dict.fromkeys(telling or lines))[-LINES:]) or "its log says nothing"


def words_of(programs: Programs, code: int) -> str:
    """What Slurm says of an error."""
    try:
        words = _library(str(programs.plugin_folder / LIBRARY)).slurm_strerror(code)
    except OSError:
        return f"error {code}"
    return f"{words.decode(errors='replace')} ({code})"


def is_of_the_place(code: int) -> bool:
    """Whether an answer to a submission says nothing about the job, but that slurmctld cannot work where it is.

    Slurm's numbers for what is wrong with a job are those from 2000 on. All others are of the system (but EAGAIN, which
    means MaxJobCount), of messages and of authentication; of those from 2000 on, these are: a file cannot be written, a
    credential cannot be made, internal error.
    """
    return code in (2019, 2026, 2090) or (code > 0 and code != EAGAIN and not 2000 <= code < 3000)


def reason_of(programs: Programs, number: int) -> str:
    """Why a job waits, as squeue shows it."""
    try:
        return str(_library(str(programs.plugin_folder / LIBRARY)).slurm_job_reason_string(number).decode())
    except OSError:
        return f"reason {number}"


@cache
def _library(path: str) -> ctypes.CDLL:
    library = ctypes.CDLL(path)
    library.slurm_strerror.restype = library.slurm_job_reason_string.restype = ctypes.c_char_p
    return library
