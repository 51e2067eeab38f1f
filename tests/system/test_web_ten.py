"""Ten people, each with a study, at the same time: nobody sees another's, all end, and the server is as before."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.browser import browser, new_person, until
from tests.system.test_web_process import children, gone
from tests.web_process import Process, serving_process
from tests.web_server import LOG

PEOPLE = 10
MIB = 1 << 20


def study(number: int) -> dict[str, Any]:
    """Another one for each."""
    setup = {"log": "small.swf", "cluster": f"pool:{8 + number}", "policies": ["easy", "fcfs"]}
    return {"setup": {"setup": setup, "name": f"study{number}", "repetitions": 2}}


def settled(client: httpx2.Client, id: str) -> dict[str, Any]:
    while (work := client.get(f"/api/work/{id}").json())["state"] in ("queued", "running"):
        time.sleep(0.1)
    found: dict[str, Any] = work
    return found


def memory(server: Process) -> int:
    """Bytes that are the server's own."""
    for line in Path(f"/proc/{server.process.pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Private_Dirty:"):
            return int(line.split()[1]) << 10
    raise AssertionError


def taken(server: Process) -> tuple[int, int]:
    """Threads of work, and open files and pipes."""
    tasks = Path(f"/proc/{server.process.pid}/task").iterdir()
    names = [(task / "comm").read_text() for task in tasks]
    pipes = 0
    for entry in Path(f"/proc/{server.process.pid}/fd").iterdir():
        pipes += str(entry.readlink()).startswith("pipe:")
    return sum(name.startswith("work") for name in names), pipes


@pytest.mark.slow
def test_ten_at_once(tmp_path: Path) -> None:
    (tmp_path / "small.swf").write_text(LOG)
    with serving_process(tmp_path) as server:
        after = []
        people = [httpx2.Client(base_url=f"http://127.0.0.1:{server.port}", timeout=120) for _ in range(PEOPLE)]
        for round_ in range(2):
            ids = [person.post("/api/work", json=study(at)).json()["id"] for at, person in enumerate(people)]
            ends = [settled(person, id) for person, id in zip(people, ids, strict=True)]
            assert [(work["state"], work["text"]) for work in ends] == [("done", "4 of 4 runs")] * PEOPLE, ends
            for at, person in enumerate(people):
                check_alone(person, at, ids, round_ + 1)
            assert gone(children(server.process.pid))
            after.append((memory(server), *taken(server)))
        assert after[1][0] - after[0][0] < 10 * MIB, after  # a second time costs nothing that stays
        assert after[1][1:] == after[0][1:], after
        for person in people:
            person.close()


def check_alone(person: httpx2.Client, at: int, ids: list[str], rounds: int) -> None:
    """It sees its own work and files, and nothing of what the others have."""
    works = person.get("/api/work").json()["work"]
    assert {work["title"] for work in works} == {f"study{at}"}
    assert len(works) == rounds
    entries = person.get("/api/files").json()["files"]
    assert [entry["name"] for entry in entries if not entry["own"]] == ["small.swf"]
    assert {Path(entry["name"]).name.partition("-")[0].partition(".")[0] for entry in entries if entry["own"]} == {
        f"study{at}"
    }
    for other in set(ids) - {works[0]["id"]}:
        assert person.get(f"/api/work/{other}").status_code == 404


ASK = """
const [path, body, answered] = arguments;
const options = body ? { method: "POST", headers: { "content-type": "application/json" }, body } : {};
fetch(path, options).then(async answer => answered([answer.status, await answer.text()]));
"""


@pytest.mark.slow
def test_ten_browsers(tmp_path: Path) -> None:
    """Contexts of a real one, each with cookies of its own."""
    (tmp_path / "small.swf").write_text(LOG)
    with serving_process(tmp_path) as server, browser(contexts=True) as driver:

        def ask(window: str, path: str, body: Any = None) -> Any:
            driver.switch_to.window(window)
            status, text = driver.execute_async_script(ASK, path, None if body is None else json.dumps(body))
            return status, json.loads(text)

        windows = [new_person(driver) for _ in range(PEOPLE)]
        for window in windows:
            driver.switch_to.window(window)
            driver.get(server.address)
        started = [ask(window, "/api/work", study(at)) for at, window in enumerate(windows)]
        assert [status for status, _ in started] == [201] * PEOPLE
        ids = [work["id"] for _, work in started]
        for at, window in enumerate(windows):
            until(lambda w=window, i=ids[at]: ask(w, f"/api/work/{i}")[1]["state"] == "done", "the study")  # type: ignore[misc]
            seen = ask(window, "/api/work")[1]["work"]
            assert [work["title"] for work in seen] == [f"study{at}"]
            assert ask(window, f"/api/work/{ids[at - 1]}")[0] == 404
            driver.get(f"{server.address}work")
            until(lambda n=at: f"study{n}" in driver.find_element("tag name", "body").text, "its work")  # type: ignore[misc]
            others = [f"study{other}" for other in range(PEOPLE) if other != at]
            assert not [name for name in others if name in driver.find_element("tag name", "body").text]
        assert gone(children(server.process.pid))
