"""Fuzz `schedlab batsim` without Python: it does the same as with it, whatever schedulers say and files have.

python -m tests.fuzz_batsim_program --seconds 600 --seed 1
"""

from __future__ import annotations

import random
from pathlib import Path

from tests.batsim_doors import compare
from tests.fuzzing import main


def fuzz(chance: random.Random, folder: Path) -> bool:
    played = compare(chance, folder, garbled=chance.random() < 0.5)
    return played is not None and played.code == 0


if __name__ == "__main__":
    main(fuzz, __doc__)
