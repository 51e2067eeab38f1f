"""Being asked to stop, and being told how far it is, in the middle of things."""

from __future__ import annotations

import fcntl
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import schedlab as sl
from schedlab.cli import signals
from schedlab.cli.progress import Deciding
from schedlab.engine.folder import OutputFolder
from schedlab.model.stopping import TerminatedError, stop, undisturbed

# Waiting for contiguous nodes is planned node by node: with these the first pass takes minutes.
JOBS = 8000


def everybody_at_once() -> sl.Workload:
    chance = np.random.default_rng(1)
    return sl.Workload.of(
        submit=np.zeros(JOBS), runtime=chance.integers(60, 86_400, JOBS), count=chance.integers(1, 300, JOBS)
    )


@pytest.mark.parametrize("policy", ["conservative:place=contiguous", "easy:reservations=8000,place=contiguous"])
def test_progress_goes_on_in_the_middle_of_a_pass(policy: str) -> None:
    told: list[tuple[float, int]] = []
    looked: list[Any] = []

    def progress(now: float, done: int) -> None:
        told.append((now, done))
        if len(told) == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sl.simulate(everybody_at_once(), sl.Cluster.uniform(200, 4), policy, progress=progress, watch=looked.append)
    assert told == [(0.0, 0)] * 4
    assert not looked  # the view is looked at only when an instant is over


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_pass_that_has_begun(
    number: signal.Signals, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(signals._Asked, "number", None)
    before = {one: signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)}
    signals.listen()
    try:
        with pytest.raises(KeyboardInterrupt) as raised:
            sl.simulate(
                everybody_at_once(),
                sl.Cluster.uniform(200, 4),
                "conservative:place=contiguous",
                out=tmp_path / "run",
                progress=lambda now, done: signal.raise_signal(number),
            )
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)
    assert isinstance(raised.value, TerminatedError) == (number == signal.SIGTERM)
    assert signals.exit_code() == 128 + number
    assert not list(tmp_path.iterdir())


def test_a_signal_that_is_sent_twice_is_one_request(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [5.0]
    monkeypatch.setattr(signals._Asked, "number", None)
    monkeypatch.setattr(signals.time, "monotonic", lambda: clock[0])
    with pytest.raises(TerminatedError):
        signals._ask(signal.SIGTERM, None)
    signals._ask(signal.SIGTERM, None)
    with pytest.raises(TerminatedError):  # who has not noticed is asked again
        signals.insist()
    clock[0] += 1
    with pytest.raises(TerminatedError):
        signals._ask(signal.SIGTERM, None)


def test_a_request_waits_for_what_must_not_be_disturbed() -> None:
    done = []
    with pytest.raises(TerminatedError):
        with undisturbed():
            with undisturbed():
                stop(KeyboardInterrupt())
                stop(TerminatedError())
            done.append("inside")
        done.append("after")  # pragma: no cover - it is raised before
    assert done == ["inside"]
    with undisturbed():
        done.append("nothing is left of it")


def test_a_folder_that_is_interrupted_while_it_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(fcntl, "flock", interrupted)
    with pytest.raises(KeyboardInterrupt), OutputFolder(tmp_path / "a" / "run"):
        pass  # pragma: no cover
    assert not list(tmp_path.iterdir())


def test_how_long_a_decision_takes() -> None:
    clock = [0.0]
    deciding = Deciding(lambda: clock[0])
    assert deciding.words(7.0) == []
    clock[0] = 0.9
    assert deciding.words(7.0) == []
    clock[0] = 12.1
    assert deciding.words(7.0) == ["deciding for 12 s"]
    assert deciding.words(8.0) == []
