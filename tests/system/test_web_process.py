"""The server as a process: its address, its end, and that nothing is left of it."""

from __future__ import annotations

import json
import os
import signal
import time
from contextlib import suppress
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import httpx2
import pytest
from tests.commands import schedlab
from tests.web_process import Process, serving_process
from tests.web_server import LOG

from schedlab.web.serve import open_browser


def children(pid: int) -> list[int]:
    """Of a process, with theirs, by number."""
    parents = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, parent = path.read_text().rpartition(") ")[2].split()[:2]
            if state != "Z":
                parents[int(path.parent.name)] = int(parent)
    found, look = [], [pid]
    while look:
        look = [child for child, parent in parents.items() if parent in look]
        found += look
    return found


def gone(pids: list[int]) -> bool:
    """In some time; zombies, whose parent was killed, do not count."""
    for _ in range(300):
        left = []
        for pid in pids:
            with suppress(OSError):
                if Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] != "Z":
                    left.append(pid)
        if not left:
            return True
        time.sleep(0.05)
    return False


def start_slow_run(server: Process) -> list[int]:
    """Started by its API, at a pace of nothing; the numbers of its processes."""
    with server.get("/api/files") as answer:
        cookie = answer.headers["set-cookie"].partition(";")[0]
    body = {"setup": {"log": "small.swf", "cluster": "pool:8", "policies": ["easy"]}, "pace": 0}
    request = Request(
        f"http://127.0.0.1:{server.port}/api/work",
        data=json.dumps(body).encode(),
        headers={"content-type": "application/json", "cookie": cookie} | server.allowed,
    )
    with urlopen(request, timeout=60) as answer:
        work = json.load(answer)
    while work["share"] is None:
        time.sleep(0.05)
        seen = Request(f"{request.full_url}/{work['id']}", headers=dict(request.headers))
        with urlopen(seen, timeout=60) as answer:
            work = json.load(answer)
        assert work["state"] == "running", work
    pids = children(server.process.pid)
    assert pids
    return pids


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_ends_server_and_workers(tmp_path: Path, number: signal.Signals) -> None:
    (tmp_path / "small.swf").write_text(LOG)
    with serving_process(tmp_path) as server:
        workers = start_slow_run(server)
        assert server.end(number) == 0
        assert gone(workers)
        assert server.process.stderr is not None
        assert server.process.stderr.read() == ""
    [file] = tmp_path.glob("spaces/*/.work/*/task.json")
    assert json.loads(file.read_text())["status"]["state"] == "interrupted"
    assert [path.name for path in tmp_path.glob("spaces/*/*")] == [".work"]


def test_a_server_that_is_killed_takes_its_workers_along(tmp_path: Path) -> None:
    (tmp_path / "small.swf").write_text(LOG)
    with serving_process(tmp_path) as server:
        workers = start_slow_run(server)
        os.kill(server.process.pid, signal.SIGKILL)
        assert gone(workers)


def refused(server: Process, path: str, **headers: str) -> int:
    with pytest.raises(HTTPError) as error:
        urlopen(Request(f"{server.place}{path}", headers=headers), timeout=60)
    return error.value.code


@pytest.mark.parametrize("options", [(), ("--host", "0.0.0.0")])
def test_without_the_token_nobody_is_let_in(tmp_path: Path, options: tuple[str, ...]) -> None:
    """Anybody who is logged in can reach a port of this machine, whatever the folder may be read by."""
    with serving_process(tmp_path, *options) as server:
        assert "/?token=" in server.address
        token = server.address.rpartition("=")[2]
        assert refused(server, "/") == 403
        assert refused(server, f"/?token={token}") == 403  # urlopen keeps no cookies: after the redirection it is none
        assert refused(server, "/", cookie=f"schedlab_token_{server.port + 1}={token}") == 403
        assert refused(server, "/", authorization="Bearer x") == 403
        shown = Request(f"{server.place}/", headers={"cookie": f"schedlab_token_{server.port}={token}"})
        with urlopen(shown, timeout=60) as answer:
            assert answer.status == 200
        seen = [read_of(server.process.pid, "cmdline")]
        seen += [read_of(pid, name) for pid in started(server) for name in ("cmdline", "environ")]
        assert len([text for text in seen if text]) > 2
        assert not [text for text in seen if token.encode() in text]


