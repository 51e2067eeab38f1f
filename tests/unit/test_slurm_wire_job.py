"""Descriptions of jobs: equal to what the real sbatch sends for the same options."""

import os

import pytest
from tests.slurm_programs import slurm_programs
from tests.unit.slurm_wire.programs import Controller

from schedlab.model.errors import InputError, InputErrors
from schedlab.slurm.wire.buffer import Reader
from schedlab.slurm.wire.job import job_description, submission
from schedlab.slurm.wire.job_options import FLAGS, OPTIONS
from schedlab.slurm.wire.release import SLURM_22_05

LAYOUT = SLURM_22_05.layouts.job_description
# Where a job comes from and what it runs: not about scheduling.
SURROUNDINGS = ("alloc_node", "alloc_sid", "environment", "script", "argv", "std_out", "submit_line", "work_dir")

OPTION_SETS = """

ntasks=1
ntasks=64 mem-per-cpu=2800M time=120
ntasks=7 nodes=3
ntasks=2 nodes=4
nodes=4
nodes=2-8
nodes=1k
nodes=0
nodes=2-8 ntasks=5
nodes=4 ntasks-per-node=2
nodes=2-8 ntasks-per-node=2
ntasks-per-node=4
ntasks=16 ntasks-per-node=4 nodes=4
ntasks=4 cpus-per-task=3
cpus-per-task=8
cpus-per-task=2 mincpus=4
nodes=2 cpus-per-task=4
mincpus=4
mem=4G
mem=500K
mem=0
mem=1T exclusive=
mem-per-cpu=1900
gres=gpu:1
gres=gpu:2,nvme:1 nodes=2
gres=none
gpus=4
gpus=a100:2 ntasks=2
gpus-per-node=2 nodes=2
gpus-per-node=a100:2,v100:1 nodes=1 gres=nvme:1
gpus-per-task=1 ntasks=4
gpus=2 cpus-per-gpu=4 mem-per-gpu=8G
gpus-per-socket=1 sockets-per-node=2 nodes=1
gres=gpu:1 gres-flags=enforce-binding
gres=gpu:1 gres-flags=disable-binding
constraint=IB&CPU-N
constraint=[rack1|rack2]
prefer=fast partition=p
partition=p,q account=physics qos=high
wckey=w comment=some_words job-name=mine
time=90
time=1-12:30:10
time=UNLIMITED
time=0
time-min=30 time=60
exclusive=
exclusive=user
exclusive=mcs
oversubscribe=
nice=
nice=500
nice=-10
priority=1000
priority=TOP
hold=
hold= priority=7
begin=1900000000
deadline=1900000000
dependency=afterok:5:6,singleton
dependency=afterany:9 kill-on-invalid-dep=yes
kill-on-invalid-dep=no
array=0-15
array=1,3,5-9:2%3
licenses=matlab:2,ansys
reservation=maint
contiguous=
switches=1
switches=2@10:00
nodelist=n3,n1,n[2-4],n10,n9
nodelist=n[1-4] nodes=6
nodelist=n[1-8] ntasks=3
exclude=n[2-3],n1
requeue=
no-requeue=
core-spec=2
thread-spec=2
core-spec=0
ntasks-per-socket=2 ntasks=8
ntasks-per-core=1 ntasks=8
threads-per-core=1 ntasks=8
threads-per-core=2 nodes=2
sockets-per-node=2 cores-per-socket=4 nodes=2
sockets-per-node=2 cores-per-socket=4 ntasks=3
hint=nomultithread ntasks=4
hint=nomultithread nodes=2
hint=multithread
hint=compute_bound
hint=memory_bound nodes=2
hint=nomultithread threads-per-core=2
spread-job=
use-min-nodes=
overcommit= ntasks=32
overcommit= ntasks=32 nodes=2
tmp=20G
mcs-label=secret
no-kill=
reboot=
delay-boot=10
batch=IB
ntasks=24 ntasks-per-node=12 mem=30000 constraint=CPU-N time=600 account=a qos=normal partition=p exclusive= nice=3
"""


