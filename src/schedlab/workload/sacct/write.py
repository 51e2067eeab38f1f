"""Write jobs as a Slurm accounting dump: the columns of the command to copy, as `sacct -P` would print them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.files.whole_file import whole_file
from schedlab.model.errors import InputError
from schedlab.model.request import Request
from schedlab.model.workload import JobBatch, Workload
from schedlab.workload.sacct.lost import Losses, licences, plain_features, plain_memory, plain_name, tres_name
from schedlab.workload.sacct.rows import SACCT_COLUMNS

PIECE = 1 << 16  # rows turned into text at a time
NO_DATE = 946_684_800  # 2000-01-01, for jobs without a date
STATES = {1: "COMPLETED", 0: "FAILED", 5: "CANCELLED"}


def write_sacct(path: Path, workload: Workload) -> list[str]:
    """Write a workload as it was recorded: a job starts when it did, or at once if that is not known.

    What the format has no place for is said in the sentences that come back.
    """
    losses = Losses(workload)
    first = np.inf
    for batch in workload.batches():
        losses.see(batch)
        first = min(first, float(batch.submit.min(initial=np.inf)))
    zero = NO_DATE if workload.origin is None else workload.origin.timestamp()
    if first + zero < 1:
        message = "a job is submitted before 1970, which Slurm's times cannot say"
        raise InputError(message, where=str(path), hint="give the workload a later date (origin)")
    with whole_file(path) as file:
        file.write(("|".join(SACCT_COLUMNS) + "\n").encode())
        number = 1
        for batch in (batch for batch in workload.batches() if len(batch)):
            ids = np.arange(number, number + len(batch)) if losses.numbered_anew else batch.id
            number += len(batch)
            for text in _texts(_columns(batch, ids, zero, workload)):
                file.write(text)
    return losses.sentences()


def _columns(batch: JobBatch, ids: NDArray[np.int64], zero: float, workload: Workload) -> dict[str, NDArray[Any]]:
    submit = _whole(batch.submit + zero)
    start = submit + _whole(np.nan_to_num(batch.wait))
    runtime = _at_least_1(batch.runtime)
    never = np.isfinite(batch.cancel) & (batch.runtime <= 0)
    end = np.where(never, _whole(np.where(never, batch.cancel, 0.0) + zero), start + runtime)
    status = np.where(never, 5, batch.status)
    requests = workload.requests
    many = int(batch.count.max(initial=0)) + 1
    asked = _different(batch.request * np.int64(many) + batch.count, lambda key: _amounts(*divmod(key, many), requests))
    cpus, nodes, memory, tres, features, partition = asked
    labels = {name: _names(getattr(batch, name), workload.labels.get(name)) for name in ("user", "group", "queue")}
    partitions = _names(batch.partition, workload.labels.get("partition"))
    return {
        "JobID": ids,
        "JobIDRaw": ids,
        "User": labels["user"],
        "Account": labels["group"],
        "Partition": np.where(batch.partition < 0, partition, partitions),
        "QOS": labels["queue"],
        "State": _different(status, lambda code: (STATES.get(code, "COMPLETED"),))[0],
        "Submit": submit,
        "Eligible": submit,
        "Start": np.where(never, "Unknown", start.astype(object)),
        "End": end,
        "Suspended": np.full(len(batch), "00:00:00", dtype=object),
        "Timelimit": _different(_at_least_1(batch.limit), lambda seconds: (_duration(seconds),))[0],
        "ReqCPUS": cpus,
        "NCPUS": cpus,
        "NNodes": nodes,
        "ReqMem": memory,
        "ReqTRES": tres,
        "AllocTRES": np.where(never, "", tres),
        "Reason": np.full(len(batch), "None", dtype=object),
        "Reservation": np.full(len(batch), "", dtype=object),
        "Constraints": features,
    }


def _amounts(place: int, count: int, requests: Sequence[Request]) -> tuple[str, ...]:
    """Processors, nodes, memory, resources, features and partition of so many chunks of a request."""
    request = requests[place]
    cpus = max(request.chunk.get("cores", 0), 1) * count
    nodes = count if count == 1 or request.per_node_max == 1 else 0  # 0: not known
    own = dict(request.sbatch)
    memory = plain_memory(request.chunk.get("memory", 0) * count)
    generic = {tres_name(name): amount * count for name, amount in request.chunk.items() if tres_name(name)}
    amounts = {"cpu": cpus, "mem": memory, "node": nodes} | generic | licences(own.get("licenses", ""))
    tres = ",".join(f"{name}={amount}" for name, amount in amounts.items() if amount not in (0, "0"))
    memory = f"{own['mem-per-cpu']}c" if "mem-per-cpu" in own else memory
    return str(cpus), str(nodes), memory, tres, plain_features(request), request.partition or ""


def _different(values: NDArray[Any], texts: Callable[[int], tuple[str, ...]]) -> list[NDArray[Any]]:
    """Columns of texts for values, each different one of which is looked at once."""
    different, inverse = np.unique(values, return_inverse=True)
    found = [texts(int(value)) for value in different.tolist()]
    return [np.array(column, dtype=object)[inverse] for column in zip(*found, strict=True)]


def _names(numbers: NDArray[np.int32], labels: list[str] | None) -> NDArray[Any]:
    def name(number: int) -> tuple[str]:
        if number < 0:
            return ("",)
        return (plain_name(labels[number]) if labels is not None and number < len(labels) else str(number),)

    return _different(numbers, name)[0]


def _whole(seconds: NDArray[np.float64]) -> NDArray[np.int64]:
    return np.rint(seconds).astype(np.int64)


def _at_least_1(seconds: NDArray[np.float64]) -> NDArray[np.int64]:
    """Whole seconds; nothing that takes time becomes 0. An endless one is 0, which means that too."""
    finite = np.where(np.isfinite(seconds), seconds, 0.0)
    return np.where(finite > 0, np.maximum(np.rint(finite), 1), 0).astype(np.int64)


def _duration(seconds: int) -> str:
    if seconds == 0:
        return "UNLIMITED"
    days, rest = divmod(seconds, 86_400)
    clock = f"{rest // 3600:02d}:{rest // 60 % 60:02d}:{rest % 60:02d}"
    return f"{days}-{clock}" if days else clock


def _texts(columns: dict[str, NDArray[Any]]) -> Iterator[bytes]:
    import pyarrow.compute as pc

    ordered = [columns[name] for name in SACCT_COLUMNS]
    for begin in range(0, len(ordered[0]), PIECE):
        pieces = [_strings(column[begin : begin + PIECE]) for column in ordered]
        lines = pc.binary_join_element_wise(*pieces, "|")
        yield ("\n".join(lines.to_pylist()) + "\n").encode()


def _strings(column: NDArray[Any]) -> Any:
    import pyarrow as pa

    if column.dtype == object:
        return pa.array([str(value) for value in column.tolist()], pa.string())
    return pa.array(column).cast(pa.string())
