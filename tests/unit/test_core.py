"""The compiled module: its stubs are up to date, and its node sets are those of schedlab.model.nodeset."""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from schedlab import _core
from schedlab.model.nodeset import fold

STUB = Path(__file__).parents[2] / "src" / "schedlab" / "_core.pyi"


def test_the_stubs_are_those_of_the_module(tmp_path: Path) -> None:
    fresh = tmp_path / "_core.pyi"
    subprocess.run(
        [sys.executable, "-m", "nanobind.stubgen", "-q", "-m", "schedlab._core", "-o", str(fresh)], check=True
    )
    config = STUB.parents[2] / "pyproject.toml"
    subprocess.run([sys.executable, "-m", "ruff", "format", "-q", "--config", str(config), str(fresh)], check=True)
    assert fresh.read_text() == STUB.read_text(), "the core's interface has changed: run `make stubs`"


names = st.one_of(
    st.integers(0, 120).map(lambda n: f"n{n:03d}"),
    st.integers(0, 120).map(lambda n: f"gpu{n}"),
    st.sampled_from(["login", "big-7", "a1b"]),
)
allocations = st.lists(st.lists(st.tuples(st.integers(0, 39), st.integers(1, 3)), max_size=12), max_size=6)


@given(st.lists(names, min_size=40, max_size=40), allocations, st.booleans())
@example(["n002", "x", "n001", "n002"] + ["n9"] * 36, [[(2, 1), (3, 1)], [(2, 1), (0, 1)]], False)
def test_native_folding_is_the_same(nodes: list[str], rows: list[list[tuple[int, int]]], in_order: bool) -> None:
    nodes = sorted(nodes) if in_order else nodes
    rows = [sorted(row) if in_order else row for row in rows]
    allocated = np.cumsum([*map(len, rows)], dtype=np.int32)
    flat = np.array([part for row in rows for part in row], np.int32).reshape(-1, 2)
    ends, characters = _core.NodeNames(nodes).fold(allocated, np.ascontiguousarray(flat[:, 0]), flat[:, 1].copy())
    text = bytes(characters).decode()
    found = [text[begin:end] for begin, end in pairwise(ends)]
    assert found == [fold([nodes[n] for n, _ in row], [c for _, c in row]) for row in rows]
