"""The studies of examples/coscheduling: they run, and with the measured heatmaps they find what the paper printed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

FOLDER = Path(__file__).parents[2] / "examples" / "coscheduling"
SIZES = (64, 128, 256, 512, 1024)


@pytest.fixture
def studies(monkeypatch: pytest.MonkeyPatch) -> dict[str, ModuleType]:
    """The scripts as modules."""
    monkeypatch.syspath_prepend(str(FOLDER))
    return {name: __import__(name) for name in ("table2", "diversity", "pools")}


@pytest.fixture
def heatmap(tmp_path: Path) -> Path:
    """Two applications of each size, of which one gains what the other loses."""
    names = [f"{code}.D.{size}" for size in SIZES for code in ("up", "down")]
    rows = [[1.2 if name.startswith("up") else 0.9] * len(names) for name in names]
    document: dict[str, Any] = {"names": names, "speedups": rows, "runtimes": [60.0] * len(names)}
    file = tmp_path / "made.json"
    file.write_text(json.dumps(document | {"processes": [int(name.split(".")[2]) for name in names]}))
    return file


def said(script: str, *words: str) -> str:
    command = [sys.executable, str(FOLDER / script), *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_table_2_runs(tmp_path: Path) -> None:
    codes = tmp_path / "codes.csv"
    codes.write_text("code,a,b\na,1.1,1.1\nb,1.1,1.1\n")
    lines = said("table2.py", str(codes)).splitlines()
    assert [line.split()[0] for line in lines[3:]] == ["1.07", "1.1", "1.12", "1.155"]
    # 16 jobs at once on whole nodes, 18 on halves: 32 and 28 rounds of 100 s, these 1 / 1.1 as long.
    assert lines[4].split()[2:] == ["1", "25.7", "to", "25.7,", "25.7", "20.5", "to", "20.5,", "20.5", "14.3", "10.0"]
    assert "no set of codes" in lines[3]


def test_shuffles_and_diversity_run(heatmap: Path, tmp_path: Path) -> None:
    figure = tmp_path / "shuffles.png"
    assert "all of them" in said(
        "shuffles.py", str(heatmap), "--jobs", "30", "--orders", "3", "--machine", "60x20", "--out", str(figure)
    )
    assert figure.stat().st_size > 10_000
    assert "cosched:order=filler" in said("diversity.py", str(heatmap), "--jobs", "20", "--machine", "120x20")


def test_table_2_of_the_paper(studies: dict[str, ModuleType], traces: Path) -> None:
    """With equal run times: what is printed for 1.07, 1.10 and 1.12 is among what fits, by the mean over unordered
    pairs (of three means the one that fits best); for 1.155 it is less than a point below."""
    table2 = studies["table2"]
    heatmap = table2.read_heatmap(traces / "heatmaps" / "marconi-npb256-speedups.csv")
    equal = dict.fromkeys(heatmap.names, 100.0)
    for mean, printed in table2.PRINTED.items():
        cases = [table2.case(heatmap, names, equal) for names in table2.sets_of_codes(heatmap, mean, "unordered")]
        faster = [100 * (3200 / table2.makespan(case.run("cosched", 0)) - 1) for case in cases]  # 32 rounds of 100 s
        assert min(faster) - (1 if mean == 1.155 else 0) <= printed <= max(faster)


def test_diversity_of_the_paper(studies: dict[str, ModuleType], traces: Path) -> None:
    """On the nodes of ARIS: 12.6 % with 256 processes only, as printed; next to nothing with all sizes, and Filler
    keeps more of it, at the price of jobs that start later."""
    diversity = studies["diversity"]
    heatmap = diversity.read_heatmap(traces / "heatmaps" / "lm-aris.compute-NAS.json.gz")

    def of(sizes: tuple[int, ...], policy: str, key: str) -> float:
        rows = diversity.rows_of(heatmap, diversity.ARIS, sizes, [policy])
        return 100 * float(np.mean([row[key] for row in rows]))

    first, last = diversity.MIXES[0], diversity.MIXES[-1]
    assert of(first, "cosched", "faster") == pytest.approx(12.6, abs=1)
    assert of(last, "cosched", "faster") < 2
    assert of(last, "cosched:order=filler", "faster") > 4
    assert of(diversity.MIXES[1], "cosched:order=filler", "later") > 20 > of(diversity.MIXES[1], "cosched", "later")
