"""Files that hold a pool of applications: tables in TOML or JSON, and heatmaps."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from schedlab.files.bytestream import plain_name, text_of
from schedlab.files.json_text import json_of
from schedlab.generate.checks import Checks
from schedlab.heatmap.read import read_heatmap
from schedlab.model.errors import InputError
from schedlab.model.toml_lines import load_toml


def read_table(path: Path) -> dict[str, Any]:
    """A TOML file, or a JSON one (a model file too) if its name ends so."""
    text = text_of(path)
    if plain_name(path).endswith(".json"):
        data = json_of(text, str(path))
    else:
        data, _ = load_toml(text, str(path), hint="such as [[applications]] and the keys below it")
    if not isinstance(data, dict):
        raise InputError("expected a table with the key applications", where=str(path))
    return {key: value for key, value in data.items() if key not in ("schedlab", "model")}


def read_measured(path: Path) -> list[tuple[str, int, float]]:
    """Name, processes and run time alone of each application of a heatmap, in the order of the file."""
    heatmap = read_heatmap(path)
    mistakes = Checks(str(path))
    found = list(zip(heatmap.names, heatmap.processes.tolist(), heatmap.runtimes.tolist(), strict=True))
    for name, processes, runtime in found:
        if not processes:
            mistakes.add(f"{name}: nobody says how many processes it has", "let its name end in it, such as lu.D.64")
        if math.isnan(runtime):
            mistakes.add(f"{name}: nobody says how long it runs alone", "jobs are made of run times: give them")
    mistakes.raise_all()
    return found
