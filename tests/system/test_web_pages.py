"""What pages ask of the server, without a browser: things, policies, logs, machines, comparisons, exports, studies."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient
from tests.commands import schedlab
from tests.web_server import ended, person, serving

from schedlab.web.settings import Settings

NASTY = "<script>alert(1)</script>"


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Starlette]:
    with serving(tmp_path, Settings(at_once=2)) as served:
        monkeypatch.chdir(tmp_path)  # as the server does
        yield served


@pytest.fixture
def client(app: Starlette) -> TestClient:
    return person(app)


def jobs_of(name: str) -> Any:
    from schedlab.engine.store import read_run

    return read_run(Path(name)).jobs


def started(client: TestClient, **setup: Any) -> dict[str, Any]:
    return ended(client, client.post("/api/work", json={"setup": setup}).json()["id"])


def test_a_policy_in_parts_and_in_one_line(client: TestClient) -> None:
    found = client.post("/api/policy", json={"text": "easy:place=best-fit,order=sjf"}).json()
    assert found["text"] == "easy:order=sjf,place=best-fit"
    assert (found["backfill"], found["keys"]["order"], found["keys"]["place"]) == ("easy", "sjf", "best-fit")
    keys = found["keys"] | {"order": "fcfs"}
    assert client.post("/api/policy", json={"backfill": "none", "keys": keys}).json()["text"] == "none:place=best-fit"
    refused = client.post("/api/policy", json={"text": "esy"})
    assert refused.status_code == 400
    assert refused.json()["error"] == "policy 'esy': there is no policy 'esy'"
    assert refused.json()["hint"].startswith("did you mean 'easy'?")


def test_a_log_is_looked_into(client: TestClient, tmp_path: Path) -> None:
    found = client.post("/api/inspect", json={"setup": {"log": "small.swf"}}).json()
    told = json.loads(schedlab("inspect", "small.swf", "--json", folder=tmp_path).stdout)
    assert (found["jobs"], found["load"]) == (told["jobs"], told["offered_load"])
    assert sum(found["figures"]["arrivals"]["counts"]) == sum(found["figures"]["sizes"]["counts"]) == told["jobs"]
    (tmp_path / "junk.swf").write_bytes(bytes(range(256)) * 50)
    junk = client.post("/api/inspect", json={"setup": {"log": "junk.swf"}})
    assert junk.status_code == 400 and junk.json()["error"]
    outside = client.post("/api/inspect", json={"setup": {"log": "../../etc/passwd"}})
    assert outside.status_code == 400 and "not a path inside" in outside.json()["error"]


def test_a_machine_that_was_changed_is_looked_at_again(client: TestClient, tmp_path: Path) -> None:
    loads = []
    for nodes in (2, 40):
        (tmp_path / "slurm.conf").write_text(f"NodeName=n[1-{nodes}] CPUs=4\nPartitionName=p Nodes=ALL\n")
        asked = {"setup": {"log": "small.swf", "cluster": "slurm.conf"}}
        loads.append(client.post("/api/inspect", json=asked).json()["load"])
    assert loads[0] == pytest.approx(20 * loads[1])


def test_what_a_model_makes_is_what_the_command_makes(client: TestClient, tmp_path: Path) -> None:
    setup = {"model": "lublin(processors=64)", "jobs": 80, "seed": 3, "cluster": "16x4"}
    found = client.post("/api/inspect", json={"setup": setup}).json()
    arguments = ("lublin(processors=64)", "--jobs", "80", "--seed", "3", "-o", "made.swf")
    schedlab("generate", *arguments, folder=tmp_path)
    told = json.loads(schedlab("inspect", "made.swf", "--cluster", "16x4", "--json", folder=tmp_path).stdout)
    assert found["jobs"] == told["jobs"] == 80
    assert found["load"] == pytest.approx(told["offered_load"], rel=1e-3)  # SWF has whole seconds


def test_a_machine_in_racks(client: TestClient, tmp_path: Path) -> None:
    found = client.post("/api/machine", json={"cluster": "70x4"}).json()
    assert (found["nodes"], found["cores"], found["groups"][0]["count"]) == (70, 280, 70)
    (tmp_path / "slurm.conf").write_text("NodeName=n[1-3] CPUs=8\nNodeName=g1 CPUs=4\nPartitionName=p Nodes=ALL\n")
    groups = client.post("/api/machine", json={"cluster": "slurm.conf"}).json()["groups"]
    assert [(group["count"], group["cores"]) for group in groups] == [(3, 8), (1, 4)]
    wrong = client.post("/api/machine", json={"cluster": "8y4"})
    assert wrong.status_code == 400


def test_runs_are_compared_and_taken_along(client: TestClient, tmp_path: Path) -> None:
    work = started(client, log="small.swf", cluster="pool:8", policies=["easy", "fcfs"], reasons=True)
    assert work["state"] == "done", work
    things = client.get("/api/things").json()
    names = [run["name"] for run in things["runs"]]
    assert [run["policy"] for run in things["runs"]] == ["easy", "fcfs"] and all(run["own"] for run in things["runs"])
    query = "&".join(f"run={name}" for name in names)
    compared = client.get(f"/api/compare?{query}").json()
    told = json.loads(schedlab("compare", *names, "--json", folder=tmp_path).stdout)
    assert compared["labels"] == [run["policy"] for run in told["runs"]]
    lost = compared["extremes"][1]["lost"]
    waits = [dict(zip(found["job"], found["start"] - found["submit"], strict=True)) for found in map(jobs_of, names)]
    by_hand = max(waits[1][job] - waits[0][job] for job in waits[0])
    assert lost[0]["difference"] == by_hand == waits[1][lost[0]["job"]] - waits[0][lost[0]["job"]] > 0
    classes = client.get(f"/api/classes?{query}&by=user").json()
    assert classes["labels"] == ["easy", "fcfs"] and classes["classes"]
    png = client.get(f"/api/figure?{query}&kind=gantt&format=png")
    assert png.content.startswith(b"\x89PNG") and "attachment" in png.headers["content-disposition"]
    assert b"<!doctype html>" in client.get(f"/api/explorer?{query}").content[:100].lower()
    assert client.get(f"/api/figure?{query}&kind=../x").status_code == 400
    other = person(client.app)  # type: ignore[arg-type]
    assert other.get("/api/things").json()["runs"] == []
    assert other.get(f"/api/compare?{query}").status_code == 404


def test_a_study_is_told_resumed_and_reported(client: TestClient) -> None:
    study = {"setup": {"log": "small.swf", "cluster": "pool:8", "policies": ["easy", "fcfs"]}, "name": NASTY}
    work = ended(client, client.post("/api/work", json={"setup": study | {"baseline": "fcfs"}}).json()["id"])
    assert work["state"] == "done" and NASTY not in work["out"]
    told = client.get("/api/study", params={"study": work["out"]}).json()
    assert (told["name"], told["planned"], told["done"]) == (NASTY, 2, 2)
    assert [group["name"] for group in told["groups"]] == ["easy", "fcfs"] and told["verdicts"]
    report = client.get("/api/study/report", params={"study": work["out"]})
    assert report.status_code == 200 and NASTY not in report.text
    again = ended(client, client.post("/api/study/again", params={"study": work["out"]}, json={}).json()["id"])
    assert again["state"] == "done"
    pages = client.get("/studies", params={"study": work["out"]}).text
    assert NASTY not in pages


def test_the_example_is_the_demo(client: TestClient) -> None:
    work = ended(client, client.post("/api/example", json={}).json()["id"])
    assert work["state"] == "done", work
    policies = [run["policy"] for run in client.get("/api/things").json()["runs"]]
    assert sorted(policies) == sorted(["fcfs", "easy", "conservative", "easy:order=sjf,place=best-fit"])
    makefile = (Path(__file__).parents[2] / "Makefile").read_text()
    assert all(f"--policy {policy}" in makefile for policy in policies)
