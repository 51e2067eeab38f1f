"""A real slurmctld, without a database, has the accounts that we wrote: what it shows, and what it saves again."""

import os
import pwd
import re
import signal
import socket
import subprocess
import time

import pytest
from tests.slurm_state import read_state

from schedlab.slurm.accounts.passwd import passwd_lines
from schedlab.slurm.accounts.read_toml import parse_toml
from schedlab.slurm.accounts.state import write_state
from schedlab.slurm.install import find_programs

PATIENCE = 60  # seconds of waiting for a program; it takes about one

CONF = """\
ClusterName=micro
SlurmctldHost=localhost(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
SlurmctldPort={port}
SlurmdPort={node_port}
AuthType=auth/none
CredType=cred/none
PluginDir={plugins}
CommunicationParameters=NoAddrCache,NoCtldInAddrAny,NoInAddrAny
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePort={closed_port}
AccountingStorageEnforce=associations,limits,qos
AccountingStorageTRES=gres/gpu
GresTypes=gpu
PriorityType=priority/multifactor
PreemptType=preempt/qos
PreemptMode=REQUEUE
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}
SlurmctldPidFile={folder}/slurmctld.pid
SlurmctldLogFile={folder}/slurmctld.log
NodeName=n1 NodeAddr=127.0.0.1 CPUs=4
PartitionName=gpu Nodes=n1 Default=YES
"""

ACCOUNTS = """\
cluster = "micro"

[root]
max_submit = 5000

[accounts.science]
fairshare = 60
grp_tres = "cpu=64,mem=100G,gres/gpu=4"
grp_tres_mins = "cpu=1000"
grp_tres_run_mins = "cpu=500"
max_wall = "2-00:00:00"
max_tres_per_node = "cpu=3"

[accounts.physics]
parent = "science"
fairshare = 30
max_jobs = 7
qos = ["normal", "long"]
default_qos = "long"

[accounts.chemistry]
parent = "science"
fairshare = "parent"
grp_jobs = 11
grp_jobs_accrue = 12
grp_submit = 13
grp_wall = "100:00:00"

[users.alice]
accounts = ["physics", "chemistry"]
default = "chemistry"
fairshare = 2
max_wall = "1-00:00:00"
max_tres_mins = "cpu=600"
max_tres_run_mins = "cpu=700"

[users.bob]
accounts = ["physics"]
max_jobs = 3
max_jobs_accrue = 2
priority = 12
min_prio_threshold = 4

[[users.bob.associations]]
account = "chemistry"
partition = "gpu"
max_tres = "node=2"

[qos.long]
priority = 10
max_wall = "7-00:00:00"
max_tres_per_user = "cpu=100"
max_tres_per_account = "cpu=200"
max_tres_run_mins_per_user = "cpu=300"
max_tres_run_mins_per_account = "cpu=400"
flags = "DenyOnLimit,NoDecay"
usage_factor = 0.5
grace_time = 300
preempt_mode = "requeue"
preempt_exempt_time = "00:10:00"

[qos.urgent]
priority = 100
preempt = ["long", "normal"]
grp_jobs = 40
grp_tres = "node=3"
max_tres = "cpu=50"
max_tres_per_node = "cpu=5"
max_tres_mins = "cpu=60"
max_jobs_per_user = 2
max_jobs_per_account = 3
max_jobs_accrue_per_user = 4
max_jobs_accrue_per_account = 5
max_submit_per_user = 8
max_submit_per_account = 9
min_prio_threshold = 6
min_tres = "gres/gpu=1"
limit_factor = 2
usage_threshold = 0.25
"""


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


class Controller:
    """What a slurmctld said while it ran, and what it left behind."""

    def __init__(self, folder, programs):
        (folder / "state").mkdir()
        port, node_port, closed_port = free_ports(3)
        user = pwd.getpwuid(os.getuid()).pw_name
        places = {"folder": folder, "plugins": programs.plugin_folder, "user": user}
        conf = folder / "slurm.conf"
        conf.write_text(CONF.format(port=port, node_port=node_port, closed_port=closed_port, **places))
        accounts = parse_toml(ACCOUNTS, "accounts.toml")
        _, uids = passwd_lines(accounts.users)
        write_state(folder / "state", accounts, uids, tres=("gres/gpu",))
        self.before = read_state(folder / "state")
        self.environment = {**os.environ, **programs.environment(), "SLURM_CONF": str(conf)}
        with (folder / "out").open("w") as out:
            process = subprocess.Popen(
                ["slurmctld", "-D", "-f", str(conf)],
                executable=programs.slurmctld,
                env=self.environment,
                stdout=out,
                stderr=subprocess.STDOUT,
            )
        try:
            self.shown = self.answer(process, "scontrol", "show", "assoc_mgr")
            self.shares = self.answer(process, "sshare", "-a", "-l", "-P")
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(PATIENCE)
        self.after = read_state(folder / "state")
        self.log = (folder / "slurmctld.log").read_text()

    def answer(self, process, *command):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end and process.poll() is None:
            done = subprocess.run(command, env=self.environment, capture_output=True, text=True, check=False)
            if done.returncode == 0:
                return done.stdout
            time.sleep(0.1)
        raise AssertionError(f"{command}: no answer from slurmctld; {done.stderr}")

    def record(self, title):
        """The lines of scontrol that begin with `title`, up to the next record."""
        return re.search(rf"^{re.escape(title)}.*?(?=^\S|\Z)", self.shown, re.MULTILINE | re.DOTALL)[0]


