"""Where a log may be cut: not where the machine is behind with its work.

After a week with more work than the machine can do, users hold back. A cut in between would put the next weeks of other
users behind a queue that they never saw: cut anywhere, blocks of HPC2N wait 1.5 times as long as the log.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

LONGEST = 4  # times its length: a block that finds no place to end is cut all the same

Floats = NDArray[np.float64]


def backlogs(submit: Floats, work: Floats, processors: int, times: Floats) -> Floats:
    """Seconds of work for the whole machine that no scheduler could have done by these times.

    `submit` is sorted and begins at 0 or later; `work` is in core-seconds. All processors are busy as long as there is
    any work at all: real queues are longer.
    """
    arrived = np.concatenate([[0.0], np.cumsum(work) / processors])
    # Work that came so far minus time that passed; its lowest value so far is when the machine was last idle.
    lowest = np.minimum.accumulate(np.concatenate([[0.0], arrived[:-1] - submit]))
    jobs = np.searchsorted(submit, times)
    now = arrived[jobs] - times
    found: Floats = now - np.minimum(lowest[jobs], now)
    return found


def blocks(may_cut: NDArray[np.bool_], length: int, first: int) -> list[tuple[int, int]]:
    """The log as a ring of steps (weeks, days), cut from `first` on: (first step, number of steps) of each block.

    A block has `length` steps, and as many more as it takes to a place where it may be cut. The last one has what is
    left.
    """
    steps, begin = len(may_cut), 0
    found = []
    while begin < steps:
        end = min(begin + length, steps)
        while end < steps and end - begin < LONGEST * length and not may_cut[(first + end) % steps]:
            end += 1
        found.append(((first + begin) % steps, end - begin))
        begin = end
    return found
