"""Why runs are not those of a study: what is said, and that it is found without comparing every pair of runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from schedlab.experiment import merging
from schedlab.experiment.coordinator import opened
from schedlab.experiment.ledger import Ledger
from schedlab.experiment.merging import refusals
from schedlab.experiment.plan import PlannedRun
from schedlab.experiment.study import Point

RUNS = 50


class Counted(list[str]):
    walks = 0

    def __iter__(self):  # type: ignore[no-untyped-def]
        self.walks += 1
        return super().__iter__()


def _planned(ledger: Ledger, name: str, points: list[Point]) -> list[PlannedRun]:
    runs = [PlannedRun(f"{name}{n}", point, 0, 1) for n, point in enumerate(points)]
    ledger.set_plan(runs, {"name": name})
    ledger.write_plan()
    return runs


def test_every_run_is_looked_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    points: list[Point] = [{"jobs": n, "policy": "mine.py:P"} for n in range(RUNS)]
    with opened(tmp_path / "other") as other:
        identities = Counted(run.identity for run in _planned(other, "other", points))
    looked: list[object] = []
    named = merging._named
    monkeypatch.setattr(merging, "_named", lambda point: looked.append(point) or named(point))
    with opened(tmp_path / "study") as ledger:
        _planned(ledger, "study", points)
        (error,) = refusals(tmp_path / "other", identities, tmp_path / "study", ledger, "other")
    assert error.message == f"50 of its 50 runs are not runs of {tmp_path}/study: mine.py had another content"
    assert len(looked) == 2 * RUNS
    assert identities.walks < 5


@pytest.mark.parametrize(
    ("point", "named"),
    [
        ({"log": "there/log.swf", "policy": "easy"}, "log.swf"),
        ({"model": "cyclic(rate=0.5)", "policy": 'mine.py:P(a="there/table.csv",b=1.5)'}, "mine.py or table.csv"),
        ({"cluster": "there/my machine.toml", "policy": "easy:order=there/own.py:f,x"}, "my machine.toml or own.py"),
        ({"cluster": "pool:64", "policy": "slurm-real(conf='there/slurm.conf', set=['A=1.5'])"}, "slurm.conf"),
        ({"cluster": "pool:64", "policy": "easy"}, "a file that it reads"),
    ],
)
def test_files_that_may_have_had_another_content(tmp_path: Path, point: Point, named: str) -> None:
    with opened(tmp_path / "other") as other:
        identities = [run.identity for run in _planned(other, "other", [point])]
    with opened(tmp_path / "study") as ledger:
        _planned(ledger, "study", [point])
        (error,) = refusals(tmp_path / "other", identities, tmp_path / "study", ledger, "other")
    assert error.message.endswith(f": {named} had another content")
