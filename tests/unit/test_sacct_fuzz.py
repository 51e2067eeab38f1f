"""A short fuzz run with fixed seeds."""

import random

import pytest
from tests.fuzz_sacct import fuzz


@pytest.mark.parametrize("block", range(3))
def test_mutated_dumps_and_junk(tmp_path, block):
    found = [fuzz(random.Random(seed), tmp_path) for seed in range(block * 150, (block + 1) * 150)]
    assert 20 < sum(found) < 130  # both outcomes are exercised
