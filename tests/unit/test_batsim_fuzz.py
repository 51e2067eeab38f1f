"""A short fuzz run with fixed seeds; `make fuzz` has a long one."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from tests.fuzz_batsim import CASES


@pytest.mark.parametrize("case", CASES)
def test_garbled_talk(tmp_path: Path, case: object) -> None:
    found = [case(random.Random(seed), tmp_path) for seed in range(100)]
    assert 10 < sum(found) < 90  # both outcomes are exercised
