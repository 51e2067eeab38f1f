"""pybatsim, batsim-py and evalys, which the Makefile installs beside the environment."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

FOLDER = Path(sys.prefix) / "batsim-tools"
there = pytest.mark.skipif(not FOLDER.is_dir(), reason=f"needs pybatsim, batsim-py and evalys in {FOLDER} (make test)")


def importable() -> None:
    """For this process; last, because they install modules with names like `tests`."""
    if str(FOLDER) not in sys.path:
        sys.path.append(str(FOLDER))


def environment(*programs: Path) -> dict[str, str]:
    """Of processes that use them: their modules and programs, and before these the programs in other folders."""
    path = os.pathsep.join([*map(str, programs), str(FOLDER / "bin"), os.environ.get("PATH", os.defpath)])
    return os.environ | {"PYTHONPATH": str(FOLDER), "PATH": path}
