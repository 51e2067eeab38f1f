"""Small logs for the SWF tests."""

from pathlib import Path
from typing import Any

FIELDS = (
    *("job", "submit", "wait", "run", "allocated", "cpu", "used_memory", "requested", "limit", "memory", "status"),
    *("user", "group", "executable", "queue", "partition", "after", "think"),
)
USUAL = {"job": 1, "submit": 0, "wait": 5, "run": 100, "allocated": 4, "requested": 4, "limit": 200, "status": 1}


def row(**fields: Any) -> str:
    """One record; what is not said is as in USUAL, or unknown."""
    return " ".join(str({**USUAL, **fields}.get(name, -1)) for name in FIELDS)


def log(path: Path, *lines: str, end: str = "\n") -> Path:
    """A file of these lines."""
    path.write_bytes("".join(line + end for line in lines).encode())
    return path
