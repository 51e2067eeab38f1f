"""The server as a process: its address, its end, and that nothing is left of it."""

from __future__ import annotations

import json
import os
import signal
import time
from contextlib import suppress
from http.cookies import SimpleCookie
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import httpx2
import pytest
from tests.commands import schedlab
from tests.web_process import Process, serving_process
from tests.web_server import LOG


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
        cookie = SimpleCookie(answer.headers["set-cookie"])["schedlab_space"].value
    body = {"setup": {"log": "small.swf", "cluster": "pool:8", "policies": ["easy"]}, "pace": 0}
    request = Request(
        f"http://127.0.0.1:{server.port}/api/work",
        data=json.dumps(body).encode(),
        headers={"content-type": "application/json", "cookie": f"schedlab_space={cookie}"},
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


def test_another_address_has_a_token(tmp_path: Path) -> None:
    with serving_process(tmp_path, "--host", "0.0.0.0") as server:
        assert "/?token=" in server.address
        with pytest.raises(HTTPError) as refused:
            server.get("/")
        assert refused.value.code == 403
        with pytest.raises(HTTPError) as let_in:  # urlopen keeps no cookies: after the redirection it is refused
            server.get("/" + server.address.rpartition("/")[2])
        assert let_in.value.code == 403
        token = {"cookie": f"schedlab_token={server.address.rpartition('=')[2]}"}
        request = Request(f"http://127.0.0.1:{server.port}/", headers=token)
        with urlopen(request, timeout=60) as answer:
            assert answer.status == 200


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
        httpx2.Client(base_url=f"http://127.0.0.1:{server.port}", timeout=60) as client,
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
