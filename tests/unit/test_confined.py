"""The doors of a confined process: files, code, programs, connections."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from schedlab.model import landlock
from schedlab.model.confined import VARIABLE, Bounds, as_text, confined
from schedlab.model.errors import InputError
from schedlab.policy.spec import parse_policy


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Path]:
    """The folder, and `mine` of the spaces; outside is its parent."""
    folder = tmp_path / "served"
    for one in ("mine", "other"):
        (folder / "spaces" / one).mkdir(parents=True)
        (folder / "spaces" / one / "x").write_text(one)
    (folder / "log").write_text("log")
    (folder / ".hidden").mkdir()
    (folder / ".hidden" / "x").write_text("hidden")
    (tmp_path / "secret").write_text("secret")
    (folder / "link").symlink_to(tmp_path / "secret")
    for name in ("good.py", "bad.py"):
        (folder / name).write_text("class Cap:\n    def decide(self, view, events):\n        pass\n")
    code = (str(folder / "good.py"),)
    programs = (parse_policy("batsim:tcp://localhost:28000").text,)
    with confined(Bounds(str(folder), str(folder / "spaces"), str(folder / "spaces" / "mine"), code, programs)):
        yield folder


def test_what_may_be_read(served: Path) -> None:
    assert (served / "log").read_text() == "log"
    assert (served / "spaces" / "mine" / "x").read_text() == "mine"
    assert {"log", "spaces"} <= {path.name for path in served.iterdir()}
    import graphlib  # the standard library, not imported before

    assert graphlib.TopologicalSorter


@pytest.mark.parametrize("name", ["../secret", "link", "spaces/other/x", "log/../../secret", ".hidden/x"])
def test_what_may_not(served: Path, name: str) -> None:
    for read in (Path.read_text, Path.read_bytes, lambda path: os.open(path, os.O_RDONLY)):
        with pytest.raises(InputError, match="lies outside"):
            read(served / name)  # type: ignore[operator]


def test_folders_outside_are_not_listed(served: Path) -> None:
    for folder in (served.parent, served / "spaces" / "other", Path("/root"), Path("/etc")):
        with pytest.raises(PermissionError):
            list(folder.iterdir())


CHANGES: list[Callable[[Path], object]] = [
    lambda path: path.write_text("x"),
    lambda path: path.open("a"),
    lambda path: path.open("r+"),
    lambda path: os.open(path, os.O_CREAT | os.O_WRONLY),
    lambda path: path.mkdir(),
    lambda path: path.unlink(),
    lambda path: path.rename(path.with_name("y")),
    lambda path: path.symlink_to("/etc/passwd"),
    lambda path: shutil.copy(__file__, path),
]


@pytest.mark.parametrize("change", CHANGES)
def test_what_may_be_changed(served: Path, change: Callable[[Path], object]) -> None:
    before = {path: path.read_text() for path in (served / "log", served / "spaces" / "mine" / "x")}
    for path in (served / "log", served.parent / "new", served / "spaces" / "other" / "new", served / "spaces" / "new"):
        with pytest.raises((InputError, PermissionError)):
            change(path)
    assert {path: path.read_text() for path in before} == before
    (served / "spaces" / "mine" / "new").write_text("x")
    (served / "spaces" / "mine" / "new").unlink()


def test_code_of_a_named_file(served: Path) -> None:
    assert parse_policy(f"{served}/good.py:Cap").plugin is not None


@pytest.mark.parametrize(
    "text",
    [
        "{}/bad.py:Cap",
        "{}/bad.py:Cap(watts=1)",
        "{}/./good.py/../bad.py:Cap",
        "easy:order={}/bad.py:Cap",
        "easy:scan={}/bad.py:Cap",
        "easy:place={}/bad.py:Cap",
        "none:order=os.path:join",
        "os.path:join",
        "subprocess.run:x",
        "shutil.rmtree:x",
    ],
)
def test_no_other_code(served: Path, text: str) -> None:
    with pytest.raises(InputError, match="is code, and was not named when the server was started"):
        parse_policy(text.format(served))


def test_no_other_code_of_any_kind(served: Path) -> None:
    from schedlab.model.plugins import KINDS, load

    for kind in KINDS:
        for text in (f"{served}/bad.py:Cap", "os.path:join"):
            with pytest.raises(InputError, match="is code, and was not named"):
                load(kind, text)


@pytest.mark.parametrize(
    "text",
    ["batsim:tcp://localhost:1", "batsim(command='touch /tmp/x')", "kubernetes", "slurm-real('slurm.conf')"],
)
def test_policies_that_start_programs(served: Path, text: str) -> None:
    with pytest.raises(InputError, match="starts programs, which this server was not told to do"):
        parse_policy(text)


def test_a_program_that_was_named_with_its_arguments(served: Path) -> None:
    assert parse_policy("batsim('tcp://localhost:28000')").plugin is not None


def test_no_programs_and_no_connections(served: Path) -> None:
    attempts: list[Callable[[], object]] = [
        lambda: subprocess.run(["true"]),
        lambda: subprocess.run("true", shell=True),
        lambda: subprocess.run([sys.executable, "-c", "pass"]),
        lambda: os.system("true"),
        lambda: os.posix_spawn("/bin/true", ["true"], {}),
        lambda: socket.create_connection(("127.0.0.1", 9)),
    ]
    for attempt in attempts:
        with pytest.raises(InputError, match="would "):
            attempt()


def test_a_process_is_confined_from_its_first_moment(tmp_path: Path) -> None:
    """By the environment, which those that it starts inherit."""
    (tmp_path / "mine").mkdir()
    code = "import schedlab; open('/etc/hostname').read()"
    bounds = as_text(Bounds(str(tmp_path), str(tmp_path / "spaces"), str(tmp_path / "mine")))
    ran = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, VARIABLE: bounds}, capture_output=True, text=True, cwd=tmp_path
    )
    assert ran.returncode == 1
    assert "OutsideError: /etc/hostname: lies outside the folder that is served" in ran.stderr


OPENED = """
import sys
import schedlab
import ctypes, polars, pyarrow
libc = ctypes.CDLL(None, use_errno=True)
for path in sys.argv[1:]:
    for read in (lambda: pyarrow.OSFile(path).read(), lambda: polars.read_csv(path)):
        try:
            print("read", len(read()))
        except PermissionError as error:
            print("refused")
    print("C", libc.open(path.encode(), 0) >= 0)
