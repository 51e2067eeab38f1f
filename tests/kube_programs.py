"""Schedulers with the simulated clock for tests: built once into the user's cache, where Go is there.

`python -m tests.kube_programs` builds them, before tests have to wait for it; `… others` those that tests do not wait
for, since each takes minutes.
"""

from __future__ import annotations

import functools
import sys
from pathlib import Path

import pytest

from schedlab.bridge.kubernetes.build import Target, build, built_path, kube_scheduler, target_of
from schedlab.bridge.kubernetes.golang.toolchain import find_fitting_go
from schedlab.model.errors import InputError

YUNIKORN = "github.com/apache/yunikorn-k8shim/pkg/cmd/shim@v1.8.0"
SOURCES = Path(__file__).parent / "go_schedulers"


@functools.cache
def built(target: Target) -> Path | str:
    """The program, or why there is none."""
    try:
        find_fitting_go()
        return build(target)
    except InputError as error:
        return str(error)


def program(target: Target) -> Path:
    """Skips the test, with the reason, where it cannot be built."""
    found = built(target)
    if isinstance(found, str):
        pytest.skip(f"needs a scheduler built with Go: {found}")
    return found


def the_kube_scheduler() -> Path:
    return program(kube_scheduler())


def naive() -> Path:
    """The small one of `go_schedulers/naive`, which can misbehave."""
    return program(target_of(str(SOURCES / "naive")))


def with_plugin() -> Path:
    """A kube-scheduler with the plug-in of `go_schedulers/plugin`."""
    return program(target_of(str(SOURCES / "plugin")))


def yunikorn() -> Path:
    """Apache YuniKorn, if somebody has built it."""
    try:
        path = built_path(target_of(YUNIKORN), find_fitting_go().version)
    except InputError as error:
        pytest.skip(f"needs a scheduler built with Go: {error}")
    if not path.is_file():
        pytest.skip("Apache YuniKorn is not built: make kube-others does it, in some minutes")
    return path


if __name__ == "__main__":
    usual = (kube_scheduler(), *(target_of(str(SOURCES / name)) for name in ("naive", "plugin")))
    for wanted in (target_of(YUNIKORN),) if sys.argv[1:] == ["others"] else usual:
        print(f"{wanted.name}: {built(wanted)}")