def _options(line: str) -> dict[str, str]:
    pairs = (item.partition("=") for item in line.split())
    return {name: value for name, _, value in pairs}


def _as_sbatch(name: str, value: str) -> str:
    if name in ("begin", "deadline"):
        value = f"uts{value}"
    return f"--{name}={value}" if value else f"--{name}"


@pytest.fixture(scope="module")
def controller(tmp_path_factory: pytest.TempPathFactory) -> Controller:
    folder = tmp_path_factory.mktemp("sbatch")
    (folder / "job.sh").write_text("#!/bin/sh\n")
    listener = Controller(folder, slurm_programs())
    yield listener
    listener.close()


@pytest.mark.parametrize("line", OPTION_SETS.split("\n")[1:-1])
def test_as_sbatch(controller: Controller, line: str) -> None:
    options = _options(line)
    controller.heard.clear()
    run = controller.run("sbatch", *(_as_sbatch(*item) for item in options.items()), "job.sh")
    assert run.stdout == "Submitted batch job 17\n", run.stderr
    ((_, incoming),) = controller.heard
    assert (incoming.name, incoming.uid) == ("REQUEST_SUBMIT_BATCH_JOB", os.getuid())
    theirs = LAYOUT.read(Reader(incoming.body))
    description = job_description(options, uid=os.getuid(), gid=os.getgid(), name=options.get("job-name", "job.sh"))
    around = {field: theirs[field] for field in SURROUNDINGS}
    ours = submission(SLURM_22_05, description | around)
    differences = {
        field: (value, theirs[field]) for field, value in LAYOUT.read(Reader(ours)).items() if value != theirs[field]
    }
    assert differences == {}
    assert ours == incoming.body


REFUSED = """
ntasks=0
ntasks=many
nodes=3-
nodes=4-2
nodes=x
mem=lots
mem=1X
mem=1G mem-per-cpu=1G
time=soon
exclusive=alone
nice=99999999999
priority=-1
switches=0
gres-flags=loose
hint=fast
cpus-per-task=0
tmp=-1
nodelist=n[1-4] nodes=2
kill-on-invalid-dep=perhaps
"""


@pytest.mark.parametrize("line", REFUSED.split("\n")[1:-1])
def test_refused_as_by_sbatch(controller: Controller, line: str) -> None:
    options = _options(line)
    with pytest.raises(InputError, match="--"):
        job_description(options, uid=0, gid=0)
    controller.heard.clear()
    assert controller.run("sbatch", *(_as_sbatch(*item) for item in options.items()), "job.sh").returncode != 0
    assert not controller.heard


def test_mistakes_are_told_at_once() -> None:
    with pytest.raises(InputErrors) as caught:
        job_description({"ntasks": "0", "mem": "x", "fly": "", "hold": "yes"}, uid=1, gid=1, where="job 5")
    assert str(caught.value).split("\n") == [
        "job 5: --ntasks: '0' is not a whole number from 1 to 2,147,483,647",
        "job 5: --mem: 'x' is not a whole number of MB (2^20 bytes), or with a unit: 500G (K, M, G, T)",
        "job 5: --fly: this option of sbatch is not understood",
        "job 5: --hold: 'yes' is not expected: this option has no value",
    ]


def test_what_has_no_effect_is_accepted() -> None:
    assert job_description({"output": "x", "mail-type": "ALL"}, uid=1, gid=1) == job_description({}, uid=1, gid=1)


@pytest.mark.parametrize("option", sorted(OPTIONS - FLAGS.keys()))
def test_any_value_is_accepted_or_refused(option: str) -> None:
    for value in ("", "0", "-1", "x", "9" * 30, "1:2:3", "n[", "%", "\0", "é", "1@", "a,,b"):
        try:
            description = job_description({option: value}, uid=1, gid=1, name="x")
        except InputError as error:
            assert f"--{option}" in str(error), value
        else:
            LAYOUT.read(Reader(submission(SLURM_22_05, description)))


def test_limit() -> None:
    assert job_description({}, uid=1, gid=1, limit_minutes=90)["time_limit"] == 90
    assert job_description({"time": "5"}, uid=1, gid=1, limit_minutes=90)["time_limit"] == 90
