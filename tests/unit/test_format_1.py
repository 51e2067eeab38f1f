"""Run folders of format 1 are read, checked, compared, drawn and copied."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests import format_1
from tests.commands import schedlab

import schedlab as sl
from schedlab.analysis.metrics import summarise
from schedlab.model.states import PIECE_ENDS, REASONS
from schedlab.model.tables import TABLES

# Columns that the first runs of this format did not have, and tables that not all have.
FIRST = ("pieces.reason", "pieces.expected_end", "jobs.priority", "nodes", "observed")


def _leaves(values: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in values.items():
        found |= _leaves(value, f"{prefix}{key}.") if isinstance(value, dict) else {f"{prefix}{key}": value}
    return found


@pytest.mark.parametrize("without", [(), FIRST])
def test_its_numbers_are_what_they_were(tmp_path: Path, without: tuple[str, ...]) -> None:
    run = sl.read_run(format_1.write(tmp_path / "run", without=without), verify=True)
    again = _leaves(summarise(run.tables, run.cluster.cores))
    expected = _leaves(format_1.RUN_JSON["summary"])
    if without:
        expected = expected | {"requeues.by a decision": expected.pop("requeues.node failure")}
    elsewhere = ("observed", "rejections")  # by observers, and from run.json
    expected = {name: value for name, value in expected.items() if not name.startswith(elsewhere)}
    assert {name: again[name] for name in expected} == pytest.approx(expected)


def test_tables_as_they_were(tmp_path: Path) -> None:
    run = sl.read_run(format_1.write(tmp_path / "run"))
    for name, columns in format_1.TABLES.items():
        found = run.table(name).sort("sequence", maintain_order=True) if name == "jobs" else run.table(name)
        for column, (_, values) in columns.items():
            order = np.argsort(columns["sequence"][1]) if name == "jobs" else range(len(values))
            assert found[column].to_list() == [values[place] for place in order], column
    assert run.jobs["heat"].to_list() == [1.5, None, 2.5, None, None]
    assert {name for name in TABLES if len(run.table(name))} == set(format_1.TABLES)


def test_what_it_does_not_have_is_unknown(tmp_path: Path) -> None:
    run = sl.read_run(format_1.write(tmp_path / "run", without=FIRST))
    assert run.pieces["reason"].to_list() == [None] * 4 and run.jobs["priority"].to_list() == [None] * 5
    assert run.pieces["expected_end"].to_list() == [None] * 4
    assert run.pieces.columns == [column.name for column in TABLES["pieces"].columns]
    assert run.tables.column("reason", "pieces").tolist() == [0] * 4
    assert np.isnan(run.tables.column("expected_end", "pieces")).all()
    (batch,) = run.tables.batches(("how", "reason"), "pieces")
    assert batch["how"].tolist() == [PIECE_ENDS.index(word) for word in format_1.TABLES["pieces"]["how"][1]]
    assert batch["reason"].tolist() == [REASONS.index("")] * 4
    assert len(run.nodes) == 0 and len(run.table("observed")) == 0 and "heat" not in run.jobs.columns
    with pytest.raises(KeyError):
        run.tables.column("name")


@pytest.mark.parametrize("without", [(), ("pieces.reason", "pieces.expected_end", "observed")])
def test_it_is_judged(tmp_path: Path, without: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    assert sl.check(format_1.write(tmp_path / "run", without=without)) == []
    wrong = format_1.TABLES["jobs"] | {"start": (format_1.TIME, [None, 6, 0, 73, 50])}  # before its predecessor ended
    monkeypatch.setitem(format_1.TABLES, "jobs", wrong)
    assert [offence.job for offence in sl.check(format_1.write(tmp_path / "wrong", without=without))]


def test_commands(tmp_path: Path) -> None:
    format_1.write(tmp_path / "old")
    sl.simulate(sl.Workload.of(submit=[0, 1], runtime=[5, 5]), "2x4", "fcfs", out=tmp_path / "new")
    assert sl.read_run(tmp_path / "new").config["format"] == 2
    for words in (
        ("check", "old"),
        ("compare", "old", "new"),
        ("plot", "old", "--kind", "gantt", "-o", "gantt.png"),
        ("plot", "old", "--kind", "utilisation", "-o", "use.png"),
        ("export", "old", "old.swf"),
    ):
        told = schedlab(*words, folder=tmp_path)
        assert told.returncode == 0, told.stderr
    sl.read_run(tmp_path / "old").save(tmp_path / "copy")
    assert (tmp_path / "copy" / "run.json").read_bytes() == (tmp_path / "old" / "run.json").read_bytes()


def test_formats_that_are_yet_to_come(tmp_path: Path) -> None:
    path = format_1.write(tmp_path / "run") / "run.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"format": 3}))
    with pytest.raises(sl.InputError, match=r"format 3.*knows 1 and 2"):
        sl.read_run(tmp_path / "run")
    with pytest.raises(sl.InputError, match="format 3"):
        sl.check(tmp_path / "run")
