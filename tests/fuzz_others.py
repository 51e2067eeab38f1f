"""Fuzz the readers of JSON, XML and small text files: mutated files give a sound result or an InputError, nothing else.

python -m tests.fuzz_others --seconds 600 --seed 1
"""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path

from tests.fuzzing import check_workload, main, mutate

from schedlab.cluster.read import read_cluster, recognised_cluster
from schedlab.generate.store import read_model
from schedlab.model.cluster import Cluster
from schedlab.model.errors import InputError
from schedlab.model.mistakes import SHOWN
from schedlab.workflow.describe import describe_workflow
from schedlab.workflow.read import read_workflows
from schedlab.workload.read import read_workload

ODD = [
    *("", "0", "-1", "1e400", "nan", "null", "true", '"', "'", "{", "}", "[", "]", ",", ":", "<", ">", "&", "/", "#"),
    *("=", "\t", "\n", "\r", "\0", "\ufeff", "ä", "9" * 30, '"id": 1', "<host/>", "delay", "parallel", "radical="),
    *("[1-", "Gf"),
]
SPEEDS = ("1Gf", "100Mf,50Mf", "2e9")


def batsim(chance: random.Random) -> bytes:
    kinds = [
        {"type": "delay", "delay": chance.choice([1, 60, 3.5])},
        {"type": "parallel_homogeneous", "cpu": 1e9, "com": chance.choice([0, 1e6])},
        {"type": "composed", "repeat": 2, "seq": ["p0"]},
    ]
    profiles = {f"p{number}": kind for number, kind in enumerate(kinds)}
    jobs = [
        {
            "id": chance.choice([number, str(number), f"w0!{number}"]),
            "subtime": number * chance.choice([0, 1, 2.5]),
            "res": chance.randint(1, 4),
            "profile": chance.choice(list(profiles)),
            **({"walltime": chance.choice([-1, 100])} if chance.random() < 0.7 else {}),
        }
        for number in range(chance.randint(1, 12))
    ]
    return json.dumps({"nb_res": 4, "jobs": jobs, "profiles": profiles}, indent=chance.choice([None, 1])).encode()


def simgrid(chance: random.Random) -> bytes:
    hosts = "".join(
        f'<host id="{chance.choice(["n", "Mars", "h-"])}{number}" speed="{chance.choice(SPEEDS)}" '
        f'core="{chance.choice([1, 4])}"><prop id="watt_per_state" value="1:2"/></host>'
        for number in range(chance.randint(1, 5))
    )
    cluster = '<cluster id="c" prefix="a" suffix=".x" radical="0-3,7" speed="1Gf" bw="1Gbps" lat="1us"/>'
    inside = chance.choice([hosts, cluster, hosts + cluster])
    start = chance.choice(["<?xml version='1.0'?>\n", "junk\n<?xml version='1.0'?>\n", ""])
    return f'{start}<platform version="4.1"><zone id="z" routing="Full">{inside}</zone></platform>'.encode()


def accasim(chance: random.Random) -> bytes:
    groups = {"g0": {"core": chance.choice([1, 4]), "mem": 1000}, "g1": {"core": 8, "gpu": 2}}
    system = {"system_name": "s", "start_time": 0, "groups": groups, "resources": {"g0": 5, "g1": 2}}
    return json.dumps(system | {"equivalence": {"processor": {"core": 1}}}).encode()


def machines(chance: random.Random) -> bytes:
    rows = [f"{n}\tname{n}\t{chance.randint(1, 9)}\t{chance.choice([1, 8])}\t1.0\t1048576" for n in range(3)]
    return "\n".join(rows).encode()


def alea(chance: random.Random) -> bytes:
    rows = [
        f"{n} {n * 10} 5 {chance.choice([0, 60])} 4 -1 -1 4 100 1024 1 2 1 1 1 1 -1 -1 a,b q "
        f"{chance.choice(['1:ppn=4', '2:ppn=2:cl_a', '1:ppn=4+1:ppn=2'])}"
        for n in range(1, chance.randint(2, 9))
    ]
    return "\n".join(rows).encode()


