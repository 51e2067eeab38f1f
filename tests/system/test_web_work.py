"""Runs and studies started by the server: progress, pictures, pace, cancel, failures, restarts."""

from __future__ import annotations

import json
import os
import shutil
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient
from tests.commands import schedlab
from tests.slurm_programs import slurm_programs
from tests.web_server import LOG, ended, names, person, serving, space, start, until

from schedlab.web.settings import Settings, allowed

ROOT = Path(__file__).parents[2]
RUN = ("run", "small.swf", "--cluster", "pool:8")


@pytest.fixture
def app(tmp_path: Path) -> Iterator[Starlette]:
    with serving(tmp_path, Settings(at_once=2)) as served:
        yield served


@pytest.fixture
def client(app: Starlette) -> TestClient:
    return person(app)


def events(client: TestClient, id: str, query: str = "") -> Iterator[tuple[str, Any]]:
    name = ""
    with client.stream("GET", f"/api/work/{id}/events{query}") as stream:
        for line in stream.iter_lines():
            if line.startswith("event: "):
                name = line.removeprefix("event: ")
            elif line.startswith("data: "):
                yield name, json.loads(line.removeprefix("data: "))


def process_of(app: Starlette, id: str) -> int:
    pid: int = app.state.work._children[id]._process.pid
    return pid


def alive(group: int) -> list[int]:
    """Processes of a group that have not ended, after some time; those of dead parents are reaped by somebody else."""
    for _ in range(200):
        found = []
        for path in Path("/proc").glob("[0-9]*/stat"):
            with suppress(OSError):
                state, _, leader = path.read_text().rpartition(") ")[2].split()[:3]
                if int(leader) == group and state != "Z":
                    found.append(int(path.parent.name))
        if not found:
            break
        time.sleep(0.05)
    return found


def test_a_run_is_what_the_command_makes(app: Starlette, client: TestClient, tmp_path: Path) -> None:
    work = ended(client, start(app, client, *RUN, "--policy", "easy", "--policy", "fcfs"))
    assert (work["state"], work["code"], work["share"], work["left"]) == ("done", 0, 1.0, None)
    assert work["command"] == f"schedlab run small.swf --cluster pool:8 --policy easy --policy fcfs --out {work['out']}"
    alone = schedlab(*RUN, "--policy", "easy", "--out", tmp_path / "alone", folder=tmp_path)
    assert alone.returncode == 0, alone.stderr
    made = tmp_path / work["out"] / "easy" / "jobs.parquet"
    assert made.read_bytes() == (tmp_path / "alone" / "jobs.parquet").read_bytes()
    assert work["stdout"].startswith("small: 40 jobs on ")
    found = {entry["name"]: entry["kind"] for entry in client.get("/api/files").json()["files"]}
    assert found == {
        f"{work['out']}/easy": "run",
        f"{work['out']}/fcfs": "run",
        "small.swf": "file",
        "alone": "run",
    }


def test_a_failure_has_the_words_of_the_command_line(app: Starlette, client: TestClient, tmp_path: Path) -> None:
    (tmp_path / "junk.swf").write_bytes(bytes(range(256)) * 40)
    (tmp_path / "short.swf").write_text("1 0 -1 10\n")
    for arguments in (("run", "junk.swf"), ("run", "short.swf", "-c", "4x1"), (*RUN, "--policy", "eazy")):
        work = ended(client, start(app, client, *arguments))
        told = schedlab(*arguments, folder=tmp_path)
        assert (work["state"], work["code"]) == ("failed", told.returncode) == ("failed", 2)
        message = work["error"] + (f"\n  hint: {work['hint']}" if work["hint"] else "")
        assert f"error: {message}\n" == told.stderr
    assert not [name for name in names(space(app, client).own) if not name.startswith(".work")]


def test_pictures_while_it_runs(app: Starlette, client: TestClient) -> None:
    """At a pace that somebody sets and changes; nobody looks, none are made."""
    id = start(app, client, *RUN, "--policy", "fcfs", pace=600.0)
    frames, shares = [], []
    for name, told in events(client, id, "?frames"):
        if name == "frame":
            frames.append(told)
            if len(frames) == 3:
                assert client.post(f"/api/work/{id}/pace", json={"pace": None}).status_code == 200
        else:
            shares.append(told["share"])
            last = told
    assert last["state"] == "done"
    assert [share for share in shares if share is not None] == sorted(share for share in shares if share is not None)
    first, third = frames[0], frames[2]
    assert first["now"] < third["now"]
    for frame in frames:
        assert (frame["pool"], frame["cores"], frame["total"]) == (True, 8, [8])
        assert frame["free"] == [8 - frame["busy"]]
        assert sum(row[1] for row in frame["ending"]) == frame["busy"]
        assert sum(row[1] for row in frame["queue"]) == frame["queued_cores"]


