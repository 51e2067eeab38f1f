"""Batches joined, and brought back into the order of (submit, id)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from schedlab.model.predecessors import Predecessors
from schedlab.model.workload import JOB_COLUMNS, JobBatch, Shapes


def join(batches: Sequence[JobBatch]) -> JobBatch:
    """Several batches as one. Where only some have names, the others' are their numbers."""
    if len(batches) == 1:
        return batches[0]
    columns: dict[str, Any] = {
        name: np.concatenate([getattr(batch, name) for batch in batches]) for name in JOB_COLUMNS
    }
    names = carried = None
    if any(batch.names is not None for batch in batches):
        names = tuple(name for batch in batches for name in batch.names or map(str, batch.id.tolist()))
    if any(batch.attachments is not None for batch in batches):
        carried = tuple(one for batch in batches for one in batch.attachments or [None] * len(batch))
    before = Predecessors.joined([(batch.predecessors, len(batch)) for batch in batches])
    shapes = _join_shapes(batches)
    return JobBatch(names=names, shapes=shapes, attachments=carried, predecessors=before, **columns)


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
        pending = sort(join(waiting))
        ready = int(np.searchsorted(pending.submit, safe, side="left"))
        if ready:
            yield pending.take(np.arange(ready))
        waiting = [pending.take(np.arange(ready, len(pending)))] if ready < len(pending) else []
    if waiting:
        yield sort(join(waiting))


def _join_shapes(batches: Sequence[JobBatch]) -> Shapes | None:
    if all(batch.shapes is None for batch in batches):
        return None
    shapes = [batch.shapes or Shapes.of([[]] * len(batch)) for batch in batches]
    before = np.cumsum([0] + [len(some.count) for some in shapes[:-1]])
    ends = [some.end + offset for some, offset in zip(shapes, before, strict=True)]
    return Shapes(
        end=np.concatenate(ends),
        count=np.concatenate([some.count for some in shapes]),
        request=np.concatenate([some.request for some in shapes]),
        runtime=np.concatenate([some.runtime for some in shapes]),
        limit=np.concatenate([some.limit for some in shapes]),
        malleable=np.concatenate([some.malleable for some in shapes]),
        interval=np.concatenate([some.interval for some in shapes]),
    )
