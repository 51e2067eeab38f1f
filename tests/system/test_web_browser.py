"""The pages in a real browser, as a person goes through them: first steps, set up, run, watch, compare, study."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlparse

import pytest
from tests.browser import browser, complaints, until
from tests.web_process import Process, serving_process

from schedlab.web.serve import _page_to

DEMO = Path(__file__).parents[2] / "examples" / "demo.swf"
POLICIES = ("fcfs", "easy")


def schedlab(*arguments: str, folder: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "schedlab", *arguments],
        cwd=folder,
        env={**os.environ, "NO_COLOR": "1", "COLUMNS": "300"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `make demo` leaves, with two policies."""
    found = tmp_path_factory.mktemp("demo-results")
    chosen = [part for policy in POLICIES for part in ("--policy", policy)]
    schedlab("run", str(DEMO), "--cluster", "64x4", *chosen, "--reasons", "--out", str(found), folder=found)
    lines = DEMO.read_text().splitlines()
    (found / "two_bad.swf").write_text("\n".join([*lines[:200], "not a job", *lines[200:220], "1 2 three"]) + "\n")
    return found


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Process]:
    """As a person starts it."""
    with serving_process(folder) as started:
        yield started


@pytest.fixture
def page(server: Process) -> Iterator[Page]:
    with browser() as driver:
        driver.get(server.address)
        found = Page(driver, server.place)
        yield found
        refused = "400 (Bad Request)"  # a form with a mistake in it, which some tests make
        assert [each for each in complaints(driver) if not (found.mistaken and refused in each)] == []


class Page:
    def __init__(self, driver: Any, address: str) -> None:
        self.driver, self.address = driver, address
        self.mistaken = False

    def go(self, path: str) -> None:
        self.driver.get(self.address + path)

    def all(self, selector: str) -> list[Any]:
        return list(self.driver.find_elements("css selector", selector))

    def find(self, selector: str, what: str = "") -> Any:
        return until(lambda: self.all(selector), what or selector)[0]

    def text(self, selector: str) -> str:
        return str(self.find(selector).text)

    def value(self, selector: str) -> str | None:
        """Of a control, which may be replaced by another one at any moment."""
        found: str | None = self.driver.execute_script("return document.querySelector(arguments[0])?.value", selector)
        return found

    def choose(self, selector: str, value: str) -> None:
        from selenium.webdriver.support.ui import Select

        Select(self.find(selector)).select_by_value(value)

    def write(self, selector: str, text: str) -> None:
        element = self.find(selector)
        element.clear()
        element.send_keys(text)

    def state(self) -> str:
        """Of the work that was started last; empty while there is none."""
        cards = self.all(".work")
        return str(cards[0].get_attribute("data-state")) if cards else ""

    def finish(self) -> None:
        until(lambda: self.state() in ("done", "failed", "cancelled"), "the end of the work")
        assert self.state() == "done", self.text(".work")

    def wait_ready(self) -> None:
        """The form is whole, and nothing is wrong with it."""
        until(lambda: self.all("#run") and self.all("#run")[0].is_enabled(), "a form without mistakes")

    @property
    def command(self) -> str:
        return str(self.all("pre.to-copy")[0].get_attribute("textContent"))

    @property
    def study(self) -> str:
        return str(self.all("pre.to-copy")[1].get_attribute("textContent"))


def test_from_the_folder_of_a_demo_to_the_gantts_in_one_click(page: Page) -> None:
    page.go("/")
    link = page.find("#gantts")
    assert "2 Gantt charts" in link.text
    names = parse_qs(urlparse(link.get_attribute("href")).query)["run"]
    assert sorted(names) == sorted(POLICIES)
    numbers = {cell.get_attribute("data-key"): cell.text for cell in page.all(".comparison tbody tr:first-child td")}
    assert set(numbers) == {"wait.mean", "bounded_slowdown.mean", "utilisation", "makespan"}


def test_a_newcomer_learns_in_two_clicks_why_a_job_waited(page: Page, folder: Path) -> None:
    from selenium.webdriver.common.action_chains import ActionChains

    page.go("/")
    page.find("#gantts").click()
    until(lambda: len(page.all("canvas.gantt")) == 2, "two Gantt charts")
    canvas = page.find('canvas[aria-label="Gantt chart of fcfs"]')  # where nearly every job waits

    def clicked() -> bool:
        """On some job in the middle of the chart; it may not be drawn yet."""
        ActionChains(page.driver).move_to_element_with_offset(canvas, 40, 10).click().perform()
        return bool(page.all(".story h3"))

    until(clicked, "the story of a job")
    number = page.text(".story h3").removeprefix("Job ")
    run = page.text(".focus > button.title")
    names, values = ([each.text for each in page.all(f".story {tag}")] for tag in ("dt", "dd"))
    told = schedlab("why", run, number, folder=folder)
    assert f"It waited {dict(zip(names, values, strict=True))['waited']} " in told


