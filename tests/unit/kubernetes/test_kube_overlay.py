"""The changes of Go's sources: each where it belongs, or an error that says which Go was expected."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from schedlab.bridge.kubernetes.golang import overlay
from schedlab.bridge.kubernetes.golang.edits import ADDED, EDITS, GO
from schedlab.bridge.kubernetes.golang.toolchain import find_fitting_go
from schedlab.model.errors import InputError


def _go() -> tuple[Path, str]:
    try:
        found = find_fitting_go()
    except InputError as error:
        pytest.skip(str(error))
    return found.root, found.version


def _like_go(folder: Path) -> Path:
    """Sources in which every edit finds its place, once."""
    for file in {edit.file for edit in EDITS}:
        ours = [edit for edit in EDITS if edit.file == file]
        functions = dict.fromkeys(edit.function for edit in ours)
        parts = ["package x\n"]
        for function in functions:
            body = "\n\t".join(edit.old for edit in ours if edit.function == function)
            parts.append(f"\nfunc {function}() {{\n\t{body}\n}}\n" if function else f"// {body}\n")
        path = folder / "src" / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(parts))
    return folder


def test_the_edits_fit_the_go_that_is_installed(tmp_path: Path) -> None:
    root, version = _go()
    written = json.loads(overlay.write_overlay(root, version, tmp_path).read_text())["Replace"]
    assert len(written) == len({edit.file for edit in EDITS}) + len(ADDED)
    for file in {edit.file for edit in EDITS}:
        before, after = ((root / "src" / file).read_text(), Path(written[str(root / "src" / file)]).read_text())
        assert after != before
        for edit in EDITS:  # nothing else was changed
            if edit.file == file:
                after = after.replace(edit.new, edit.old, 1)
        assert after == before


def test_a_source_that_is_different_is_named(tmp_path: Path) -> None:
    root = _like_go(tmp_path / "go")
    source = root / "src" / "runtime" / "netpoll.go"
    source.write_text(source.read_text().replace("d += nanotime()", "d += nanotime() + 1\n\td += nanotime()"))
    with pytest.raises(InputError) as error:
        overlay.write_overlay(root, f"go{GO}.99", tmp_path / "out")
    assert error.value.where == str(source)
    assert f"(Go {GO}; this is go{GO}.99)" in error.value.message
    assert "'d += nanotime()' is 2 times in func poll_runtime_pollSetDeadline, not once" in error.value.message


def test_a_source_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read: No such file") as error:
        overlay.write_overlay(tmp_path, f"go{GO}.1", tmp_path / "out")
    assert str(error.value.where).startswith(str(tmp_path / "src"))


@pytest.mark.parametrize("version", ["go1.25.3", "go1.27rc1", "devel +abc"])
def test_another_release_of_go_is_refused(version: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=f"is made for Go {GO}, and this is {version.split(' ')[0]}"):
        overlay.write_overlay(_like_go(tmp_path), version, tmp_path / "out")


def test_the_fingerprint_follows_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    before = overlay.fingerprint()
    assert before == overlay.fingerprint()
    monkeypatch.setattr(overlay, "EDITS", EDITS[1:])
    assert overlay.fingerprint() != before
