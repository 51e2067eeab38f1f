"""What commands import while they run, imported once for all that are forked (commands.py)."""

from __future__ import annotations

import gc
import importlib
import pkgutil

import pytest  # noqa: F401

import schedlab

# Libraries that commands import where they are needed.
LIBRARIES = (
    *("matplotlib.backends.backend_agg", "matplotlib.pyplot", "pandas", "polars", "pyarrow.csv", "pyarrow.dataset"),
    *("pyarrow.parquet", "rich.markdown", "rich.table", "scipy.stats", "typer.rich_utils", "yaml"),
)
for name in LIBRARIES:
    importlib.import_module(name)
for module in pkgutil.walk_packages(schedlab.__path__, "schedlab."):
    if not module.name.endswith((".__main__", ".libschedlab_clock")):  # a program, and a library for programs
        importlib.import_module(module.name)
gc.collect()
gc.freeze()  # nobody who is forked need look at it
