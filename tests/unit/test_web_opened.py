"""What a server keeps of runs: compressed in the way that suits it."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from schedlab.web.reader import LEVEL, compressed

WORDS = ("the quick brown fox jumps over the lazy dog " * 4000).encode()
# Low bytes that are nearly random, then high ones that are mostly equal: as a block has them.
PLANES = np.random.default_rng(1).integers(0, 256, 200_000, np.uint8).tobytes() + bytes(600_000)


@pytest.mark.parametrize("content", [b"", b"x", WORDS, PLANES, PLANES + WORDS])
def test_comes_back(content: bytes) -> None:
    assert gzip.decompress(compressed(content)) == content


@pytest.mark.parametrize("content", [WORDS, PLANES])
def test_takes_no_more_room_than_the_usual_way(content: bytes) -> None:
    assert len(compressed(content)) <= 1.01 * len(gzip.compress(content, LEVEL))
