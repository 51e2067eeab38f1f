"""What all tests share."""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # threads of scikit-learn that wait for each other take all there is

import functools
import gc
import signal
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from tests.plugin_files import MINE, acme

from schedlab.engine import simulate as engine
from schedlab.engine.check import check
from schedlab.model.run import Run

# The same random cases every time: a test that fails only sometimes helps nobody. The fuzzers look elsewhere each time.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")

# Where the suite runs in the background of a shell, Ctrl-C is ignored, by every program that a test starts too.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


# What tests write need not survive a power cut: waiting for the disk is most of what some of them would take.
os.fsync = lambda _: None  # type: ignore[assignment]


# Whatever a test simulates, the independent judge has to accept.
_simulate = engine.simulate


@functools.wraps(_simulate)
def _simulate_and_check(*args: Any, **options: Any) -> Run:
    run = _simulate(*args, **options)
    assert not check(run)
    return run


engine.simulate = _simulate_and_check


@pytest.fixture(scope="session")
def traces() -> Path:
    """The folder of reference traces: $SCHEDLAB_TRACES, or ../shared/traces beside the repository."""
    folder = Path(os.environ.get("SCHEDLAB_TRACES") or Path(__file__).parents[2] / "shared" / "traces")
    if not folder.is_dir():
        pytest.skip(f"needs the reference traces; there is no {folder} (set SCHEDLAB_TRACES)")
    return folder


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    path = tmp_path / "mine.py"
    path.write_text(MINE)
    return path


@pytest.fixture
def acme_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = acme(tmp_path / "site")
    monkeypatch.syspath_prepend(folder)
    monkeypatch.delitem(sys.modules, "acme_plugins", raising=False)
    return folder


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that use the traces are marked so: `pytest -m "not traces"` leaves them out. The slow ones begin."""
    for item in items:
        if "traces" in getattr(item, "fixturenames", ()):
            item.add_marker("traces")
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)


def pytest_collection_finish() -> None:
    """What was imported and collected stays to the end: the garbage collector need not look at it again and again.

    Nor need it look after every 700 new objects: a tenth of the time of all tests was its.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000)
    if commands := sys.modules.get("tests.commands"):
        commands.begin()


def pytest_sessionfinish() -> None:
    if browser := sys.modules.get("tests.browser"):
        browser.end()
