"""Against a real slurmctld: it understands what we send, and we read its answers as its own programs do."""

import csv
import io
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.slurm_programs import slurm_programs
from tests.unit.slurm_wire.live import Live

from schedlab.slurm.wire import client, reports
from schedlab.slurm.wire.node import (
    Launch,
    NodeFacts,
    NodeGres,
    Prolog,
    Signal,
    Suspension,
    Termination,
    batch_complete,
    registration,
)
from schedlab.slurm.wire.release import SLURM_22_05 as RELEASE
from schedlab.slurm.wire.release import release_of

pytestmark = pytest.mark.traces  # for the associations of the fair-share run
NO_DATABASE = """
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePort=1
"""


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory, traces: Path) -> Iterator[Live]:
    """Job 101 runs on four nodes, 102 has the GPUs, 103 to 105 and an array (106) wait, 107 is held."""
    programs = slurm_programs()
    folder = tmp_path_factory.mktemp("slurmctld")
    cluster = Live(folder, programs, NO_DATABASE, "mf1", traces / "slurm-real" / "vc_fairshare")
    try:
        assert cluster.submit(nodes="4", exclusive="", nodelist="n[1-4]").job == 101
        assert cluster.submit(gpus="a100:2", cpus_per_task="8").job == 102
        cluster.launched(101), cluster.launched(102)
        waiting = (
            {"ntasks": "10"},
            {"ntasks": "2", "nice": "50"},
            {"nodes": "2", "partition": "p,q"},
            {"array": "0-2"},
        )
        for options in waiting:
            assert cluster.submit(**options).error == 0
        assert cluster.submit(hold="", ntasks="3") == client.Submitted(107, 2042, "")
        cluster.until(lambda: cluster.run("sprio", "-h").count("\n") >= 5)
        yield cluster
    finally:
        cluster.close()


def test_release(live: Live) -> None:
    assert release_of(live.run("sinfo", "--version")) is RELEASE


def test_nodes_register_before_they_have_said_their_release(live: Live) -> None:
    first = live.heard[0][1]
    assert (first.name, first.protocol) == ("REQUEST_NODE_REGISTRATION_STATUS", 36 << 8)
    assert live.run("sinfo", "-h", "-N", "-p", "p", "-o", "%N %c %m %G %z").splitlines() == [
        "g1 8 48000 gpu:a100:2 2:4:1",
        *(f"n{number} 8 48000 (null) 2:4:1" for number in range(1, 5)),
    ]


def test_launch(live: Live) -> None:
    launch = live.launched(101)
    assert (launch.nodes, launch.cpus) == ("n[1-4]", (8,) * 4)
    assert live.launched(102).nodes == "g1"
    assert (launch.array_job, launch.array_task, launch.het_job, launch.uid, launch.partition) == (0, None, 0, 0, "p")


def test_jobs(live: Live) -> None:
    ours = reports.jobs(RELEASE, live.ask("REQUEST_JOB_INFO", client.ask_jobs()))
    theirs = live.run("squeue", "-h", "-t", "all", "-r", "-o", "%A|%T|%Q|%N|%C|%j|%P|%a|%q|%U|%S|%V|%e")
    shown = {line.split("|")[0]: line.split("|")[1:] for line in theirs.splitlines()}
    assert {str(job.job) for job in ours} == shown.keys()
    for job in ours:
        row = [job.state, str(job.priority), job.nodes, str(job.cpus), job.name, job.partition, job.account, job.qos]
        assert row == [value.replace("(null)", "") for value in shown[str(job.job)][:8]]
        assert job.uid == int(shown[str(job.job)][8])


def test_times_of_a_job(live: Live) -> None:
    (job,) = reports.jobs(RELEASE, live.ask("REQUEST_JOB_INFO_SINGLE", client.ask_job(101)))
    environment = live.environment
    live.environment = environment | {"SLURM_TIME_FORMAT": "%s"}
    text = live.run("scontrol", "show", "job", "101")
    live.environment = environment
    fields = dict(re.findall(r"(\w+)=(\S*)", text))
    times = (job.submit_time, job.eligible_time, job.start_time, job.end_time)
    assert times == tuple(int(fields[name]) for name in ("SubmitTime", "EligibleTime", "StartTime", "EndTime"))
    assert (job.state, str(job.priority), job.nodes) == (fields["JobState"], fields["Priority"], fields["NodeList"])
    assert job.backfilled == (fields["Scheduler"] == "Backfill")


