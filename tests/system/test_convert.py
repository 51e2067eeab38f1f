"""`schedlab convert`, `formats` and `inspect` on files of every format."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tests.commands import schedlab

import schedlab as sl
from schedlab.cluster.formats import write_cluster

DEMO = Path(__file__).parents[2] / "examples" / "demo.swf"


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
    assert {"wfformat", "dax", "scsf", "toml", "sbatch", "log"} == {known["name"] for known in listed["workflows"]}


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


MEMORY = """; MaxProcs: 4
1 0 -1 100 1 90 -1 1 100 2097152 1 1 1 -1 1 -1 -1 -1
2 1 -1 100 1 -1 -1 1 100 2097152 1 1 1 -1 1 -1 -1 -1
"""


@pytest.mark.parametrize("ending", ["swf", "csv", "parquet", "sacct"])
def test_memory_survives_a_transformation(tmp_path: Path, ending: str) -> None:
    """Two jobs of 2 GiB: whatever they are written as, both want them; the CPU time that is lost is said."""
    log = tmp_path / "m.swf"
    log.write_text(MEMORY)
    done = schedlab("transform", log, "--out", tmp_path / f"there.{ending}")
    assert done.returncode == 0, done.stderr
    assert "lost: average CPU time (field 6) of 1 job: not kept" in done.stdout
    assert "requests for memory" not in done.stdout
    assert schedlab("transform", tmp_path / f"there.{ending}", "--out", tmp_path / "back.swf").returncode == 0
    fields = [line.split()[9] for line in (tmp_path / "back.swf").read_text().splitlines() if line[0] != ";"]
    assert fields == ["2097152", "2097152"]
    # On a node of 3 GiB the second has to wait for the first.
    machine = tmp_path / "m.toml"
    machine.write_text('[[nodes]]\nname = "n"\ncount = 1\ncores = 4\nmemory = "3 GiB"\n')
    jobs = sl.read_workload(tmp_path / "back.swf", requests="full")
    run = sl.simulate(jobs, sl.read_cluster(machine), "fcfs")
    assert run.summary["wait"]["mean"] == 49.5


def test_memory_of_a_table_with_a_mapping_survives_a_transformation(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("when,long,procs,mem\n0,100,2,2048\n5,50,1,1024\n")
    columns = {"submit": "when", "runtime": "long", "cores": "procs", "memory": '{ column = "mem", unit = "MiB" }'}
    text = "".join(f"{key} = {value if value[0] == '{' else json.dumps(value)}\n" for key, value in columns.items())
    (tmp_path / "t.toml").write_text(f"[columns]\n{text}")
    done = schedlab(
        "transform", tmp_path / "t.csv", "--reader", f"table:{tmp_path / 't.toml'}", "-o", tmp_path / "o.csv"
    )
    assert done.returncode == 0, done.stderr
    back = sl.read_workload(tmp_path / "o.csv", requests="full")
    assert [request.chunk.get("memory") for request in back.requests if "memory" in request.chunk] == [2**30]


def test_a_log_with_odd_values_that_no_job_needs(tmp_path: Path) -> None:
    """A status of -4 (Sandia Ross) is counted, not fatal."""
    log = tmp_path / "odd.swf"
    log.write_text(MEMORY.replace("2097152 1 1", "2097152 -4 1", 1))
    done = schedlab("run", log, "--cluster", "pool:4", "--policy", "fcfs")
    assert done.returncode == 0, done.stderr
    assert "noted: 1 status: a value that makes no sense, counts as unknown" in done.stdout


def test_perfect_estimates_are_called_that(tmp_path: Path) -> None:
    log = tmp_path / "few.swf"
    rows = [f"{n} {n} -1 100 1 -1 -1 1 {-1 if n <= 7 else 200} -1 1 1 1 -1 1 -1 -1 -1" for n in range(1, 11)]
    log.write_text("\n".join(rows))
    done = schedlab("run", log, "--cluster", "pool:4", "--policy", "easy")
    words = "limit: run time for 7 jobs without a requested time: 70 % of the jobs get perfect estimates"
    said = " ".join(done.stdout.split())
    assert f"noted: {words}; --missing-limit TIME gives them a limit" in said
    assert "perfect estimates" not in schedlab("run", log, "-c", "pool:4", "--missing-limit", "1h").stdout
    assert sl.read_workload(log).report.filled == {"limit: run time": 7}


@pytest.mark.parametrize(
    "option", [("--estimate", "limit", "exact"), ("--overrun", "kill", "run"), ("-c", "2x2", "4x1")]
)
def test_an_option_that_takes_one_value_is_given_once(option: tuple[str, str, str]) -> None:
    name, one, other = option
    failed = schedlab("run", DEMO, "--cluster" if name == "-c" else name, one, name, other)
    assert failed.returncode == 2
    assert "is given 2 times, and takes one value" in failed.stderr and "give it once" in failed.stderr
    assert schedlab("run", DEMO, "-c", "64x4", "--policy", "fcfs", "--policy", "easy").returncode == 0


def test_an_exported_schedule_has_job_numbers(tmp_path: Path) -> None:
    log = tmp_path / "named.swf"
    log.write_text(MEMORY.replace("\n1 ", "\na.1 ").replace("\n2 ", "\nb.2 "))
    assert schedlab("run", log, "--cluster", "pool:4", "--policy", "fcfs", "--out", tmp_path / "run").returncode == 0
    done = schedlab("export", tmp_path / "run", tmp_path / "out.swf")
    assert done.returncode == 0, done.stderr
    assert "lost: names of jobs: numbers remain (2 jobs)" in done.stdout
    rows = [line.split() for line in (tmp_path / "out.swf").read_text().splitlines() if line[0] != ";"]
    assert [row[0] for row in rows] == ["1", "2"]


def test_an_exported_schedule_says_what_has_no_place_in_a_log(tmp_path: Path) -> None:
    jobs = sl.Workload.of(submit=[0, 5], runtime=[100, 10], count=[1, 1])
    maintenance = "maintenance('n1', start=50, duration=10)"
    sl.simulate(jobs, "1x1", "fcfs", estimate="limit*0.1", observers=[maintenance], out=tmp_path / "requeued")
    done = schedlab("export", tmp_path / "requeued", tmp_path / "a.swf")
    assert "the course of 1 jobs that were interrupted, requeued" in done.stdout
    stepper = sl.Stepper(jobs, "1x1", "fcfs", out=tmp_path / "early")
    assert stepper.advance()
    stepper.decide()
    stepper.finish()
    done = schedlab("export", tmp_path / "early", tmp_path / "b.swf")
    assert "that 1 jobs had not ended" in done.stdout
