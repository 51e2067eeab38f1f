"""The explorer in a real browser, from disk: what a person does with it, and what is seen."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.browser import browser, complaints, until
from tests.format_1 import write as write_format_1
from tests.unit.test_web_explore import HOSTILE, small
from tests.unit.test_web_pack import busy

import schedlab as sl
from schedlab.analysis.compare import compare
from schedlab.analysis.side_by_side import text_columns
from schedlab.engine.store import read_run
from schedlab.model.run import Run
from schedlab.web.explore import write_explorer


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with browser() as driver:
        yield driver


def opened(driver: Any, path: Path, *runs: Run) -> None:
    write_explorer(runs, path)
    driver.get(path.as_uri())
    until(lambda: driver.execute_script("return !!window.explorer"), "the page")


def texts(driver: Any, selector: str) -> list[str]:
    script = "return [...document.querySelectorAll(arguments[0])].map(each => each.textContent)"
    return list(driver.execute_script(script, selector))


def same_job_two_ways() -> tuple[Run, Run]:
    jobs = busy(60).jobs
    workload = sl.Workload.of(submit=jobs["submit"], runtime=jobs["runtime"], count=jobs["cores"], user=jobs["user"])
    cluster = sl.Cluster.uniform(8, cores=4)
    return sl.simulate(workload, cluster, "easy", reasons=True), sl.simulate(workload, cluster, "fcfs")


def test_numbers_are_those_of_compare(chromium: Any, tmp_path: Path) -> None:
    runs = same_job_two_ways()
    opened(chromium, tmp_path / "two.html", *runs)
    expected = [column for column in text_columns(compare(runs)) if column.key]
    for at in range(2):
        shown = texts(chromium, f"tr[data-run='{at}'] td[data-key]:not([data-key=''])")
        assert shown == [column.texts[at] for column in expected]
        best = texts(chromium, f"tr[data-run='{at}'] td.best")
        assert best == [column.texts[at] for column in expected if at in column.best]
    assert complaints(chromium) == []


def test_one_run_has_its_numbers_as_cards(chromium: Any, tmp_path: Path) -> None:
    run = busy(60)
    opened(chromium, tmp_path / "one.html", run)
    by_key = {column.key: f"{column.texts[0]} {column.unit}".rstrip() for column in text_columns(compare([run]))}
    for key in ("wait.mean", "utilisation", "makespan", "bounded_slowdown.mean"):
        assert texts(chromium, f".card[data-key='{key}'] b") == [by_key[key]]


def told(run: Run, name: str) -> dict[str, Any]:
    """A story as the page has it: jobs by their rows."""
    story = run.why(name)
    rows = {each: at for at, each in enumerate(names_of(run))}
    return {
        "submit": story.submit,
        "eligible": story.eligible,
        "start": story.start,
        "end": story.end,
        "waited": [[each.begin, each.end, each.why, each.who, each.words] for each in story.stretches],
        "passed_by": [[rows[each.job], each.start, each.cores, each.right] for each in story.passers],
        "held_the_cores": [[rows[each.job], each.cores, each.begin, each.end] for each in story.holders],
        "shares": [each.share for each in story.holders],
        "could_start": story.could_start,
    }


def names_of(run: Run) -> list[str]:
    jobs = run.jobs
    return [str(name) for name in jobs["name" if "name" in jobs.columns else "job"]]


TELL = """
const done = arguments[0], all = [];
(async () => {
  for (let row = 0; row < explorer.runs[0].jobs.number; row++) {
    const story = await explorer.story(0, row);
    all.push({
      submit: story.submit, eligible: story.eligible, start: story.start, end: story.end,
      could_start: story.could_start,
      waited: story.waited.map(each => [each.begin, each.end, each.why, each.who, each.words]),
      passed_by: story.passed_by.map(each => [each.row, each.start, each.cores, each.right]),
      held_the_cores: story.held_the_cores.map(each => [each.row, each.cores, each.begin, each.end]),
      shares: story.held_the_cores.map(each => each.share),
    });
  }
})().then(() => done(all), error => done(String(error)));
"""


@pytest.mark.parametrize("kind", ["reasons", "no reasons", "names", "pieces"])
def test_stories_are_those_of_why(chromium: Any, tmp_path: Path, kind: str) -> None:
    """Of every job: what it waited for, who passed it and by what right, who had the cores, when it could start."""
    runs = {"reasons": lambda: busy(60), "no reasons": lambda: same_job_two_ways()[1], "names": small}
    run = runs[kind]() if kind in runs else read_run(write_format_1(tmp_path / "old"))
    opened(chromium, tmp_path / "run.html", run)
    found = chromium.execute_async_script(TELL)
    assert len(found) == len(run.jobs)
    for story, name in zip(found, names_of(run), strict=True):
        expected = told(run, name)
        np.testing.assert_allclose(story.pop("shares"), expected.pop("shares"), rtol=1e-12)
        assert story == expected, name


def test_a_click_tells_why_a_job_waited(chromium: Any, tmp_path: Path) -> None:
    run = busy(60)
    opened(chromium, tmp_path / "run.html", run)
    row = int(np.argmax((run.jobs["start"] - run.jobs["eligible"]).to_numpy()))
    name = names_of(run)[row]
    # In the middle of the job's time, in the middle of the first of its rectangles.
    place = """
    const [row] = arguments, {axis, runs: [{gantt, schedule, canvas, jobs}]} = explorer, block = schedule.blocks[0];
    const at = block.row.indexOf(row), box = canvas.getBoundingClientRect();
    const x = gantt.x((block.begin[at] + block.end[at]) / 2), y = gantt.y(block.low[at] + block.size[at] / 2);
    return [box.left + x, box.top + y];
    """
    until(lambda: chromium.execute_script("return !!explorer.runs[0].schedule.blocks[0]"), "rectangles")
    chromium.execute_script("document.querySelector('canvas.gantt').scrollIntoView({block: 'center'})")
    x, y = chromium.execute_script(place, row)
    for kind in ("mousePressed", "mouseReleased"):
        event = {"type": kind, "x": x, "y": y, "button": "left", "clickCount": 1}
        chromium.execute_cdp_cmd("Input.dispatchMouseEvent", event)
    until(lambda: texts(chromium, ".story h3") == [f"Job {name}"], "the story")
    said = texts(chromium, ".story")[0]
    story = run.why(name)
    assert f"{len(story.passers):,} job" in said
    assert f"{100 * story.holders[0].share:.1f} %" in said
    chromium.execute_script("document.body.dispatchEvent(new KeyboardEvent('keydown', {key: 'Escape', bubbles: true}))")
    until(lambda: texts(chromium, ".story h3") == [], "its end")


def test_jobs_are_filtered_and_sorted(chromium: Any, tmp_path: Path) -> None:
    run = busy(300)
    opened(chromium, tmp_path / "run.html", run)
    type_in = """
    const field = document.querySelector('.jobs input'); field.value = arguments[0];
    field.dispatchEvent(new Event('input'));
    """
    chromium.execute_script(type_in, "cores>=8 wait>1min")
    wait = (run.jobs["start"] - run.jobs["eligible"]).to_numpy()
    wanted = (run.jobs["cores"].to_numpy() >= 8) & (wait > 60)
    until(lambda: texts(chromium, ".count") == [f"{wanted.sum():,} of 300 jobs"], "the filter")
    chromium.execute_script(
        "[...document.querySelectorAll('.row.head button')].find(b => b.textContent === 'wait').click()"
    )
    longest = names_of(run)[int(np.flatnonzero(wanted)[np.argmax(wait[wanted])])]
    until(lambda: texts(chromium, ".rows .row:first-child span:first-child") == [longest], "the longest wait")
    chromium.execute_script(type_in, "colour=red")
    until(lambda: texts(chromium, ".count")[0].startswith("there is no column 'colour'"), "an explanation")


def test_the_map_shows_a_moment(chromium: Any, tmp_path: Path) -> None:
    run = busy(300)
    opened(chromium, tmp_path / "run.html", run)
    moment = 15_000.0
    chromium.execute_script("explorer.setMoment(arguments[0])", moment)
    now = run.timeline.filter(run.timeline["time"] <= moment).tail(1)
    used, running, queued = (int(now[name][0]) for name in ("used_cores", "running", "queued"))
    words = f"{used} of 32 cores in use · {running} running · {queued} waiting"
    until(lambda: texts(chromium, ".map-panel > .hint") == [words], words)
    rows = chromium.execute_script(
        "return explorer.runs[0].map.there.reduce((sum, [, low, high]) => sum + high - low, 0)"
    )
    assert rows == used


def test_wheel_and_keys_move_through_time(chromium: Any, tmp_path: Path) -> None:
    opened(chromium, tmp_path / "run.html", busy(60))
    zoom = lambda: chromium.execute_script("return explorer.axis.zoom")  # noqa: E731
    box = chromium.execute_script(
        "const b = document.querySelector('canvas.gantt').getBoundingClientRect(); return [b.x, b.y]"
    )
    wheel = {"type": "mouseWheel", "x": box[0] + 300, "y": box[1] + 40, "deltaX": 0, "deltaY": -600}
    chromium.execute_cdp_cmd("Input.dispatchMouseEvent", wheel)
    until(lambda: zoom() > 2, "the wheel")
    press = "document.body.dispatchEvent(new KeyboardEvent('keydown', {key: arguments[0], bubbles: true}))"
    before = chromium.execute_script("return explorer.axis.begin")
    chromium.execute_script(press, "ArrowRight")
    assert chromium.execute_script("return explorer.axis.begin") > before
    chromium.execute_script(press, "0")
    assert zoom() == 1


def test_names_are_never_run(chromium: Any, tmp_path: Path) -> None:
    opened(chromium, tmp_path / "hostile.html", small(), small("fcfs"))
    for row in range(4):
        chromium.execute_script("explorer.choose({run: 0, row: arguments[0]})", row)
        until(lambda row=row: texts(chromium, ".story h3") == [f"Job {HOSTILE[row]}"], HOSTILE[row])
    for by in ("user", "state", "wait"):
        chromium.execute_script("explorer.by = arguments[0]; explorer.recolour()", by)
    chromium.execute_script("[...document.querySelectorAll('[role=tab]')].reverse().forEach(each => each.click())")
    until(lambda: set(HOSTILE) == set(texts(chromium, ".rows .row span:first-child")), "the table")
    assert chromium.execute_script("return window.hit") is None
    assert texts(chromium, "#root img, #root script") == []
    assert complaints(chromium) == []


def test_a_narrow_screen_needs_no_scrolling_aside(tmp_path: Path) -> None:
    with browser(400, 800) as driver:
        opened(driver, tmp_path / "two.html", *same_job_two_ways())
        wide = driver.execute_script("return [document.documentElement.scrollWidth, window.innerWidth]")
        assert wide[0] <= wide[1]
        assert complaints(driver) == []
