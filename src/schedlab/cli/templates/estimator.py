"""An estimator of your own: how long the scheduler believes a job will run.

schedlab run LOG.swf --policy easy --estimate mine.py:UserMedian
schedlab run LOG.swf --policy easy --estimate "mine.py:UserMedian(window=5)"
"""

from collections import defaultdict, deque
from statistics import median

import schedlab as sl


class UserMedian(sl.Estimator):
    """Median runtime of the last `window` jobs of the same user, at most the limit."""

    def __init__(self, window=20):
        self.runtimes = defaultdict(lambda: deque(maxlen=window))

    def estimate(self, job):
        # Asked when a job is submitted. It has id, submit, limit, cores, count, user, group and queue, but no runtime.
        known = self.runtimes[job.user]
        return min(median(known), job.limit) if known else job.limit

    def ended(self, job, runtime):
        # Told when a job has ended. An estimator that does not learn needs no such method.
        self.runtimes[job.user].append(runtime)
