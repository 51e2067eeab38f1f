"""A real browser for tests: Debian's Chromium without a screen, driven by selenium. `apt-get install chromium-driver`
brings both; without them these tests are skipped."""

from __future__ import annotations

import functools
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from tempfile import TemporaryDirectory
from typing import Any

import pytest

PATIENCE = 60.0  # seconds: a busy machine is slow, and a page that never comes is a failure


@contextmanager
def browser(width: int = 1280, height: int = 900) -> Iterator[Any]:
    """A window of that size in a browser that remembers nothing."""
    driver = _shared()
    driver.execute_cdp_cmd("Network.clearBrowserCookies", {})
    driver.execute_cdp_cmd("Storage.clearDataForOrigin", {"origin": "*", "storageTypes": "all"})
    before = driver.current_window_handle
    driver.switch_to.new_window("tab")
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    driver.get_log("browser")  # what others have left there
    try:
        yield driver
    finally:
        driver.close()
        driver.switch_to.window(before)


@contextmanager
def people() -> Iterator[Any]:
    """A browser for many who share no cookies (`new_person`)."""
    with ExitStack() as end:
        yield _chromium(end, bidi=True)


def new_person(driver: Any) -> str:
    """A window of somebody who has never been anywhere."""
    window: str = driver.browsing_context.create(type="tab", user_context=driver.browser.create_user_context())
    return window


@functools.cache
def _shared() -> Any:
    """One for all tests of this process: to start one takes seconds."""
    return _chromium(_at_the_end)


_at_the_end = ExitStack()


def end() -> None:
    """When all tests have been run."""
    _at_the_end.close()


def _chromium(end: ExitStack, *, bidi: bool = False) -> Any:
    webdriver = pytest.importorskip("selenium.webdriver")
    programs = {name: shutil.which(name) for name in ("chromium", "chromedriver")}
    missing = [name for name, path in programs.items() if path is None]
    if missing:
        pytest.skip(f"needs {' and '.join(missing)} (apt-get install chromium chromium-driver)")
    options = webdriver.ChromeOptions()
    options.binary_location = programs["chromium"]
    for switch in ("headless=new", "disable-gpu", "disable-dev-shm-usage"):
        options.add_argument(f"--{switch}")
    if os.geteuid() == 0:
        options.add_argument("--no-sandbox")  # which Chromium refuses to have as root
    options.enable_bidi = bidi
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    place = end.enter_context(TemporaryDirectory(ignore_cleanup_errors=True))  # for what Chromium leaves behind
    service = webdriver.ChromeService(programs["chromedriver"], env={**os.environ, "TMPDIR": place})
    driver = webdriver.Chrome(options=options, service=service)
    end.callback(driver.quit)
    driver.set_script_timeout(PATIENCE)
    return driver


def until(condition: Callable[[], Any], what: str) -> Any:
    """What the condition gives, once it gives anything."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if found := condition():
            return found
        time.sleep(0.05)
    raise AssertionError(f"waited {PATIENCE:g} s for {what}")


def complaints(driver: Any) -> list[str]:
    """What the page has written to the console as warnings and errors."""
    return [entry["message"] for entry in driver.get_log("browser") if entry["level"] in ("WARNING", "SEVERE")]
