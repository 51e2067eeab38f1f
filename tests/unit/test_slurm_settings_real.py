"""The judge of emulated settings is slurmctld itself: it takes them without complaint and shows the site's values."""

import os
import pwd
import re
import shutil
import socket
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.slurm_confs import ACCOUNTS, GRES, MACHINES, OLD, SCHEDULING, SITE, TOPOLOGY
from tests.slurm_programs import slurm_programs

from schedlab.cluster.slurm.read import read_settings
from schedlab.slurm.accounts.passwd import passwd_lines
from schedlab.slurm.accounts.read_toml import parse_toml
from schedlab.slurm.accounts.state import write_state
from schedlab.slurm.settings import Emulation, edited, emulated

PATIENCE = 60  # seconds of waiting for a program; it takes about one

# Of a folder without state, of a database that is not there, of plug-ins that nobody uses, and what we say ourselves.
EXPECTED = re.compile(
    r"Could not open \w+ state file|NOTE: Trying backup state save file|No fed_mgr state file|mpi[_/]pmix"
    r"|Sending PersistInit msg|failed to open persistent connection to host:127.0.0.1:1:|database appears down"
    r"|PriorityWeight(Age|Fairshare) can only be used with SlurmDBD, ignoring"
)


@dataclass
class Answers:
    """What a slurmctld said of itself while it ran."""

    log: str
    config: dict[str, str]
    partitions: dict[str, dict[str, str]]
    nodes: dict[str, dict[str, str]]

    @property
    def complaints(self) -> list[str]:
        errors = [line for line in self.log.splitlines() if "error:" in line or "fatal:" in line]
        return [line for line in errors if not EXPECTED.search(line)]


def emulation_in(folder: Path, settings, *, accounting: bool) -> Emulation:
    for name in ("etc", "state", "log", "spool"):
        (folder / name).mkdir(parents=True)
    programs = slurm_programs()
    plugins = programs.plugins()
    with socket.socket() as one, socket.socket() as other:
        one.bind(("127.0.0.1", 0))
        other.bind(("127.0.0.1", 0))
        ports = one.getsockname()[1], other.getsockname()[1]
    emulation = emulated(
        settings,
        folder=folder,
        controller_port=ports[0],
        node_port=ports[1],
        user=pwd.getpwuid(os.getuid()).pw_name,
        plugin_folder=programs.plugin_folder,
        has_plugin=plugins.__contains__,
        accounting=accounting,
    )
    emulation.write(folder / "etc")
    return emulation


def answers_of(folder: Path) -> Answers:
    """Starts slurmctld on loopback, asks it and ends it."""
    programs = slurm_programs()
    conf, log = folder / "etc" / "slurm.conf", folder / "log" / "slurmctld.log"
    environment = {**os.environ, **programs.environment(), "SLURM_CONF": str(conf)}
    with (folder / "out").open("w") as out:
        process = subprocess.Popen(
            ["slurmctld", "-D", "-f", str(conf)],
            executable=programs.slurmctld,
            env=environment,
            stdout=out,
            stderr=subprocess.STDOUT,
        )
    try:
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end and process.poll() is None:
            if log.exists() and "Running as primary controller" in log.read_text():
                break
            time.sleep(0.05)
        assert process.poll() is None, (folder / "out").read_text() + (log.read_text() if log.exists() else "")
        texts = [_asked(environment, what) for what in ("config", "partitions", "nodes")]
    finally:
        process.terminate()
        process.wait(PATIENCE)
    config = dict(re.findall(r"^(\w+) +=[ ]?(.*)$", texts[0], re.MULTILINE))
    return Answers(log.read_text(), config, _records(texts[1]), _records(texts[2]))


def _asked(environment, what):
    end = time.monotonic() + PATIENCE
    while True:
        done = subprocess.run(
            ["scontrol", "-a", "show", what], env=environment, capture_output=True, text=True, check=False
        )
        if done.returncode == 0 or time.monotonic() > end:
            return done.stdout
        time.sleep(0.1)


