"""`read_heatmap`: measurements of ELiSE, matrices of speed-ups, or profiles of memory bandwidth."""

from __future__ import annotations

import os
from pathlib import Path

from schedlab.files.bytestream import plain_name, text_of
from schedlab.files.json_text import json_of
from schedlab.heatmap import elise, matrix, profiles
from schedlab.model.errors import InputError
from schedlab.model.heatmap import Heatmap
from schedlab.model.toml_lines import load_toml

_KINDS = (
    "ELiSE's load manager ('loads'), a matrix ('names' and 'speedups', or rows by name), or profiles ('applications')"
)


def read_heatmap(path: str | os.PathLike[str]) -> Heatmap:
    """The heatmap in a file (JSON, CSV or TOML, compressed or not); what kind it is, its content says."""
    file = Path(path)
    text, where = text_of(file), str(path)
    if not text.strip():
        raise InputError("the file is empty", where=where, hint=f"a heatmap is {_KINDS}")
    if plain_name(file).endswith(".toml"):
        data, _ = load_toml(text, where, hint="such as bandwidth = 120, cores = 48 and [[applications]]")
        return profiles.from_table(data, where)
    if plain_name(file).endswith(".json") or text.lstrip()[0] in "{[":
        return _from_json(text, where)
    return profiles.from_csv(text, where) if profiles.are_in(text) else matrix.from_csv(text, where)


def _from_json(text: str, where: str) -> Heatmap:
    data = json_of(text, where)
    if not isinstance(data, dict):
        raise InputError("there is no heatmap in this JSON", where=where, hint=f"expected {_KINDS}")
    if "loads" in data:
        return elise.from_loads(data, where)
    if "applications" in data:
        return profiles.from_table(data, where)
    if "names" in data or "speedups" in data:
        return matrix.from_names(data, where)
    return matrix.from_rows(data, where)