def test_a_job_that_is_not_there(live: Live) -> None:
    answer = live.ask("REQUEST_JOB_INFO_SINGLE", client.ask_job(9999))
    assert client.return_code(RELEASE, answer) == 2017  # no such job


def test_priorities(live: Live) -> None:
    ours = reports.priorities(RELEASE, live.ask("REQUEST_PRIORITY_FACTORS", client.ask_priorities()))
    theirs = live.run("sprio", "-h", "-o", "%i %r %Y %A %B %F %J %P %Q %S %N %T")
    rows = [
        f"{job.job} {job.partition} {job.priority} {job.age:.0f} {job.assoc:.0f} {job.fairshare:.0f} "
        f"{job.job_size:.0f} {job.partition_factor:.0f} {job.qos:.0f} {job.site} {job.nice} "
        + ",".join(f"{name}={amount:.0f}" for name, amount in job.tres.items())
        for job in ours
    ]
    assert sorted(rows) == sorted(" ".join(line.split()) for line in theirs.splitlines())
    assert {job.job for job in ours} == {103, 104, 105, 106}
    assert {job.partition for job in ours if job.job == 105} == {"p", "q"}
    (only,) = reports.priorities(RELEASE, live.ask("REQUEST_PRIORITY_FACTORS", client.ask_priorities([104])))
    assert (only.job, only.nice) == (104, 50)
    assert only.fairshare > 0


def test_shares(live: Live) -> None:
    ours = reports.shares(RELEASE, live.ask("REQUEST_SHARE_INFO", client.ask_shares()))
    theirs = list(csv.DictReader(io.StringIO(live.run("sshare", "-l", "-P", "-a")), delimiter="|"))

    def text(value: float | None) -> str:
        return "" if value is None else f"{value:.6f}"

    assert [
        {
            "Account": share.account,
            "User": share.user,
            "RawShares": "" if share.raw_shares is None else str(share.raw_shares),
            "NormShares": text(share.norm_shares),
            "RawUsage": str(share.raw_usage),
            "NormUsage": text(share.norm_usage),
            "EffectvUsage": text(share.effective_usage),
            "FairShare": text(share.fairshare),
            "LevelFS": text(share.level_fs),
        }
        for share in ours
    ] == [{name: value.strip() for name, value in row.items() if "TRES" not in name} for row in theirs]
    assert len(ours) == 9


def test_statistics(live: Live) -> None:
    ours = reports.statistics(RELEASE, live.ask("REQUEST_STATS_INFO", client.ask_statistics()))
    theirs = live.run("sdiag")
    for label, name in (
        ("Jobs submitted", "jobs_submitted"),
        ("Jobs started", "jobs_started"),
        ("Jobs completed", "jobs_completed"),
        ("Jobs pending", "jobs_pending"),
        ("Jobs running", "jobs_running"),
        ("Last queue length", "schedule_queue_len"),
        (r"Total backfilled jobs \(since last slurm start\)", "bf_backfilled_jobs"),
        (r"Latency for 1000 calls to gettimeofday\(\)", "gettimeofday_latency"),
    ):
        (shown,) = re.findall(rf"{label}:\s*([0-9]+)", theirs)[:1]
        assert (name, ours[name]) == (name, int(shown))
    assert f"({ours['req_time_start']})" in theirs
    assert ours["bf_cycle_counter"] > 0


def test_refusals(live: Live) -> None:
    refused = live.submit(partition="nowhere")
    assert (refused.job, refused.error) == (0, 2000)  # no such partition
    assert live.submit(constraint="fast").error == 2029  # no such feature
    assert client.return_code(RELEASE, live.ask("REQUEST_KILL_JOB", client.kill_job(RELEASE, 9999))) == 2017


