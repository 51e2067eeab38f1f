"""Jobs in the style of Edison's (NERSC), not fitted to a log: a workload model of one's own.

Six in ten use one node, one in ten more than seven; the limits are up to ten times the run times.

schedlab generate edison_model.py:EdisonLike --span 7d --out edison.swf
"""

import numpy as np

import schedlab as sl
from schedlab.generate.base import OwnModel
from schedlab.model.random import random_stream

NODES, NODE_CORES = 5576, 24
DAY = 86_400.0
BATCH = 50_000


class EdisonLike(OwnModel):
    """Log-normal widths (whole nodes) and run times, Poisson arrivals, jobs for a `load` of the machine."""

    kind = "edison-like"
    processors = NODES * NODE_CORES

    def __init__(self, load=0.95):
        self.load = load

    def batches(self, seed, *, jobs=None, span=None):
        random = random_stream(seed, "edison-like")
        made, clock = 0, 0.0
        while (jobs is None or made < jobs) and (span is None or clock < span):
            batch, clock = self._batch(random, made, clock)
            keep = len(batch) if span is None else int(np.searchsorted(batch.submit, span))
            keep = keep if jobs is None else min(keep, jobs - made)
            made += keep
            if keep:
                yield batch.take(np.arange(keep))

    def _batch(self, random, made, clock):
        nodes = np.clip(np.round(random.lognormal(0.0, 1.6, BATCH)), 1, 512).astype(int)
        runtime = np.round(np.clip(random.lognormal(np.log(45 * 60), 1.3, BATCH), 30, DAY))
        limit = np.minimum(np.ceil(runtime / random.uniform(0.1, 1.0, BATCH) / 1800) * 1800, DAY)
        gap = (nodes * runtime).mean() / (self.load * NODES)
        submit = np.round(clock + np.cumsum(random.exponential(gap, BATCH)))
        batch = sl.JobBatch.of(
            id=np.arange(made + 1, made + BATCH + 1),
            submit=submit,
            runtime=runtime,
            limit=limit,
            count=nodes * NODE_CORES,
        )
        return batch, float(submit[-1])
