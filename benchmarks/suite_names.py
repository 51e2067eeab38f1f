"""For pytest (`-p benchmarks.suite_names`): only tests whose functions have a name in the file $SCHEDLAB_TESTS."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    names = set(Path(os.environ["SCHEDLAB_TESTS"]).read_text().splitlines())
    others = [item for item in items if getattr(item, "originalname", item.name) not in names]
    config.hook.pytest_deselected(items=others)
    items[:] = [item for item in items if getattr(item, "originalname", item.name) in names]
