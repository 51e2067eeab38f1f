"""A short fuzz run with fixed seeds; `python -m tests.fuzz_kube` has a long one."""

from __future__ import annotations

import random
from pathlib import Path

from tests.fuzz_kube import fuzz, fuzz_patch, fuzz_selector


def test_whatever_comes_is_answered(tmp_path: Path) -> None:
    understood = [fuzz(random.Random(seed), tmp_path) for seed in range(300)]
    assert 100 < sum(understood) < 300


def test_patches_are_those_of_the_references(tmp_path: Path) -> None:
    fitted = [fuzz_patch(random.Random(seed), tmp_path) for seed in range(100)]
    assert 20 < sum(fitted) < 90


def test_selectors_are_those_of_the_reference(tmp_path: Path) -> None:
    understood = [fuzz_selector(random.Random(seed), tmp_path) for seed in range(300)]
    assert 30 < sum(understood) < 300