def test_standing_still_and_going_on(app: Starlette, client: TestClient) -> None:
    id = start(app, client, *RUN, pace=0.0)
    seen = []
    for name, told in events(client, id, "?frames"):
        if name == "frame":
            seen.append(told["now"])
            if len(seen) == 3:
                client.post(f"/api/work/{id}/pace", json={"pace": None})
    assert seen[0] == seen[1] == seen[2]
    assert ended(client, id)["state"] == "done"


@pytest.mark.parametrize("pace", [-1, "1d", [], True, 1e13])
def test_what_is_not_a_pace(app: Starlette, client: TestClient, pace: Any) -> None:
    id = start(app, client, *RUN)
    answer = client.post(f"/api/work/{id}/pace", json={"pace": pace})
    assert (answer.status_code, "is not a pace" in answer.json()["error"]) == (400, True)
    ended(client, id)


def test_cancelled(app: Starlette, client: TestClient) -> None:
    id = start(app, client, *RUN, pace=0.0)
    until(client, id, lambda work: work["share"] is not None)
    work = client.post(f"/api/work/{id}/cancel").json()
    assert (work["state"], work["error"]) == ("cancelled", "")
    assert names(space(app, client).own) == {".work", f".work/{id}", f".work/{id}/task.json"}
    assert client.post(f"/api/work/{id}/cancel").json()["state"] == "cancelled"  # once more changes nothing


def test_others_queue_and_can_be_cancelled_there(app: Starlette, client: TestClient) -> None:
    slow = [start(app, client, *RUN, pace=0.0) for _ in range(2)]
    waiting = [start(app, client, *RUN) for _ in range(2)]
    states = {work["id"]: (work["state"], work["ahead"]) for work in client.get("/api/work").json()["work"]}
    assert [states[id] for id in (*slow, *waiting)] == [("running", None)] * 2 + [("queued", 0), ("queued", 1)]
    assert client.post(f"/api/work/{waiting[0]}/cancel").json()["state"] == "cancelled"
    client.post(f"/api/work/{slow[0]}/cancel")
    assert ended(client, waiting[1])["state"] == "done"
    client.post(f"/api/work/{slow[1]}/cancel")


def test_a_file_in_use_is_neither_replaced_nor_deleted(app: Starlette, client: TestClient) -> None:
    client.put("/api/files/mine.swf", content=LOG)
    name = f"spaces/{space(app, client).id}/mine.swf"
    work = client.post("/api/work", json={"setup": {"log": name, "cluster": "pool:8"}, "pace": 0.0}).json()
    answers = [client.put("/api/files/mine.swf?replace", content=LOG), client.delete(f"/api/files/{name}")]
    assert [answer.status_code for answer in answers] == [409, 409]
    assert "is in use by" in answers[0].json()["error"]
    client.post(f"/api/work/{work['id']}/cancel")
    assert client.put("/api/files/mine.swf?replace", content=LOG).status_code == 201


def test_who_has_nothing_running_comes_first(app: Starlette, client: TestClient) -> None:
    slow = [start(app, client, *RUN, pace=0.0) for _ in range(2)]
    mine = start(app, client, *RUN, pace=0.0)
    other = person(app)
    theirs = start(app, other, *RUN)
    client.post(f"/api/work/{slow[0]}/cancel")
    assert ended(other, theirs)["state"] == "done"
    for id in (mine, slow[1]):
        client.post(f"/api/work/{id}/cancel")


def test_a_killed_worker_is_told(app: Starlette, client: TestClient) -> None:
    id = start(app, client, *RUN, pace=0.0)
    until(client, id, lambda work: work["share"] is not None)
    os.kill(process_of(app, id), signal.SIGKILL)
    work = ended(client, id)
    assert (work["state"], work["error"]) == ("failed", "the worker was killed by SIGKILL")
    again = client.post(f"/api/work/{id}/again").json()
    assert ended(client, again["id"])["state"] == "done"


STUDY = """name = "s"
repetitions = 4
[workload]
model = "lublin(processors=8)"
jobs = 30
[run]
cluster = "pool:8"
policy = ["easy", "fcfs"]
"""