def test_the_example_runs_and_is_compared(page: Page, folder: Path) -> None:
    page.go("/")
    page.find("#example").click()
    until(lambda: "/work" in page.driver.current_url, "the page of work")
    page.finish()
    page.find(".work .actions a.button").click()
    rows = until(lambda: len(page.all("#comparison tbody tr")) == 4 and page.all("#comparison tbody tr"), "four runs")
    names = [str(row.get_attribute("data-run")) for row in rows]
    compare_equals(page, folder, names)


def compare_equals(page: Page, folder: Path, names: list[str]) -> None:
    """Every number on the page stands in the table that `schedlab compare` prints of these runs, in its row."""
    printed = schedlab("compare", *names, folder=folder)
    lines = [line.split() for line in printed.splitlines()]
    for row in page.all("#comparison tbody tr"):
        label = row.find_element("css selector", "th").text
        found = [cell.text for cell in row.find_elements("css selector", "td")]
        own = next(words for words in lines if words and words[0] == label)
        digits = [word.rstrip("*") for word in own[1:] if word != "*"]
        assert found and found == digits[: len(found)], (label, found, own)


def test_compare_shows_the_numbers_of_the_command_line(page: Page, folder: Path) -> None:
    page.go("/compare?run=fcfs&run=easy")
    until(lambda: len(page.all("#comparison tbody tr")) == 2, "two runs")
    compare_equals(page, folder, ["fcfs", "easy"])
    document = json.loads(schedlab("compare", "fcfs", "easy", "--json", folder=folder))
    easy = next(run for run in document["runs"] if run["policy"] == "easy")
    cell = page.find('#comparison tr[data-run="easy"] td[data-key="utilisation"]')
    assert cell.text == f"{100 * easy['summary']['utilisation']:.1f}"
    until(lambda: len(page.all("table.comparison")) == 3, "two tables of classes")
    figure = page.find('a[data-format="svg"]').get_attribute("href")
    script = "const done = arguments[1]; fetch(arguments[0]).then(answer => answer.text()).then(done)"
    assert "<svg" in page.driver.execute_async_script(script, figure)


def test_a_form_stands_for_a_command_and_a_study_file(page: Page) -> None:
    page.go("/setup")
    page.wait_ready()
    page.all(".policy button.compose")[1].click()
    page.find("select[data-key=order]")
    page.choose("select[data-key=order]", "sjf")
    until(lambda: "easy:order=sjf" in page.command, "the command of another order")
    lines = page.all(".policy-line input")
    assert lines[1].get_attribute("value") == "easy:order=sjf"
    lines[1].clear()
    lines[1].send_keys("conservative:order=saf")
    until(lambda: page.value("select[data-key=backfill]") == "conservative", "the parts of the text")
    assert page.value("select[data-key=order]") == "saf"
    until(lambda: 'policy = ["fcfs", "conservative:order=saf"]' in page.study, "the study file")
    page.mistaken = True
    lines[1].send_keys("x")
    message = page.text(".policy .problem")
    assert "saf" in message
    until(lambda: not page.find("#run").is_enabled(), "nothing to run")


def test_what_is_in_a_log_with_bad_rows(page: Page) -> None:
    page.go("/setup?log=two_bad.swf")
    summary = page.find(".bad-rows summary", "bad rows")
    assert summary.text.startswith("2 rows cannot be read")
    page.driver.execute_script("arguments[0].click()", summary)
    told = [row.text for row in page.all(".bad-rows li")]
    assert any("line 201" in text or ":201" in text for text in told), told
    assert page.text(".inside .card b") == "212"  # 8 lines of header, 220 rows in all


def test_upload_watch_pace_and_cancel(page: Page, tmp_path: Path) -> None:
    log = tmp_path / "own.swf"
    log.write_bytes(DEMO.read_bytes())
    page.go("/setup")
    page.find('[data-way="upload"]').click()
    page.find('input[type="file"]').send_keys(str(log))
    until(lambda: "own.swf" in page.command, "the uploaded log")
    page.wait_ready()
    page.choose(".stands-for select", "3600")  # two weeks would take five minutes
    page.find("#run").click()
    page.find(".live", "a live picture")
    until(lambda: "of 2,000 jobs" in page.text(".live .hint"), "numbers of the machine")
    page.find(".work .actions button").click()
    until(lambda: page.state() == "cancelled", "the cancelled state")


