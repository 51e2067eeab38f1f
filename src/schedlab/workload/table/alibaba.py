"""Pod lists of Alibaba's GPU trace (cluster-trace-gpu-v2023): a pod is one chunk on one node.

CPU and GPU come in thousandths. `read_alibaba` rounds them up to whole cores and GPUs, which any cluster has;
`read_alibaba_shares` asks for the exact `cpu_milli` and `gpu_milli`, which the nodes of the trace have too.
"""

from __future__ import annotations

from pathlib import Path

from schedlab.model.errors import InputError
from schedlab.model.workload import Workload
from schedlab.workload.options import ReadOptions
from schedlab.workload.table.mapping import Column, Mapping

_COMMON = {
    "id": Column("name"),
    "submit": Column("creation_time"),
    "start": Column("scheduled_time"),
    "end": Column("deletion_time"),
    "nodes": Column(value=1),
    "memory": Column("memory_mib", unit="mib"),
    "queue": Column("qos"),
    "features": Column("gpu_spec"),
    # A pod that was running when the trace was taken has no outcome.
    "status": Column("pod_phase", words=(("Succeeded", 1), ("Failed", 0), ("Pending", 5))),
}
_GPU = Column("gpu_milli", times="num_gpu", unit="milli")
PODS = Mapping(_COMMON | {"cores": Column("cpu_milli", unit="milli"), "gpus": _GPU})
SHARES = Mapping(_COMMON, {"cpu_milli": Column("cpu_milli"), "gpu_milli": Column("gpu_milli", times="num_gpu")})
NEEDED = ("name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli")
TIMES = ("creation_time", "deletion_time", "scheduled_time")


def read_alibaba(path: Path, options: ReadOptions) -> Workload:
    """The pods, with whole cores and GPUs."""
    return _read(path, options, PODS)


def read_alibaba_shares(path: Path, options: ReadOptions) -> Workload:
    """The pods, with exact thousandths of cores and GPUs."""
    return _read(path, options, SHARES)


def looks_like(start: str, name: str) -> bool:
    return set(NEEDED) <= set(start.partition("\n")[0].strip().split(","))


def check_times(path: Path, titles: list[str]) -> None:
    """Some lists of that trace are for packing only."""
    if set(NEEDED) <= set(titles) and not set(TIMES) & set(titles):
        raise InputError(
            f"a list of pods without times: it has no {', '.join(TIMES)}",
            where=str(path),
            hint="take a list with times, or give a mapping with submit = { value = 0 } and runtime = { value = 3600 }",
        )


def _read(path: Path, options: ReadOptions, mapping: Mapping) -> Workload:
    from schedlab.workload.table.read import read_table

    return read_table(path, options, mapping)
