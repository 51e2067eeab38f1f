"""What a log of Slurm's accounting says, the real Slurm gets."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.slurm_programs import slurm_programs

import schedlab as sl
from schedlab.slurm.decider import RealSlurm

CONF = """
ClusterName=small
SlurmctldHost=head
SchedulerParameters=bf_interval=30,default_queue_depth=100
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
GresTypes=gpu
Licenses=matlab:2
NodeName=n1 CPUs=8 RealMemory=16000 Feature=old
NodeName=n2 CPUs=8 RealMemory=16000 Feature=new
NodeName=g1 CPUs=8 RealMemory=16000 Gres=gpu:a100:2
NodeName=g2 CPUs=8 RealMemory=16000 Gres=gpu:v100:2
PartitionName=cpu Nodes=n[1-2] Default=YES DefMemPerCPU=1000
PartitionName=gpu Nodes=g[1-2] DefMemPerCPU=1000
"""
GRES = "NodeName=g1 Name=gpu Type=a100 Count=2\nNodeName=g2 Name=gpu Type=v100 Count=2\n"
COLUMNS = ("JobID", "JobIDRaw", "User", "Account", "Partition", "QOS", "State")
COLUMNS += ("Submit", "Eligible", "Start", "End", "Timelimit", "ReqCPUS", "NNodes")
USUAL = {"User": "ann", "Account": "a", "Partition": "cpu", "QOS": "normal", "State": "COMPLETED"}
USUAL |= {"Timelimit": "00:10:00", "ReqCPUS": "1", "NNodes": "1"}
ZERO = 1_704_067_200  # 2024-01-01


@pytest.fixture(scope="session", autouse=True)
def _programs() -> None:
    slurm_programs()


def dump(path: Path, *jobs: dict[str, Any]) -> Path:
    """A dump of these jobs, numbered from 101; `Submit` in seconds, each runs `runs` seconds as soon as it may."""
    said = dict.fromkeys(name for job in jobs for name in job if name not in (*COLUMNS, "runs", "Constraints"))
    names = [*COLUMNS, *said, "Constraints"]  # the last one may hold |
    lines = ["|".join(names)]
    for number, job in enumerate(jobs, 101):
        begin = ZERO + int(job.get("Submit", 0))
        times = {"Submit": begin, "Eligible": begin, "Start": begin, "End": begin + job.get("runs", 100)}
        told = USUAL | {"JobID": number, "JobIDRaw": number} | job
        told |= {name: time for name, time in times.items() if name not in job or name == "Submit"}
        lines.append("|".join(str(told.get(name, "")) for name in names))
    path.write_text("\n".join(lines) + "\n")
    return path


def replay(folder: Path, *jobs: dict[str, Any], **options: Any) -> sl.Run:
    (folder / "slurm.conf").write_text(CONF)
    (folder / "gres.conf").write_text(GRES)
    decider = RealSlurm(folder / "slurm.conf", **{"evidence": 0, **options})
    workload = sl.read_workload(dump(folder / "jobs.sacct", *jobs), clean="none")
    return sl.simulate(workload, decider.setup.cluster(), decider)


def places(run: sl.Run) -> dict[int, str | None]:
    """Nodes and the CPUs on each: n1*8."""
    names, found = run.cluster.node_names(), dict.fromkeys(run.jobs["job"].to_list())
    for job, node, cores in run.places.select("job", "node", "cores").rows():
        text = names[node] + (f"*{cores}" if cores > 1 else "")
        found[job] = f"{found[job]},{text}" if found[job] else text
    return found


def refused(run: sl.Run) -> dict[int, str]:
    table = pl.read_parquet(io.BytesIO(run.evidence("slurm/refused.parquet")))
    return dict(table.select("job", "reason").rows())


def test_every_job_asks_for_its_own(tmp_path: Path) -> None:
    """The engine counts all of them as CPUs of a partition; Slurm has to hear what each of them said."""
    small, large = {"ReqTRES": "cpu=1,mem=2000M,node=1"}, {"ReqCPUS": "4", "ReqTRES": "cpu=4,mem=12000M,node=1"}
    run = replay(tmp_path, small, large, small, large, large)
    assert run.jobs.sort("job")["cores"].to_list() == [1, 4, 1, 4, 4]
    starts = dict(run.jobs.select("job", "start").rows())
    assert starts[105] >= 100 > max(starts[job] for job in (101, 102, 103, 104))  # of 12 GB a node has room for one


def test_constraints_as_they_are_written(tmp_path: Path) -> None:
    """`old|new` runs on either node, `new` on one; a native run cannot say the first, and says so."""
    either = {"ReqCPUS": "8", "ReqTRES": "cpu=8,mem=8000M,node=1", "Constraints": "old|new"}
    run = replay(
        tmp_path, either, either | {"Constraints": "new"}, either | {"Constraints": "[old|new]", "Submit": 200}
    )
    found = places(run)
    assert {found[101], found[102]} == {"n1*8", "n2*8"} and found[102] == "n2*8"
    assert found[103] in ("n1*8", "n2*8")
    assert run.workload["report"]["for_slurm"] == {}
    nowhere = replay(tmp_path, either | {"Constraints": "huge|tiny"})
    assert refused(nowhere) == {101: "Invalid feature specification (2029)"}
    native = sl.simulate(sl.read_workload(dump(tmp_path / "jobs.sacct", either)), tmp_path / "slurm.conf", "easy")
    assert native.workload["report"]["for_slurm"] == {"constraints with alternatives or counts: not used": 1}


def test_types_of_gpus(tmp_path: Path) -> None:
    """A job that asked for a V100 gets one; for an H100, of which there is none, it is refused."""
    asked = {"Partition": "gpu", "ReqTRES": "cpu=1,mem=1000M,node=1,gres/gpu=2,gres/gpu:{0}=2"}
    of = {kind: asked | {"ReqTRES": asked["ReqTRES"].format(kind)} for kind in ("a100", "v100", "h100")}
    run = replay(tmp_path, of["v100"], of["a100"], of["h100"], of["v100"])
    found = places(run)
    assert (found[101], found[102], found[104]) == ("g2", "g1", "g2")
    assert run.jobs.filter(pl.col("job") == 104)["start"].item() >= 100
    assert refused(run) == {103: "Requested node configuration is not available (2014)"}
    log = dump(tmp_path / "jobs.sacct", of["v100"], of["h100"])
    native = sl.simulate(sl.read_workload(log), tmp_path / "slurm.conf", "easy")
    assert dict(native.jobs.select("job", "nodes").rows())[101] == "g2"
    assert native.workload["not_counted"] == {"gpu:h100": 1}


def test_licences_memory_partitions_and_dependencies(tmp_path: Path) -> None:
    line = {"SubmitLine": "sbatch --dependency=afterok:101 -p cpu job.sh", "Submit": 1}
    run = replay(
        tmp_path,
        {"ReqTRES": "cpu=1,mem=1000M,node=1,license/matlab=2"},
        {"Licenses": "matlab:1"},  # waits for the licences of the first
        line,
        {"ReqMem": "3000Mc", "ReqCPUS": "4", "ReqTRES": "cpu=4,mem=12000M,node=1"},
        {"Partition": "gpu,cpu", "SubmitLine": "sbatch --exclusive -p gpu,cpu job.sh"},
        {"SubmitLine": "sbatch --nodelist=n2 job.sh"},
    )
    starts = dict(run.jobs.select("job", "start").rows())
    assert 100 < starts[102] < 200 and 100 < starts[103] < 200
    found = places(run)
    assert found[105] in ("g1*8", "g2*8", "n1*8", "n2*8") and found[106] == "n2"


def test_dependencies_on_arrays_and_on_several_jobs(tmp_path: Path) -> None:
    """Elements of arrays are jobs of their own here; what Slurm is told of does not count as left out."""
    asked = ("afterok:90_1", "aftercorr:101", "afterok:101:90_2:7:80_1", "singleton")
    waiting = [{"SubmitLine": f"sbatch -d {text} job.sh", "Submit": 1, "runs": 10} for text in asked]
    run = replay(tmp_path, {"JobID": "90_1"}, {"JobID": "90_2", "runs": 300}, *waiting)
    starts = dict(run.jobs.select("job", "start").rows())
    assert 100 < starts[103] < 200 and 100 < starts[104] < 200 and 300 < starts[105] < 400 and starts[106] < 100
    report = run.workload["report"]
    assert report["filled"] == {
        "dependencies: left out, on jobs that are not in the log": 2,
        "dependencies: left out, singleton, expand or no number of a job": 1,
    }
    assert report["for_slurm"] == {}


def test_what_slurm_cannot_be_told_is_left_out_and_counted(tmp_path: Path) -> None:
    """A log is not what the user types: an odd option in it does not end the run, and the others of its line count."""
    lines = ("--exclusive=topo", "--nice=abc -w n2", "--switches=x", "--nice=def", "--exclusive=user", "-w n[1-3]")
    jobs = [{"SubmitLine": f"sbatch {line} run.sh", "runs": 10, "Submit": 100 * n} for n, line in enumerate(lines)]
    run = replay(tmp_path, *jobs[:-1], jobs[-1] | {"NNodes": "2", "ReqCPUS": "2"})
    noted = "option --{}: not passed on as written, Slurm 22.05 does not take {!r}"
    assert run.workload["report"]["filled"] == {
        noted.format("exclusive", "topo"): 1,
        noted.format("nice", "abc"): 2,
        noted.format("nodelist", "n[1-3]"): 1,  # of a job on two nodes
        noted.format("switches", "x"): 1,
    }
    found = places(run)
    assert found[101] in ("n1*8", "n2*8")  # whole nodes all the same
    assert found[102] == "n2"
    assert set(run.jobs["state"]) == {"completed"}


def test_jobs_that_were_cancelled_before_they_started_do_not_run(tmp_path: Path) -> None:
    """They wait, on an idle machine too, and are withdrawn when they were; of a third one nobody knows when."""
    gone = {"State": "CANCELLED by 7", "Start": "Unknown", "End": ZERO + 500}
    held = gone | {"Reason": "JobHeldUser"}
    never = gone | {"Eligible": "Unknown", "End": ZERO + 600}
    run = replay(tmp_path, {}, gone, held, never, gone | {"End": "Unknown"})
    ended = run.jobs.sort("job").select("job", "state", "start", "end").rows()
    assert ended[1:] == [(102, "cancelled", None, 500), (103, "cancelled", None, 500), (104, "cancelled", None, 600)]
    report = run.workload["report"]
    assert report["dropped"] == {"cancelled before it started, nobody knows when": 1}
    assert report["filled"]["cancelled before they started: held until then"] == 3
    native = sl.simulate(sl.read_workload(tmp_path / "jobs.sacct", clean="none"), tmp_path / "slurm.conf", "easy")
    states = dict(native.jobs.select("job", "state").rows())
    assert (states[103], states[104]) == ("cancelled", "cancelled")


def test_a_list_of_partitions_in_sbatch(tmp_path: Path) -> None:
    """Slurm may start such a job in any of them."""
    (tmp_path / "slurm.conf").write_text(CONF)
    (tmp_path / "gres.conf").write_text(GRES)
    line = "-dt {} -e submit_batch_job | -J jobid_{} -sim-walltime 100 --uid=ann -n 8 -t 5 {} x.sh\n"
    jobs = enumerate(("-p cpu", "-p cpu", "-p cpu,gpu", "-p gpu,cpu --array=4,7"), 1)
    (tmp_path / "jobs.events").write_text("".join(line.format(number, number, options) for number, options in jobs))
    decider = RealSlurm(tmp_path / "slurm.conf", evidence=0)
    run = sl.simulate(sl.read_workload(tmp_path / "jobs.events"), decider.setup.cluster(), decider)
    assert set(list(places(run).values())[2:4]) == {"g1*8", "g2*8"}
    assert run.jobs["name"].to_list() == ["1", "2", "3", "4_4", "4_7"]
