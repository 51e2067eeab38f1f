"""Random numbers from named streams: what one part draws never changes what another one does."""

from __future__ import annotations

import hashlib

import numpy as np


def random_stream(seed: int, *names: str) -> np.random.Generator:
    """The generator that `seed` and these names always give, on every machine."""
    digest = hashlib.sha256("/".join(names).encode()).digest()
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, int.from_bytes(digest[:8], "little")])))