def read_of(pid: int, name: str) -> bytes:
    """What anybody may read of a process; nothing if it has ended meanwhile, as helpers of a moment do."""
    with suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{pid}/{name}").read_bytes()
    return b""


def started(server: Process) -> list[int]:
    """With something that has to be read."""
    asked = Request(f"{server.place}/api/machine", b'{"cluster": "4x2"}', {**server.allowed, **JSON})
    with urlopen(asked, timeout=60) as answer:
        assert json.load(answer)["cores"] == 8
    return children(server.process.pid)


JSON = {"content-type": "application/json"}


def test_without_a_token_if_that_is_said(tmp_path: Path) -> None:
    with serving_process(tmp_path, "--no-token") as server:
        assert server.address == f"{server.place}/"
        with urlopen(server.address, timeout=60) as answer:
            assert answer.status == 200
        server.end()
        assert server.process.stderr is not None
        assert "warning: without a token everybody on this machine can read this folder" in server.process.stderr.read()


def test_the_browser_is_sent_there_by_a_file_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a program is started with can be read by everybody: no token is in it."""
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    address = "http://127.0.0.1:8765/?token=abc"
    open_browser(address, tmp_path)
    while not opened:
        time.sleep(0.01)
    page = Path(opened[0].removeprefix("file://"))
    assert page.parent == tmp_path / "spaces" and page.name.startswith(".")
    assert f'url={address}"' in page.read_text() and page.stat().st_mode & 0o777 == 0o600


def test_an_address_that_is_taken(tmp_path: Path) -> None:
    with serving_process(tmp_path) as server:
        second = schedlab("web", tmp_path, "--port", server.port, "--no-browser")
        assert second.returncode == 2
        assert f"error: 127.0.0.1:{server.port}: cannot listen: Address already in use" in second.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["nothing"], "nothing: is not a folder"),
        ([".", "--allow", "mine.py"], "mine.py: no such file"),
        ([".", "--allow", "../outside.py"], "../outside.py: lies outside the folder that is served"),
        ([".", "--allow", "easy"], "easy: needs no permission"),
        ([".", "--largest-upload", "much"], "--largest-upload"),
        ([".", "--host", "host.invalid"], "host.invalid:8765: cannot listen"),
        ([".", "--host", "0.0.0.0", "--no-token"], "--no-token: is for this machine alone"),
    ],
)
def test_what_cannot_be_served(tmp_path: Path, options: list[str], message: str) -> None:
    (tmp_path / "outside.py").write_text("")
    (tmp_path / "served").mkdir()
    told = schedlab("web", *options, "--no-browser", folder=tmp_path / "served")
    assert told.returncode == 2
    assert f"error: {message}" in told.stderr


def test_one_stream_tells_of_everything_that_is_open(tmp_path: Path) -> None:
    """Of more than the six connections that a browser has; it ends with the server, which does not wait for it."""
    (tmp_path / "small.swf").write_text(LOG)
    setup = {"log": "small.swf", "cluster": "pool:8", "policies": ["easy"]}
    with (
        serving_process(tmp_path, "--at-once", "1") as server,
        httpx2.Client(base_url=server.place, headers=server.allowed, timeout=60) as client,
    ):
        client.get("/api/files")
        ids = [client.post("/api/work", json={"setup": setup, "pace": 0}).json()["id"] for _ in range(7)]
        states: dict[str, str] = {}
        with client.stream("GET", f"/api/work/events?frames={ids[0]}") as stream:
            assert client.post(f"/api/work/{ids[1]}/cancel").json()["state"] == "cancelled"
            name, pictures = "", 0
            for line in stream.iter_lines():
                name = line.removeprefix("event: ") if line.startswith("event: ") else name
                if line.startswith("data: ") and name == "status":
                    told = json.loads(line.removeprefix("data: "))
                    states[told["id"]] = told["state"]
                pictures += line.startswith("data: ") and name == "frame"
                if pictures and len(states) >= 6:
                    break
            assert set(states) >= {ids[0], *ids[2:]}
            assert [states[id] for id in (ids[0], *ids[2:])] == ["running", *["queued"] * 5]
            assert server.end() == 0
