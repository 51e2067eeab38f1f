"""How processes ended, in words."""

from __future__ import annotations

import signal

import pytest

from schedlab.model.stopping import how_it_ended


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (0, "has ended with exit code 0"),
        (3, "has ended with exit code 3"),
        (-signal.SIGKILL, "was killed by SIGKILL"),
        (-40, "was killed by signal 40"),  # real-time signals between the first and the last have no name
    ],
)
def test_how_it_ended(code: int, words: str) -> None:
    assert how_it_ended(code) == words
