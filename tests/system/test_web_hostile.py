"""What people should not do to a server, and what comes of it: a clear message, nothing lost, nothing outside."""

from __future__ import annotations

import errno
import json
import os
import resource
import select
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient
from tests.web_process import Process, serving_process
from tests.web_server import ended, names, person, serving, space, start

from schedlab.web import upload
from schedlab.web.settings import Settings

TWO_GB = 2 * 10**9
SECRET = "hush-hush"


@pytest.fixture
def app(tmp_path: Path) -> Iterator[Starlette]:
    (tmp_path / "served").mkdir()
    (tmp_path / "secret.txt").write_text(SECRET)
    with serving(tmp_path / "served", Settings(largest_upload=3 << 20)) as served:
        yield served


@pytest.fixture
def client(app: Starlette) -> TestClient:
    return person(app)


def own_files(app: Starlette, client: TestClient) -> set[str]:
    return names(space(app, client).own)


def test_what_is_sent_is_what_is_kept(app: Starlette, client: TestClient) -> None:
    content = os.urandom(2_500_000)
    answer = client.put("/api/files/x.swf", content=content)
    name = answer.json()["name"]
    assert (answer.status_code, answer.json()["size"]) == (201, len(content))
    got = client.get(f"/api/files/{name}")
    assert got.content == content
    assert got.headers["content-disposition"] == 'attachment; filename="x.swf"'
    assert client.put("/api/files/x.swf", content=b"other").status_code == 409
    assert client.put("/api/files/x.swf?replace", content=b"other").status_code == 201
    assert client.get(f"/api/files/{name}").content == b"other"
    assert client.delete(f"/api/files/{name}").status_code == 200
    assert own_files(app, client) == set()


def test_two_gigabytes_are_refused_before_they_come(app: Starlette, client: TestClient) -> None:
    asked = []

    def never() -> Iterator[bytes]:
        asked.append(1)
        yield b"x"

    answer = client.put("/api/files/big.swf", content=never(), headers={"content-length": str(TWO_GB)})
    assert (answer.status_code, answer.json()["error"]) == (413, "big.swf: is larger than the 3 MiB that are allowed")
    assert own_files(app, client) == set()


def test_an_answer_that_is_no_json_or_too_much_of_it(client: TestClient) -> None:
    json_type = {"content-type": "application/json"}
    for content, status in ((b"{", 400), (b"[1]", 400), (b"[" * 100_000, 400), (b" " * 2_000_000, 413)):
        assert client.post("/api/work", content=content, headers=json_type).status_code == status


@pytest.mark.parametrize(
    "name",
    [
        *("..%2fsecret.txt", "%2e%2e%2fsecret.txt", "..%5csecret.txt", "%2fetc%2fpasswd", "x%00.swf", "a%0ab", "~%2fx"),
        *("spaces%2f..%2f..%2fsecret.txt", "-rf", "--out", ".hidden", "x%2fy", "con%3cscript%3e"),
    ],
)
def test_names_that_lead_elsewhere(app: Starlette, client: TestClient, tmp_path: Path, name: str) -> None:
    before = names(tmp_path)
    for method in ("PUT", "GET", "DELETE"):
        answer = client.request(method, f"/api/files/{name}", content=b"x" if method == "PUT" else None)
        assert answer.status_code in (400, 404), answer.text
        assert set(answer.json()) == {"error", "hint"}
        assert SECRET not in answer.text
    assert names(tmp_path) - before <= {"served/spaces", f"served/spaces/{space(app, client).id}"}
    assert (tmp_path / "secret.txt").read_text() == SECRET


def test_everybodys_files_are_changed_by_nobody(client: TestClient, tmp_path: Path) -> None:
    answer = client.delete("/api/files/small.swf")
    assert (answer.status_code, answer.json()["error"]) == (400, "small.swf: is not yours to change")
    assert (tmp_path / "served" / "small.swf").is_file()


def test_a_page_that_somebody_uploads_can_do_nothing_here(client: TestClient) -> None:
    name = client.put("/api/files/x.html", content=b"<script>fetch('/api/work')</script>").json()["name"]
    kept, shown = client.get(f"/api/files/{name}"), client.get(f"/api/files/{name}?show")
    assert (kept.headers["content-type"], "attachment" in kept.headers["content-disposition"]) == (
        "application/octet-stream",
        True,
    )
    assert shown.headers["content-type"].startswith("text/html")
    for answer in (kept, shown):
        policy = answer.headers["content-security-policy"]
        assert policy.startswith("sandbox allow-scripts; default-src 'none';")  # an origin of its own, and no requests
        assert "same-origin" not in policy and "connect-src" not in policy