@pytest.fixture(scope="module")
def controller(tmp_path_factory):
    programs = find_programs()
    if programs is None:
        pytest.skip("needs Slurm's programs: `schedlab slurm doctor` fetches them, or set SCHEDLAB_SLURM")
    return Controller(tmp_path_factory.mktemp("controller"), programs)


def test_what_slurmctld_saves_is_what_it_was_given(controller):
    before, after = controller.before, controller.after
    assert after.when > before.when
    assert after.associations == before.associations
    assert after.qos == before.qos
    # The machine does not know these users, and amounts are those of the nodes.
    assert [{**user, "uid": 0} for user in after.users] == [{**user, "uid": 0} for user in before.users]
    assert [{**tres, "count": 0} for tres in after.tres] == before.tres


@pytest.mark.parametrize(
    ("title", "said"),
    [
        ("UserName=alice", "DefAccount=chemistry"),
        ("UserName=bob", "DefAccount=physics"),
        ("ClusterName=micro Account=science UserName= ", "SharesRaw/Norm/Level/Factor=60/"),
        ("ClusterName=micro Account=science UserName= ", "GrpTRES=cpu=64(0),mem=102400(0),"),
        ("ClusterName=micro Account=science UserName= ", "gres/gpu=4(0)"),
        ("ClusterName=micro Account=science UserName= ", "GrpTRESMins=cpu=1000(0)"),
        ("ClusterName=micro Account=science UserName= ", "GrpTRESRunMins=cpu=500(0)"),
        ("ClusterName=micro Account=science UserName= ", "MaxWallPJ=2880"),
        ("ClusterName=micro Account=science UserName= ", "ParentAccount=root(1)"),
        ("ClusterName=micro Account=chemistry UserName= ", "ParentAccount=science(3)"),
        ("ClusterName=micro Account=chemistry UserName= ", "GrpJobs=11(0) GrpJobsAccrue=12(0)"),
        ("ClusterName=micro Account=chemistry UserName= ", "GrpSubmitJobs=13(0) GrpWall=6000("),
        ("ClusterName=micro Account=physics UserName= ", "MaxJobs=7(0)"),
        ("ClusterName=micro Account=physics UserName=alice(100000) ", "MaxSubmitJobs=5000(0) MaxWallPJ=1440"),
        ("ClusterName=micro Account=physics UserName=alice(100000) ", "MaxTRESMinsPJ=cpu=600"),
        ("ClusterName=micro Account=physics UserName=alice(100000) ", "MaxTRESPN=cpu=3"),
        ("ClusterName=micro Account=physics UserName=alice(100000) ", "MaxJobs=7(0)"),
        ("ClusterName=micro Account=physics UserName=bob(100001) ", "MaxJobs=3(0) MaxJobsAccrue=2(0)"),
        ("ClusterName=micro Account=physics UserName=bob(100001) ", "Priority=12"),
        ("ClusterName=micro Account=physics UserName=bob(100001) ", "MinPrioThresh=4"),
        ("ClusterName=micro Account=chemistry UserName=bob(100001) Partition=gpu ", "MaxTRESPJ=node=2"),
        ("QOS=long(2)", "Priority=10"),
        ("QOS=long(2)", "MaxWallPJ=10080"),
        ("QOS=long(2)", "PreemptMode=REQUEUE"),
        ("QOS=urgent(3)", "Priority=100"),
        ("QOS=urgent(3)", "GrpJobs=40(0)"),
        ("QOS=urgent(3)", "MaxTRESPJ=cpu=50"),
        ("QOS=urgent(3)", "MaxTRESPN=cpu=5"),
        ("QOS=urgent(3)", "MaxTRESMinsPJ=cpu=60"),
        ("QOS=urgent(3)", "MinPrioThresh=6"),
        ("QOS=urgent(3)", "MinTRESPJ=gres/gpu=1"),
    ],
)
def test_limits_as_scontrol_shows_them(controller, title, said):
    assert said in controller.record(title)


def test_shares_as_sshare_shows_them(controller):
    rows = [line.strip().split("|")[:4] for line in controller.shares.splitlines()[1:]]
    assert rows == [
        ["root", "", "", "0.000000"],
        ["root", "root", "1", "0.016393"],  # 1 of 61
        ["science", "", "60", "0.983607"],
        ["chemistry", "", "parent", "0.983607"],
        ["chemistry", "alice", "2", "0.060606"],  # 2 of 33, as the account is passed over
        ["chemistry", "bob", "1", "0.030303"],
        ["physics", "", "30", "0.909091"],
        ["physics", "alice", "2", "0.666667"],
        ["physics", "bob", "1", "0.333333"],
    ]


def test_slurmctld_finds_nothing_wrong_with_the_files(controller):
    about = [line for line in controller.log.splitlines() if re.search(r"assoc|qos|tres", line, re.IGNORECASE)]
    complaints = [line.partition("error: ")[2] for line in about if "error: " in line or "fatal: " in line]
    assert complaints == ["Association database appears down, reading from state file."]
