"""Fetching Debian's packages, from a small mirror on this machine that misbehaves as asked."""

import hashlib
import io
import itertools
import lzma
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from schedlab.model.errors import InputError
from schedlab.slurm.install import download, packages, programs
from schedlab.slurm.install.deb import unpack
from schedlab.slurm.install.index import read_index, version_key
from schedlab.slurm.install.packages import fetch_programs

VERSION = "22.05.8-4+deb12u3"
SCRIPT = b"#!/bin/sh\necho slurm-wlm 22.05.8\n"
PLUGINS = "usr/lib/x86_64-linux-gnu/slurm-wlm"
CONTENTS = {
    "slurmctld": {"usr/sbin/slurmctld-wlm": SCRIPT, "etc/init.d/slurmctld": b"no"},
    "slurm-client": {"usr/bin/sbatch": b"", "usr/share/doc/slurm-client/copyright": b"GPL"},
    "slurm-wlm-basic-plugins": {f"{PLUGINS}/auth_none.so": b""},
}


def make_deb(files: dict[str, bytes]) -> bytes:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:xz") as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size, member.mode = len(content), 0o755
            tar.addfile(member, io.BytesIO(content))
    return b"!<arch>\n" + _member(b"debian-binary", b"2.0\n") + _member(b"data.tar.xz", data.getvalue())


def _member(name: bytes, content: bytes) -> bytes:
    owner_and_mode = b"0".ljust(12) + b"0".ljust(6) * 2 + b"100644".ljust(8)
    head = name.ljust(16) + owner_and_mode + str(len(content)).encode().ljust(10) + b"`\n"
    return head + content + b"\n" * (len(content) % 2)


