"""The shared libraries that a file asks for and the machine does not have, as the loader itself sees it (ldd)."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

from schedlab.model.errors import InputError

_NOT_FOUND = re.compile(r"^[ \t]*+(\S++) => not found", re.MULTILINE)
_TOO_OLD = re.compile(r"version [`'](\S+)' not found")


def missing_libraries(file: Path, library_path: str = "") -> list[str]:
    """Names of libraries (`libmunge.so.2`), and versions of one (`GLIBC_2.34`) that is there but too old."""
    if not file.is_file():
        raise InputError("is not there", where=str(file))
    environment = os.environ | {"LC_ALL": "C", "LD_LIBRARY_PATH": library_path}
    try:
        answer = subprocess.run(["ldd", str(file)], env=environment, capture_output=True, text=True, timeout=30)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise InputError(f"ldd cannot be run: {error}", where=str(file), hint="ldd belongs to the C library") from error
    if answer.returncode != 0 and not _TOO_OLD.search(answer.stderr):
        words = answer.stderr.strip() or answer.stdout.strip()
        raise InputError(f"ldd cannot read it: {words}", where=str(file))
    return sorted({*_NOT_FOUND.findall(answer.stdout), *_TOO_OLD.findall(answer.stdout + answer.stderr)})
