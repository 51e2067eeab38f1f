"""A placement of your own: which nodes a job gets.

schedlab run LOG.swf --cluster 64x4 --policy easy:place=mine.py:emptiest_first --policy easy
"""

import numpy as np


def emptiest_first(job, cluster):
    """Nodes with most free cores first: a job lies on few nodes."""
    # cluster.free and cluster.total are cores by node; there are also names, up, group and features. job.cores is what
    # it needs in all. Return node numbers in the order in which they are to be filled; or pairs (node, chunks), to say
    # how much goes where; or None: then the job waits.
    nodes = np.argsort(-cluster.free, kind="stable")
    return nodes[cluster.free[nodes] > 0]
