"""`schedlab new`: files to start from."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from schedlab.cli.new import TEMPLATES, NewKind, new
from schedlab.model.errors import InputError
from schedlab.model.plugins import KINDS, load

NAMES = {
    "policy": ["SmallestThatFits"],
    "order": ["by_area", "by_aged_area"],
    "placement": ["emptiest_first"],
    "estimator": ["UserMedian"],
    "observer": ["LongestQueue"],
    "metric": ["tail_wait"],
    "model": ["Bursts"],
    "reader": ["read_table"],
    "pattern": ["every_night"],
}


def test_there_is_a_template_for_each_kind() -> None:
    assert list(NewKind) == list(KINDS) == list(NAMES)
    files = {f"{prefix}{kind}.py" for kind in KINDS for prefix in ("", "test_")}
    assert {path.name for path in TEMPLATES.glob("*.py")} == files


@pytest.mark.parametrize("kind", NewKind)
def test_a_file_and_its_test(tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: NewKind) -> None:
    file, test = tmp_path / "fancy_name.py", tmp_path / "test_fancy_name.py"
    new(kind, file)
    for path in (file, test):
        tree = ast.parse(path.read_text())
        assert ast.get_docstring(tree)
        assert "mine" not in path.read_text()
    assert "fancy_name" in test.read_text()
    assert len(file.read_text().splitlines()) < 40
    shown = capsys.readouterr().out
    for name in NAMES[kind]:
        assert f"{file}:{name}" in shown
    assert f"pytest {test}" in shown


@pytest.mark.parametrize("kind", ["order", "placement", "estimator", "metric", "model", "reader", "pattern"])
def test_what_is_written_is_a_plug_in_of_its_kind(tmp_path: Path, kind: str) -> None:
    new(NewKind(kind), tmp_path / "mine.py")
    for name in NAMES[kind]:
        plugin = load(kind, f"{tmp_path / 'mine.py'}:{name}")
        assert plugin.summary
        plugin.make()


@pytest.mark.parametrize("there", ["mine.py", "test_mine.py"])
def test_nothing_is_overwritten(tmp_path: Path, there: str) -> None:
    (tmp_path / there).write_text("precious")
    with pytest.raises(InputError, match="is already there") as caught:
        new(NewKind.policy, tmp_path / "mine.py")
    assert caught.value.exit_code == 2
    assert caught.value.where == str(tmp_path / there)
    assert [path.name for path in tmp_path.iterdir()] == [there]
    assert (tmp_path / there).read_text() == "precious"
    new(NewKind.policy, tmp_path / "mine.py", force=True)
    assert "precious" not in (tmp_path / there).read_text()


@pytest.mark.parametrize("name", ["mine", "mine.txt", "my-policy.py", "1st.py", ".py"])
def test_names_that_cannot_be_imported(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="is not a name for a Python module"):
        new(NewKind.policy, tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_no_such_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no such folder"):
        new(NewKind.policy, tmp_path / "nowhere" / "mine.py")
