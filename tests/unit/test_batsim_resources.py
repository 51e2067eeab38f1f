"""Sets of hosts as texts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedlab.bridge.batsim.resources import hosts_text, parse_hosts, read_hosts


@pytest.mark.parametrize(
    ("text", "hosts", "canonical"),
    [
        ("0", [0], True),
        ("1-3 5", [1, 2, 3, 5], True),
        ("5 1-3", [1, 2, 3, 5], False),
        ("1 2 3 5", [1, 2, 3, 5], False),
        ("1-2 2-3", [1, 2, 3], False),
        ("4-4", [4], False),
        ("007", [7], False),
        ("00", [0], False),
        ("1-03", [1, 2, 3], False),
    ],
)
def test_texts_are_read_in_any_order(text: str, hosts: list[int], canonical: bool) -> None:
    assert read_hosts(text) == (hosts, canonical)


@given(st.sets(st.integers(0, 200), min_size=1))
def test_what_is_written_is_read_again(hosts: set[int]) -> None:
    text = hosts_text(sorted(hosts))
    assert read_hosts(text) == (sorted(hosts), True)


def test_nobody_is_an_empty_text() -> None:
    assert hosts_text([]) == ""


@pytest.mark.parametrize(
    "text", ["", " ", "1  2", "a", "1-", "-1", "1-2-3", "1,2", "3-1", "1_0", "+1", "²", "0-1000001"]
)
def test_what_is_no_set_of_hosts(text: str) -> None:
    with pytest.raises(ValueError, match=r"neither a number nor a range|not a range of hosts"):
        parse_hosts(text)
