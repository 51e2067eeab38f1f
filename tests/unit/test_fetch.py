"""Fetching logs of the archive, from a server that misbehaves as asked."""

import gzip
import hashlib
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from schedlab.cli.fetch import fetch as fetch_command
from schedlab.cli.output import InterruptedError
from schedlab.model.errors import InputError
from schedlab.workload.archive import catalogue as archive
from schedlab.workload.archive import download
from schedlab.workload.archive.catalogue import LOGS, ArchivedLog, find_log
from schedlab.workload.archive.fetch import cache_folder, fetch

CONTENT = gzip.compress(b"; Version: 2.2\n" + bytes(range(256)) * 400, compresslevel=0, mtime=0)  # about 100 kB
CHECKED = ArchivedLog("Tiny-SP2", "l_tiny", "Tiny-SP2-1996-1", sha256=hashlib.sha256(CONTENT).hexdigest())
UNCHECKED = ArchivedLog("Other-SP2", "l_tiny", "Other-SP2-1997-1")


class Server:
    """Serves CONTENT under every address below /l_tiny/; the attributes say what goes wrong."""

    def __init__(self) -> None:
        self.content = CONTENT
        self.cut: list[int] = []  # bytes after which the next answers break off
        self.ranges = True
        self.skip = 0  # bytes that are left out of a part
        self.status = 200
        self.asked: list[str | None] = []  # the Range of each request
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                server.answer(self)

            def log_message(self, *_: Any) -> None:
                pass

        self._http = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._http.server_port}"
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        wanted = request.headers.get("Range")
        self.asked.append(wanted)
        if self.status != 200 or not request.path.startswith("/l_tiny/"):
            request.send_error(self.status if self.status != 200 else 404)
            return
        begin = int(re.fullmatch(r"bytes=(\d+)-", wanted)[1]) if wanted and self.ranges else 0  # type: ignore[index]
        if begin >= len(self.content):
            request.send_error(416)
            return
        begin += self.skip if begin else 0
        body = self.content[begin:]
        request.send_response(206 if begin else 200)
        request.send_header("Content-Length", str(len(body)))
        if begin:
            end = len(self.content)
            request.send_header("Content-Range", f"bytes {begin}-{end - 1}/{end}")
        request.end_headers()
        request.wfile.write(body[: self.cut.pop(0)] if self.cut else body)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setattr(archive, "LOGS", (*LOGS, CHECKED, UNCHECKED))
    monkeypatch.setattr(download, "PAUSES", (0.0, 0.0))
    server = Server()
    yield server
    server.close()


def target(cache: Path, log: ArchivedLog = CHECKED) -> Path:
    return cache / "logs" / log.file


def part(cache: Path, log: ArchivedLog = CHECKED) -> Path:
    return cache / "logs" / f"{log.file}.part"


