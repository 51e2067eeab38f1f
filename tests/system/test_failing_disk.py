"""A disk that fails under a command: one message, nothing half-written or lost, and the same command goes on.

Some faults of each command; `python -m tests.fuzz_disk` tries others.
"""

from __future__ import annotations

import errno
import random
from collections.abc import Iterator

import pytest
from tests.failing_disk.disk import FOR_EVER, FailingDisk, Fault, missing
from tests.failing_disk.sweep import CASES, Sweep

SOME = {"run": 8, "checkpoint": 8, "study": 8, "checkpoints": 6, "study again": 10, "import": 8, "report": 1}


@pytest.fixture(scope="module")
def disk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FailingDisk]:
    if why := missing():
        pytest.skip(why)
    with FailingDisk(tmp_path_factory.mktemp("failing") / "disk") as disk:
        yield disk


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_faults(disk: FailingDisk, name: str) -> None:
    sweep = Sweep(disk, CASES[name])
    wrong = [
        offence
        for kind, fault in sweep.faults(SOME.get(name, 2), random.Random(name))
        for offence in sweep.offences(kind, fault)
    ]
    assert not wrong, "\n".join(wrong)


def test_a_full_disk_in_words(disk: FailingDisk) -> None:
    sweep = Sweep(disk, CASES["study"])
    middle = sweep.calls[1] * 2 // 3
    sweep.begin()
    ended = disk.run(CASES["study"].words, Fault(middle, FOR_EVER, errno.ENOSPC))
    assert ended.code == 1
    assert ended.stdout == "4 runs, 0 of them done before\n"
    said, hint = ended.stderr.splitlines()
    assert said.startswith("error: the study has stopped: small/runs/")
    assert said.endswith(": cannot write the run: No space left on device; nothing was written")
    goes_on = "then the same command goes on: nothing done is lost"
    assert hint == f"  hint: free some space, or write to another disk; {goes_on}"
