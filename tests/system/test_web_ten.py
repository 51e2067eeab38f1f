"""Ten browsers, each with a study, at the same time: none sees another's, all end, and the server is as before."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from tests.browser import new_person, people, until
from tests.system.test_web_process import children, gone
from tests.web_process import Process, serving_process
from tests.web_server import LOG

PEOPLE = 10
MIB = 1 << 20


def study(number: int) -> dict[str, Any]:
    """Another one for each."""
    setup = {"log": "small.swf", "cluster": f"pool:{8 + number}", "policies": ["easy", "fcfs"]}
    return {"setup": {"setup": setup, "name": f"study{number}", "repetitions": 2}}


ASK = """
const [path, body, answered] = arguments;
const options = body ? { method: "POST", headers: { "content-type": "application/json" }, body } : {};
fetch(path, options).then(async answer => answered([answer.status, await answer.text()]));
"""


class Person:
    """A context of a real browser, with cookies of its own."""

    def __init__(self, driver: Any, server: Process) -> None:
        self._driver, self._address = driver, f"{server.place}/"
        self._window = new_person(driver)
        self.sees(f"?token={server.address.rpartition('=')[2]}")

    def ask(self, path: str, body: Any = None) -> tuple[int, Any]:
        """From one of its pages."""
        self._driver.switch_to.window(self._window)
        status, text = self._driver.execute_async_script(ASK, path, None if body is None else json.dumps(body))
        return status, json.loads(text)

    def sees(self, page: str) -> str:
        self._driver.switch_to.window(self._window)
        self._driver.get(self._address + page)
        text: str = self._driver.find_element("tag name", "body").text
        return text

    def settled(self, id: str) -> dict[str, Any]:
        while (work := self.ask(f"/api/work/{id}")[1])["state"] in ("queued", "running"):
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
    with serving_process(tmp_path) as server, people() as driver:
        persons = [Person(driver, server) for _ in range(PEOPLE)]
        assert persons[0].ask("/api/machine", {"cluster": "4x2"})[0] == 200
        [nursery] = children(server.process.pid)
        after = []
        for round_ in range(2):
            started = [person.ask("/api/work", study(at)) for at, person in enumerate(persons)]
            assert [status for status, _ in started] == [201] * PEOPLE
            ids = [work["id"] for _, work in started]
            ends = [person.settled(id) for person, id in zip(persons, ids, strict=True)]
            assert [(work["state"], work["text"]) for work in ends] == [("done", "4 of 4 runs")] * PEOPLE, ends
            for at, person in enumerate(persons):
                check_alone(person, at, ids, round_ + 1)
            assert gone([pid for pid in children(server.process.pid) if pid != nursery])
            after.append((memory(server), *taken(server)))
        assert after[1][0] - after[0][0] < 10 * MIB, after  # a second time costs nothing that stays
        assert after[1][1:] == after[0][1:], after


def check_alone(person: Person, at: int, ids: list[str], rounds: int) -> None:
    """It sees its own work and files, and nothing of what the others have."""
    works = person.ask("/api/work")[1]["work"]
    assert {work["title"] for work in works} == {f"study{at}"}
    assert len(works) == rounds
    entries = person.ask("/api/files")[1]["files"]
    assert [entry["name"] for entry in entries if not entry["own"]] == ["small.swf"]
    assert {Path(entry["name"]).name.partition("-")[0].partition(".")[0] for entry in entries if entry["own"]} == {
        f"study{at}"
    }
    for other in set(ids) - {works[0]["id"]}:
        assert person.ask(f"/api/work/{other}")[0] == 404
    page = until(lambda: text if f"study{at}" in (text := person.sees("work")) else "", "its work")
    assert not [name for other in range(PEOPLE) if other != at and (name := f"study{other}") in page]
