"""Batches brought back into the order of (submit, id)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from schedlab.model.workload import JobBatch


def sort(batch: JobBatch) -> JobBatch:
    early, late = batch.submit[:-1], batch.submit[1:]
    if bool(np.all((early < late) | ((early == late) & (batch.id[:-1] <= batch.id[1:])))):
        return batch
    return batch.take(np.lexsort((batch.id, batch.submit)))


def in_order(batches: Iterable[tuple[JobBatch, float]]) -> Iterator[JobBatch]:
    """Sorted batches from pairs of a batch and a time before which no further job will be submitted."""
    waiting: list[JobBatch] = []
    for batch, safe in batches:
        waiting.append(batch)
        pending = sort(JobBatch.joined(waiting))
        ready = int(np.searchsorted(pending.submit, safe, side="left"))
        if ready:
            yield pending.take(np.arange(ready))
        waiting = [pending.take(np.arange(ready, len(pending)))] if ready < len(pending) else []
    if waiting:
        yield sort(JobBatch.joined(waiting))
