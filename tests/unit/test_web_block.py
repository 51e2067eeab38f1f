"""Columns as bytes for a browser: nothing is lost, and little is sent."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.blocks import unpack

from schedlab.web.block import Column, pack

FLOATS = st.one_of(
    st.floats(allow_infinity=False, width=64),
    st.integers(-(10**15), 10**15).map(float),
    st.integers(-(10**9), 10**9).map(lambda ticks: ticks / 1000),
)


@given(st.lists(FLOATS, max_size=30), st.booleans())
def test_doubles_come_back(values: list[float], delta: bool) -> None:
    found = unpack(pack({"time": Column(np.array(values, np.float64), delta=delta)}))
    np.testing.assert_array_equal(found["time"], values)


@given(st.lists(st.tuples(FLOATS, FLOATS), max_size=30))
def test_columns_relative_to_others_come_back(pairs: list[tuple[float, float]]) -> None:
    one, other = (np.array(column, np.float64) for column in (zip(*pairs, strict=True) if pairs else ((), ())))
    found = unpack(pack({"submit": Column(one, delta=True), "start": Column(other, relative="submit")}))
    np.testing.assert_array_equal(found["submit"], one)
    np.testing.assert_array_equal(found["start"], other)


@given(st.lists(st.integers(-1, 2**40), max_size=30), st.booleans())
def test_whole_numbers_come_back_and_minus_one_is_unknown(values: list[int], delta: bool) -> None:
    found = unpack(pack({"user": Column(np.array(values, np.int64), delta=delta, null=-1)}))
    np.testing.assert_array_equal(found["user"], [np.nan if value == -1 else value for value in values])


def test_texts_come_back() -> None:
    texts = ["</script>", "über", 'a "b"', "\n", ""]
    assert unpack(pack({"name": texts}))["name"] == texts


def test_single_precision_keeps_seven_digits() -> None:
    found = unpack(pack({"slowdown": Column(np.array([1.2345678, np.nan]), single=True)}))["slowdown"]
    assert found[0] == pytest.approx(1.2345678, rel=1e-7)
    assert np.isnan(found[1])


def test_small_numbers_take_a_byte_each() -> None:
    # 100 values between 1000 and 1255, as what is above 1000; the header aside.
    values = np.arange(100) % 256 + 1000
    block = pack({"cores": Column(values)})
    header = 4 + int.from_bytes(block[:4], "little")
    assert len(block) - header == 100


def test_differences_of_growing_times_take_a_byte_each() -> None:
    block = pack({"time": Column(np.cumsum(np.arange(100) % 200) + 1e9, delta=True)})
    header = 4 + int.from_bytes(block[:4], "little")
    assert len(block) - header == 100
