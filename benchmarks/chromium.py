"""Debian's Chromium without a screen, driven by selenium, for what is measured in a browser."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

WIDTH, HEIGHT = 1280, 900
PATIENCE = 120.0  # seconds


def missing() -> str:
    """What is not there, and how to get it; empty if there is a browser."""
    programs = [name for name in ("chromium", "chromedriver") if shutil.which(name) is None]
    if programs:
        return f"needs {' and '.join(programs)}: apt-get install chromium chromium-driver"
    return "" if find_spec("selenium") else "needs selenium: pip install selenium"


@contextmanager
def chromium() -> Iterator[Any]:
    """A window without anything kept from before."""
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = str(shutil.which("chromium"))
    for switch in ("headless=new", "disable-gpu", "disable-dev-shm-usage", f"window-size={WIDTH},{HEIGHT}"):
        options.add_argument(f"--{switch}")
    if os.geteuid() == 0:
        options.add_argument("--no-sandbox")  # which Chromium refuses to have as root
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(str(shutil.which("chromedriver"))))
    try:
        size = {"width": WIDTH, "height": HEIGHT, "deviceScaleFactor": 1, "mobile": False}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        driver.execute_cdp_cmd("Network.enable", {})
        driver.execute_cdp_cmd("Network.setCacheDisabled", {"cacheDisabled": True})
        driver.set_script_timeout(PATIENCE)
        yield driver
    finally:
        driver.quit()


def opened(driver: Any, address: str) -> float:
    """Seconds from the navigation until the explorer has painted everything that is to be seen first."""
    driver.get(address)
    script = "return performance.getEntriesByName('explorer-complete')[0]?.startTime ?? null"
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if (found := driver.execute_script(script)) is not None:
            return float(found) / 1000
        time.sleep(0.02)
    raise RuntimeError(f"{address} was not drawn in {PATIENCE:g} s")
