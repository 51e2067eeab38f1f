"""Every slurm.conf of the samples gives the machine, the emulation and the differences that it always gave.

The sums are of the whole texts; the numbers beside them say what to look at first. For a change that is meant,
`python -m tests.golden.test_slurm_samples` writes slurm_samples.json anew.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.slurm_confs import GRES, MACHINES, OLD, SCHEDULING, SITE, TOPOLOGY

from schedlab.cluster.slurm.read import read_settings, read_slurm_conf
from schedlab.model.cluster import Cluster
from schedlab.slurm import setup
from schedlab.slurm.settings import differences_text

STORED = Path(__file__).with_name("slurm_samples.json")
ROOT = Path(__file__).parents[2]
WRITTEN = {
    "site": {
        "slurm.conf": SITE,
        "conf.d/scheduling.conf": SCHEDULING,
        "conf.d/machines.conf": MACHINES,
        "gres.conf": GRES,
        "topology.conf": TOPOLOGY,
    },
    "old": {"slurm.conf": OLD},
}
SAMPLES = {
    "micro_cluster": "examples/micro_cluster/slurm.conf",
    "ubccr-micro": "traces/slurm/ubccr-micro-slurm.conf",
    "ubccr-ubhpc": "traces/slurm/ubccr-ubhpc-slurm.conf",
    "vc_fairshare": "traces/slurm-real/vc_fairshare/slurm.conf",
    "vc_prio_size": "traces/slurm-real/vc_prio_size/slurm.conf",
    "birch": "cases/birch/slurm.conf",
    "cedar": "cases/cedar/slurm.conf",
    "edison": "cases/scsf/slurm.conf.edison",
}


def results(conf: Path) -> dict[str, Any]:
    found: dict[str, Any] = {"read_slurm_conf": _cluster(read_slurm_conf(conf))}
    programs = SimpleNamespace(plugin_folder=Path("/usr/lib/slurm"), has_plugin=lambda kind, name: True)
    chosen = setup.Setup(programs, read_settings(conf), None)  # type: ignore[arg-type]
    found["Setup.cluster"] = _cluster(chosen.cluster())
    for accounting in (False, True):
        emulation = chosen._emulation(setup.NOWHERE, accounting=accounting)
        texts = {**emulation.files, "differences": "\n".join(differences_text(emulation.differences))}
        words = {name: _summed(text) for name, text in texts.items()}
        words["nodes"] = _summed("\n".join(f"{setup._facts(node)} {node.in_service}" for node in emulation.nodes))
        found["emulation, accounts" if accounting else "emulation"] = words
    return found


def _cluster(cluster: Cluster) -> dict[str, Any]:
    names = ("nodes", "cores")
    totals = {name: cluster.total(name) for name in cluster.resource_names if name != "cores"}
    return {
        **{name: getattr(cluster, name) for name in names},
        **totals,
        "groups": len(cluster.groups),
        "partitions": ",".join(partition.name for partition in cluster.partitions),
        "switches": len(cluster.switches),
        "notes": _summed("\n".join(cluster.notes)),
        "sum": _sum(json.dumps(cluster.to_dict(), sort_keys=True)),
    }


def _summed(text: str) -> str:
    return f"{len(text.splitlines())} lines, {_sum(text)}"


def _sum(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _written(name: str, folder: Path) -> Path:
    for file, text in WRITTEN[name].items():
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text(text)
    return folder / "slurm.conf"


def _sample(name: str) -> Path:
    kind, _, rest = SAMPLES[name].partition("/")
    if kind == "examples":
        return ROOT / SAMPLES[name]
    traces = Path(os.environ.get("SCHEDLAB_TRACES") or ROOT.parent / "shared" / "traces")
    return (traces if kind == "traces" else traces.parent / kind) / rest


@pytest.fixture(autouse=True)
def _me(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(setup, "_me", lambda: "me")


@pytest.mark.parametrize("name", [*WRITTEN, *SAMPLES])
def test_as_before(name: str, tmp_path: Path) -> None:
    conf = _written(name, tmp_path) if name in WRITTEN else _sample(name)
    if not conf.is_file():
        pytest.skip(f"there is no {conf}")
    assert results(conf) == json.loads(STORED.read_text())[name]


if __name__ == "__main__":
    setup._me = lambda: "me"
    every = {name: results(_sample(name)) for name in SAMPLES}
    for own in WRITTEN:
        with tempfile.TemporaryDirectory() as folder:
            every[own] = results(_written(own, Path(folder)))
    STORED.write_text(json.dumps(every, indent=1) + "\n")
