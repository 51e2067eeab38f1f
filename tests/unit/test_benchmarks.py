"""The benchmarks are not run by the tests, but they have to begin."""

from __future__ import annotations

import importlib


def test_they_can_be_imported() -> None:
    importlib.import_module("benchmarks.__main__")
