"""What a browser may see and where its files go: nothing outside, nothing of others."""

from __future__ import annotations

from pathlib import Path

import pytest

from schedlab.model.errors import InputError
from schedlab.web.catalogue import entries
from schedlab.web.space import NotThereError, Space, check_name, new_secret, space_of


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Logs of everybody's, files of two people, a secret beside the folder, and links that lead there."""
    served = tmp_path / "served"
    (served / "results" / "easy").mkdir(parents=True)
    (served / "results" / "easy" / "run.json").write_text("{}")
    (served / "log.swf").write_text("1")
    (served / ".hidden").write_text("2")
    (tmp_path / "secret.txt").write_text("3")
    (served / "way-out").symlink_to(tmp_path)
    (served / "file-out").symlink_to(tmp_path / "secret.txt")
    (served / "round").symlink_to(served / "round")
    (served / "to-other").symlink_to(served / "spaces" / "other")
    for one in ("mine", "other"):
        (served / "spaces" / one).mkdir(parents=True)
        (served / "spaces" / one / f"{one}.swf").write_text("4")
    return served


def test_paths_that_may_be_read(folder: Path) -> None:
    mine = Space(folder, "mine")
    for name in ("log.swf", "results/easy", "results/easy/run.json", "spaces/mine/mine.swf"):
        assert mine.path(name) == folder / name
        assert mine.name(mine.path(name)) == name


@pytest.mark.parametrize(
    "name",
    [
        *("", ".", "..", "../secret.txt", "results/../../secret.txt", "/etc/passwd", "//etc/passwd", "~/x", "~root/x"),
        *("way-out/secret.txt", "file-out", "way-out", "round", "log.swf\0", "\0", "..\\secret.txt", ".hidden"),
        *("spaces/other/other.swf", "spaces/other", "spaces", "to-other", "to-other/other.swf"),
        *("spaces/mine/../other/other.swf", "spaces/nobody", "nothing", "x" * 5000, "a/" * 3000),
    ],
)
def test_paths_that_may_not(folder: Path, name: str) -> None:
    if name == ".":
        assert Space(folder, "mine").path(name) == folder  # the folder itself may be looked at, not changed
    else:
        with pytest.raises(InputError):
            Space(folder, "mine").path(name)
    with pytest.raises(InputError):
        Space(folder, "mine").own_path(name)


def test_of_others_nothing_is_told_not_even_that_it_is_there(folder: Path) -> None:
    """The same words for what is another's and for what is not there."""
    mine = Space(folder, "mine")
    messages = set()
    for name in ("spaces/other/other.swf", "spaces/other/nothing", "spaces/nobody/other.swf"):
        with pytest.raises(NotThereError) as error:
            mine.path(name)
        messages.add(error.value.message)
    assert len(messages) == 1


def test_only_what_is_its_own_can_be_changed(folder: Path) -> None:
    mine = Space(folder, "mine")
    assert mine.own_path("spaces/mine/mine.swf") == folder / "spaces/mine/mine.swf"
    for name in ("log.swf", "results/easy", "spaces/mine"):
        with pytest.raises(InputError, match="not yours to change"):
            mine.own_path(name)


def test_the_list_has_everybodys_and_its_own(folder: Path) -> None:
    found = [(entry.name, entry.kind, entry.own) for entry in entries(Space(folder, "mine"))]
    assert found == [
        ("spaces/mine/mine.swf", "file", True),
        ("log.swf", "file", False),
        ("results/easy", "run", False),
    ]


@pytest.mark.parametrize("name", ["a.swf", "KTH-SP2 (clean).swf.gz", "größe_ü.toml", "x=1,y=2+z@w"])
def test_names_that_files_may_have(name: str) -> None:
    check_name(name)


@pytest.mark.parametrize(
    "name",
    [
        *("", ".x", "-o", "--force", "a/b", "a\\b", "a\0b", "a\nb", "a;b", "a'b", 'a"b', "a`b", "a$b", "a|b", "a:b"),
        *("a*b", "a?b", "a<b", "a%2fb", " a", "a ", "\u202eswf", "x" * 121),
    ],
)
def test_names_that_they_may_not(name: str) -> None:
    with pytest.raises(InputError, match="cannot be the name of a file"):
        check_name(name)


def test_folders_are_taken_when_they_are_named(folder: Path) -> None:
    mine = Space(folder, "mine")
    assert [mine.new_folder("run").name for _ in range(3)] == ["run", "run-2", "run-3"]
    assert mine.free("mine", ".swf").name == "mine-2.swf"


def test_the_name_of_a_space_does_not_open_it(folder: Path) -> None:
    secret = new_secret()
    found = space_of(folder, secret)
    assert found == space_of(folder, secret)
    assert found.id not in secret
    assert space_of(folder, found.id) != found


def test_spaces_are_for_their_owner_and_not_without_number(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cookies can be made up."""
    assert Space(folder, "new").make().stat().st_mode & 0o777 == 0o700
    monkeypatch.setattr("schedlab.web.space.MOST_SPACES", 3)
    assert Space(folder, "new").make().is_dir()
    with pytest.raises(InputError, match="there are 3 already"):
        Space(folder, "one-more").make()


def test_the_first_space_makes_the_folder_of_all(tmp_path: Path) -> None:
    Space(tmp_path, "first").make()
    assert (tmp_path / "spaces").stat().st_mode & 0o777 == 0o700
