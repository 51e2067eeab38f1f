"""Fuzz the readers of Slurm's files: mutated events and configurations give something sound or an InputError.

python tests/fuzz_slurm.py --seconds 600 --seed 1
"""

from __future__ import annotations

import random
from pathlib import Path

from tests.fuzzing import check_workload, main, mutate
from tests.slurm_emulation import emulation_of

from schedlab.cluster.slurm.read import cluster_of, read_settings, read_slurm_conf
from schedlab.cluster.slurm.write import write_slurm_conf
from schedlab.model.cluster import Cluster
from schedlab.model.errors import InputError
from schedlab.model.mistakes import Mistakes
from schedlab.model.nodeset import expand
from schedlab.model.workload import Workload
from schedlab.workload.options import ReadOptions
from schedlab.workload.slurm.read import read_slurm_events
from schedlab.workload.slurm.write import write_slurm_events

ODD = [
    *("-1", "0", "1e9", "nan", "inf", "1.5", "9" * 30, "", "|", "||", "=", "==", "\t", "\r", "\n", "\0", "\ufeff"),
    *("näme", '"', "'", '"a b"', "\\", "\\\n", "#", "\\#", "-", "--", "--x", "--x=1", "-n", "-N 2-4", "-t 0", "-J x"),
    *("[", "]", "[1-2]", "[3-1]", "[1-99999999]", "n[1-2]m[1-3]", "ALL", "DEFAULT", "INFINITE", "gpu:1(S:0-1)", "1K"),
    *("Include x.conf\n", "Include fuzz-slurm.conf\n", "NodeName=n[1-3]\n", "NodeSet=s Nodes=ALL\n", "State=FUTURE"),
]
TIMES, LENGTHS = (0, 0, 0, 1, 1, 2, 5), (0, 1, 3, 40)
OPTIONS = [
    *("-n 4", "-N 2", "-N 1-3", "-c 2", "--ntasks-per-node=2", "--mem=4G", "--mem-per-cpu=100", "--gres=gpu:v100:1"),
    *("--gpus=4", "-G2", "--gpus-per-task=1", "-C a&b", "--constraint='a|b'", "--exclusive", "--exclusive=user"),
    *("--array=0-3", "-a 1,5-7%2", "-d afterok:1:2", "--dependency=singleton", "--begin=now+1hour", "--nice=5"),
    *("-A acc", "-q qos", "--uid=u1", "-o out.txt", "-cancel-in 30", "--begin=16:00", "-w n1", "--wrap 'a b'"),
    *("-H", "-p x", "--foo"),
]
NODE = [
    *("CPUs=8", "Sockets=2 CoresPerSocket=4", "ThreadsPerCore=2", "RealMemory=1000", "Feature=a,b", "Gres=gpu:2"),
    *("Weight=5", "Gres=gpu:v100:2,nvme:1", "State=DOWN", "CoreSpecCount=1", "Boards=2 SocketsPerBoard=1"),
    *("Procs=4", "Colour=red"),
]


def valid_events(chance: random.Random) -> str:
    lines = []
    for number in range(1, chance.randint(1, 30)):
        head = chance.choice([f"-dt {number * 1.5} -e submit_batch_job", f"-e submit_batch_job -dt {number}"])
        options = [f"-sim-walltime {chance.choice(['-1', '0', '60', '5.25'])}"]
        options += [f"-t {chance.choice(['5', '1-0', '0:30'])}"]
        options += [f"-J jobid_{number}"] * (chance.random() < 0.9) + chance.sample(OPTIONS, chance.randint(0, 6))
        chance.shuffle(options)
        lines.append(f"{head} | {' '.join(options)} pseudo.job")
    return "\n".join(lines)


def valid_conf(chance: random.Random) -> str:
    lines = ["ClusterName=fuzz", "SelectTypeParameters=CR_Core_Memory", "SchedulerType=sched/backfill"]
    prefixes = chance.sample(["n", "m", "gpu-", "r1n", "x"], chance.randint(1, 4))
    if chance.random() < 0.5:
        lines.append(f"NodeName=DEFAULT {' '.join(chance.sample(NODE, 3))}")
    names = [f"{prefix}{chance.choice(['[1-4]', '[001-012]', '[1,3,5]', '7', '[8-11]-ib', ''])}" for prefix in prefixes]
    lines += [f"NodeName={name} {' '.join(chance.sample(NODE, chance.randint(0, 5)))}" for name in names]
    if chance.random() < 0.4:
        lines.append(f"NodeSet=some Nodes={chance.choice(names)}")
    for part in range(chance.randint(0, 3)):
        nodes = ",".join(chance.sample(names, chance.randint(1, len(names)))) if chance.random() < 0.8 else "ALL"
        lines.append(f"PartitionName=p{part} Nodes={nodes} Default={chance.choice(['YES', 'NO'])} MaxTime=1-0")
    return chance.choice(["\n", "\r\n"]).join(lines)


