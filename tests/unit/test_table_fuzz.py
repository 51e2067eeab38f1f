"""A short fuzz run with fixed seeds; `python tests/fuzz_tables.py` has a long one."""

import random

import pytest
from tests.fuzz_tables import fuzz


@pytest.mark.parametrize("block", range(4))
def test_mutated_tables_and_junk(tmp_path, block):
    found = [fuzz(random.Random(seed), tmp_path) for seed in range(block * 100, (block + 1) * 100)]
    assert 10 < sum(found) < 97  # both outcomes are exercised
