"""A short fuzz run with fixed seeds; `python -m tests.fuzz_kube` has a long one."""

from __future__ import annotations

import random
from pathlib import Path

from tests.fuzz_kube import fuzz


def test_whatever_comes_is_answered(tmp_path: Path) -> None:
    understood = [fuzz(random.Random(seed), tmp_path) for seed in range(300)]
    assert 100 < sum(understood) < 300
