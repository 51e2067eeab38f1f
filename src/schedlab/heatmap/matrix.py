"""Plain matrices of speed-ups: CSV with a row for each application, or JSON."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from schedlab.model.errors import InputError, InputErrors
from schedlab.model.heatmap import Heatmap, first_of
from schedlab.model.mistakes import Mistakes
from schedlab.model.suggest import did_you_mean
from schedlab.model.toml_lines import shown

_KEYS = ("names", "speedups", "runtimes", "processes", "alone", "source")


def csv_rows(text: str) -> list[list[str]]:
    """The rows that are not empty; values are separated by commas, semicolons or tabs."""
    header = next(line for line in text.splitlines() if line.strip())
    separator = max(",;\t", key=header.count)
    rows = csv.reader(text.splitlines(), delimiter=separator)
    return [[cell.strip() for cell in row] for row in rows if any(cell.strip() for cell in row)]


def from_csv(text: str, where: str) -> Heatmap:
    """The header names the partners, the first column the applications; an empty cell is a pair nobody measured."""
    header, *rows = csv_rows(text)
    partners = header[1:]
    names = [row[0] for row in rows]
    _refuse_other_partners(names, partners, where)
    wrong = [
        InputError(f"the row of {row[0]} has {len(row) - 1} values for {len(partners)} partners", where=where)
        for row in rows
        if len(row) != len(header)
    ]
    if wrong:
        raise InputErrors(wrong)
    by_partner = [dict(zip(partners, row[1:], strict=True)) for row in rows]
    return Heatmap.from_cells(names, [[row[name] for name in names] for row in by_partner], source=where)


def from_rows(data: Mapping[str, Any], where: str) -> Heatmap:
    """JSON of a row for each application, {"a": {"b": 1.1}}: how fast a is beside b; no key, or null: not measured."""
    for name, row in data.items():
        if not isinstance(row, dict):
            hint = 'rows are {"a": {"a": 0.9, "b": 1.1}, "b": {…}}; or give "names" and "speedups"'
            raise InputError(
                f"{name} = {shown(row)}: expected the speed-ups of {name} by partner", where=where, hint=hint
            )
    names = list(data)
    _refuse_other_partners(
        names, dict.fromkeys(partner for row in data.values() for partner in row), where, all_of=False
    )
    return Heatmap.from_cells(names, [[row.get(name) for name in names] for row in data.values()], source=where)


def from_names(data: Mapping[str, Any], where: str) -> Heatmap:
    """JSON with the keys of `Heatmap.to_dict`; facts about applications are lists in the order of names, or by name."""
    mistakes = Mistakes()
    for key in data:
        if key not in _KEYS:
            mistakes.at(where, 0, f"unknown key '{key}'", did_you_mean(key, _KEYS, f"keys: {', '.join(_KEYS)}"))
    names, rows = data.get("names"), data.get("speedups")
    if not isinstance(names, list) or not all(isinstance(name, str) and name for name in names):
        mistakes.at(where, 0, f"names = {shown(names)}: expected the names of the applications")
    if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
        mistakes.at(where, 0, f"speedups = {shown(rows)}: expected a list of speed-ups for each application")
    mistakes.raise_all()
    assert isinstance(names, list) and isinstance(rows, list)
    facts = {key: _fact(key, data.get(key), names, where, mistakes) for key in ("runtimes", "processes")}
    alone = _alone(data.get("alone", {}), names, where, mistakes)
    mistakes.raise_all()
    source = data.get("source")
    given = source if isinstance(source, str) and source else where
    made = Heatmap.from_cells(names, rows, alone=alone, source=where, **facts)
    return made if given == where else Heatmap.from_dict(made.to_dict() | {"source": given})


def _fact(key: str, given: Any, names: Sequence[str], where: str, mistakes: Mistakes) -> list[Any] | None:
    if given is None or isinstance(given, list):
        return given
    if not isinstance(given, dict):
        mistakes.at(where, 0, f"{key} = {shown(given)}: expected a list in the order of names, or a table by name")
        return None
    for name in given:
        if name not in names:
            mistakes.at(where, 0, f"{key} has '{name}', which is no application", did_you_mean(name, names))
    return [given.get(name) for name in names]


def _alone(given: Any, names: Sequence[str], where: str, mistakes: Mistakes) -> dict[float, list[Any]]:
    if not isinstance(given, dict):
        mistakes.at(where, 0, f'alone = {shown(given)}: expected tables by fraction of a node, {{"0.5": {{"a": 1.2}}}}')
        return {}
    found = {}
    for fraction, values in given.items():
        try:
            share = float(fraction)
        except ValueError:
            mistakes.at(where, 0, f"alone has '{fraction}': expected a fraction of a node, such as 0.5")
            continue
        found[share] = _fact(f'alone."{fraction}"', values, names, where, mistakes) or [None] * len(names)
    return found


def _refuse_other_partners(names: Sequence[str], partners: Iterable[str], where: str, *, all_of: bool = True) -> None:
    """A matrix is square: whoever is a partner has a row, and (`all_of`) the other way round."""
    found = list(partners)
    strange = [partner for partner in found if partner not in names]
    absent = [name for name in names if name not in found] if all_of else []
    errors = []
    if strange:
        errors.append(InputError(f"partners without a row of their own: {first_of(strange)}", where=where))
    if absent:
        errors.append(InputError(f"applications that are nobody's partner: {first_of(absent)}", where=where))
    if all_of and len(set(found)) < len(found):
        twice = [partner for partner in dict.fromkeys(found) if found.count(partner) > 1]
        errors.append(InputError(f"partners with two columns: {first_of(twice)}", where=where))
    if errors:
        last = errors[-1]
        hint = "a matrix has the same applications in rows and columns; leave the cells of pairs nobody measured empty"
        raise InputErrors([*errors[:-1], InputError(last.message, where=where, hint=hint)])
