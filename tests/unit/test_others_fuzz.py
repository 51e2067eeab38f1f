"""A short fuzz run with fixed seeds; `make fuzz` has a long one."""

import random

import pytest
from tests.fuzz_others import fuzz


@pytest.mark.parametrize("block", range(3))
def test_mutated_files(tmp_path, block):
    found = [fuzz(random.Random(seed), tmp_path) for seed in range(block * 150, (block + 1) * 150)]
    assert 30 < sum(found) < 140  # both outcomes are exercised
