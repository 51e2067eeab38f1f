"""A workload model of your own: where generated jobs come from.

schedlab generate mine.py:Bursts --jobs 1000 --out jobs.swf
schedlab generate "mine.py:Bursts(every=600)" --span 7d --seed 2 --out jobs.swf
"""

import numpy as np

import schedlab as sl
from schedlab.generate.base import OwnModel
from schedlab.model.random import random_stream


class Bursts(OwnModel):
    """Every so many seconds a few like jobs at once."""

    processors = 64  # of the machine it is a model of

    def __init__(self, every=3600, most=20):
        self.every, self.most = every, most

    def batches(self, seed, *, jobs=None, span=None):
        """Batches of jobs in submit order, numbered from 1, until so many jobs or so many seconds."""
        random, made, now = random_stream(seed, "bursts"), 0, 0.0
        while (jobs is None or made < jobs) and (span is None or now < span):
            size = int(random.integers(1, self.most + 1))
            size = size if jobs is None else min(size, jobs - made)
            cores, runtime = random.integers(1, self.processors + 1), random.integers(60, 7200)
            yield sl.JobBatch.of(
                id=np.arange(made + 1, made + size + 1),
                submit=np.full(size, now),
                runtime=np.full(size, runtime),
                limit=np.full(size, 2 * runtime),
                count=np.full(size, cores),
            )
            made, now = made + size, now + self.every
