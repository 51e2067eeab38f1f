"""Orders of your own: who is first in the queue.

schedlab run LOG.swf --policy easy:order=mine.py:by_area --policy easy
schedlab run LOG.swf --policy "easy:order=mine.py:by_aged_area(hours=12)" --policy easy
"""

# `jobs` has NumPy columns, one value for each waiting job: id, submit, eligible, wait, estimate, limit, cores, count,
# user, group, queue. The smallest key goes first; of equal keys, who came first.


def by_area(jobs):
    """Smallest area (cores × estimated time) first. Without `now`, a key is computed once for each job."""
    return jobs.cores * jobs.estimate


def by_aged_area(jobs, now, hours=24.0):
    """As by_area, but an area halves with every `hours` of waiting. With `now`, keys are computed at every pass."""
    return jobs.cores * jobs.estimate * 0.5 ** ((now - jobs.eligible) / (3600 * hours))
