"""The Go that is installed: where it is, which release, and whether the simulated clock can be built in."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from schedlab.bridge.kubernetes.golang.edits import GO
from schedlab.bridge.kubernetes.golang.overlay import check_release
from schedlab.model.errors import InputError

REMEDY = f"install Go {GO} (https://go.dev/dl) and put its bin folder into PATH"
_MACHINES = ("x86_64", "aarch64")


@dataclass(frozen=True, slots=True)
class Go:
    """`version` is as Go says it: go1.26.8."""

    program: Path
    version: str
    root: Path
    proxy: str

    def run(
        self, arguments: Sequence[str], folder: Path, variables: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run a command of Go that is soon done; who calls looks at its code."""
        return subprocess.run(
            [str(self.program), *arguments],
            cwd=folder,
            env=self.environment(variables),
            capture_output=True,
            text=True,
            check=False,
            stdin=subprocess.DEVNULL,
        )

    def environment(self, variables: Mapping[str, str] | None = None) -> dict[str, str]:
        """Without C and without other releases of Go, which the clock does not know."""
        return {**os.environ, "CGO_ENABLED": "0", "GOTOOLCHAIN": "local", "GOWORK": "off", **(variables or {})}


def find_go() -> Go:
    """The `go` in PATH, or where it is usually installed; an error says what is missing."""
    if sys.platform != "linux" or platform.machine() not in _MACHINES:
        raise InputError(
            f"the simulated clock is made for Linux on {' or '.join(_MACHINES)}, and this is {sys.platform} on "
            f"{platform.machine()}"
        )
    found = shutil.which("go") or shutil.which("go", path="/usr/local/go/bin")
    if found is None:
        raise InputError("there is no Go on this machine", hint=REMEDY)
    try:
        answer = subprocess.run(
            [found, "env", "-json", "GOVERSION", "GOROOT", "GOPROXY"],
            capture_output=True,
            check=True,
            env={**os.environ, "GOTOOLCHAIN": "local"},
        )
        told = msgspec.json.decode(answer.stdout, type=dict[str, str])
    except (OSError, subprocess.CalledProcessError, msgspec.DecodeError) as error:
        raise InputError(f"does not run: {error}", where=found, hint=REMEDY) from error
    return Go(Path(found), told["GOVERSION"], Path(told["GOROOT"]), told["GOPROXY"])


def find_fitting_go() -> Go:
    """One that the simulated clock can be built into."""
    go = find_go()
    check_release(go.version)
    return go
