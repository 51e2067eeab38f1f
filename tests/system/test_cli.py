"""The command line as a user meets it: real processes, real folders."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.commands import schedlab

DEMO = Path(__file__).parents[2] / "examples" / "demo.swf"
COMMAND = [sys.executable, "-c", "from schedlab.cli.main import main; main()"]

# Three jobs on two cores: 1 takes both for 100 s, 2 and 3 wait for it.
THREE_JOBS = """; MaxProcs: 2
1 0 -1 100 2 -1 -1 2 200 -1 1 1 1 -1 1 -1 -1 -1
2 10 -1 50 1 -1 -1 1 60 -1 1 1 1 -1 1 -1 -1 -1
3 20 -1 50 2 -1 -1 2 60 -1 1 1 1 -1 1 -1 -1 -1
"""


def succeeds(*arguments: object, folder: Path | None = None) -> str:
    done = schedlab(*arguments, folder=folder)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


def fails(*arguments: object, folder: Path | None = None, code: int = 2) -> str:
    done = schedlab(*arguments, folder=folder)
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    return done.stderr


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "three.swf"
    path.write_text(THREE_JOBS)
    return path


def everything_in(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.suffix != ".swf")


# run


def test_one_policy_makes_one_run(tmp_path: Path, log: Path) -> None:
    out = succeeds("run", log, "--policy", "easy", "--out", tmp_path / "result")
    assert "three: 3 jobs on pool:2 (2 cores, MaxProcs of the log's header)" in out
    assert f"results in {tmp_path / 'result'}" in out
    assert everything_in(tmp_path) == [
        "result",
        *(f"result/{n}" for n in ("jobs.parquet", "run.json", "timeline.parquet")),
    ]
    jobs = pl.read_parquet(tmp_path / "result" / "jobs.parquet").sort("sequence")
    assert jobs["start"].to_list() == [0, 100, 150]


def test_several_policies_make_a_folder_each(tmp_path: Path, log: Path) -> None:
    policies = ["--policy", "easy", "--policy", "none:order=fcfs", "--policy", "easy:order=sjf,place=best-fit"]
    out = succeeds("run", log, "--cluster", "1x2", *policies, "--out", tmp_path / "results")
    names = ["easy", "easy-order=sjf,place=best-fit", "fcfs"]
    assert sorted(path.name for path in (tmp_path / "results").iterdir()) == names
    assert "easy:order=sjf,place=best-fit" in out
    # another policy goes beside them
    succeeds("run", log, "--policy", "ljf", "--out", tmp_path / "results")
    assert (tmp_path / "results" / "ljf" / "run.json").exists()


def test_without_out_nothing_is_written(tmp_path: Path, log: Path) -> None:
    assert "not kept" in succeeds("run", log, folder=tmp_path)
    assert everything_in(tmp_path) == []


def test_json(log: Path) -> None:
    document = json.loads(succeeds("run", log, "--policy", "easy", "--policy", "fcfs", "--json"))
    assert [run["policy"] for run in document["runs"]] == ["easy", "fcfs"]
    assert document["runs"][0]["summary"]["wait"]["mean"] == pytest.approx((0 + 90 + 130) / 3)
    assert document["runs"][0]["folder"] is None
    assert document["cluster"]["name"] == "pool:2"


def test_quiet(log: Path) -> None:
    assert succeeds("run", log, "--quiet") == ""


def test_options_reach_the_simulation(tmp_path: Path, log: Path) -> None:
    options = ["--estimate", "exact", "--overrun", "run", "--passes", "event", "--dependencies", "follow"]
    succeeds("run", log, *options, "--validate", "--out", tmp_path / "result")
    found = json.loads((tmp_path / "result" / "run.json").read_text())["options"]
    expected = {"estimate": "exact", "overrun": "run", "passes": "event", "dependencies": "follow"}
    assert {name: found[name] for name in expected} == expected


def test_tau(log: Path) -> None:
    def mean(*options: str) -> float:
        document = json.loads(succeeds("run", log, "--json", *options))
        return float(document["runs"][0]["summary"]["bounded_slowdown"]["mean"])

    assert mean() == pytest.approx((1 + 140 / 50 + 180 / 50) / 3)
    assert mean("--tau", "100") == pytest.approx((1 + 1.4 + 1.8) / 3)


def test_the_same_run_twice_gives_the_same_bytes(tmp_path: Path) -> None:
    for name, environment in {  # OMP_NUM_THREADS is the size of pyarrow's pool of threads too
        "a": {"PYTHONHASHSEED": "1", "TZ": "UTC", "OMP_NUM_THREADS": "1", "POLARS_MAX_THREADS": "1"},
        "b": {"PYTHONHASHSEED": "2", "TZ": "Asia/Tokyo", "OMP_NUM_THREADS": "2", "POLARS_MAX_THREADS": "2"},
    }.items():
        subprocess.run(
            [*COMMAND, "run", DEMO, "--cluster", "64x4", "--out", tmp_path / name],
            env=os.environ | environment,
            check=True,
            capture_output=True,
        )
    for table in ("jobs.parquet", "timeline.parquet"):
        assert (tmp_path / "a" / table).read_bytes() == (tmp_path / "b" / table).read_bytes()


# compare, check, inspect, policies, export


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("demo") / "results"
    policies = ("fcfs", "easy", "easy:order=sjf")
    succeeds("run", DEMO, "--cluster", "64x4", *(f"--policy={policy}" for policy in policies), "--out", folder)
    return folder


def test_compare(results: Path) -> None:
    out = succeeds("compare", *sorted(results.iterdir()))
    assert "demo on 64x4" in out
    rows = [line.split() for line in out.splitlines()]
    waits = {row[0]: row[1] for row in rows if row and row[0] in ("fcfs", "easy", "easy:order=sjf")}
    assert len(waits) == 3
    assert waits["easy:order=sjf"].endswith("*")
    assert not waits["fcfs"].endswith("*")
    assert succeeds("compare", results) == out  # the folder that holds them does as well


def test_compare_json_by_class_trimmed(results: Path) -> None:
    document = json.loads(succeeds("compare", results, "--json", "--by", "size", "--trim", "10%"))
    assert document["best"]["wait.mean"] == ["easy:order=sjf"]
    assert document["runs"][0]["summary"]["jobs"] == 1600
    assert sum(row["jobs"] for row in document["runs"][0]["classes"]) == 1600


@pytest.mark.parametrize("by", ["size", "runtime", "user", "queue"])
def test_compare_by_class(results: Path, by: str) -> None:
    assert f"mean wait by {by}" in succeeds("compare", results, "--by", by)


def test_compare_names_and_leaves_out_what_is_not_a_run(results: Path, tmp_path: Path) -> None:
    done = schedlab("compare", results / "easy", tmp_path, DEMO)
    assert done.returncode == 0
    assert done.stderr.count("warning: left out: ") == 2
    assert str(tmp_path) in done.stderr
    assert "there is no run among these folders" in fails("compare", tmp_path, "nowhere")


def test_check(results: Path) -> None:
    assert succeeds("check", results / "easy", results / "fcfs").count("feasible") == 2


@pytest.mark.corrupts
def test_check_objects_to_a_changed_schedule(results: Path, tmp_path: Path) -> None:
    changed = tmp_path / "changed"
    changed.mkdir()
    for path in (results / "easy").iterdir():
        (changed / path.name).write_bytes(path.read_bytes())
    jobs = pl.read_parquet(changed / "jobs.parquet")
    late = pl.when(pl.col("sequence") == 100).then(pl.col("submit") - 60).otherwise(pl.col("start")).alias("start")
    jobs.with_columns(late).write_parquet(changed / "jobs.parquet")
    done = schedlab("check", changed)
    assert done.returncode == 1
    assert "not feasible" in done.stdout
    offences = json.loads(schedlab("check", changed, "--json").stdout)[str(changed)]
    assert offences[0]["message"]


def test_inspect() -> None:
    out = succeeds("inspect", DEMO)
    assert "256 processors (MaxProcs of the header)" in out
    assert json.loads(succeeds("inspect", DEMO, "--json"))["jobs"] == 2000
    assert "512 processors (as given)" in succeeds("inspect", DEMO, "--cluster", "pool:512")


def test_policies() -> None:
    out = succeeds("policies")
    for word in ("easy-strict", "conservative", "wfp3", "contiguous", "last-two", "reservations="):
        assert word in out
    assert {entry["kind"] for entry in json.loads(succeeds("policies", "--json"))} >= {"backfill", "order", "placement"}


def test_export_and_read_again(results: Path, tmp_path: Path) -> None:
    out = tmp_path / "easy.swf.gz"
    succeeds("export", results / "easy", out)
    text = gzip.decompress(out.read_bytes()).decode()
    assert "; MaxProcs: 256" in text
    # what was scheduled is now the record: the jobs of the run, each with its wait
    jobs = pl.read_parquet(results / "easy" / "jobs.parquet").sort("sequence")
    waits = [int(line.split()[2]) for line in text.splitlines() if not line.startswith(";")]
    assert waits == (jobs["start"] - jobs["submit"]).to_list()
    assert json.loads(succeeds("inspect", out, "--json"))["jobs"] == 2000
    assert "is already there" in fails("export", results / "easy", out)
    succeeds("export", results / "easy", out, "--force")


def test_version_and_help() -> None:
    assert succeeds("--version").startswith("schedlab 0.")
    out = succeeds("--help")
    for command in ("run", "compare", "check", "inspect", "policies", "export"):
        assert command in out
        assert "--help" in succeeds(command, "--help")


# What the user gets wrong


def bad_log(tmp_path: Path, kind: str) -> Path:
    records = THREE_JOBS.splitlines()
    compressed = gzip.compress(DEMO.read_bytes())
    contents = {
        "truncated": compressed[: len(compressed) // 2],
        "junk": bytes(range(256)) * 20,
        "narrow": "\n".join([records[0], *(line.rsplit(" ", 1)[0] for line in records[1:])]).encode(),
        "negative": THREE_JOBS.replace("2 10 ", "2 -77 ").encode(),
        "absurd": THREE_JOBS.replace(" 50 1 ", " 1e300 1 ", 1).encode(),
        "empty": b"",
        "duplicate": THREE_JOBS.replace("3 20", "2 20").encode(),
    }
    path = tmp_path / (f"{kind}.swf.gz" if kind == "truncated" else f"{kind}.swf")
    path.write_bytes(contents[kind])
    return path


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("truncated", "truncated"),
        ("junk", "is this an SWF log"),
        ("narrow", "17 columns"),
        ("negative", '"-77"'),
        ("absurd", '"1e300"'),
        ("empty", "is empty"),
        ("duplicate", "second time"),
    ],
)
def test_bad_logs(tmp_path: Path, kind: str, message: str) -> None:
    path = bad_log(tmp_path, kind)
    error = fails("run", path, "--out", tmp_path / "result")
    assert error.startswith(f"error: {path}")
    assert message in error
    assert "hint: " in error
    assert not (tmp_path / "result").exists()


def test_missing_log_and_directory(tmp_path: Path, log: Path) -> None:
    assert "no such file" in fails("run", tmp_path / "thre.swf")
    assert f"did you mean {log}" in fails("run", tmp_path / "thre.swf")
    assert "is a directory" in fails("run", tmp_path)


@pytest.mark.parametrize("cluster", ["0x2", "2x0", "pool:0", "-3x2"])
def test_a_cluster_of_nothing(log: Path, cluster: str) -> None:
    error = fails("run", log, f"--cluster={cluster}")
    assert error.startswith(f"error: cluster '{cluster}'")
    assert "cannot run anything" in error


def test_a_log_that_does_not_know_its_machine(tmp_path: Path) -> None:
    path = tmp_path / "three.swf"
    path.write_text(THREE_JOBS.partition("\n")[2])
    error = fails("run", path)
    assert "--cluster" in error
    succeeds("run", path, "--cluster", "pool:2")


def test_a_policy_that_does_not_exist(log: Path) -> None:
    error = fails("run", log, "--policy", "esay", "--policy", "fcsf")
    assert "did you mean 'easy'?" in error
    assert "did you mean 'fcfs'?" in error  # both at once


def test_a_policy_twice(log: Path) -> None:
    assert "given twice" in fails("run", log, "--policy", "fcfs", "--policy", "none:order=fcfs")


@pytest.mark.parametrize(
    "options",
    [
        ["--estimate", "exat"],
        ["--clean", "everything"],
        ["--missing-limit", "soon"],
        ["--overrun", "walk"],
        ["--tau", "0"],
        ["--nonsense"],
    ],
)
def test_bad_options(log: Path, options: list[str]) -> None:
    assert options[-1] in fails("run", log, *options)


def test_a_folder_that_already_holds_a_run(tmp_path: Path, log: Path) -> None:
    folder = tmp_path / "result"
    succeeds("run", log, "--policy", "easy", "--out", folder)
    error = fails("run", log, "--policy", "fcfs", "--out", folder)
    assert error.startswith(f"error: {folder}: already holds a run")
    assert "--force" in error
    assert "itself the folder of a run" in fails("run", log, "--policy", "fcfs", "--policy", "sjf", "--out", folder)
    assert json.loads((folder / "run.json").read_text())["policy"] == "easy"
    succeeds("run", log, "--policy", "fcfs", "--out", folder, "--force")
    assert json.loads((folder / "run.json").read_text())["policy"] == "fcfs"


def test_force_does_not_delete_what_is_not_a_run(tmp_path: Path, log: Path) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "notes.txt").write_text("mine")
    assert "other files (notes.txt)" in fails("run", log, "--out", tmp_path / "work", "--force")
    assert (tmp_path / "work" / "notes.txt").read_text() == "mine"


def test_a_full_disk(tmp_path: Path) -> None:
    # A file system of 64 kB that only this process and its children see, and that goes when they go.
    script = 'mount -t tmpfs -o size=64k tmpfs "$0" || exit 77; "$@"; code=$?; ls -A "$0"; exit $code'
    run = [*COMMAND, "run", DEMO, "--cluster", "64x4", "--out", tmp_path / "result", "--quiet"]
    if shutil.which("unshare") is None:
        pytest.skip("needs unshare, to make a small disk")
    done = subprocess.run(
        ["unshare", "--map-root-user", "--mount", "sh", "-c", script, tmp_path, *run],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode == 77 or done.stderr.startswith("unshare"):
        pytest.skip("needs the right to mount a small disk")
    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith(f"error: {tmp_path / 'result'}: cannot write the run: No space left on device")
    assert "hint: free some space" in done.stderr
    assert done.stdout == ""  # nothing is left in the folder


# What happens in between


def long_log(tmp_path: Path) -> Path:
    """Enough jobs to be interrupted in."""
    lines = [f"{job} {job} -1 {1 + job % 97} 1 -1 -1 1 100 -1 1 1 1 -1 1 -1 -1 -1" for job in range(1, 400_000)]
    path = tmp_path / "long.swf"
    path.write_text("; MaxProcs: 60\n" + "\n".join(lines) + "\n")
    return path


def stopped(tmp_path: Path, number: signal.Signals) -> tuple[int, str, dict[str, Any]]:
    """Start a run of two policies, and send a signal while the second one is being written."""
    results = tmp_path / "results"
    arguments = ["run", long_log(tmp_path), "--policy", "reject", "--policy", "conservative", "--out", results]
    with subprocess.Popen([*COMMAND, *map(str, arguments)], stderr=subprocess.PIPE, text=True) as process:
        for _ in range(600):
            if (results / "reject" / "run.json").exists() and list(results.glob(".conservative.partial-*")):
                break
            time.sleep(0.05)
        process.send_signal(number)
        _, error = process.communicate(timeout=60)
    return process.returncode, error, {path.name: path for path in results.iterdir()}


def test_interruption(tmp_path: Path) -> None:
    code, error, found = stopped(tmp_path, signal.SIGINT)
    assert code == 130
    assert error == (
        f"interrupted: nothing was written for conservative; finished: {tmp_path / 'results' / 'reject'}\n"
    )
    assert list(found) == ["reject"]


def test_termination(tmp_path: Path) -> None:
    code, _, found = stopped(tmp_path, signal.SIGTERM)
    assert code == 143
    assert list(found) == ["reject"]


def test_a_run_does_not_load_what_it_does_not_need(log: Path, tmp_path: Path) -> None:
    code = "import sys\nfrom schedlab.cli.main import main\ntry:\n    main()\nfinally:\n    print(*sys.modules)"
    command = [sys.executable, "-c", code, "run", str(log), "--out", str(tmp_path / "out")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert not loaded & {"polars", "matplotlib", "pandas", "scipy", "pyarrow.compute"}