def test_a_log_is_downloaded_once(server: Server, tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    path = fetch("tiny-sp2", cache=tmp_path, base_url=server.url, progress=lambda *at: seen.append(at))
    assert path == target(tmp_path)
    assert path.read_bytes() == CONTENT
    assert seen[-1] == (len(CONTENT), len(CONTENT))
    assert not part(tmp_path).exists()
    server.close()
    assert fetch("Tiny-SP2", cache=tmp_path, base_url=server.url) == path
    assert server.asked == [None]


def test_a_broken_connection_is_taken_up_where_it_broke(server: Server, tmp_path: Path) -> None:
    server.cut = [30_000]
    assert fetch("Tiny-SP2", cache=tmp_path, base_url=server.url).read_bytes() == CONTENT
    assert server.asked == [None, "bytes=30000-"]


def test_a_download_that_breaks_every_time_is_kept_for_later(server: Server, tmp_path: Path) -> None:
    server.cut = [10_000, 20_000, 30_000]
    with pytest.raises(InputError, match=r"broke after 60,000 of \d+,\d+ bytes; what has come is kept"):
        fetch("Tiny-SP2", cache=tmp_path, base_url=server.url)
    assert not target(tmp_path).exists()
    assert part(tmp_path).stat().st_size == 60_000
    assert fetch("Tiny-SP2", cache=tmp_path, base_url=server.url).read_bytes() == CONTENT
    assert server.asked == [None, "bytes=10000-", "bytes=30000-", "bytes=60000-"]


def test_a_server_without_ranges_sends_everything_again(server: Server, tmp_path: Path) -> None:
    server.cut, server.ranges = [30_000], False
    assert fetch("Tiny-SP2", cache=tmp_path, base_url=server.url).read_bytes() == CONTENT


def test_a_part_that_is_too_long_is_thrown_away(server: Server, tmp_path: Path) -> None:
    part(tmp_path).parent.mkdir()
    part(tmp_path).write_bytes(CONTENT + b"and more")
    assert fetch("Tiny-SP2", cache=tmp_path, base_url=server.url).read_bytes() == CONTENT
    assert server.asked == [f"bytes={len(CONTENT) + 8}-", None]


def test_a_server_that_sends_another_part_is_asked_for_everything(server: Server, tmp_path: Path) -> None:
    part(tmp_path).parent.mkdir()
    part(tmp_path).write_bytes(CONTENT[:5])
    server.skip = 1
    assert fetch("Tiny-SP2", cache=tmp_path, base_url=server.url).read_bytes() == CONTENT
    assert server.asked == ["bytes=5-", None]


def test_a_full_disk_is_not_the_networks_fault(server: Server, tmp_path: Path) -> None:
    part(tmp_path).parent.mkdir()
    part(tmp_path).symlink_to("/dev/full")
    with pytest.raises(InputError, match="cannot be written: No space left on device"):
        fetch("Tiny-SP2", cache=tmp_path, base_url=server.url)
    assert server.asked == [None]
    assert not target(tmp_path).exists()


def test_a_wrong_checksum(server: Server, tmp_path: Path) -> None:
    server.content = gzip.compress(b"something else", mtime=0)
    found = hashlib.sha256(server.content).hexdigest()
    with pytest.raises(InputError, match=f"expected {CHECKED.sha256}, found {found}"):
        fetch("Tiny-SP2", cache=tmp_path, base_url=server.url)
    assert not target(tmp_path).exists()
    assert not part(tmp_path).exists()


def test_not_found_names_the_address_and_is_not_tried_again(server: Server, tmp_path: Path) -> None:
    server.status = 404
    with pytest.raises(InputError, match=f"{server.url}/l_tiny/Tiny-SP2-1996-1.swf.gz: the server answered 404"):
        fetch("Tiny-SP2", cache=tmp_path, base_url=server.url)
    assert server.asked == [None]
    assert not target(tmp_path).exists()


def test_a_server_in_trouble_is_asked_three_times(server: Server, tmp_path: Path) -> None:
    server.status = 503
    with pytest.raises(InputError, match="the server answered 503"):
        fetch("Tiny-SP2", cache=tmp_path, base_url=server.url)
    assert len(server.asked) == 3
    assert not target(tmp_path).exists()


def test_offline_says_what_to_do(server: Server, tmp_path: Path) -> None:
    server.close()
    with pytest.raises(InputError) as error:
        fetch("Tiny-SP2", cache=tmp_path, base_url=server.url)
    assert error.value.message == "cannot reach 127.0.0.1: Connection refused"
    assert f"{server.url}/l_tiny/Tiny-SP2-1996-1.swf.gz by hand into {tmp_path / 'logs'}" in error.value.hint
    assert not target(tmp_path).exists()


def test_a_file_put_there_by_hand_is_used(tmp_path: Path, server: Server) -> None:
    target(tmp_path).parent.mkdir()
    target(tmp_path).write_bytes(CONTENT)
    assert fetch("Tiny-SP2", cache=tmp_path, base_url=server.url) == target(tmp_path)
    assert server.asked == []


def test_a_damaged_file_is_told_and_replaced_by_force(tmp_path: Path, server: Server) -> None:
    target(tmp_path).parent.mkdir()
    target(tmp_path).write_bytes(CONTENT[:100])
    with pytest.raises(InputError, match="is not what it should be"):
        fetch("Tiny-SP2", cache=tmp_path, base_url=server.url)
    fetch("Tiny-SP2", cache=tmp_path, base_url=server.url, force=True)
    assert target(tmp_path).read_bytes() == CONTENT


def test_the_first_download_notes_an_unknown_checksum(tmp_path: Path, server: Server) -> None:
    path = fetch("Other-SP2", cache=tmp_path, base_url=server.url)
    note = path.with_name(f"{path.name}.sha256")
    assert note.read_text() == f"{hashlib.sha256(CONTENT).hexdigest()}  {path.name}\n"
    path.write_bytes(CONTENT[:-1] + b"?")
    with pytest.raises(InputError, match="is not what it should be"):
        fetch("Other-SP2", cache=tmp_path, base_url=server.url)
    path.unlink()
    server.content = gzip.compress(b"a new version", mtime=0)
    with pytest.raises(InputError, match="wrong checksum"):
        fetch("Other-SP2", cache=tmp_path, base_url=server.url)
    assert not path.exists()
    fetch("Other-SP2", cache=tmp_path, base_url=server.url, force=True)
    assert path.read_bytes() == server.content
    assert note.read_text().startswith(hashlib.sha256(server.content).hexdigest())


@pytest.mark.parametrize("content", [b"<html>We have moved.</html>", CONTENT[:5000]])
def test_what_is_not_a_log_is_refused(tmp_path: Path, server: Server, content: bytes) -> None:
    server.content = content
    with pytest.raises(InputError, match="what came is not a log"):
        fetch("Other-SP2", cache=tmp_path, base_url=server.url)
    assert not target(tmp_path, UNCHECKED).exists()
    assert not part(tmp_path, UNCHECKED).exists()


def test_two_at_once_download_once(tmp_path: Path, server: Server) -> None:
    found: list[bytes] = []

    def one() -> None:
        found.append(fetch("Tiny-SP2", cache=tmp_path, base_url=server.url).read_bytes())

    threads = [threading.Thread(target=one) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [CONTENT] * 4
    assert server.asked == [None]


def test_names() -> None:
    assert find_log("kth-sp2").file == "KTH-SP2-1996-2.1-cln.swf.gz"
    assert find_log("KTH-SP2-1996-2.1-cln.swf.gz").path == "l_kth_sp2/KTH-SP2-1996-2.1-cln.swf.gz"
    assert find_log("CTC-SP2").stem == "CTC-SP2-1996-3.1-cln"  # a name, although another one begins with it
    assert find_log("CTC-SP2-1996").stem == "CTC-SP2-1996-3.1-cln"
    assert find_log("LLNL-Th").name == "LLNL-Thunder"
    with pytest.raises(InputError, match="may be SDSC-Par-1995 or SDSC-Par-1996"):
        find_log("SDSC-Par")
    with pytest.raises(InputError, match="did you mean 'KTH-SP2'"):
        find_log("KHT-SP2")
    with pytest.raises(InputError, match="the archive has no log ''"):
        find_log("")


def test_the_catalogue_is_consistent() -> None:
    names = [log.name.casefold() for log in LOGS] + [log.stem.casefold() for log in LOGS]
    assert len(set(names)) == len(names)
    assert all(log.stem.casefold().startswith(log.name.casefold()) for log in LOGS)
    assert all(re.fullmatch(r"([0-9a-f]{64})?", log.sha256) for log in LOGS)


def test_checksums_are_those_of_the_collected_logs(traces: Path) -> None:
    known = [log for log in LOGS if log.sha256]
    assert len(known) == 13
    for log in known:
        assert hashlib.sha256((traces / log.file).read_bytes()).hexdigest() == log.sha256, log.name


def test_where_logs_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCHEDLAB_CACHE", "/there")
    assert cache_folder() == Path("/there")
    monkeypatch.delenv("SCHEDLAB_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", "/cache")
    assert cache_folder() == Path("/cache/schedlab")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_folder() == Path.home() / ".cache" / "schedlab"


def test_the_command(
    tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SCHEDLAB_CACHE", str(tmp_path))
    monkeypatch.setenv("SCHEDLAB_ARCHIVE", server.url)
    fetch_command(["tiny-sp2"])
    assert target(tmp_path).exists()
    fetch_command(listing=True)

    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("schedlab.workload.archive.fetch.download", interrupted)
    part(tmp_path, UNCHECKED).write_bytes(b"some")
    with pytest.raises(InterruptedError, match="what has come is kept"):
        fetch_command(["Other-SP2"])
    with pytest.raises(InputError, match="which log"):
        fetch_command()
