"""Arrow's arrays by their buffers, against pyarrow's own way of making and reading them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedlab.engine.arrays import known, of_bools, of_numbers, of_texts, of_words, to_bools, to_numbers

KINDS = {pa.int32(): np.int32, pa.int64(): np.int64, pa.float32(): np.float32, pa.float64(): np.float64}


@pytest.mark.parametrize("kind", KINDS, ids=str)
@given(rows=st.lists(st.tuples(st.integers(-100, 100), st.booleans())))
def test_numbers(kind: pa.DataType, rows: list[tuple[int, bool]]) -> None:
    values, unknown = np.array([row[0] for row in rows], KINDS[kind]), np.array([row[1] for row in rows], bool)
    made = of_numbers(values, kind, unknown)
    made.validate(full=True)
    assert made.equals(pa.array(values, kind, mask=unknown))
    assert np.array_equal(known(made), ~unknown)
    assert np.array_equal(to_numbers(made), values)
    assert np.array_equal(to_numbers(made.slice(len(rows) // 2)), values[len(rows) // 2 :])


@given(rows=st.lists(st.tuples(st.booleans(), st.booleans())))
def test_bools(rows: list[tuple[bool, bool]]) -> None:
    values, unknown = np.array([row[0] for row in rows], bool), np.array([row[1] for row in rows], bool)
    made = of_bools(values, unknown)
    made.validate(full=True)
    assert made.equals(pa.array(values, mask=unknown))
    assert np.array_equal(to_bools(made.slice(len(rows) // 3)), values[len(rows) // 3 :])


@given(texts=st.lists(st.none() | st.text()))
def test_texts(texts: list[str | None]) -> None:
    made = of_texts(texts)
    made.validate(full=True)
    assert made.equals(pa.array(texts, pa.string()))


def test_words() -> None:
    codes = np.array([0, 1, -1, 1], np.int8)
    assert of_words(codes, ["ran", "killed"], codes < 0).to_pylist() == ["ran", "killed", None, "killed"]
