"""The explorer that a server feeds, in a real browser: the same numbers and stories as on the command line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import urlencode

import numpy as np
import pytest
from tests.browser import browser, complaints, until
from tests.system.test_explore_browser import TELL, names_of, same_job_two_ways, texts, told
from tests.unit.test_web_explore import HOSTILE, small
from tests.unit.test_web_pack import busy

from schedlab.analysis.compare import compare
from schedlab.analysis.side_by_side import text_columns
from schedlab.engine.store import read_run
from schedlab.web.serve import Server, listen
from schedlab.web.settings import Settings


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Its address."""
    sock, address = listen(Settings(), 0)
    server = Server(folder, Settings(), lambda: None)
    thread = Thread(target=server.run, args=([sock],))
    thread.start()
    try:
        yield address
    finally:
        server.should_exit = True
        thread.join()
        sock.close()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    top = tmp_path_factory.mktemp("served")
    for name, run in zip(("easy", "fcfs"), same_job_two_ways(), strict=True):
        run.save(top / "two" / name)
    busy(60).save(top / "one")
    small().save(top / "hostile")
    return top


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    with served(folder) as found:
        yield found


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with browser() as driver:
        yield driver


def opened(driver: Any, address: str, *runs: str, job: str = "") -> None:
    driver.get("about:blank")  # another job of the same page would not load it anew
    driver.get(f"{address}explore?{urlencode([('run', name) for name in runs])}{job and f'#job={job}'}")
    until(lambda: driver.execute_script("return !!window.explorer"), "the page")


def test_numbers_are_those_of_compare(chromium: Any, address: str, folder: Path) -> None:
    opened(chromium, address, "two/easy", "two/fcfs")
    runs = [read_run(folder / "two" / name) for name in ("easy", "fcfs")]
    expected = [column for column in text_columns(compare(runs)) if column.key]
    for at in range(2):
        shown = texts(chromium, f"tr[data-run='{at}'] td[data-key]:not([data-key=''])")
        assert shown == [column.texts[at] for column in expected]
    assert complaints(chromium) == []


def test_stories_are_those_of_why(chromium: Any, address: str, folder: Path) -> None:
    run = read_run(folder / "one")
    opened(chromium, address, "one")
    found = chromium.execute_async_script(TELL)
    assert len(found) == len(run.jobs)
    for story, name in zip(found, names_of(run), strict=True):
        expected = told(run, name)
        np.testing.assert_allclose(story.pop("shares"), expected.pop("shares"), rtol=1e-12)
        assert story == expected, name


def test_from_a_story_to_its_moments_and_back(chromium: Any, address: str, folder: Path) -> None:
    run = read_run(folder / "one")
    row = int(np.argmax((run.jobs["start"] - run.jobs["eligible"]).to_numpy()))
    name, start = names_of(run)[row], float(run.jobs["start"][row])
    opened(chromium, address, "one", job=name)
    until(lambda: texts(chromium, ".story h3") == [f"Job {name}"], "the story that the address names")
    press = "[...document.querySelectorAll('.story dt')].find(e => e.textContent === 'started').nextSibling.firstChild"
    chromium.execute_script(f"{press}.click()")
    assert chromium.execute_script("return explorer.moment") == start
    assert chromium.execute_script("return location.hash") == f"#job={name}&at={start:g}"
    chromium.execute_script("document.querySelector('.story ul:not(.why) .link').click()")  # who passed it
    until(lambda: texts(chromium, ".story h3") != [f"Job {name}"], "another story")
    chromium.back()
    until(lambda: texts(chromium, ".story h3") == [f"Job {name}"], "the first one")
    assert chromium.execute_script("return explorer.moment") == start
    chromium.back()
    until(lambda: chromium.execute_script("return location.hash") == f"#job={name}", "the address without a moment")


def test_words_are_sorted_and_filtered(chromium: Any, address: str, folder: Path) -> None:
    run = read_run(folder / "one")
    opened(chromium, address, "one")
    until(lambda: texts(chromium, ".rows .row"), "the table")
    order = "explorer.runs[0].table.sort(arguments[0]); return [...explorer.runs[0].table.order]"
    users = run.jobs["user"].to_list()
    as_shown = chromium.execute_script("return explorer.runs[0].facts.owners.user.labels")
    names = [as_shown[user] if user < len(as_shown) else f"user {user}" for user in users]
    assert chromium.execute_script(order, "user") == sorted(range(60), key=lambda row: (names[row], row))
    wait = (run.jobs["start"] - run.jobs["eligible"]).to_list()
    assert chromium.execute_script(order, "wait") == sorted(range(60), key=lambda row: (-wait[row], row))
    chromium.execute_script("explorer.runs[0].table.filter(arguments[0])", f"user!={names[0].split()[-1]}")
    filtered = chromium.execute_script("return explorer.runs[0].table.shown.length")
    assert filtered == sum(name != names[0].split()[-1] for name in names)


def test_what_cannot_be_shown_is_said(chromium: Any, address: str) -> None:
    for name in ("nothing", "<img src=x onerror=window.hit=1>", "../etc"):
        chromium.get(f"{address}explore?{urlencode({'run': name})}")
        until(lambda: texts(chromium, "[role=alert]"), "the message")
        assert name in texts(chromium, "[role=alert]")[0]
        assert chromium.execute_script("return window.hit") is None
    chromium.get_log("browser")  # the browser writes down answers that are none


def test_names_are_never_run(chromium: Any, address: str) -> None:
    opened(chromium, address, "hostile")
    for row in range(4):
        chromium.execute_script("explorer.choose({run: 0, row: arguments[0]})", row)
        until(lambda row=row: texts(chromium, ".story h3") == [f"Job {HOSTILE[row]}"], HOSTILE[row])
    until(lambda: set(HOSTILE) == set(texts(chromium, ".rows .row span:first-child")), "the table")
    assert chromium.execute_script("return window.hit") is None
    assert texts(chromium, "#root img, #root script") == []
    assert complaints(chromium) == []