print("new", libc.open((path + ".new").encode(), 0o101, 0o600) >= 0)
"""


@pytest.mark.skipif(not landlock.version(), reason="needs a kernel with Landlock")
def test_the_kernel_refuses_what_libraries_open(served: Path, tmp_path: Path) -> None:
    """Python sees nothing of these: what is written in Rust, C++ and C opens its files itself."""
    for one in ("mine", "other"):
        (served / "spaces" / one / "x").chmod(0o644)
    bounds = Bounds(str(served), str(served / "spaces"), str(served / "spaces" / "mine"))
    paths = [served / "spaces/other/x", tmp_path / "secret", "/etc/passwd", served / ".hidden/x"]
    seen = [served / "log", served / "spaces/mine/x"]
    env = {**os.environ, VARIABLE: as_text(bounds), "PYTHONSAFEPATH": "1"}
    with confined(None):
        ran = subprocess.run([sys.executable, "-c", OPENED, *paths, *seen], env=env, capture_output=True, text=True)
    assert ran.stderr == ""
    assert ran.stdout.split("\n")[:12] == ["refused", "refused", "C False"] * len(paths)
    assert ran.stdout.split("\n")[12:-1] == ["read 3", "read 0", "C True", "read 4", "read 0", "C True", "new True"]


def test_memory_has_an_end(tmp_path: Path) -> None:
    code = "import schedlab, numpy\ntry: numpy.ones(1 << 27)\nexcept MemoryError: print('refused')"
    bounds = as_text(Bounds(str(tmp_path), str(tmp_path / "spaces"), str(tmp_path), memory=1 << 29))
    env = {**os.environ, VARIABLE: bounds}
    ran = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, cwd=tmp_path)
    assert (ran.stdout, ran.stderr) == ("refused\n", "")
