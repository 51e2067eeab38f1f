"""Mappings: their mistakes, and the tables of others read through them."""

from pathlib import Path

import numpy as np
import pytest

from schedlab.model.errors import InputError, InputErrors
from schedlab.model.request import Request
from schedlab.workload.options import ReadOptions
from schedlab.workload.table.mapping import Column
from schedlab.workload.table.read import read_table
from schedlab.workload.table.toml import parse_mapping, read_mapping

ENOUGH = '[columns]\nsubmit = "a"\nruntime = "b"\ncores = "c"\n'


def test_all_mistakes_at_once_with_their_lines():
    text = """[table]
separator = "ab"
headr = true
[columns]
submit = { column = "a", unit = "fortnight" }
usr = "b"
cores = { unit = "milli" }
gpus = { column = "g", pattern = "gpu" }
limit = 7
status = { column = "s", completed = "DONE" }
missing = [""]
"""
    with pytest.raises(InputErrors) as error:
        parse_mapping(text, "map.toml")
    found = [str(one).split("\n")[0] for one in error.value.errors]
    assert found == [
        'map.toml:2: separator = "ab": expected one character, or "auto"',
        "map.toml:3: unknown key 'headr'",
        "map.toml:4: nothing says how long jobs run",
        'map.toml:5: unit = "fortnight": not known here',
        "map.toml:6: a job has no 'usr'",
        "map.toml:7: cores needs either column or value",
        "map.toml:8: pattern has 0 groups, expected one",
        "map.toml:9: limit = 7: expected the title of a column",
        'map.toml:10: completed = "DONE": expected a list of texts',
        "map.toml:11: a job has no 'missing'",
    ]
    assert "did you mean 'user'?" in str(error.value)
    assert "write missing below [table]" in str(error.value)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[columns", "map.toml:1: this is not TOML"),
        ("columns = 5", "columns = 5: expected a table"),
        ('[columns]\nruntime = "b"\ncores = "c"', "nothing says when jobs are submitted"),
        ('[columns]\nsubmit = "a"\nruntime = "b"', "nothing says how large jobs are"),
        (ENOUGH + "user = { column = 5 }", "column = 5: expected a text in quotes"),
        (ENOUGH + "user = { column = 'u', unit = 's' }", "unknown key 'unit'"),
        (ENOUGH + "gpus = { column = 'u', pattern = '(' }", "not a regular expression"),
        ("[table]\nheader = 1\n" + ENOUGH, "header = 1: expected true or false"),
    ],
)
def test_mistakes(text, problem):
    with pytest.raises(InputError) as error:
        parse_mapping(text, "map.toml")
    assert problem in str(error.value)


def test_columns_that_the_table_lacks(tmp_path):
    log = tmp_path / "log.csv"
    log.write_text("a,c,c\n1,2,3\n")
    with pytest.raises(InputErrors) as error:
        read_table(log, ReadOptions(), parse_mapping(ENOUGH.replace('"b"', '"aa"'), "map.toml"))
    assert [str(one).split("\n")[0] for one in error.value.errors] == [
        f'map.toml:3: {log} has no column "aa"',
        f'map.toml:4: {log} has several columns "c"',
    ]
    assert "did you mean 'a'?" in str(error.value)


def test_the_mapping_of_the_manual():
    page = (Path(__file__).parents[2] / "docs" / "formats" / "tables.md").read_text()
    mapping = parse_mapping(page.split("```toml\n")[1].split("```")[0])
    assert mapping.separator == ";"
    assert mapping.missing == ("", "NA", "-1")
    assert mapping.columns["limit"] == Column("wallclock_req", unit="min")
    assert mapping.columns["gpus"].pattern == r"gpu:(\d+)"
    assert list(mapping.resources) == ["licences"]


