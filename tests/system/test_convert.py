"""`schedlab convert`, `formats` and `inspect` on files of every format."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import schedlab as sl
from schedlab.cluster.formats import write_cluster

DEMO = Path(__file__).parents[2] / "examples" / "demo.swf"


def schedlab(*words: object) -> subprocess.CompletedProcess[str]:
    script = Path(sys.executable).with_name("schedlab")
    return subprocess.run([script, *map(str, words)], capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize("ending", ["sacct", "events", "json", "csv", "parquet", "swf.zst"])
def test_jobs_there_and_back(tmp_path: Path, ending: str) -> None:
    """Submit times, run times, limits and sizes survive in every format; what does not is said."""
    there = tmp_path / f"jobs.{ending}"
    done = schedlab("convert", DEMO, there)
    assert done.returncode == 0, done.stderr
    assert f"jobs in {there}" in done.stdout
    assert schedlab("convert", there, tmp_path / "back.swf").returncode == 0
    before, after = sl.read_workload(DEMO), sl.read_workload(tmp_path / "back.swf")
    one, other = next(before.batches()), next(after.batches())
    shift = one.submit[0] - other.submit[0] if ending == "sacct" else 0.0  # dates begin with the first job
    np.testing.assert_array_equal(other.submit + shift, one.submit)
    for column in ("runtime", "limit", "count"):
        np.testing.assert_array_equal(getattr(other, column), getattr(one, column), err_msg=column)
    assert len(np.unique(other.user)) == len(np.unique(one.user)) or "user" in done.stdout


def test_a_second_file_is_not_replaced(tmp_path: Path) -> None:
    assert schedlab("convert", DEMO, tmp_path / "a.csv").returncode == 0
    again = schedlab("convert", DEMO, tmp_path / "a.csv")
    assert again.returncode == 2
    assert "--force" in again.stderr
    assert schedlab("convert", DEMO, tmp_path / "a.csv", "--force").returncode == 0


def test_an_ending_that_says_nothing(tmp_path: Path) -> None:
    failed = schedlab("convert", DEMO, tmp_path / "a.doc")
    assert failed.returncode == 2
    assert "jobs cannot be written in that format" in failed.stderr
    assert schedlab("convert", DEMO, tmp_path / "a.doc", "--to", "swf").returncode == 0


@pytest.mark.parametrize("ending", ["toml", "conf", "xml", "json", "machines"])
def test_clusters_there_and_back(tmp_path: Path, ending: str) -> None:
    machine = sl.Cluster(
        (
            sl.NodeGroup("thin", 12, {"cores": 32, "memory": 64 * 2**30}, "t", 1, 2),
            sl.NodeGroup("fat", 2, {"cores": 64, "memory": 512 * 2**30}, "f", 1, 1),
        ),
        name="site",
    )
    write_cluster(tmp_path / "site.toml", machine)
    there = tmp_path / f"slurm-site.{ending}"
    done = schedlab("convert", tmp_path / "site.toml", there)
    assert done.returncode == 0, done.stderr
    assert "14 nodes, 512 cores" in done.stdout
    assert schedlab("convert", there, tmp_path / "back.toml").returncode == 0
    back = sl.read_cluster(tmp_path / "back.toml")
    assert (back.nodes, back.cores) == (14, 512)
    shown = schedlab("inspect", there)
    assert shown.returncode == 0
    assert "512" in shown.stdout


def test_the_list_of_formats() -> None:
    listed = json.loads(schedlab("formats", "--json").stdout)
    assert {"swf", "sacct", "slurm-events", "batsim", "table"} <= {known["name"] for known in listed["jobs"]}
    assert {"toml", "slurm", "simgrid", "accasim", "alea"} <= {known["name"] for known in listed["clusters"]}


def test_how_alike_two_logs_are(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    found = schedlab("inspect", DEMO, "--against", DEMO, "--out", page)
    assert found.returncode == 0, found.stderr
    assert "jobs wait 1.00 times as long as those of demo" in found.stdout.splitlines()[0]
    assert "practically the same distribution" in found.stdout
    assert "<svg" in page.read_text() or "data:image" in page.read_text()
    document = json.loads(schedlab("inspect", DEMO, "--against", DEMO, "--json").stdout)
    assert all(variable["ks"] == 0 for variable in document["variables"].values())


def test_a_fitted_model_says_how_alike_it_is(tmp_path: Path) -> None:
    fitted = schedlab("fit", DEMO, "--out", tmp_path / "m.json")
    assert fitted.returncode == 0, fitted.stderr
    assert "schedules behave alike" in fitted.stdout.splitlines()[0]
    assert "KS" in fitted.stdout
    for name, seed in (("a", 1), ("b", 2), ("c", 2)):
        out = tmp_path / f"{name}.swf"
        made = schedlab("generate", tmp_path / "m.json", "--jobs", 500, "--seed", seed, "--out", out)
        assert "500 jobs" in made.stdout, made.stderr
    first, second, third = ((tmp_path / f"{name}.swf").read_text().splitlines()[5:] for name in "abc")
    assert first != second
    assert second == third