class Mirror:
    """Debian's archive with three packages; `files` is all it has, by path, and `cut` what breaks off half-way."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.cut = ""
        self.asked: list[str] = []
        self.add("debian", "bookworm", VERSION)
        mirror = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                mirror.answer(self)

            def log_message(self, *_: Any) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._http.server_port}/debian"
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()

    def add(self, archive: str, suite: str, version: str, contents: dict[str, dict[str, bytes]] = CONTENTS) -> None:
        index = ""
        for name, files in contents.items():
            deb, path = make_deb(files), f"pool/{name}_{version}.deb"
            self.files[f"/{archive}/{path}"] = deb
            index += f"Package: {name}\nVersion: {version}\nFilename: {path}\nSize: {len(deb)}\n"
            index += f"SHA256: {hashlib.sha256(deb).hexdigest()}\n\n"
        self.files[f"/{archive}/dists/{suite}/main/binary-amd64/Packages.xz"] = lzma.compress(index.encode())

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        self.asked.append(request.path)
        content = self.files.get(request.path)
        if content is None:
            request.send_error(404)
            return
        request.send_response(200)
        request.send_header("Content-Length", str(len(content)))
        request.end_headers()
        request.wfile.write(content[: len(content) // 2] if self.cut and self.cut in request.path else content)

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "slurm"


@pytest.fixture
def mirror(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Mirror]:
    mirror = Mirror()
    monkeypatch.setenv("SCHEDLAB_DEBIAN_MIRROR", mirror.url)
    monkeypatch.setenv("SCHEDLAB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    monkeypatch.setattr(download, "PAUSES", ())
    yield mirror
    mirror.close()


def fetched(cache: Path) -> list[str]:
    return sorted(path.name for path in cache.iterdir() if path.name != ".lock")


def test_packages_are_fetched_once(mirror: Mirror, cache: Path) -> None:
    said: list[str] = []
    found = fetch_programs(said.append)
    assert (found.version, found.origin) == ("22.05.8", "cache")
    assert found.slurmctld == cache / f"{VERSION}-amd64" / "usr/sbin/slurmctld-wlm"
    assert found.clients["sbatch"].is_file()
    assert fetched(cache) == [f"{VERSION}-amd64"]
    assert any("fetching slurm-client" in line for line in said)
    asked = len(mirror.asked)
    assert fetch_programs() == found == programs.cached_programs()
    assert len(mirror.asked) == asked


def test_only_programs_and_the_licence_are_unpacked(mirror: Mirror, cache: Path) -> None:
    fetch_programs()
    folder = cache / f"{VERSION}-amd64"
    assert not (folder / "etc").exists()
    assert (folder / "usr/share/doc/slurm-client/copyright").read_bytes() == b"GPL"


def test_a_security_update_that_is_newer_is_taken(mirror: Mirror, cache: Path) -> None:
    mirror.add("debian-security", "bookworm-security", "22.05.8-4+deb12u10")
    fetch_programs()
    assert fetched(cache) == ["22.05.8-4+deb12u10-amd64"]


def test_an_old_security_update_is_not(mirror: Mirror, cache: Path) -> None:
    mirror.add("debian-security", "bookworm-security", "22.05.8-4+deb12u1")
    fetch_programs()
    assert fetched(cache) == [f"{VERSION}-amd64"]


def test_a_tampered_package_is_refused(mirror: Mirror, cache: Path) -> None:
    path = f"/debian/pool/slurm-client_{VERSION}.deb"
    mirror.files[path] = make_deb({"usr/bin/sbatch": b"evil"})
    with pytest.raises(InputError, match=r"wrong checksum: expected [0-9a-f]{64}") as caught:
        fetch_programs()
    assert path in str(caught.value)
    assert fetched(cache) == []
    assert programs.cached_programs() is None


@pytest.mark.parametrize("cut", ["Packages.xz", "slurm-wlm-basic-plugins"])
def test_an_interrupted_download_leaves_nothing(mirror: Mirror, cache: Path, cut: str) -> None:
    mirror.cut = cut
    with pytest.raises(InputError, match=r"the connection to 127.0.0.1 broke"):
        fetch_programs()
    assert fetched(cache) == []
    mirror.cut = ""
    assert fetch_programs().version == "22.05.8"


def test_what_a_killed_fetch_left_is_removed(mirror: Mirror, cache: Path) -> None:
    (cache / ".unpacking/usr/sbin").mkdir(parents=True)
    fetch_programs()
    assert fetched(cache) == [f"{VERSION}-amd64"]


def test_a_kill_while_fetching_leaves_nothing(mirror: Mirror, cache: Path) -> None:
    """Killed when the last package is asked for."""
    code = (
        "import os, signal\n"
        "from schedlab.slurm.install import packages\n"
        "def say(text):\n"
        "    if 'basic-plugins' in text: os.kill(os.getpid(), signal.SIGKILL)\n"
        "packages.fetch_programs(say)\n"
    )
    child = subprocess.run([sys.executable, "-c", code])
    assert child.returncode == -signal.SIGKILL
    assert programs.cached_programs() is None
    fetch_programs()
    assert fetched(cache) == [f"{VERSION}-amd64"]


def test_several_at_once_fetch_once(mirror: Mirror, cache: Path) -> None:
    code = "from schedlab.slurm.install import fetch_programs; print(fetch_programs().slurmctld)"
    children = [subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) for _ in range(3)]
    answers = {child.communicate()[0] for child in children}
    assert answers == {f"{cache}/{VERSION}-amd64/usr/sbin/slurmctld-wlm\n"}
    assert sum(path.endswith(".deb") for path in mirror.asked) == 3


def test_no_network(mirror: Mirror, cache: Path) -> None:
    mirror.close()
    with pytest.raises(InputError, match=r"cannot reach 127.0.0.1: Connection refused") as caught:
        fetch_programs()
    message = str(caught.value)
    assert f"{mirror.url}/dists/bookworm/main/binary-amd64/Packages.xz" in message
    assert "apt-get install slurmctld slurm-client slurm-wlm-basic-plugins" in message
    assert "SCHEDLAB_SLURM" in message
    assert "SCHEDLAB_DEBIAN_MIRROR" in message


def test_a_mirror_without_the_suite(mirror: Mirror) -> None:
    mirror.files.clear()
    with pytest.raises(InputError, match="the server answered 404"):
        fetch_programs()


def test_another_release_is_refused(mirror: Mirror) -> None:
    mirror.add("debian", "bookworm", "24.11.5-4")
    with pytest.raises(InputError, match=r"of release 22.05.*; it has version 24.11.5-4"):
        fetch_programs()


def test_an_incomplete_index(mirror: Mirror) -> None:
    mirror.add("debian", "bookworm", VERSION, {"slurmctld": CONTENTS["slurmctld"]})
    with pytest.raises(InputError, match="does not have all of them"):
        fetch_programs()


def test_a_slurmctld_that_does_not_start_is_not_kept(mirror: Mirror, cache: Path) -> None:
    spoilt = CONTENTS | {"slurmctld": {"usr/sbin/slurmctld-wlm": b"#!/bin/sh\necho broken >&2; exit 1\n"}}
    mirror.add("debian", "bookworm", VERSION, spoilt)
    with pytest.raises(InputError, match="does not start: broken"):
        fetch_programs()
    assert fetched(cache) == []


def test_a_cache_that_cannot_be_written(mirror: Mirror, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file")
    with pytest.raises(InputError, match=r"cannot be written(.|\n)*SCHEDLAB_CACHE"):
        fetch_programs()


def test_machines_that_cannot_run_them(mirror: Mirror, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "confstr", lambda _: "glibc 2.28")
    with pytest.raises(InputError, match=r"need glibc 2.34 or newer; this machine has glibc 2.28"):
        fetch_programs()
    monkeypatch.setattr("platform.machine", lambda: "riscv64")
    with pytest.raises(InputError, match="cannot run on Linux on riscv64"):
        fetch_programs()
    assert mirror.asked == []


def test_a_machine_with_another_c_library(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(_: str) -> str:
        raise ValueError("unrecognized configuration name")

    monkeypatch.setattr(os, "confstr", unknown)
    with pytest.raises(InputError, match="this machine has no glibc"):
        packages.require_glibc()


def test_versions_are_ordered_as_debian_does() -> None:
    texts = ["1.0~rc1-1", "1.0-1", "1.0-1+deb12u1", "1.0-1+deb12u10", "1.0-1.1", "1.0a-1", "1.0.1", "1.10", "1:0.1"]
    for first, second in itertools.pairwise(texts):
        assert version_key(first) < version_key(second)
        if shutil.which("dpkg"):
            assert subprocess.run(["dpkg", "--compare-versions", first, "lt", second]).returncode == 0


def test_the_newest_of_an_index_with_two_versions() -> None:
    stanza = "Package: a\nVersion: {}\nFilename: pool/a\nSize: 1\nSHA256: " + "0" * 64 + "\n\n"
    index = lzma.compress((stanza.format("1-2") + stanza.format("1-10") + stanza.format("1-9")).encode())
    assert [package.version for package in read_index(index, ["a"], "here")] == ["1-10"]


@pytest.mark.parametrize("text", [b"Package: a\nVersion: ../..\nFilename: f\nSize: 1\n", b"Package: a\nSize: x\n"])
def test_a_wrong_index(text: bytes) -> None:
    with pytest.raises(InputError, match="package a: expected Version, Filename, Size and SHA256"):
        read_index(lzma.compress(text), ["a"], "here")
    with pytest.raises(InputError, match="not an index of packages"):
        read_index(text, ["a"], "here")


@pytest.mark.parametrize(
    ("deb", "words"),
    [
        (b"<html>", "does not begin as an ar archive"),
        (b"!<arch>\n" + b"x" * 60, "byte 8 is not the head of a member"),
        (b"!<arch>\n" + _member(b"debian-binary", b"2.0\n"), "no data.tar"),
        (b"!<arch>\n" + _member(b"data.tar.xz", b"no xz"), "cannot be read"),
        (make_deb({"usr/bin/x": b"x" * 5000})[:-20], "breaks off after"),
        (make_deb({"usr/bin/../../../x": b""}), "outside of its folder"),
        (make_deb({"/usr/bin/x": b""}), "outside of its folder"),
    ],
)
def test_what_is_no_package_is_refused(tmp_path: Path, deb: bytes, words: str) -> None:
    with pytest.raises(InputError, match=words):
        unpack(deb, tmp_path / "new", "x.deb")
    assert not list(tmp_path.rglob("x"))


@pytest.mark.skipif(not shutil.which("dpkg-deb"), reason="needs dpkg-deb, Debian's own packer")
def test_what_debian_packed_is_unpacked(tmp_path: Path) -> None:
    source = tmp_path / "source"
    for name, mode in (("usr/bin/tool", 0o755), ("usr/lib/x/odd.so", 0o644)):
        (source / name).parent.mkdir(parents=True)
        (source / name).write_text(name)
        (source / name).chmod(mode)
    (source / "DEBIAN").mkdir(mode=0o755)
    (source / "DEBIAN/control").write_text(
        "Package: a\nVersion: 1\nArchitecture: all\nMaintainer: A <a@b.c>\nDescription: a\n"
    )
    subprocess.run(
        ["dpkg-deb", "--root-owner-group", "-Zxz", "-b", source, tmp_path / "a.deb"], check=True, capture_output=True
    )
    unpack((tmp_path / "a.deb").read_bytes(), tmp_path / "ours", "a.deb")
    for name in ("usr/bin/tool", "usr/lib/x/odd.so"):
        assert (tmp_path / "ours" / name).read_text() == name
        assert (tmp_path / "ours" / name).stat().st_mode == (source / name).stat().st_mode
