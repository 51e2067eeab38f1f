"""Turns on one core: with schedulers that work in one thread, and never two of us on the same."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from schedlab.bridge.batsim import one_core
from schedlab.bridge.batsim.one_core import OneCore

pytestmark = pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two cores")


@pytest.fixture
def scheduler(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """A process that sleeps. Cores that others have taken do not count."""
    monkeypatch.setattr(one_core, "NAME", f"test-{os.getpid()}")
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        yield process.pid
        process.kill()


def after(core: OneCore, monkeypatch: pytest.MonkeyPatch, *, passed: float, ours: float, theirs: float) -> None:
    """So many seconds: of the clock, of our processor time and of the scheduler's."""
    monkeypatch.setattr(core, "_since", (10.0, 1.0, 2.0))
    monkeypatch.setattr(core, "_now", lambda: (10.0 + passed, 1.0 + ours, 2.0 + theirs))
    core.look()


def test_both_are_on_one_core_until_the_end(scheduler: int, monkeypatch: pytest.MonkeyPatch) -> None:
    before = os.sched_getaffinity(0)
    core = OneCore(scheduler)
    try:
        after(core, monkeypatch, passed=10, ours=4, theirs=5)
        assert len(os.sched_getaffinity(0)) == 1
        assert os.sched_getaffinity(scheduler) == os.sched_getaffinity(0)
    finally:
        core.leave()
    assert os.sched_getaffinity(0) == before


@pytest.mark.parametrize("theirs", [9.0, 0.3])
def test_one_that_works_in_threads_or_lets_others_work_is_left_alone(
    scheduler: int, monkeypatch: pytest.MonkeyPatch, theirs: float
) -> None:
    """It has used 1.5 cores, or nearly nothing, in the 6 seconds in which we waited."""
    before = os.sched_getaffinity(0)
    core = OneCore(scheduler)
    after(core, monkeypatch, passed=10, ours=4, theirs=theirs)
    assert os.sched_getaffinity(0) == os.sched_getaffinity(scheduler) == before


def test_two_take_different_cores(scheduler: int, monkeypatch: pytest.MonkeyPatch) -> None:
    before = os.sched_getaffinity(0)
    first, second = OneCore(scheduler), OneCore(scheduler)
    try:
        after(first, monkeypatch, passed=10, ours=4, theirs=5)
        taken = os.sched_getaffinity(0)
        after(second, monkeypatch, passed=10, ours=4, theirs=5)
        assert len(taken) == 1
        assert os.sched_getaffinity(0) != taken
    finally:
        second.leave()
        first.leave()
    assert os.sched_getaffinity(0) == before


def test_processor_times_are_those_of_the_system(scheduler: int) -> None:
    """Of a process that sleeps: nearly none, and never less than before."""
    core = OneCore(scheduler)
    first, second = core._now(), core._now()
    assert all(one <= other for one, other in zip(first, second, strict=True))
    assert 0 <= second[2] < 60
