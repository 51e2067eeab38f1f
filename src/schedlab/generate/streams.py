"""Streams of job batches: put end to end, merged by submit time, numbered and cut to length."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from schedlab.model.workload import JobBatch


def numbered(batches: Iterator[JobBatch], jobs: int | None, span: float | None) -> Iterator[JobBatch]:
    """Ids from 1, until so many jobs or so many seconds, whichever comes first."""
    made = 0
    for batch in batches:
        end = len(batch) if span is None else int(np.searchsorted(batch.submit, span))
        end = end if jobs is None else min(end, jobs - made)
        if end:
            cut = batch if end == len(batch) else batch.take(np.arange(end))
            yield replace(cut, id=np.arange(made + 1, made + end + 1))
        made += end
        if end < len(batch) or made == jobs:
            return


def merged(streams: Sequence[Iterator[JobBatch]]) -> Iterator[JobBatch]:
    """All jobs in submit order; of simultaneous ones those of the earlier stream are first."""
    waiting = [next(stream, None) for stream in streams]
    while any(batch is not None for batch in waiting):
        # Nothing of any stream can come any more before the end of the batch that ends first.
        last, first = min((batch.submit[-1], place) for place, batch in enumerate(waiting) if batch is not None)
        ready = []
        for place, batch in enumerate(waiting):
            if batch is None:
                continue
            end = int(np.searchsorted(batch.submit, last, side="right" if place <= first else "left"))
            ready.append(batch.take(np.arange(end)))
            waiting[place] = batch.take(np.arange(end, len(batch))) if end < len(batch) else next(streams[place], None)
        together = JobBatch.joined([batch for batch in ready if len(batch)])
        yield together.take(np.argsort(together.submit, kind="stable"))