def test_a_full_disk_while_a_file_comes(app: Starlette, client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(file: Any, data: bytes) -> None:
        file.write(data[: len(data) // 2])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(upload, "_write", full)
    answer = client.put("/api/files/x.swf", content=bytes(2 << 20))
    assert answer.status_code == 507
    assert answer.json() == {
        "error": "the disk is full; nothing was written",
        "hint": "free some space, then try again",
    }
    assert own_files(app, client) == set()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Of 4 MiB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(folder)]
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("no small disk can be mounted here")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def test_a_disk_that_is_full(small_disk: Path) -> None:
    with serving(small_disk) as app:
        client = person(app)
        answer = client.put("/api/files/x.swf", content=(bytes(1 << 16) for _ in range(100)))
        assert (answer.status_code, answer.json()["error"]) == (507, "the disk is full; nothing was written")
        assert own_files(app, client) == set()
        assert client.put("/api/files/y.swf", content=b"small").status_code == 201
        (small_disk / "filler").write_bytes(bytes((3 << 20) + (900 << 10)))  # there is room for little more
        log = "".join(f"{n} {n} -1 10 1 -1 -1 1 20 -1 1 {n % 7} 1 -1 -1 -1 -1 -1\n" for n in range(1, 20_000))
        name = client.put("/api/files/z.swf", content=log.encode())
        assert name.status_code == 507
        id = start(app, client, "run", "small.swf", "--cluster", "pool:8", "--reasons", "--places", pace=0.0)
        fill(small_disk)
        client.post(f"/api/work/{id}/pace", json={"pace": None})
        work = ended(client, id)
        assert work["state"] == "failed"
        assert "No space left on device" in work["error"]
        (small_disk / "filler").unlink()
        (small_disk / "rest").unlink()
        while (
            shutil.disk_usage(small_disk).free < 3 << 20
        ):  # the kernel keeps what the run was allowed until it is gone
            time.sleep(0.05)
        assert ended(client, client.post(f"/api/work/{id}/again").json()["id"])["state"] == "done"


def fill(folder: Path) -> None:
    with (folder / "rest").open("wb", buffering=0) as file:
        for size in (1 << 16, 1 << 12, 1):
            try:
                while True:
                    file.write(bytes(size))
            except OSError:
                continue


def test_a_file_that_may_not_grow(app: Starlette, client: TestClient) -> None:
    """As on a disk with a quota."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, before[1]))
    try:
        answer = client.put("/api/files/x.swf", content=bytes(2 << 20))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    assert answer.status_code == 507
    assert own_files(app, client) == set()


def test_nobody_sees_anothers(app: Starlette, client: TestClient) -> None:
    mine = client.put("/api/files/mine.swf", content=b"x").json()["name"]
    id = start(app, client, "run", "small.swf", "--cluster", "pool:8")
    out = ended(client, id)["out"]
    other = person(app)
    assert [entry["name"] for entry in other.get("/api/files").json()["files"]] == ["small.swf"]
    assert other.get("/api/work").json() == {"work": []}
    for method, path in (
        *(("GET", f"/api/files/{name}") for name in (mine, f"{out}/run.json", out)),
        *(("DELETE", f"/api/files/{name}") for name in (mine, out)),
        *(("GET", f"/api/work/{id}{end}") for end in ("", "/events")),
        *(("POST", f"/api/work/{id}/{end}") for end in ("cancel", "again")),
    ):
        answer = other.request(method, path)
        assert answer.status_code == 404, path
        assert set(answer.json()) == {"error", "hint"}
    # Not through a worker either, which is told a path past all forms.
    log = start(app, other, "run", mine, "--cluster", "pool:8")
    assert "lies outside the folder that is served" in ended(other, log)["error"]
    assert client.get(f"/api/files/{mine}").content == b"x"


def test_files_that_name_files(app: Starlette, client: TestClient, tmp_path: Path) -> None:
    """A configuration that includes others cannot bring in what lies outside."""
    conf = f"Include {tmp_path}/secret.txt\nNodeName=n[1-4] CPUs=4\nPartitionName=p Nodes=ALL Default=YES\n"
    name = client.put("/api/files/slurm.conf", content=conf.encode()).json()["name"]
    work = ended(client, start(app, client, "run", "small.swf", "--cluster", name))
    assert work["state"] == "failed"
    assert "lies outside the folder that is served" in work["error"]
    assert SECRET not in json.dumps(work)


def send_until_refused(connection: socket.socket) -> int:
    """Bytes of chunks that were sent until an answer came."""
    sent, piece = 0, b"10000\r\n" + bytes(1 << 16) + b"\r\n"
    while sent < TWO_GB:
        if select.select([connection], [], [], 0)[0]:
            assert connection.recv(1 << 16).startswith(b"HTTP/1.1 413")
            return sent
        connection.sendall(piece)
        sent += 1 << 16
    raise AssertionError("2 GB were taken")


def put(server: Process, name: str, length: str) -> bytes:
    """The head of it."""
    allowed = f"Authorization: {server.allowed['authorization']}"
    return f"PUT /api/files/{name} HTTP/1.1\r\nHost: localhost\r\n{allowed}\r\n{length}\r\n\r\n".encode()


def test_a_request_that_is_no_http(tmp_path: Path) -> None:
    """Against a real socket: the next one is answered."""
    with serving_process(tmp_path, "--largest-upload", "3 MiB") as server:
        for junk in (b"\0" * 1000, b"GET / HTTP/1.1\r\n\r\n", b"A" * 200_000, b"PUT /api/files/x HTTP/1.1\r\nHost:"):
            with socket.create_connection(("127.0.0.1", server.port)) as connection:
                connection.settimeout(20)
                with suppress(OSError):  # it may be closed before all of it has been sent
                    connection.sendall(junk)
                    connection.shutdown(socket.SHUT_WR)
                    while connection.recv(1 << 16):
                        pass
        with socket.create_connection(("127.0.0.1", server.port)) as connection:
            connection.sendall(put(server, "big.swf", f"Content-Length: {TWO_GB}"))
            connection.settimeout(20)
            assert connection.recv(1 << 16).startswith(b"HTTP/1.1 413")
        with socket.create_connection(("127.0.0.1", server.port)) as connection:  # it does not say how much comes
            connection.settimeout(20)
            connection.sendall(put(server, "big.swf", "Transfer-Encoding: chunked"))
            sent = send_until_refused(connection)
            assert sent < 100 << 20  # what is on its way when it is refused, of 2 GB
        with socket.create_connection(("127.0.0.1", server.port)) as connection:  # half of it, then nobody is there
            connection.sendall(put(server, "half.swf", "Content-Length: 1000") + b"abc")
        with server.get("/api/files") as answer:
            assert answer.status == 200
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
