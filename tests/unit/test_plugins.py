"""Plug-ins: how they are named, found, checked and made; and what is said when that goes wrong."""

from __future__ import annotations

import functools
import sys
from pathlib import Path

import pytest
from tests.plugin_files import MINE, fake_distribution

from schedlab.model.errors import InputError
from schedlab.model.plugins import load
from schedlab.policy.catalogue import registered_entries


def refused(kind: str, text: str) -> InputError:
    with pytest.raises(InputError) as caught:
        load(kind, text)
    assert caught.value.hint
    return caught.value


# Files


def test_a_class_of_a_file_is_made_anew_each_time(mine: Path) -> None:
    plugin = load("policy", f"{mine}:Cap( watts = 4000 )")
    assert (plugin.kind, plugin.text, plugin.arguments) == ("policy", f"{mine}:Cap(watts=4000)", {"watts": 4000})
    assert (plugin.source, plugin.summary) == (str(mine), "Never more than so many watts.")
    first, second = plugin.make(), plugin.make()
    assert first is not second
    assert (first.watts, first.margin) == (4000, 0.1)
    assert load("policy", plugin.text) == plugin
    assert hash(load("policy", plugin.text)) == hash(plugin)


def test_arguments_may_be_given_by_position(mine: Path) -> None:
    assert load("policy", f"{mine}:Cap(5, margin=[1, 'a(b'])").arguments == {"watts": 5, "margin": [1, "a(b"]}


def test_a_function_stays_itself_unless_it_has_arguments(mine: Path) -> None:
    plugin = load("order", f"{mine}:by_area")
    assert plugin.make() is plugin.target
    made = load("order", f"{mine}:by_age(power=2)").make()
    assert isinstance(made, functools.partial)
    assert made.keywords == {"power": 2}