def toml(chance: random.Random) -> bytes:
    nodes = '[[nodes]]\nname = "a"\ncount = 3\ncores = 4\nmemory = "4 GiB"\n[nodes.resources]\n"gpu:v100" = 2\n'
    rest = '[[partitions]]\nname = "p"\nnodes = ["a"]\n[[switches]]\nname = "s"\nnodes = "a[1-3]"\n'
    return (nodes + (rest if chance.random() < 0.7 else "")).encode()


def model(chance: random.Random) -> bytes:
    pool = {
        "applications": [{"name": "a", "processes": 4, "runtime": 60}],
        "arrivals": {"kind": "constant", "every": 5},
    }
    lublin = {"processors": chance.choice([64, 256])}
    kind, content = chance.choice([("pool", pool), ("lublin", lublin)])
    return json.dumps({"schedlab": 1, "model": kind, **content}).encode()


def wfformat(chance: random.Random) -> bytes:
    ids = [f"t{number}" for number in range(chance.randint(1, 5))]
    files = {"inputFiles": ["f"], "outputFiles": ["f"]}
    tasks = [{"id": id, "name": id, "parents": ids[:place], **files} for place, id in enumerate(ids)]
    ran = [{"id": id, "runtimeInSeconds": chance.choice([1, 2.5]), "coreCount": 2} for id in ids]
    specified = {"tasks": tasks, "files": [{"id": "f", "sizeInBytes": 5}]}
    return json.dumps({"name": "w", "workflow": {"specification": specified, "execution": {"tasks": ran}}}).encode()


def dax(chance: random.Random) -> bytes:
    uses = '<uses file="f" link="output" size="3"/>'
    jobs = "".join(f'<job id="j{n}" name="n" runtime="1,5">{uses}</job>' for n in range(chance.randint(2, 4)))
    return f'<adag>{jobs}<child ref="j1"><parent ref="j0"/></child></adag>'.encode()


def manifest(chance: random.Random) -> bytes:
    tasks = [{"id": id, "number_of_cores": 2, "runtime_sim": 5, "runtime_limit": 9} for id in "abc"]
    dot = chance.choice(["digraph {a -> b -> c}", 'strict digraph "x" {\n\t"a"->b;\n c [label="c"]\n}'])
    return json.dumps({"tasks": tasks, "max_cores": 2, "dot_dag": dot}).encode()


def workflow_toml(chance: random.Random) -> bytes:
    after = chance.choice(['["a"]', "[]"])
    return f'[w]\ntasks = [\n{{ id = "a", runtime = 1 }},\n{{ id = "b", runtime = 2, after = {after} }},\n]\n'.encode()


WORKFLOWS = {"wf.json": wfformat, "wf.xml": dax, "wf.manifest.json": manifest, "wf.toml": workflow_toml}
KINDS = {
    "w.json": batsim,
    "p.xml": simgrid,
    "s.json": accasim,
    "m.machines": machines,
    "a.swf": alea,
    "c.toml": toml,
    "model.json": model,
    **WORKFLOWS,
}


def check_cluster(cluster: Cluster) -> None:
    names = cluster.node_names()
    assert 0 < len(names) == len(set(names))
    assert all(0 <= amount < 2**63 for group in cluster.groups for amount in group.resources.values())
    assert Cluster.from_dict(json.loads(json.dumps(cluster.to_dict()))) == cluster


def check_read(path: Path, chance: random.Random) -> bool:
    """True if the file could be read."""
    try:
        if path.name == "model.json":
            read_model(path)
        elif path.name in WORKFLOWS:
            for workflow in read_workflows(path):
                assert describe_workflow(workflow).tasks == len(workflow) > 0
        elif recognised_cluster(path):
            check_cluster(read_cluster(path))
        else:
            check_workload(read_workload(path, bad_rows=chance.choice(["fail", "drop"])), bad_rows=SHOWN)
    except InputError as error:
        assert str(path) in str(error), str(error)
        return False
    return True


def fuzz(chance: random.Random, folder: Path) -> bool:
    name = chance.choice(list(KINDS))
    path = folder / name
    data = mutate(KINDS[name](chance), chance, ODD, (0, 0, 1, 1, 2, 5))
    path.write_bytes(data)
    try:
        return check_read(path, chance)
    except Exception:
        print(f"failed on {name}: {data!r}", file=sys.stderr)
        raise


if __name__ == "__main__":
    main(fuzz, __doc__)
