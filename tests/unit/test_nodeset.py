from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedlab.model.errors import InputError
from schedlab.model.nodeset import expand, fold, split_name

PREFIXES = st.sampled_from(["n", "", "gpu-", "r1n", "login", "a.b_"])
DIGITS = st.one_of(
    st.integers(0, 15).map(str),
    st.integers(0, 15).map(lambda number: f"{number:02d}"),
    st.integers(95, 105).map(lambda number: f"{number:03d}"),
    st.sampled_from(["", "9" * 18, "9" * 40, "0" * 30]),
)
NAMES = st.builds(lambda prefix, digits: prefix + digits, PREFIXES, DIGITS).filter(bool)


@pytest.mark.parametrize(
    ("names", "chunks", "text"),
    [
        (["n001", "n002", "n003", "n007"], None, "n[001-003,007]"),
        (["n001", "n002", "n003"], [2, 2, 1], "n[001-002]*2,n003"),
        (["n001"], None, "n001"),
        (["n001"], [4], "n001*4"),
        ([], None, ""),
        (["n9", "n10", "n11"], None, "n[9-11]"),
        (["n09", "n10"], None, "n[09-10]"),
        (["n99", "n100"], None, "n[99-100]"),
        (["n009", "n10"], None, "n[009,10]"),
        (["n9", "n010"], None, "n[9,010]"),
        (["n3", "n2", "n1"], None, "n[3,2,1]"),
        (["a1", "a2", "b1", "b2", "a3"], None, "a[1-2],b[1-2],a3"),
        (["login", "login1", "login2"], None, "login,login[1-2]"),
        (["1", "2", "3"], None, "[1-3]"),
        (["n1", "n2", "n3", "n4"], [2, 1, 2, 1], "n1*2,n2,n3*2,n4"),
        (["n1", "n1"], None, "n[1,1]"),
    ],
)
def test_fold(names: list[str], chunks: list[int] | None, text: str) -> None:
    assert fold(names, chunks) == text
    assert expand(text) == list(zip(names, chunks or [1] * len(names), strict=True))


@given(st.lists(st.tuples(NAMES, st.integers(1, 3)), max_size=30))
def test_expand_gives_back_what_was_folded(pairs: list[tuple[str, int]]) -> None:
    assert expand(fold([name for name, _ in pairs], [count for _, count in pairs])) == pairs


@pytest.mark.parametrize(
    ("text", "position"),
    [
        (",n1", 1),
        ("n1,", 4),
        ("n1,,n2", 4),
        ("n[1-2", 2),
        ("n[]", 2),
        ("n[1-]", 3),
        ("n[4,3-1]", 5),
        ("n[01-2]", 3),
        ("n[1]x", 5),
        ("n*0", 3),
        ("n*", 2),
        ("*2", 1),
        ("a b", 2),
        ("n1]", 3),
        ("[", 1),
        ("n[1-99999999]", 3),
        ("n[1-999999999999999999]", 3),
    ],
)
def test_expand_points_at_the_mistake(text: str, position: int) -> None:
    with pytest.raises(InputError, match=f"at character {position}\n") as caught:
        expand(text)
    assert text in caught.value.where
    assert "n[001-003,007]" in caught.value.hint


@given(st.text("n01[],-* ", max_size=12))
def test_expand_answers_or_refuses(text: str) -> None:
    try:
        pairs = expand(text)
    except InputError:
        return
    assert expand(fold([name for name, _ in pairs], [count for _, count in pairs])) == pairs


@pytest.mark.parametrize("name", ["", "a,b", "a b", "a[1]", "a*"])
def test_names_that_a_text_could_not_hold(name: str) -> None:
    with pytest.raises(ValueError, match="cannot be in a node set"):
        fold([name])


def test_fold_wants_a_chunk_on_every_node() -> None:
    with pytest.raises(ValueError, match="at least one"):
        fold(["n1"], [0])
    with pytest.raises(ValueError, match="shorter"):
        fold(["n1", "n2"], [1])


def test_split_name() -> None:
    assert split_name("r1n007") == ("r1n", "007")
    assert split_name("login") == ("login", "")
    assert split_name("007") == ("", "007")
