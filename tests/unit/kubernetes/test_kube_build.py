"""Builds of schedulers: what is asked for, under which name it is kept, and what is said when it cannot be."""

from __future__ import annotations

import fcntl
import os
import threading
from pathlib import Path

import pytest
from tests.kube_programs import SOURCES, naive

from schedlab.bridge.kubernetes import build as builder
from schedlab.bridge.kubernetes.golang import toolchain
from schedlab.bridge.kubernetes.golang.modules import Module
from schedlab.bridge.kubernetes.programs import Program, find_program, has_clock, program_at
from schedlab.model.errors import InputError


def _go(folder: Path, version: str) -> None:
    """A `go` that only tells its version."""
    answer = f'{{"GOVERSION": "{version}", "GOROOT": "{folder}", "GOPROXY": "off"}}'
    (folder / "go").write_text(f"#!/bin/sh\necho '{answer}'\n")
    (folder / "go").chmod(0o755)


def test_without_go(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(toolchain.shutil, "which", lambda name, path=None: None)
    with pytest.raises(InputError, match="there is no Go on this machine") as error:
        builder.build(builder.kube_scheduler())
    assert "https://go.dev/dl" in error.value.hint


def test_with_another_go(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    _go(tmp_path, "go1.21.3")
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(InputError, match=r"is made for Go 1\.26, and this is go1\.21\.3"):
        builder.build(builder.kube_scheduler())


def test_names_in_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCHEDLAB_CACHE", str(tmp_path / "cache"))
    path = builder.built_path(builder.kube_scheduler("v1.36.3"), "go1.26.8")
    assert path.parent == tmp_path / "cache" / "kubernetes"
    assert path.name.startswith("kubernetes-cmd-kube-scheduler-v1.36.3-go1.26.8-")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "main.go").write_text("package main\n")
    before = builder.target_of(str(tmp_path / "mine")).key
    (tmp_path / "mine" / "more.go").write_text("package main\n")
    assert builder.target_of(str(tmp_path / "mine")).key != before  # other sources are another program
    (tmp_path / "mine" / "more.go").unlink()
    assert builder.target_of(str(tmp_path / "mine")).key == before


def test_staging_modules_get_their_released_versions() -> None:
    file = {
        "Go": "1.25.0",
        "Godebug": [{"Key": "default", "Value": "go1.25"}],
        "Replace": [
            {"Old": {"Path": "k8s.io/api"}, "New": {"Path": "./staging/src/k8s.io/api"}},
            {"Old": {"Path": "a.org/x", "Version": "v1.0.0"}, "New": {"Path": "b.org/y", "Version": "v2.0.0"}},
        ],
    }
    lines = Module("k8s.io/kubernetes", "v1.35.8", "k8s.io/kubernetes/cmd/kube-scheduler", file).text().splitlines()
    assert "require k8s.io/kubernetes v1.35.8" in lines
    assert "godebug default=go1.25" in lines
    assert [line.split() for line in lines if line.startswith("replace")] == [
        ["replace", "k8s.io/api", "=>", "k8s.io/api", "v0.35.8"],
        ["replace", "a.org/x", "v1.0.0", "=>", "b.org/y", "v2.0.0"],
    ]
    with pytest.raises(InputError, match=r"replaces k8s.io/api by its folder ./staging"):
        Module("example.org/other", "v1.0.0", "example.org/other", file).text()


def test_a_proxy_that_cannot_be_reached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    naive()  # Go is there
    monkeypatch.setenv("SCHEDLAB_CACHE", str(tmp_path))
    monkeypatch.setenv("GOPROXY", "off")
    monkeypatch.setenv("GOMODCACHE", str(tmp_path / "modules"))
    with pytest.raises(InputError, match="no such module can be had") as error:
        builder.build(builder.target_of("example.org/absent/cmd/scheduler@v1.0.0"))
    assert "GOPROXY=off" in error.value.hint


def test_sources_that_do_not_compile(tmp_path: Path) -> None:
    naive()
    (tmp_path / "go.mod").write_text("module wrong\n\ngo 1.25\n")
    (tmp_path / "main.go").write_text("package main\n\nfunc main() { absent() }\n")
    with pytest.raises(InputError, match="undefined: absent"):
        builder.build(builder.target_of(str(tmp_path)), out=tmp_path / "program")
    assert not (tmp_path / "program").exists()


def test_a_package_that_is_no_program_is_refused_before_anything_is_compiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    naive()
    monkeypatch.setattr(builder, "_compile", lambda *_: pytest.fail("compiled"))
    (tmp_path / "go.mod").write_text("module example.com/mainly\n\ngo 1.26\n")
    (tmp_path / "x.go").write_text("package mainly\n")
    with pytest.raises(InputError, match="is not a program: its package is not main"):
        builder.build(builder.target_of(str(tmp_path)), out=tmp_path / "program")


def test_one_builds_and_the_other_waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = naive()
    monkeypatch.setenv("SCHEDLAB_CACHE", str(tmp_path))
    target = builder.target_of(str(SOURCES / "naive"))
    path = tmp_path / "kubernetes" / done.name
    path.parent.mkdir()
    told: list[str] = []
    with path.with_name(f".{path.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        found: list[Path] = []
        other = threading.Thread(target=lambda: found.append(builder.build(target, told.append)))
        other.start()
        while not told:
            other.join(0.01)
        path.symlink_to(done)  # what this one has built
    other.join()
    assert told == ["somebody else is building it: waiting"]
    assert found == [path]


def test_which_programs_have_the_clock(tmp_path: Path) -> None:
    assert has_clock(naive())
    assert not has_clock(Path("/bin/sh"))
    assert not has_clock(tmp_path)
    assert program_at(naive()).version == "naive v1.0.0"
    with pytest.raises(InputError, match="is not there"):
        find_program(tmp_path / "absent")


def test_releases() -> None:
    assert Program(Path("x"), "Kubernetes v1.34.2").release == (1, 34)
    assert Program(Path("x"), "something").release is None
