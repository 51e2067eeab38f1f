"""Shares to leave out, as people write them."""

from __future__ import annotations

import pytest

from schedlab.analysis.trim import InPhase, Trim
from schedlab.model.errors import InputError


@pytest.mark.parametrize(("text", "meant"), [("10", "10%"), ("5,10", "5%,10%"), ("5%,10", "5%,10%"), ("1", "1%")])
def test_a_percentage_without_its_sign(text: str, meant: str) -> None:
    with pytest.raises(InputError) as error:
        Trim.parse(text)
    assert error.value.hint == f"did you mean {meant}?"


def test_which_jobs_count() -> None:
    assert Trim.parse("10%").title == "without the first 10 % and the last 10 % of the jobs"
    assert Trim(0.05, 0.1, "time").title == "without the first 5 % and the last 10 % of the time"
    assert InPhase("experiment").title == "phase experiment"