def test_a_mapping_that_is_not_there(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        read_mapping(tmp_path / "none.toml")


def read(path, mapping, **options):
    workload = read_table(path, ReadOptions(**options), parse_mapping(mapping))
    (jobs,) = workload.batches()
    return workload, jobs


def request_of(workload, jobs, job):
    (row,) = np.flatnonzero(jobs.id == job)
    return int(jobs.count[row]), workload.requests[jobs.request[row]]


def name_of(workload, jobs, job, column):
    (row,) = np.flatnonzero(jobs.id == job)
    return workload.labels[column][getattr(jobs, column)[row]]


# Its job ids are not unique: rows are numbered instead.
EAGLE = """[columns]
submit = { column = "submit_time", unit = "date" }
start = { column = "start_time", unit = "date" }
runtime = "run_time"
limit = "wallclock_req"
nodes = "nodes_req"
cores = "processors_req"
gpus = "gpus_req"
memory = { column = "mem_req", unit = "MB", per = "node" }
user = "user"
group = "account"
queue = "qos"
partition = "partition"
executable = "name"
status = { column = "state", completed = ["COMPLETED"], failed = ["FAILED", "TIMEOUT"], cancelled = ["CANCELLED"] }
"""


def test_eagle(traces):
    workload, jobs = read(traces / "slurm" / "NREL-Eagle-2019-first1000.csv.gz", EAGLE)
    assert workload.report.records == len(jobs) == 1000
    assert np.bincount(jobs.status).tolist() == [15, 985]  # 15 time-outs
    assert request_of(workload, jobs, 1) == (10, Request({"cores": 1}, per_node_max=1))
    (row,) = np.flatnonzero(jobs.id == 1)
    assert (jobs.runtime[row], jobs.limit[row], jobs.wait[row]) == (99825, 172800, 1)
    assert name_of(workload, jobs, 1, "user") == "user0014"
    assert name_of(workload, jobs, 1, "group") == "account0003"
    with pytest.raises(InputError, match="has occurred before; a mapping without id numbers the rows"):
        read(traces / "slurm" / "NREL-Eagle-2019-first1000.csv.gz", EAGLE + 'id = "job_id"')


# `wall_limit` is in minutes, `mem` in MB a node; a run time of -1 runs into the limit, 0 ends at once.
MICRO = """[table]
separator = ";"
[columns]
id = "job_id"
submit = "dt"
runtime = "wall_time"
limit = { column = "wall_limit", unit = "min" }
cores = "n_tasks"
cores_per_node = "ntasks_per_node"
memory = { column = "mem", unit = "MB", per = "node" }
gpus = { column = "gres", pattern = 'gpu:(\\d+)', per = "node" }
features = "constraint"
user = "user"
group = "account"
queue = "qos"
partition = "partition"
"""


def test_micro_cluster(traces):
    workload, jobs = read(traces / "slurm" / "ubccr-micro-jobs500.csv.gz", MICRO, clean="none", requests="full")
    assert workload.report.records == len(jobs) == 500
    asked = [workload.requests[place] for place in jobs.request]
    assert sum("CPU-N" in one.features for one in asked) == 100
    assert sum("CPU-M" in one.features for one in asked) == 102
    assert sum(one.chunk.get("gpus") == 2 for one in asked) == 31
    assert sum(one.chunk.get("memory") == 500_000 * 10**6 for one in asked) == 43
    assert request_of(workload, jobs, 1001) == (1, Request({"cores": 12}))
    assert jobs.limit[0] == 7 * 60


def test_the_small_trace_of_the_tutorial(traces):
    workload, jobs = read(traces / "slurm" / "ubccr-micro-small.csv.gz", MICRO, clean="none")
    assert len(jobs) == 20
    assert request_of(workload, jobs, 1004) == (2, Request({"cores": 12}, per_node_max=1))
    assert request_of(workload, jobs, 1011) == (1, Request({"cores": 1, "gpus": 1}))
    assert jobs.submit.tolist()[-2:] == [43, 43]


def test_a_table_written_by_r(traces):
    mapping = """[columns]
        id = "sim_job_id"
        submit = { column = "sim_submit", unit = "date" }
        runtime = "sim_duration"
        limit = { column = "sim_wclimit", unit = "min" }
        cores = "sim_tasks"
        cores_per_node = "sim_tasks_per_node"
        features = "sim_features"
        user = "sim_username" """
    workload, jobs = read(traces / "slurm" / "ubccr-micro-jobs500org.csv.gz", mapping, clean="none")
    assert len(jobs) == 500
    assert str(workload.origin) == "2017-01-01 00:01:26+00:00"
    assert jobs.submit.tolist()[:3] == [0, 49, 60]
    assert jobs.limit.tolist()[:3] == [420, 1800, 960]


def test_columns_without_titles(traces):
    mapping = """[table]
        header = false
        [columns]
        id = "1"
        submit = "2"
        runtime = "4"
        cores = "5"
        limit = "9"
        memory = { column = "7", unit = "MB" }
        user = "12"
        group = "13" """
    workload, jobs = read(traces / "slurm" / "ubccr-micro-jobs500.swf.gz", mapping, clean="none")
    assert len(jobs) == 500
    assert workload.labels["user"][jobs.user[0]] == "user5"
    assert jobs.count.tolist()[:4] == [12, 1, 1, 12]


def test_slurm_real(traces):
    mapping = """[columns]
        id = "job"
        submit = "submit"
        runtime = "runtime_s"
        limit = { column = "walltime_min", unit = "min" }
        nodes = "nodes"
        cores = "ntasks"
        features = "constraint"
        gpus = { column = "gres", pattern = 'gpu:(\\d+)', per = "node" }
        user = "user"
        group = "account" """
    workload, jobs = read(traces / "slurm-real" / "workload.csv", mapping, clean="none")
    assert len(jobs) == 500
    assert request_of(workload, jobs, 1002) == (1, Request({"cores": 12}, features=frozenset({"CPU-M"})))
    assert sorted(workload.labels["group"]) == ["account1", "account2"]
    done = '[columns]\nid = "job"\nsubmit = "submit"\nstart = "start"\nend = "end"\ncores = "ncpus"\nuser = "user"'
    workload, jobs = read(traces / "slurm-real" / "vc_fairshare" / "run_dt10.csv", done, clean="none")
    assert len(jobs) == 500
    assert (jobs.wait[0], jobs.runtime[0]) == (1, 430)


BATSIM = """[columns]
submit = "submission_time"
runtime = "execution_time"
limit = "requested_time"
wait = "waiting_time"
status = { column = "success", completed = ["1"], failed = ["0"] }
"""


@pytest.mark.parametrize(
    ("name", "mapping", "jobs_", "mean_wait"),
    [
        ("batsim-medium_late-easy-jobs", 'id = "job_id"\ncores = "requested_number_of_resources"', 801, 9.516326),
        ("batsim-medium_late-inertial_shutdown-jobs", 'cores = "requested_number_of_resources"', 801, None),
        ("batsim-medium_late-opportunistic_shutdown-jobs", 'cores = "requested_number_of_resources"', 801, None),
        ("evalys-batsim_out_jobs", 'id = "jobID"\ncores = "requested_number_of_processors"', 800, None),
        ("evalys-oar_out_jobs", 'id = "jobID"\ncores = "requested_number_of_processors"', 800, None),
    ],
)
def test_results_of_batsim(traces, name, mapping, jobs_, mean_wait):
    _, jobs = read(traces / "results" / f"{name}.csv.gz", BATSIM + mapping)
    assert len(jobs) == jobs_
    assert set(jobs.status.tolist()) == {1}
    if mean_wait:  # as Batsim's own summary has it
        assert np.mean(jobs.wait) == pytest.approx(mean_wait, abs=5e-7)


def test_runs_of_oar(traces):
    mapping = """[columns]
        submit = "submit_s"
        start = "start_s"
        end = "stop_s"
        limit = "walltime_s"
        nodes = "nodes"
        group = "run"
        queue = "seed"
        executable = "app"
        status = { column = "state", completed = ["Terminated"] }"""
    workload, jobs = read(traces / "results" / "oar-g5k-2016-05-04.csv.gz", mapping, clean="none")
    assert workload.report.kept == 15_193
    assert np.bincount(jobs.group).tolist() == [7993, 7200]
    assert workload.requests == [
        Request({"cores": 1}, exclusive=True),
        Request({"cores": 1}, per_node_max=1, exclusive=True),
    ]


@pytest.mark.parametrize(("name", "mean_wait"), [("fifo", 215.888), ("random-ranks-cosched", None)])
def test_results_of_elise(traces, name, mean_wait):
    mapping = """[columns]
        id = "Job Number"
        submit = "Submit Time"
        wait = "Wait Time"
        runtime = "Run Time"
        limit = "Requested Time"
        cores = "Number of Allocated Processors"
        executable = "Executable Number"
        status = "Status" """
    workload, jobs = read(traces / "results" / f"elise-workload0-{name}.csv.gz", mapping)
    assert len(jobs) == 10_000
    assert set(jobs.count.tolist()) == {32, 64, 128}
    if mean_wait:
        assert np.mean(jobs.wait) == pytest.approx(mean_wait, abs=5e-4)
        assert name_of(workload, jobs, 0, "executable") == "sp.D.121"


@pytest.mark.parametrize(("load", "jobs_", "mean_wait"), [(50, 1943, 392.74), (75, 2830, 1104.64)])
def test_results_of_aleang(traces, load, jobs_, mean_wait):
    mapping = """[columns]
        id = "job_ID"
        submit = "arrival"
        wait = "wait"
        runtime = "runtime"
        limit = "walltime_limit"
        cores = "CPUs"
        memory = { column = "RAM(KB)", unit = "KiB", per = "node" }
        user = "user_name"
        queue = "queue"
        status = { column = "STATUS", completed = ["Success"] }"""
    workload, jobs = read(traces / "results" / "aleang" / f"Example1-load{load}-completed_jobs.csv.gz", mapping)
    assert len(jobs) == jobs_
    assert np.mean(jobs.wait) == pytest.approx(mean_wait, abs=5e-3)
    assert sorted(workload.labels["queue"]) == ["default_queue", "priority_queue"]


def test_pods_without_times(traces):
    mapping = """[columns]
        id = "name"
        submit = { value = 0 }
        runtime = { value = 3600 }
        nodes = { value = 1 }
        cores = { column = "cpu_milli", unit = "milli" }
        gpus = "num_gpu" """
    workload, jobs = read(traces / "gpu" / "alibaba-gpu-v2023-openb_pod_list_multigpu50.csv.gz", mapping)
    assert len(jobs) == 9061
    assert sum(workload.requests[place].chunk.get("gpus") == 8 for place in jobs.request) == 556