def test_the_same_file_is_the_same_module_until_it_changes(mine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = load("policy", f"{mine}:Plain").target
    monkeypatch.chdir(mine.parent)
    assert load("policy", "mine.py:Plain").target is first
    assert load("policy", "./mine.py:Plain").target is first
    mine.write_text(MINE + "\n# changed\n")
    assert load("policy", "mine.py:Plain").target is not first


def test_two_files_of_one_name_are_two_modules(tmp_path: Path) -> None:
    for number in (1, 2):
        (tmp_path / f"{number}").mkdir()
        (tmp_path / f"{number}" / "mine.py").write_text(f"def key(jobs): return {number}")
    assert [load("order", f"{tmp_path}/{number}/mine.py:key").target(None) for number in (1, 2)] == [1, 2]


def test_the_folder_is_on_the_path_only_during_the_import(tmp_path: Path) -> None:
    (tmp_path / "helper_beside.py").write_text("AREA = 3\n")
    (tmp_path / "mine.py").write_text("from helper_beside import AREA\ndef key(jobs): return AREA\n")
    before = list(sys.path)
    assert load("order", f"{tmp_path / 'mine.py'}:key").target(None) == 3
    assert sys.path == before


def test_a_folder_with_blanks_and_parentheses(tmp_path: Path) -> None:
    folder = tmp_path / "my work (2)"
    folder.mkdir()
    (folder / "mine.py").write_text(MINE)
    assert load("policy", f"{folder}/mine.py:Cap(3)").make().watts == 3


def test_a_class_may_stand_for_a_function(mine: Path) -> None:
    plugin = load("order", f"{mine}:Weighted(weight=2)")
    assert (plugin.arity, plugin.make().weight) == (2, 2)


def test_an_importable_module() -> None:
    plugin = load("estimator", "schedlab.policy.learned:UserMean")
    assert plugin.text == "schedlab.policy.learned:UserMean"
    assert plugin.source.endswith("learned.py")


# What goes wrong with files


def test_no_such_file(mine: Path) -> None:
    error = refused("policy", f"{mine.parent}/mnie.py:Cap")
    assert (error.message, error.where) == ("no such file", f"{mine.parent}/mnie.py")
    assert f"did you mean {mine}?" in error.hint
    assert "schedlab new" in refused("policy", f"{mine.parent}/quite_different.py:Cap").hint
    assert "no folder" in refused("policy", f"{mine.parent}/nowhere/mine.py:Cap").hint
    assert "is a directory" in _at(mine.parent / "folder.py", "Cap").message
    assert "not a Python file" in refused("policy", f"{mine.parent}/mine:Cap").message


def _at(folder: Path, name: str) -> InputError:
    folder.mkdir()
    return refused("policy", f"{folder}:{name}")


def test_a_syntax_error(tmp_path: Path) -> None:
    path = tmp_path / "bad.py"
    path.write_text("import os\nclass Cap:\n    def decide(self, view events):\n        pass\n")
    error = refused("policy", f"{path}:Cap")
    assert error.where == f"{path}, line 3"
    assert "\n    def decide(self, view events):\n" in error.message
    path.write_bytes(b"x = 1\n\0")
    assert refused("policy", f"{path}:Cap").where.startswith(str(path))


@pytest.mark.parametrize(
    ("code", "line", "message", "hint"),
    [
        ("import os\nx = 1 / 0\n", 2, "ZeroDivisionError: division by zero\n    x = 1 / 0", "correct"),
        ("import no_such_thing\n", 1, "No module named 'no_such_thing'", "install no_such_thing, or put"),
        ("def f():\n    raise KeyError('a')\n\nf()\n", 2, "KeyError: 'a'", "correct"),
        ("import sys\nsys.exit('no')\n", 2, "SystemExit: no", "correct"),
        ("import json\njson.loads('{')\n", 2, "JSONDecodeError", "correct"),  # our line, not the library's
    ],
)
def test_an_error_at_import(tmp_path: Path, code: str, line: int, message: str, hint: str) -> None:
    path = tmp_path / "bad.py"
    path.write_text(code)
    error = refused("policy", f"{path}:Cap")
    assert error.where == f"{path}, line {line}"
    assert message in error.message
    assert hint in error.hint
    assert not [name for name in sys.modules if name.startswith("_schedlab_bad_")]


def test_no_such_name(mine: Path) -> None:
    error = refused("policy", f"{mine}:Capp")
    assert error.message == f"{mine} has no 'Capp'"
    assert "did you mean 'Cap'?" in error.hint
    assert error.hint.endswith("has Cap, Plain")  # neither what it imports nor what is no policy
    assert refused("order", f"{mine}:by").hint.endswith(
        "has Weighted, by_area, by_age, left_to_right, read_xyz, read_nothing"
    )
    assert "which policy of the file?" in refused("policy", str(mine)).message
    assert "not the name of a class" in refused("policy", f"{mine}:1Cap").message


@pytest.mark.parametrize(
    ("kind", "name", "message"),
    [
        ("policy", "LIMIT", "LIMIT cannot be called: it is an int"),
        ("policy", "by_area", "by_area is not a class"),
        ("policy", "Mine", "Mine has no method decide"),
        ("estimator", "Cap", "Cap has no method estimate"),
        ("observer", "Nothing", "Nothing has none of the methods"),
        ("order", "Nothing", "Nothing is a class without a method __call__"),
        ("order", "three", "three takes 3 parameters, not 1 or 2"),
        ("placement", "by_area", "by_area takes 1 parameter, not 2"),
        ("metric", "left_to_right", "left_to_right takes 2 parameters, not 1"),
    ],
)
def test_something_of_another_kind(mine: Path, kind: str, name: str, message: str) -> None:
    error = refused(kind, f"{mine}:{name}")
    assert error.message == message
    assert f"{kind} is a " in error.hint


@pytest.mark.parametrize(
    ("kind", "text", "message"),
    [
        ("policy", "Cap", "missing a required argument: 'watts'"),
        ("policy", "Cap(wats=3)", "missing a required argument: 'watts'"),
        ("policy", "Cap(watts=3, colour=4)", "got an unexpected keyword argument 'colour'"),
        ("policy", "Cap(1, 2, 3)", "too many"),
        ("policy", "Cap(1, watts=3)", "one twice"),
        ("policy", "Cap(watts=", "cannot be understood"),
        ("policy", "Cap(1) + (2)", "cannot be understood"),
        ("policy", "Cap(watts=many)", "many is not a value"),
        ("policy", "Cap(**{})", "without **"),
        ("order", "by_area(3)", "by name"),
        ("order", "by_age(powr=3)", "'powr'"),
    ],
)
def test_bad_arguments(mine: Path, kind: str, text: str, message: str) -> None:
    assert message in refused(kind, f"{mine}:{text}").message


def test_the_constructor_is_shown(mine: Path) -> None:
    assert refused("policy", f"{mine}:Cap").hint == "it is Cap(watts, margin=0.1)"


def test_an_error_of_the_constructor_names_its_line(mine: Path) -> None:
    plugin = load("policy", f"{mine}:Cap(watts=-1)")
    with pytest.raises(InputError, match="ValueError: watts below 0") as caught:
        plugin.make()
    assert caught.value.where == f"{mine}, line 12"


def test_no_such_module() -> None:
    assert refused("policy", "schedlab.nowhere:Cap").message == "there is no module 'schedlab.nowhere'"
    assert "nowhere/at/all.py:Name" in refused("policy", "nowhere.at.all:Cap").hint


# What packages register


@pytest.mark.usefixtures("acme_package")
def test_registered_names_that_do_not_work() -> None:
    assert "registers 'acme_plugins:Gone', which is not there" in refused("policy", "acme-gone").message
    error = refused("policy", "acme-cup")
    assert "no package registers" in error.message
    assert "did you mean 'acme-cap'? registered: acme-cap, acme-gone" in error.hint


def test_two_packages_with_one_name(acme_package: Path) -> None:
    fake_distribution(acme_package, MINE, "[schedlab.policies]\nacme-cap = other_plugins:Cap\n", "other", "3.0")
    error = refused("policy", "acme-cap(3)")
    assert error.message == "several packages register 'acme-cap': acme 1.2, other 3.0"
    assert "acme_plugins:Cap or other_plugins:Cap" in error.hint


@pytest.mark.usefixtures("acme_package")
def test_the_catalogue_says_where_things_come_from() -> None:
    found = {entry.name: entry for entry in registered_entries() if entry.source == "acme 1.2"}
    assert found["acme-cap"].kind == "policy"
    assert found["acme-cap"].code == "acme_plugins:Cap"
    assert found["acme-gone"].summary.startswith("cannot be used: ")
    assert found["acme-limit"].kind == "estimate"
    assert found["acme-xyz"].summary == "Numbers, one a line: run times."