def _records(text):
    found = {}
    for record in text.split("\n\n"):
        pairs = dict(re.findall(r"(\w+)=(\S*)", record))
        if pairs:
            found[pairs.get("PartitionName") or pairs["NodeName"]] = pairs
    return found


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    (folder / "conf.d").mkdir()
    for name, text in {
        "slurm.conf": SITE,
        "conf.d/scheduling.conf": SCHEDULING,
        "conf.d/machines.conf": MACHINES,
        "gres.conf": GRES,
        "topology.conf": TOPOLOGY,
    }.items():
        (folder / name).write_text(text)
    return read_settings(folder / "slurm.conf")


@pytest.fixture(scope="module", params=[False, True], ids=["no accounts", "accounts"])
def site_answers(request, site, tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    emulation = emulation_in(folder, site, accounting=request.param)
    if request.param:
        accounts = parse_toml(ACCOUNTS, "accounts.toml")
        _, uids = passwd_lines(accounts.users)
        write_state(folder / "state", accounts, uids, tres=emulation.tres)
    return emulation, answers_of(folder), request.param


def test_the_site_is_taken_without_complaint(site_answers):
    _, answers, _ = site_answers
    assert answers.complaints == []
    assert "Running as primary controller" in answers.log


def test_the_site_keeps_its_scheduling(site_answers):
    _, answers, accounting = site_answers
    weights = "CPU=1000,Mem=2000,GRES/gpu=3000" if accounting else "CPU=1000,Mem=2000"
    expected = {
        "SchedulerType": "sched/backfill",
        "SchedulerParameters": "bf_window=10080,bf_resolution=300,bf_max_job_test=5000,bf_max_job_user=50,bf_continue,"
        "bf_interval=60,preempt_reorder_count=3,preempt_youngest_first",
        "SelectType": "select/cons_tres",
        "SelectTypeParameters": "CR_CORE_MEMORY,CR_ONE_TASK_PER_CORE",
        "PriorityType": "priority/multifactor",
        "PriorityFlags": "ACCRUE_ALWAYS,NO_FAIR_TREE,MAX_TRES",
        "PriorityWeightPartition": "5000",
        "PriorityWeightTRES": weights,
        "PriorityMaxAge": "14-00:00:00",
        "PriorityDecayHalfLife": "14-00:00:00",
        "PriorityCalcPeriod": "00:10:00",
        "PreemptType": "preempt/qos",
        "PreemptMode": "REQUEUE",
        "PreemptExemptTime": "00:30:00",
        "EnforcePartLimits": "ALL",
        "OverTimeLimit": "5 min",
        "CompleteWait": "32 sec",
        "KillWait": "60 sec",
        "MinJobAge": "600 sec",
        "MaxJobCount": "50000",
        "MaxArraySize": "20001",
        "FirstJobId": "1000000",
        "JobRequeue": "1",
        "BatchStartTimeout": "20 sec",
        "FairShareDampeningFactor": "5",
        "Licenses": "matlab:50,ansys:20",
        "DefMemPerCPU": "1024",
        "MaxMemPerNode": "500000",
        "TopologyPlugin": "topology/tree",
        "TopologyParam": "TopoOptional",
        "DependencyParameters": "kill_invalid_depend",
        "ResvOverRun": "10 min",
        "RequeueExit": "100-102",
        "JobSubmitPlugins": "all_partitions",
        "SlurmctldParameters": "node_reg_mem_percent=90,preempt_send_user_signal",
    }
    if accounting:
        expected |= {"PriorityWeightAge": "1000", "PriorityWeightFairShare": "100000"}
        expected |= {"AccountingStorageEnforce": "associations,limits,qos,safe"}
    assert {key: answers.config[key] for key in expected} == expected


def test_the_site_keeps_its_partitions(site_answers):
    _, answers, accounting = site_answers
    shown = answers.partitions
    assert list(shown) == ["batch", "gpu", "hidden", "scavenge", "cloud", "old"]
    assert shown["batch"]["Nodes"] == "c[001-020]"
    assert shown["batch"]["MaxNodes"] == "16"
    assert shown["batch"]["AllowQos"] == ("normal,high" if accounting else "ALL")
    assert shown["gpu"]["QoS"] == ("part_gpu" if accounting else "N/A")
    assert shown["gpu"]["Nodes"] == "g[01-04],v[1-2]"
    assert shown["gpu"]["JobDefaults"] == "DefCpuPerGPU=8,DefMemPerGPU=32000"
    assert (shown["hidden"]["Hidden"], shown["hidden"]["AllowGroups"]) == ("YES", "ALL")
    assert shown["scavenge"]["PriorityTier"] == "1"
    assert (shown["scavenge"]["PreemptMode"], shown["scavenge"]["GraceTime"]) == ("CANCEL", "120")
    assert (shown["cloud"]["ExclusiveUser"], shown["cloud"]["LLN"]) == ("YES", "YES")
    assert (shown["old"]["OverSubscribe"], shown["old"]["State"]) == ("EXCLUSIVE", "DRAIN")
    assert {part["MaxTime"] for part in shown.values()} == {"2-00:00:00"}


def test_nodes_register_as_slurmctld_expects_them(site_answers):
    emulation, answers, _ = site_answers
    assert {node.name for node in emulation.nodes} == set(answers.nodes)
    for node in emulation.nodes:
        shown = answers.nodes[node.name]
        assert shown["NodeAddr"] == "127.0.0.1"
        assert (node.cpus, node.boards, node.sockets, node.cores_per_socket, node.threads) == tuple(
            int(shown[key]) for key in ("CPUTot", "Boards", "Sockets", "CoresPerSocket", "ThreadsPerCore")
        )
        assert (node.memory, node.tmp_disk) == (int(shown["RealMemory"]), int(shown["TmpDisk"]))
        assert ",".join(node.features) == shown["AvailableFeatures"].replace("(null)", "")
        assert node.core_spec_count == int(shown.get("CoreSpecCount", 0))
        assert ("DRAIN" in shown["State"]) != node.in_service
    assert answers.nodes["g01"]["Gres"] == "gpu:a100:4,nvme:2T"


# Lines that can be read in more than one way.
NODES = """\
NodeName=a01
NodeName=a02 CPUs=8
NodeName=a03 CPUs=8 ThreadsPerCore=2
NodeName=a04 CPUs=32 Sockets=2
NodeName=a05 CPUs=32 CoresPerSocket=8
NodeName=a06 CPUs=9 CoresPerSocket=4
NodeName=a07 CPUs=7 ThreadsPerCore=2
NodeName=a08 CPUs=16 Sockets=2 CoresPerSocket=8 ThreadsPerCore=2
NodeName=a09 CPUs=32 Sockets=2 ThreadsPerCore=2
NodeName=a10 Sockets=2 SocketsPerBoard=3 Boards=2
NodeName=a11 Boards=2 CPUs=8
NodeName=a12 Boards=3 CPUs=8
NodeName=a13 Boards=2 CoresPerSocket=4
NodeName=a14 CPUs=12 Procs=4 RealMemory=4k Weight=2K
NodeName=DEFAULT CPUs=4 Feature=a
NodeName=b1 Procs=8 Features=b,c
NodeName=b2 State=DRAINED
NodeName=b3 State=FAILING
DownNodes=b5,b6
DownNodes=b4 State=UNKNOWN
NodeName=b4
NodeName=b5
NodeName=DEFAULT Procs=6 Sockets=2 CoresPerSocket=2
NodeName=c1 CPUs=8
NodeName=c2 SocketsPerBoard=1
PartitionName=p Nodes=ALL Default=YES
"""


def test_nodes_are_read_as_slurmctld_reads_them(tmp_path):
    (tmp_path / "slurm.conf").write_text(NODES)
    emulation = emulation_in(tmp_path / "run", read_settings(tmp_path / "slurm.conf"), accounting=False)
    shown = answers_of(tmp_path / "run").nodes
    for node in emulation.nodes:
        theirs = shown[node.name]
        assert (node.name, node.cpus, node.boards, node.sockets, node.cores_per_socket, node.threads) == (
            node.name,
            *(int(theirs[key]) for key in ("CPUTot", "Boards", "Sockets", "CoresPerSocket", "ThreadsPerCore")),
        )
        assert (node.memory or 1, node.weight) == (int(theirs["RealMemory"]), int(theirs["Weight"]))
        assert ",".join(node.features) == theirs["AvailableFeatures"].replace("(null)", "")
        assert node.in_service == (theirs["State"] in ("UNKNOWN", "IDLE")), node
    assert len(emulation.nodes) == len(shown) == 21


def test_an_old_file(tmp_path):
    (tmp_path / "slurm.conf").write_text(OLD)
    emulation_in(tmp_path / "run", read_settings(tmp_path / "slurm.conf"), accounting=False)
    answers = answers_of(tmp_path / "run")
    assert answers.complaints == []
    assert (answers.config["SelectType"], answers.config["SchedulerType"]) == ("select/linear", "sched/builtin")
    assert answers.partitions["all"]["PriorityTier"] == answers.partitions["all"]["PriorityJobFactor"] == "5"
    assert answers.partitions["all"]["OverSubscribe"] == "FORCE:2"
    assert answers.nodes["n3"]["CPUTot"] == "4"


def test_edits_arrive(site, tmp_path):
    edits = [
        *("SchedulerParameters+=bf_max_job_user=10", "PriorityWeightPartition*=1.2", "Licenses-=ansys"),
        *("PartitionName=hidden:PriorityTier=77", "NodeName=c003:Weight=5", "PartitionName=old:MaxTime=2:00:00"),
    ]
    emulation_in(tmp_path / "run", edited(site, edits), accounting=False)
    answers = answers_of(tmp_path / "run")
    assert answers.complaints == []
    assert "bf_max_job_user=10," in answers.config["SchedulerParameters"]
    assert (answers.config["PriorityWeightPartition"], answers.config["Licenses"]) == ("6000", "matlab:50")
    assert (answers.partitions["hidden"]["PriorityTier"], answers.partitions["old"]["PriorityTier"]) == ("77", "3")
    assert answers.partitions["old"]["MaxTime"] == "02:00:00"
    assert [answers.nodes[name]["Weight"] for name in ("c002", "c003", "c004")] == ["10", "5", "10"]


@pytest.mark.parametrize("name", ["ubccr-micro", "ubccr-ubhpc"])
def test_sites_of_the_traces(traces, tmp_path, name):
    settings = read_settings(traces / "slurm" / f"{name}-slurm.conf")
    emulation = emulation_in(tmp_path / "run", settings, accounting=False)
    answers = answers_of(tmp_path / "run")
    assert answers.complaints == []
    for key in ("SchedulerParameters", "SelectType", "PreemptMode", "FirstJobId", "MaxJobCount", "PriorityWeightQOS"):
        assert answers.config[key] == settings.text(key, answers.config[key])
    assert len(emulation.nodes) == len(answers.nodes) == {"ubccr-micro": 10, "ubccr-ubhpc": 217}[name]
    for node in emulation.nodes:
        shown = answers.nodes[node.name]
        assert (str(node.cpus), str(node.memory)) == (shown["CPUTot"], shown["RealMemory"])


def test_stored_accounts(traces, tmp_path):
    stored = traces / "slurm-real" / "vc_fairshare"
    emulation_in(tmp_path / "run", read_settings(stored / "slurm.conf"), accounting=True)
    for name in ("assoc_mgr_state", "last_tres", "clustername"):
        shutil.copyfile(stored / name, tmp_path / "run" / "state" / name)
    answers = answers_of(tmp_path / "run")
    assert answers.complaints == []
    assert answers.config["PriorityWeightFairShare"] == "50000"
    assert answers.config["AccountingStorageEnforce"] == "associations,limits,qos"
