"""Event files of the Slurm simulator."""

import numpy as np
import pytest
from tests.batches import after
from tests.fuzz_slurm import decoded

from schedlab.cluster.slurm.read import read_slurm_conf
from schedlab.engine import simulate as engine
from schedlab.model.errors import InputError
from schedlab.model.request import Request
from schedlab.model.workload import Workload
from schedlab.workload.options import ReadOptions
from schedlab.workload.slurm.read import looks_like, read_slurm_events
from schedlab.workload.slurm.write import write_slurm_events

EVENTS = """\
-dt 0 -e submit_batch_job | -J jobid_1001 -sim-walltime 15 --uid=user5 -t 00:07:00 -n 12 --ntasks-per-node=12 \
-A account2 -p normal -q normal pseudo.job
-dt 49 -e submit_batch_job | -J jobid_1002 -sim-walltime 1201 --uid=user1 -t 00:30:00 -n 1 --ntasks-per-node=1 \
-A account1 -p normal -q normal --constraint=CPU-N pseudo.job

# a comment
-e submit_batch_job -dt 60.5 | -sim-walltime -1 --uid="user 5" -J jobid_1003 -N 2 -n 4 -t 5 --mem=500 x.job -sleep 9
-dt 60.5 -e submit_batch_job | -sim-walltime 0 -J jobid_1000 -t 1-0 -cancel-in 30 -d afterok:1001 pseudo.job
"""


@pytest.fixture
def read(tmp_path):
    def reader(text, **options):
        path = tmp_path / "jobs.events"
        path.write_text(text)
        return read_slurm_events(path, ReadOptions(**options))

    return reader


def line(options, dt=0):
    return f"-dt {dt} -e submit_batch_job | {options} pseudo.job\n"


def test_jobs(read):
    workload = read(EVENTS)
    (jobs,) = workload.batches()
    assert jobs.id.tolist() == [1001, 1002, 1000, 1003]  # by submit time, then number
    assert jobs.submit.tolist() == [0, 49, 60.5, 60.5]
    assert jobs.runtime.tolist() == [15, 1201, 0, 300]
    assert jobs.limit.tolist() == [420, 1800, 86400, 300]
    assert jobs.count.tolist() == [1, 1, 1, 2]
    assert jobs.cancel.tolist() == [np.inf, np.inf, 90.5, np.inf]
    assert after(jobs) == [-1, -1, 1001, -1]
    assert [workload.requests[place] for place in jobs.request] == [
        Request({"cores": 12}, per_node_max=1, partition="normal"),
        Request({"cores": 1}, per_node_max=1, partition="normal", features=frozenset(["CPU-N"])),
        Request({"cores": 1}),
        Request({"cores": 2, "memory": 500 * 2**20}, per_node_max=1),
    ]
    assert workload.labels == {
        "user": ["user5", "user1", "user 5"],
        "group": ["account2", "account1"],
        "queue": ["normal"],
        "partition": ["normal"],
    }
    assert jobs.user.tolist() == [0, 1, -1, 2]
    assert jobs.partition.tolist() == [0, 0, -1, -1]
    assert workload.name == "jobs"
    assert workload.report.records == workload.report.kept == 4
    assert workload.report.filled == {"run time: the limit, into which the job runs": 1}


def test_a_run_time_beyond_the_limit_stays(read):
    (jobs,) = read(line("-sim-walltime 100 -t 1")).batches()
    assert (jobs.runtime[0], jobs.limit[0]) == (100, 60)


def test_jobs_without_numbers_are_counted(read):
    workload = read(line("-J train -t 5 -d afterok:7") + line("-J jobid_7 -t 5", dt=1) + line("-J train -t 5", dt=2))
    (jobs,) = workload.batches()
    assert jobs.id.tolist() == [1, 2, 3]
    assert after(jobs) == [2, -1, -1]  # jobid_7 is the second line
    assert workload.labels["executable"] == ["train"]
    assert jobs.executable.tolist() == [0, -1, 0]
    assert workload.report.filled["job number: the place in the file"] == 3


def test_older_files_have_jid(read):
    (jobs,) = read(line("-jid 55 -J test -t 5")).batches()
    assert jobs.id.tolist() == [55]


