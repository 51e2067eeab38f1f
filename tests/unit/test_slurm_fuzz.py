"""A short fuzz run with fixed seeds over Slurm's files."""

import random

import pytest
from tests.fuzz_slurm import fuzz


@pytest.mark.parametrize("block", range(3))
def test_mutated_files(tmp_path, block):
    found = [fuzz(random.Random(seed), tmp_path) for seed in range(block * 150, (block + 1) * 150)]
    assert 25 < sum(found) < 140  # both outcomes are exercised
