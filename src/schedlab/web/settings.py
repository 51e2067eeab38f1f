"""What the person who starts the server says about it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from schedlab.model.confined import STARTS_PROGRAMS
from schedlab.model.errors import InputError
from schedlab.policy.spec import parse_policy

GIB = 1 << 30


def usual_memory() -> int:
    """An eighth of the machine's, and 2 GiB at least."""
    with suppress(ValueError, OSError, AttributeError):  # another system than Linux
        return max(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 8, 2 * GIB)
    return 2 * GIB


@dataclass(frozen=True, slots=True)
class Settings:
    host: str = "127.0.0.1"
    token: str = ""  # what a browser has to show; "" if everybody who reaches the server may use it
    largest_upload: int = GIB  # bytes
    largest_space: int = 50 * GIB  # bytes of all that is somebody's
    at_once: int = max(1, os.cpu_count() or 1)  # worker processes
    memory: int = field(default_factory=usual_memory)  # bytes of one process that works for somebody
    python: tuple[Path, ...] = ()  # files with policies, orders, … that may be used: named at start, inside the folder
    programs: tuple[str, ...] = ()  # policies that start programs or connect somewhere, with their arguments


def allowed(texts: Sequence[str], folder: Path) -> tuple[tuple[Path, ...], tuple[str, ...]]:
    """Files of Python, and policies that start programs, of those that were named."""
    python, programs = [], []
    for text in texts:
        if not text.endswith(".py"):
            programs.append(_program(text))
            continue
        path = next((found for found in (Path(text), folder / text) if found.is_file()), None)
        if path is None or not path.resolve().is_relative_to(folder.resolve()):
            problem = "no such file" if path is None else "lies outside the folder that is served"
            raise InputError(problem, where=text, hint=f"name a file in {folder}")
        python.append(path.resolve())
    return tuple(python), tuple(programs)


def _program(text: str) -> str:
    """As policies are written, so that whoever writes it another way means the same."""
    policy = parse_policy(text)
    if policy.text.partition("(")[0] not in STARTS_PROGRAMS:
        hint = f"name a file that ends in .py, or a policy that starts programs: {', '.join(STARTS_PROGRAMS)}"
        raise InputError("needs no permission", where=text, hint=hint)
    return policy.text