def check_cluster(cluster: Cluster) -> None:
    names = cluster.node_names()
    assert 0 < len(names) == len(set(names))
    groups = [group.name for group in cluster.groups]
    assert len(groups) == len(set(groups))
    assert [group.weight for group in cluster.groups] == sorted(group.weight for group in cluster.groups)
    for partition in cluster.partitions:
        assert partition.groups
        assert set(partition.groups) <= set(groups)
    for switch in cluster.switches:
        assert {name for name, _ in expand(switch.nodes)} <= set(names)


def fuzz_events(chance: random.Random, folder: Path) -> bool:
    path = folder / "fuzz.events"
    path.write_bytes(mutate(valid_events(chance).encode(), chance, ODD, TIMES, LENGTHS))
    options = ReadOptions(
        clean=chance.choice(["pwa", "strict"]),
        bad_rows=chance.choice(["fail", "drop"]),
        missing_limit=chance.choice(["runtime", 60.0]),
    )
    try:
        workload = read_slurm_events(path, options)
    except InputError as error:
        check_error(error, path)
        return False
    check_workload(workload, bad_rows=20, durations=("submit", "runtime", "limit"), longest=2e12)
    write_slurm_events(path, workload)
    again = read_slurm_events(path, ReadOptions())
    assert decoded(again) == decoded(workload)
    return True


def decoded(workload: Workload) -> dict[str, list[object]]:
    """Columns with names and requests in the place of numbers, but for what event files do not hold."""
    (jobs,) = workload.batches()
    found: dict[str, list[object]] = {}
    for name in ("id", "submit", "runtime", "count", "cancel"):
        found[name] = getattr(jobs, name).tolist()
    found["before"] = [] if jobs.predecessors is None else list(jobs.predecessors.lists())
    for name in ("user", "group", "queue", "partition"):
        names = {-1: None} | dict(enumerate(workload.labels.get(name, [])))
        found[name] = [names[number] for number in getattr(jobs, name).tolist()]
    found["request"] = [workload.requests[place] for place in jobs.request.tolist()]
    return found


def fuzz_conf(chance: random.Random, folder: Path) -> bool:
    path = folder / "fuzz-slurm.conf"
    path.write_bytes(mutate(valid_conf(chance).encode(), chance, ODD, TIMES, LENGTHS))
    switches = "SwitchName=s Nodes=n[1-4]\nSwitchName=t Switches=s\n"
    beside = {"gres": "NodeName=n[1-4] Name=gpu Count=2\n", "topology": switches}
    for kind, text in beside.items():
        (folder / f"fuzz-{kind}.conf").write_bytes(mutate(text.encode(), chance, ODD, TIMES, LENGTHS))
    try:
        cluster = read_slurm_conf(path)
    except InputError as error:
        check_error(error, folder)
        return False
    check_cluster(cluster)
    check_emulation(path)
    for kind in beside:
        (folder / f"fuzz-{kind}.conf").unlink(missing_ok=True)
    if not write_slurm_conf(path, cluster):
        assert read_slurm_conf(path) == cluster
    return True


def check_emulation(path: Path) -> None:
    """The files of emulation say what its settings say, and nothing of them has to be changed any more."""
    folder = path.parent / "emulation"
    folder.mkdir(exist_ok=True)
    for file in folder.iterdir():
        file.unlink()
    try:
        emulation = emulation_of(read_settings(path))
    except InputError as error:
        check_error(error, path.parent)
        return
    again = read_settings(emulation.write(folder))
    machine = [cluster_of(settings, Mistakes(), cpus=True) for settings in (emulation.settings, again)]
    assert machine[0] == machine[1]
    lines = [
        {file: sorted(text.splitlines()) for file, text in e.files.items()} for e in (emulation, emulation_of(again))
    ]
    for files in lines:
        files["slurm.conf"] = [line for line in files["slurm.conf"] if not line.startswith("#")]
    assert lines[0] == lines[1]


def check_error(error: InputError, path: Path) -> None:
    message = str(error)
    assert message.startswith(str(path)), message
    assert message.replace("\n", "").isprintable(), message


def fuzz(chance: random.Random, folder: Path) -> bool:
    kind = fuzz_events if chance.random() < 0.5 else fuzz_conf
    return kind(chance, folder)


if __name__ == "__main__":
    main(fuzz, __doc__)
