"""Work of a moment in a process of its own: what is read or made there can cost the server no more than a message."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import BoundedSemaphore

from schedlab.model.confined import VARIABLE, as_text, confined
from schedlab.model.errors import InputError
from schedlab.web.settings import Settings
from schedlab.web.space import Space

AT_ONCE = BoundedSemaphore(2)


def aside(
    module: str, arguments: Sequence[str], space: Space, settings: Settings, *, patience: float
) -> subprocess.CompletedProcess[bytes]:
    """`python -m MODULE ARGUMENTS` in the served folder, within the bounds of the space."""
    bounds = as_text(space.bounds(settings))
    own = {"PYTHONSAFEPATH": "1", VARIABLE: bounds, "NO_COLOR": "1", "COLUMNS": "200"}
    with AT_ONCE, confined(None):
        try:
            return subprocess.run(
                [sys.executable, "-m", module, *arguments],
                cwd=space.folder,
                env={**os.environ, **own},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=patience,
                check=False,
            )
        except subprocess.TimeoutExpired:
            hint = "the command line has more patience"
            raise InputError(f"took longer than {patience:g} s", where=arguments[0], hint=hint) from None


@contextmanager
def place_for(space: Space) -> Iterator[Path]:
    """A hidden folder of the space, gone afterwards."""
    space.own.mkdir(parents=True, exist_ok=True, mode=0o700)
    with tempfile.TemporaryDirectory(prefix=".made-", dir=space.own) as place:
        yield Path(place)
