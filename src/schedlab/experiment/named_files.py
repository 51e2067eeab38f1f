"""The files that the parameters of a study name."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from schedlab.cluster.slurm.read import files_read
from schedlab.experiment.study import QUOTED
from schedlab.files.bytestream import plain_name
from schedlab.generate.arrivals import files_of_mix
from schedlab.model.errors import InputError
from schedlab.model.plugin_text import names_code, registered_name

_FILES = ("log", "model", "cluster", "heatmap")
_TEXTS = ("policy", "estimate", "observe", "metrics", "reader", "model", "inject")
_BETWEEN = re.compile(r"[\s(:=,]+")


def is_text(name: str, value: Any) -> bool:
    """Whether files may stand within the value: `easy:order=mine.py:key`, `slurm-real(conf='slurm.conf')`."""
    if name == "workflows":
        return isinstance(value, str)
    if name not in _TEXTS or not isinstance(value, str) or (name in _FILES and Path(value).is_file()):
        return False
    return names_code(value) or "=" in value or bool(_argument(value))


def file_names(name: str, value: Any) -> list[str]:
    """The words of a parameter's value that are the name of a file, if there is such a file."""
    if name == "workflows" and isinstance(value, str):
        return files_of_mix(value)
    if is_text(name, value):
        words = [word for word in _BETWEEN.split(value) if word.endswith(".py")]
        return words + QUOTED.findall(value) + ([only] if (only := _argument(value)) else [])
    return [value] if name in _FILES and isinstance(value, str) else []


def _argument(value: str) -> str:
    """The file of `kubernetes:config.yaml`."""
    file = "" if names_code(value) else value.partition(":")[2]
    return file if file and Path(file).is_file() else ""


def files_of(name: str, value: Any) -> list[str]:
    """The files that are there and are read for it: with a slurm.conf, all that belongs to it."""
    found: list[str] = []
    for file in file_names(name, value):
        if Path(file).is_file():
            slurm = plain_name(Path(file)).endswith(".conf") or registered_name(value) == "slurm-real"
            found += _read_with(file) if slurm else [file]
    return found


def _read_with(file: str) -> list[str]:
    try:
        return [str(path) for path in files_read(Path(file))]
    except InputError:  # it is something else, or the run says what is wrong
        return [file]
