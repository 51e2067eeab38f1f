"""Files that hold a pool of applications: tables in TOML or JSON, and ELiSE's heatmaps."""

from __future__ import annotations

import json
import statistics
from pathlib import Path
from typing import Any

from schedlab.files.bytestream import plain_name, text_of
from schedlab.generate.checks import Checks
from schedlab.model.errors import InputError
from schedlab.model.toml_lines import load_toml


def read_table(path: Path) -> dict[str, Any]:
    """A TOML file, or a JSON one (a model file too) if its name ends so."""
    text = text_of(path)
    if plain_name(path).endswith(".json"):
        data = _json(text, str(path))
    else:
        data, _ = load_toml(text, str(path), hint="such as [[applications]] and the keys below it")
    if not isinstance(data, dict):
        raise InputError("expected a table with the key applications", where=str(path))
    return {key: value for key, value in data.items() if key not in ("schedlab", "model")}


def read_heatmap(path: Path) -> list[tuple[str, int, float]]:
    """Name, processes and median run time of each application, in the order of the file."""
    data = _json(text_of(path), str(path))
    loads = data.get("loads") if isinstance(data, dict) else None
    if not isinstance(loads, list):
        hint = "a heatmap of ELiSE is a JSON object with the list 'loads'"
        raise InputError("there is no list 'loads'", where=str(path), hint=hint)
    mistakes = Checks(str(path))
    found = []
    for place, load in enumerate(loads):
        entry = _json(load, f"{path}, loads[{place}]") if isinstance(load, str) else load
        known = entry if isinstance(entry, dict) else {}
        name, times = known.get("load_name"), known.get("compact_timelogs", [])
        last = str(name).rpartition(".")[2]
        if not isinstance(name, str) or not last.isdigit() or int(last) < 1:
            mistakes.add(f"loads[{place}].load_name = {name!r}: expected a name that ends in the number of processes")
        elif not _are_times(times):
            mistakes.add(f"loads[{place}].compact_timelogs of {name} = {times!r}: expected a list of run times")
        else:
            found.append((name, int(last), float(statistics.median(times))))
    mistakes.raise_all()
    return found


def _are_times(times: Any) -> bool:
    return isinstance(times, list) and bool(times) and all(isinstance(t, int | float) and t >= 0 for t in times)


def _json(text: str, where: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as problem:
        raise InputError(f"this is not JSON: {problem}", where=where) from None
