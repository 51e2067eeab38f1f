"""A short fuzz run with fixed seeds; `make fuzz` has a long one."""

import random

import pytest
from tests.fuzz_swf import fuzz


@pytest.mark.parametrize("block", range(4))
def test_mutated_logs_and_junk(tmp_path, block):
    found = [fuzz(random.Random(seed), tmp_path) for seed in range(block * 250, (block + 1) * 250)]
    assert 25 < sum(found) < 240  # both outcomes are exercised
