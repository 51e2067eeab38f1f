"""Definitions of QOS as `sacctmgr show qos -P` prints them: a line of column names, then a line for each QOS."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from schedlab.files.bytestream import text_of
from schedlab.files.slurm_values import shown
from schedlab.model.errors import InputError
from schedlab.model.mistakes import Mistakes
from schedlab.model.suggest import did_you_mean
from schedlab.slurm.accounts.model import Qos, settings, words

_NOT_USED = ("id",)
_COMMAND = "sacctmgr show qos -P"


def read_qos(path: Path) -> tuple[Qos, ...]:
    file = str(path)
    lines = [(number, line) for number, line in enumerate(text_of(path).splitlines(), 1) if line.strip()]
    if not lines:
        raise InputError("there is no table of QOS in it", where=file, hint=f"write it with `{_COMMAND}`")
    header, *rows = lines
    columns = _columns(header[1], file, header[0])
    mistakes = Mistakes()
    found: dict[str, tuple[Qos, int]] = {}  # with the line
    for number, line in rows:
        cells = line.removesuffix("|").split("|") if line.count("|") == len(columns) else line.split("|")
        if len(cells) != len(columns):
            mistakes.at(file, number, f"{len(cells)} columns, where the first line names {len(columns)}")
            continue
        given = {column: cell.strip() for column, cell in zip(columns, cells, strict=True) if column and cell.strip()}
        qos = _qos(given, file, number, mistakes)
        if found.setdefault(qos.name, (qos, number))[0] is not qos:
            mistakes.at(file, number, f"QOS '{qos.name}' appears twice")
    for qos, number in found.values():
        for name in sorted(set(qos.preempt) - set(found)):
            mistakes.at(file, number, f"QOS '{qos.name}' preempts '{name}', which is not in the table")
    mistakes.raise_all()
    return tuple(qos for qos, _ in found.values())


def _columns(line: str, file: str, number: int) -> list[str]:
    """Our names of the columns; empty for one that says nothing about scheduling."""
    known = {**words(Qos), "name": "name", **dict.fromkeys(_NOT_USED, "")}
    titles = [title.strip() for title in line.removesuffix("|").split("|")]
    if "name" not in map(str.lower, titles):
        hint = f"write the table with `{_COMMAND}`, without -n, which leaves out the names of columns"
        raise InputError(
            "the first line has to name the columns, among them Name", where=f"{file}, line {number}", hint=hint
        )
    mistakes = Mistakes()
    for title in titles:
        if title.lower() not in known:
            hint = did_you_mean(title, known, "leave the column out: sacctmgr show qos -P format=Name,…")
            mistakes.at(file, number, f"column {shown(title)} is not known", hint)
    mistakes.raise_all()
    return [known[title.lower()] for title in titles]


def _qos(given: dict[str, str], file: str, line: int, mistakes: Mistakes) -> Qos:
    readers = settings(Qos)
    found: dict[str, Any] = {}
    for name, text in given.items():
        if name == "name":
            continue
        try:
            found[name] = readers[name](text)
        except ValueError as error:
            mistakes.at(file, line, f"{name} {shown(text)}: expected {error}")
    return Qos(name=given.get("name", "").lower(), **found)