def test_a_study_goes_on_where_it_was(app: Starlette, client: TestClient, tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(STUDY)
    id = start(app, client, "experiment", "run", "s.toml")
    until(client, id, lambda work: work["share"] is not None and work["share"] > 0)
    assert client.post(f"/api/work/{id}/cancel").json()["state"] in ("cancelled", "done")
    work = client.post(f"/api/work/{id}/again").json()
    work = ended(client, work["id"])
    assert (work["state"], work["text"]) == ("done", "8 of 8 runs")
    found = [entry for entry in client.get("/api/files").json()["files"] if entry["own"]]
    assert [(entry["name"], entry["kind"]) for entry in found] == [(work["out"], "study")]


def test_a_study_whose_master_is_killed_leaves_no_workers(app: Starlette, client: TestClient, tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(STUDY.replace("jobs = 30", "jobs = 200000"))
    id = start(app, client, "experiment", "run", "s.toml", "--workers", "2")
    until(client, id, lambda work: work["share"] is not None)
    group = process_of(app, id)
    os.kill(group, signal.SIGKILL)
    assert ended(client, id)["state"] == "failed"
    assert not alive(group)


def test_a_restart_knows_what_was(tmp_path: Path) -> None:
    with serving(tmp_path) as app:
        client = person(app)
        done = start(app, client, *RUN)
        ended(client, done)
        running = start(app, client, *RUN, pace=0.0)
        until(client, running, lambda work: work["share"] is not None)
        pid = process_of(app, running)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    with serving(tmp_path) as app:
        later = person(app, cookies=dict(client.cookies))
        states = {work["id"]: (work["state"], work["error"]) for work in later.get("/api/work").json()["work"]}
        assert states == {done: ("done", ""), running: ("interrupted", "the server ended before it did")}
        work = later.post(f"/api/work/{running}/again").json()
        assert ended(later, work["id"])["state"] == "done"


def test_a_server_that_was_killed(tmp_path: Path) -> None:
    """What it had begun is known when another one starts."""
    with serving(tmp_path) as app:
        client = person(app)
        id = start(app, client, *RUN, pace=0.0)
        until(client, id, lambda work: work["share"] is not None)
        file = tmp_path / "spaces" / space(app, client).id / ".work" / id / "task.json"
        as_it_was = file.read_text()
        client.post(f"/api/work/{id}/cancel")
    file.write_text(as_it_was)
    with serving(tmp_path) as app:
        work = person(app, cookies=dict(client.cookies)).get(f"/api/work/{id}").json()
        assert (work["state"], work["error"]) == ("interrupted", "the server ended before it did")


def test_own_policies_of_files_that_were_named(tmp_path: Path) -> None:
    for name in ("good.py", "bad.py"):
        decide = "    def decide(self, view, events):\n        for job in view.queue:\n            view.start(job)\n"
        (tmp_path / name).write_text(f"class Mine:\n{decide}")
    with serving(tmp_path, Settings(python=(tmp_path / "good.py",))) as app:
        client = person(app)
        id = start(app, client, *RUN, "--policy", "good.py:Mine", pace=3600.0)
        assert any(name == "frame" for name, _ in events(client, id, "?frames"))
        assert ended(client, id)["state"] == "done"
        work = ended(client, start(app, client, *RUN, "--policy", "bad.py:Mine"))
        assert (work["state"], work["error"]) == (
            "failed",
            "bad.py: is code, and was not named when the server was started",
        )


@pytest.mark.slow
def test_the_real_slurm_is_watched_if_it_was_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With its arguments: `set=` alone could have slurmctld start any program."""
    slurm_programs()
    for name in ("slurm.conf", "gres.conf", "topology.conf", "jobs.events"):
        shutil.copy(ROOT / "examples" / "micro_cluster" / name, tmp_path)
    monkeypatch.chdir(tmp_path)
    _, programs = allowed(["slurm-real('slurm.conf')"], tmp_path)
    with serving(tmp_path, Settings(programs=programs)) as app:
        client = person(app)
        setup = {"log": "jobs.events", "cluster": "slurm.conf", "policies": ["slurm-real('slurm.conf')"], "until": "1h"}
        work = client.post("/api/work", json={"setup": setup}).json()
        frames = [told for name, told in events(client, work["id"], "?frames") if name == "frame"]
        assert ended(client, work["id"])["state"] == "done"
        assert frames and {frame["policy"] for frame in frames} == {"slurm-real(conf='slurm.conf')"}
        setup["policies"] = ["slurm-real('slurm.conf', set='PrologSlurmctld=/bin/true')"]
        refused = client.post("/api/work", json={"setup": setup})
        assert (refused.status_code, "starts programs" in refused.json()["error"]) == (400, True)