def test_from_start_to_end(live: Live) -> None:
    """Suspended, resumed, signalled, completed; what waits starts; cancelled; nodes drain and come back."""
    live.run("scontrol", "suspend", "101")
    live.until(lambda: Suspension(101, resume=False) in live.wanted(Suspension))
    live.run("scontrol", "resume", "101")
    live.until(lambda: Suspension(101, resume=True) in live.wanted(Suspension))
    live.ask("REQUEST_KILL_JOB", client.kill_job(RELEASE, 101, signal=10))
    live.until(lambda: Signal(101, 10) in live.wanted(Signal))

    for job, node in ((101, "n1"), (102, "g1")):
        done = batch_complete(RELEASE, job=job, uid=0, node=node, status=3 << 8)
        assert client.return_code(RELEASE, live.ask("REQUEST_COMPLETE_BATCH_SCRIPT", done)) == 0
    assert sum(live.launched(103).cpus) == 10
    ends = {found.job: found for found in live.wanted(Termination)}
    assert [(ends[job].exit_code, ends[job].nodes) for job in (101, 102)] == [(3 << 8, "n[1-4]"), (3 << 8, "g1")]
    (job,) = reports.jobs(RELEASE, live.ask("REQUEST_JOB_INFO_SINGLE", client.ask_job(101)))
    assert (job.state, job.exit_code, job.completing) == ("FAILED", 3 << 8, False)
    tasks = live.until(lambda: [found for found in live.wanted(Launch) if found.array_job == 106][2:])
    assert tasks[0].array_task in range(3)

    assert client.return_code(RELEASE, live.ask("REQUEST_KILL_JOB", client.kill_job(RELEASE, 103))) == 0
    live.until(lambda: 103 in [found.job for found in live.wanted(Termination)])
    (job,) = reports.jobs(RELEASE, live.ask("REQUEST_JOB_INFO_SINGLE", client.ask_job(103)))
    assert job.state == "CANCELLED"

    for state, shown in (("drain", "drain"), ("resume", "idle")):
        change = client.update_nodes(RELEASE, "n[1-4]", state, reason="a test")
        assert client.return_code(RELEASE, live.ask("REQUEST_UPDATE_NODE", change)) == 0
        live.until(lambda shown=shown: shown in live.run("sinfo", "-h", "-n", "n3", "-p", "p", "-o", "%T"))


def test_prologs(tmp_path: Path, traces: Path) -> None:
    live = Live(tmp_path, slurm_programs(), "PrologFlags=Alloc\n")
    try:
        live.submit(nodes="5", exclusive="")
        assert live.launched(101).nodes == "g1,n[1-4]"
        assert live.until(lambda: live.wanted(Prolog))[0] == Prolog(101, 0, "g1,n[1-4]")
        running = "REQUEST_JOB_INFO_SINGLE", client.ask_job(101)
        live.until(lambda: reports.jobs(RELEASE, live.ask(*running))[0].state == "RUNNING")
    finally:
        live.close()


def test_what_only_a_node_and_its_gres_conf_have_is_not_handed_out(tmp_path: Path, traces: Path) -> None:
    """So a cluster that is read from slurm.conf has what Gres= says, and no more."""
    live = Live(tmp_path, slurm_programs(), "NodeName=h1 NodeAddr=127.0.0.1\nPartitionName=h Nodes=h1\n")
    try:
        node, now = NodeFacts("h1", 2, 4, 1, 48000, gres=(NodeGres("gpu", 2),)), int(time.time())
        live.ask("MESSAGE_NODE_REGISTRATION_STATUS", registration(RELEASE, node, now=now, boot_time=now - 1000))
        live.until(lambda: live.run("sinfo", "-h", "-n", "h1", "-p", "h", "-o", "%T %G") == "idle (null)\n")
        assert live.submit(partition="h", gres="gpu:1").error == 2014  # requested node configuration is not available
        assert live.submit(partition="h").error == 0
    finally:
        live.close()
