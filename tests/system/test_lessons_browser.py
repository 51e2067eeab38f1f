"""Lessons and small scenarios in a real browser: gone through as a person would, and compared with the engine."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.browser import browser, complaints, until

import schedlab as sl
from schedlab.web.play.lesson import find, played
from schedlab.web.serve import Server, listen
from schedlab.web.settings import Settings


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    settings = Settings()
    sock, url = listen(settings, 0)
    server = Server(tmp_path_factory.mktemp("served"), settings)
    thread = threading.Thread(target=server.run, args=([sock],))
    thread.start()
    yield url.rstrip("/")
    server.should_exit = True
    thread.join()


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with browser() as driver:
        yield driver


def texts(driver: Any, selector: str) -> list[str]:
    script = "return [...document.querySelectorAll(arguments[0])].map(each => each.textContent)"
    return list(driver.execute_script(script, selector))


def press(driver: Any, selector: str) -> None:
    driver.execute_script("document.querySelector(arguments[0]).click()", selector)


def key(driver: Any, name: str) -> None:
    driver.execute_script("document.dispatchEvent(new KeyboardEvent('keydown', { key: arguments[0] }))", name)


def player(driver: Any) -> dict[str, str]:
    return dict(driver.execute_script("return { ...document.querySelector('.player').dataset }"))


def told(driver: Any) -> list[str]:
    """Sentences, without the signs before them."""
    script = "return [...document.querySelectorAll('.told li')].map(each => each.lastChild.textContent)"
    return list(driver.execute_script(script))


def test_a_lesson_is_gone_through_step_by_step(chromium: Any, address: str) -> None:
    chromium.get(f"{address}/learn")
    until(lambda: texts(chromium, ".card-link h3"), "the gallery")
    assert texts(chromium, ".card-link h3")[0] == "Backfilling in five steps"
    press(chromium, ".card-link")
    until(lambda: texts(chromium, ".part-tabs button"), "the lesson")
    press(chromium, ".part-tabs button:nth-child(2)")
    lesson = find("backfilling")
    (easy,), notes = played(lesson)[1], {note.at: note for note in lesson.parts[1].notes}
    for number, step in enumerate(easy.steps):
        assert player(chromium)["time"] == f"{step.time:g}"
        if (note := notes.get(step.time)) and note.ask:
            assert player(chromium)["open"] == "true"
            assert texts(chromium, ".question p") == [note.ask]
            assert told(chromium) == [each.words for each in step.news]  # and no decision
            (press(chromium, ".question .reveal") if number % 2 else key(chromium, "ArrowRight"))
        assert texts(chromium, ".note p") == ([note.text] if note else [])
        assert told(chromium) == [each.words for each in (*step.news, *step.starts, *step.waits)]
        reserved = "return [...document.querySelectorAll('.bar.reserved')].map(each => each.dataset.job)"
        drawn = chromium.execute_script(reserved)
        assert drawn == [str(each.job) for each in step.plan for _ in each.rows]
        if number + 1 < len(easy.steps):
            (press(chromium, ".controls .next") if number % 2 else key(chromium, "ArrowRight"))
    assert texts(chromium, ".start-of") == ["0", "60", "10", "100", "20"]
    assert texts(chromium, ".metric td")[:2] == ["29 s", "85 s"]
    key(chromium, "Home")
    assert player(chromium)["time"] == "0" and texts(chromium, ".start-of") == ["0", "–", "–", "–", "–"]
    assert complaints(chromium) == []


def test_every_part_of_every_lesson_plays_to_its_end(chromium: Any, address: str) -> None:
    for lesson in (find(name) for name in ("estimates", "conservative", "order", "coscheduling", "workflow", "slurm")):
        chromium.get(f"{address}/learn/lesson/{lesson.id}")
        for number, plays in enumerate(played(lesson), 1):
            if len(lesson.parts) > 1:
                until(lambda: texts(chromium, ".part-tabs button"), "the lesson")
                press(chromium, f".part-tabs button:nth-child({number})")
            until(lambda: texts(chromium, ".player h3"), "the player")
            assert texts(chromium, ".player h3") == [each.policy for each in plays]
            key(chromium, "End")
            press(chromium, ".controls .next")  # if there is a question at the end
            summaries = [text for name in plays[0].metrics for text in (each.metrics[name] for each in plays)]
            assert texts(chromium, ".metric td") == summaries
            starts = {(str(job.id), at): job.start for at, each in enumerate(plays) for job in each.jobs}
            cells = chromium.execute_script(
                "return [...document.querySelectorAll('tbody tr:not(.metric)')].map(row => "
                "[...row.querySelectorAll('.start-of')].map(cell => [cell.dataset.job, cell.textContent]))"
            )
            shown = {(job, at): text for row in cells for at, (job, text) in enumerate(row) if job}
            assert shown == {who: f"{round(start, 2):g}" for who, start in starts.items()}
    assert complaints(chromium) == []


def test_guessing_first(chromium: Any, address: str) -> None:
    chromium.get(f"{address}/learn/lesson/backfilling#1")
    until(lambda: texts(chromium, ".player h3"), "the player")
    press(chromium, ".quiz input")
    assert player(chromium)["open"] == "true"
    press(chromium, ".queue li:nth-child(1) .choose")
    press(chromium, ".question .reveal")
    assert texts(chromium, ".question p") == ["none: right."]
    press(chromium, ".controls .next")
    press(chromium, ".queue li:nth-child(2) .choose")  # job 3, which has to wait
    press(chromium, ".question .reveal")
    assert texts(chromium, ".question p") == ["none: not quite: nobody starts here."]


def fill(driver: Any, label: str, value: str) -> None:
    script = "document.querySelector(`input[aria-label='${arguments[0]}']`).value = arguments[1]"
    driver.execute_script(script, label, value)


def test_a_scenario_of_ones_own(chromium: Any, address: str, tmp_path: Path) -> None:
    chromium.get(f"{address}/learn/own#machine=8&policy=easy&job=0,5,60,60&job=0,8,40,40&job=10,2,40,50,ann")
    until(lambda: texts(chromium, ".player h3"), "the player")
    key(chromium, "End")
    assert texts(chromium, ".start-of") == ["0", "60", "10"]

    fill(chromium, "job 2, cores", "nine")
    press(chromium, ".acts .go")
    until(lambda: texts(chromium, ".mistakes")[0], "the message")
    assert texts(chromium, ".mistakes")[0].startswith("job 2, cores: 'nine' is no number of cores")
    wrong = "return [...document.querySelectorAll('[aria-invalid]')].map(each => each.getAttribute('aria-label'))"
    assert chromium.execute_script(wrong) == ["job 2, cores"]
    assert texts(chromium, ".player h3") == []

    fill(chromium, "job 2, cores", "7")
    fill(chromium, "policy 2", "conservative")
    press(chromium, ".acts .go")
    until(lambda: len(texts(chromium, ".player h3")) == 2, "two players")
    assert texts(chromium, ".mistakes") == [""]

    # The link has it all; another window plays the same.
    link = chromium.current_url
    chromium.get("about:blank")
    chromium.get(link)
    until(lambda: len(texts(chromium, ".player h3")) == 2, "two players")
    assert texts(chromium, ".player h3") == ["easy", "conservative"]
    key(chromium, "End")
    shown = [float(text) for text in texts(chromium, ".start-of")]

    # Saved as a log, the command line plays the same.
    script = (
        "const [typed, done] = arguments, headers = { 'Content-Type': 'application/json' };"
        "fetch('/learn/own/swf', { method: 'POST', headers, body: JSON.stringify(typed) })"
        ".then(answer => answer.text()).then(done)"
    )
    typed = {"machine": "8", "policies": ["easy"], "jobs": [[0, 5, 60, 60], [0, 7, 40, 40], [10, 2, 40, 50, "ann"]]}
    log = tmp_path / "jobs.swf"
    log.write_text(chromium.execute_async_script(script, typed))
    for at, policy in enumerate(("easy", "conservative")):
        run = sl.simulate(log, "pool:8", policy)
        assert run.jobs.sort("job")["start"].to_list() == shown[at::2]
    press(chromium, ".acts .save")
    until(lambda: texts(chromium, ".said-so") == ["saved as jobs.swf"], "the file")
    assert [each for each in complaints(chromium) if "400" not in each] == []  # the mistake above is a status of 400


def test_a_phone_needs_no_sideways_scrolling(address: str) -> None:
    with browser(390, 844) as driver:
        for path in ("/learn", "/learn/lesson/workflow", "/learn/lesson/backfilling", "/learn/own"):
            driver.get(f"{address}{path}")
            until(lambda: texts(driver, "main.learn h1"), "the page")
            if path != "/learn":
                until(lambda: texts(driver, ".player h3"), "the player")
            assert driver.execute_script("return document.documentElement.scrollWidth <= innerWidth"), path
