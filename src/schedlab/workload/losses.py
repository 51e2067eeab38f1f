"""What of a workload a format cannot hold, in sentences."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

import numpy as np

from schedlab.model.request import Request
from schedlab.model.workload import JobBatch, Workload

_LABELS = {
    "user": "users",
    "group": "groups (Slurm's accounts)",
    "queue": "queues (Slurm's QOS)",
    "partition": "partitions",
    "executable": "programs",
}


def unkept(workload: Workload) -> list[str]:
    """One sentence for each thing that the log of this workload says and no format gets: it was not kept."""
    return [f"{what} of {counted(count)}: not kept" for what, count in workload.report.unkept.items()]


def counted(jobs: int) -> str:
    return f"{jobs:,} job{'s' * (jobs != 1)}"


def noting(batches: Iterable[JobBatch], used: set[int]) -> Iterator[JobBatch]:
    """The same batches; `used` gets the places of the requests that their jobs have."""
    for batch in batches:
        used.update(np.unique(batch.request).tolist())
        if batch.shapes is not None:
            used.update(np.unique(batch.shapes.request).tolist())
        yield batch


def losses(workload: Workload, used: Collection[int], *, holds: Collection[str] = ()) -> list[str]:
    """One sentence for each thing that jobs with the `used` requests have and the format does not hold.

    `holds` names what it does hold: `origin`, `header`, `phases`, `shapes`, `chunks`, `features`, `partition`,
    `exclusive`, `sbatch`, any resource but cores, and `user names`, `queue names`…
    """
    found = _of_requests([workload.requests[place] for place in sorted(used)])
    for column in workload.labels:
        found[f"{column} names"] = f"the names of {_LABELS[column]}: numbers remain"
    if workload.flexible:
        found["shapes"] = "other shapes of moldable and malleable jobs"
    if workload.phases:
        found["phases"] = "the phases of the workload"
    if workload.origin is not None:
        found["origin"] = "the date of its beginning: times are seconds from there"
    if workload.header:
        found["header"] = "the header of the log"
    return _without(found, holds)


def request_losses(requests: Sequence[Request], *, holds: Collection[str] = ()) -> list[str]:
    """The same of requests alone."""
    return _without(_of_requests(requests), holds)


def _without(found: dict[str, str], holds: Collection[str]) -> list[str]:
    return [sentence for what, sentence in found.items() if what not in holds]


def _of_requests(requests: Sequence[Request]) -> dict[str, str]:
    resources = {name for request in requests for name, amount in request.chunk.items() if amount and name != "cores"}
    found = {name: f"requests for {name}" for name in sorted(resources)}
    if any(request.per_node_min or request.per_node_max or request.chunk.get("cores", 0) != 1 for request in requests):
        found["chunks"] = "how cores are grouped on nodes: only their number remains"
    if any(request.features for request in requests):
        found["features"] = "requests for features of nodes"
    if any(request.partition is not None for request in requests):
        found["partition"] = "requests for a partition"
    if any(request.exclusive for request in requests):
        found["exclusive"] = "requests for whole nodes"
    if options := sorted({name for request in requests for name, _ in request.sbatch} - {"exclusive", "hold"}):
        found["sbatch"] = f"what only Slurm understands: {', '.join(options)}"
    return found