def test_arrays_become_jobs(read):
    workload = read(line("-J jobid_1 --array=0-2%1 -n 2 -t 5") + line("-J jobid_2 -d afterany:1 -t 5", dt=9))
    (jobs,) = workload.batches()
    assert jobs.id.tolist() == [1, 2, 3, 4]
    assert jobs.count.tolist() == [2, 2, 2, 1]
    assert jobs.predecessors.lists()[3] == [(1, 0, 0), (2, 0, 0), (3, 0, 0)]  # all tasks
    assert workload.report.records == workload.report.kept == 4
    assert jobs.names == ("1_0", "1_1", "1_2", "2")
    assert workload.report.for_slurm["array: a job for each of its tasks"] == 3


def test_begin_and_unknown_options_are_reported(read):
    workload = read(line("-J jobid_1 -t 5 --begin=now+1hour --nice=9 --colour=red -H -d afterok:99", dt=5))
    (jobs,) = workload.batches()
    assert jobs.submit.tolist() == [3605]
    assert workload.report.for_slurm == {
        "option --nice: not used": 1,
        "option --colour: not used": 1,
        "option -H: not used": 1,
    }
    assert workload.report.filled == {
        "option --begin: counts as submitted then": 1,
        "run time: the limit, into which the job runs": 1,
        "dependency: on a job that is not there, not used": 1,
    }


def test_missing_limits(read):
    text = line("-J jobid_1 -sim-walltime 90") + line("-J jobid_2 -t 0 -sim-walltime 20") + line("-J jobid_3")
    workload = read(text)
    (jobs,) = workload.batches()
    assert jobs.limit.tolist() == [90, 20]
    assert workload.report.filled == {"limit: run time": 2}
    assert workload.report.dropped == {"neither run time nor limit": 1}
    (jobs,) = read(text, missing_limit=600).batches()
    assert jobs.limit.tolist() == [600, 600, 600]
    assert jobs.runtime.tolist() == [90, 20, 600]


def test_strict_cleaning(read):
    text = line("-J jobid_1 -sim-walltime 0 -t 5") + line("-J jobid_2 -sim-walltime 5") + line("-J jobid_3 -n 9 -t 5")
    workload = read(text + line("-J jobid_4 -sim-walltime 700 -t 5"), clean="strict", max_procs=8)
    (jobs,) = workload.batches()
    assert (jobs.id.tolist(), jobs.runtime.tolist()) == ([4], [300])
    assert workload.report.dropped == {
        "run time 0 or unknown": 1,
        "requested time 0 or unknown": 1,
        "larger than the machine": 1,
    }


def test_other_events_are_counted(read):
    report = read("-dt 5 -e cancel_job | 1001\n" + line("-t 5")).report
    assert report.records == 2
    assert report.dropped == {"event 'cancel_job'": 1}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nonsense", "line 2: the event is 'nonsense', expected -dt SECONDS -e submit_batch_job"),
        ("-dt x -e submit_batch_job | -n 1", "line 2: -dt is 'x', expected seconds from 0"),
        ("-dt nan -e submit_batch_job | -n 1", "line 2: -dt is 'nan'"),
        ("-e submit_batch_job | -n 1", "line 2: -dt is ''"),
        ("-dt 1 -e submit_batch_job | -sim-walltime -2", "line 2: -sim-walltime is '-2', expected .* or -1"),
        ("-dt 1 -e submit_batch_job | -t 5m", "line 2: -t, --time is '5m', expected minutes"),
        ("-dt 1 -e submit_batch_job | -n x", "line 2: -n, --ntasks is 'x'"),
        ("-dt 1 -e submit_batch_job | -J 'x", "line 2: a quotation mark is not closed"),
        ("-dt 1 -e submit_batch_job | -J jobid_1", "line 2: job 1 has occurred before, on line 1"),
        ("-dt 1 -e submit_batch_job | -jid x", "line 2: -jid is 'x'"),
    ],
)
def test_bad_rows(read, text, message):
    with pytest.raises(InputError, match=message):
        read(line("-J jobid_1 -t 5") + text)
    report = read(line("-J jobid_1 -t 5") + text, bad_rows="drop").report
    assert report.dropped == {"bad row": 1}
    assert report.bad_rows[0].startswith("line 2: ")
    assert (report.records, report.kept) == (2, 1)


def test_a_file_without_jobs(read):
    with pytest.raises(InputError, match="holds no job: no events"):
        read("# nothing\n")


def test_what_looks_like_events():
    assert looks_like("-dt          10.50 -e submit_batch_job | -sim-walltime 84805.00", "x")
    assert looks_like("# jobs\n-e submit_batch_job -dt 1 | -n 1", "x")
    assert looks_like("", "x.events")
    assert not looks_like("; Version: 2.2\n1 0 -1", "x.swf")