def test_a_run_that_fails_says_what_the_command_line_says(page: Page, folder: Path) -> None:
    page.go("/setup?log=two_bad.swf")
    page.wait_ready()
    page.find("#run").click()
    until(lambda: page.state() == "failed", "a failure")
    said = page.text(".work .problem")
    done = subprocess.run(
        [sys.executable, "-m", "schedlab", "run", "two_bad.swf"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    first = done.stderr.splitlines()[0].removeprefix("error: ")
    assert first in said


def compose(page: Page, jobs: int, repetitions: int) -> None:
    """A study of a model, in the form."""
    page.go("/setup?study")
    page.find('[data-way="model"]').click()
    page.write(".way input[inputmode=numeric]", str(jobs))
    page.wait_ready()
    fields = page.all(".part")[-1].find_elements("css selector", "input[type=text]")
    page.mistaken = True  # a field that is empty for a moment
    fields[1].clear()
    fields[1].send_keys(str(repetitions))
    until(lambda: f"repetitions = {repetitions}" in page.study and f"jobs = {jobs}" in page.study, "the study file")


def start(page: Page) -> None:
    page.wait_ready()
    time.sleep(0.5)  # another check of the form may be under way, which disables the button
    page.wait_ready()
    page.find("#run").click()
    until(lambda: "/work" in page.driver.current_url, "the page of work")


def test_a_study_is_composed_run_and_told(page: Page, folder: Path) -> None:
    compose(page, jobs=150, repetitions=3)
    page.choose(".part:last-child select", "fcfs")
    until(lambda: 'baseline = { policy = "fcfs" }' in page.study, "the baseline")
    start(page)
    page.finish()
    page.find(".work .actions a.go").click()
    page.find("#groups tbody tr", "the table of a study")
    name = parse_qs(urlparse(page.driver.current_url).query)["study"][0]
    printed = schedlab("experiment", "run", f"{name}.toml", "--out", name, folder=folder)
    for row in page.all("#groups tbody tr"):
        for cell in row.find_elements("css selector", "td"):
            assert cell.text in printed
    verdicts = [each.text for each in page.all("#verdicts li")]
    assert verdicts and verdicts[0] in " ".join(printed.split())


def test_a_study_that_was_cancelled_goes_on(page: Page) -> None:
    compose(page, jobs=2000, repetitions=60)
    start(page)
    until(lambda: page.state() == "running", "the running study")
    page.find(".work .actions button").click()
    until(lambda: page.state() == "cancelled", "the cancelled state")
    [go_on] = [each for each in page.all(".work .actions button") if each.text == "go on"]
    go_on.click()
    until(lambda: page.state() != "cancelled", "the study that goes on")
    page.finish()
    page.find(".work .actions a.go").click()
    page.find("#groups tbody tr", "the table of the study")


def test_what_is_ones_own_can_be_removed(page: Page, folder: Path) -> None:
    page.go("/setup")
    page.wait_ready()
    page.go("/")
    page.find(".things button.quiet", "the sample, which is the browser's own now").click()
    page.driver.switch_to.alert.accept()
    until(lambda: page.all("#gantts") and not page.all(".things button.quiet"), "the page without it")
    assert (folder / "two_bad.swf").exists()


def test_a_phone_shows_every_page_without_scrolling_sideways(server: Process) -> None:
    with browser(390, 800) as driver:
        driver.get(server.address)
        page = Page(driver, server.place)
        for path, whole in (
            ("/", "#gantts"),
            ("/setup", ".inside canvas"),
            ("/work", ".works > *"),
            ("/compare?run=fcfs&run=easy", "#comparison"),
            ("/studies", "a.go"),
        ):
            page.go(path)
            page.find(whole)
            wide, seen = driver.execute_script("return [document.documentElement.scrollWidth, innerWidth]")
            assert wide <= seen, path
        assert complaints(driver) == []


def test_the_file_that_the_browser_is_started_with_lets_it_in(tmp_path: Path) -> None:
    """From a file, which is another site: the cookies of the redirection are shown when the page asks for itself."""
    with serving_process(tmp_path) as server, browser() as driver:
        page = _page_to(server.address, tmp_path)
        driver.get(page.as_uri())
        until(lambda: driver.current_url == f"{server.place}/" and driver.title.startswith("Home"), "the first page")
        assert {"schedlab_token", "schedlab_space"} == {
            cookie["name"].removesuffix(f"_{server.port}") for cookie in driver.get_cookies()
        }
        driver.get(f"{server.place}/work")
        assert driver.title.startswith("Work")