def test_writing_and_reading_again(read, tmp_path):
    workload = read(EVENTS)
    path = tmp_path / "again.events.gz"
    assert write_slurm_events(path, workload) == []
    assert decoded(read_slurm_events(path, ReadOptions())) == decoded(workload)


def test_chunks_that_may_share_nodes(tmp_path):
    requests = [
        Request({"cores": 4, "memory": 8 * 2**30, "gpus": 2, "gpu:v100": 1}, features=frozenset("ab"), exclusive=True),
        Request({"cores": 2, "memory": 3 * 1024, "nvme": 7}, per_node_max=1, partition="p"),
    ]
    jobs = Workload.of(submit=[0, 1], runtime=[5, 5], limit=[60, 60], count=[3, 2], request=[0, 1], requests=requests)
    path = tmp_path / "x.events"
    assert write_slurm_events(path, jobs) == []
    first, second = path.read_text().splitlines()
    assert "-n 3 -c 4 --mem-per-cpu=2048M --gpus-per-task=v100:1,1 --constraint='a&b' --exclusive" in first
    assert "-N 2 -n 4 --mem=3K --gres=nvme:7 -p p" in second
    again = read_slurm_events(path, ReadOptions())
    assert again.requests == requests
    (found,) = again.batches()
    assert found.count.tolist() == [3, 2]


def test_what_is_lost(tmp_path):
    requests = [Request({"cores": 0, "memory": 1, "nvme": 1}, per_node_min=2, features=frozenset(["a|b"]))]
    recorded = {"status": [1], "wait": [3], "after": [9], "think": [2], "executable": [1], "partition": [1]}
    jobs = Workload.of(submit=[0], runtime=[0], limit=[59.5], requests=requests, **recorded)
    path = tmp_path / "x.events"
    assert write_slurm_events(path, jobs) == [
        "how many chunks share a node, in requests of 1 job",
        "that chunks have no core, in requests of 1 job",
        "the exact memory (rounded up) of 1 job",
        "requests for nvme of 1 job",
        "features with odd names, requests of 1 job",
        "the limits (rounded up to whole seconds) of 1 job",
        "partitions, which are not part of the request, of 1 job",
        "names of programs of 1 job",
        "recorded outcomes (status) of 1 job",
        "recorded waits of 1 job",
        "delays after predecessors of 1 job",
    ]
    (found,) = read_slurm_events(path, ReadOptions()).batches()
    assert found.limit.tolist() == [60]


# Jobs, users, and those with -sim-walltime -1 (grep).
SAMPLES = {
    "ubccr-micro-jobs500": (500, 5, 63),
    "ubccr-micro-jobs500_shrinked": (500, 5, 63),
    "ubccr-micro-small": (20, 5, 3),
    "ubccr-ubhpc-workload_week": (19_579, 64, 0),
    "ubccr-ubhpc-workload_5k": (5_000, 54, 0),
}


@pytest.mark.traces
@pytest.mark.parametrize("name", SAMPLES)
def test_samples(traces, tmp_path, name):
    jobs, users, to_limit = SAMPLES[name]
    workload = read_slurm_events(traces / "slurm" / f"{name}.events.gz", ReadOptions())
    assert len(workload) == workload.report.kept == workload.report.records == jobs
    assert len(workload.labels["user"]) == users
    assert workload.report.filled.get("run time: the limit, into which the job runs", 0) == to_limit
    assert not workload.report.dropped
    path = tmp_path / f"{name}.events"
    assert write_slurm_events(path, workload) == []
    again = read_slurm_events(path, ReadOptions())
    assert again.jobs.equals(workload.jobs)
    assert (again.requests, again.labels) == (workload.requests, workload.labels)


@pytest.mark.traces
def test_the_micro_cluster_runs_all_its_jobs(traces):
    workload = read_slurm_events(traces / "slurm" / "ubccr-micro-jobs500.events.gz", ReadOptions())
    cluster = read_slurm_conf(traces / "slurm" / "ubccr-micro-slurm.conf")
    run = engine.simulate(workload, cluster, "easy")
    assert run.jobs["state"].to_list() == ["completed"] * 500
    used = dict(run.jobs.select("request", "nodes").iter_rows())
    for place, nodes in used.items():
        request = workload.requests[place]
        if request.chunk.get("memory", 0) > 48_000 * 2**20:
            assert nodes == "b1"
        if "gpus" in request.chunk:
            assert nodes == "g1"
        if "CPU-M" in request.features:
            assert nodes.startswith("m")
