"""A scheduler of your own: the smallest job that fits goes first.

schedlab run LOG.swf --policy mine.py:SmallestThatFits --policy easy
schedlab run LOG.swf --policy "mine.py:SmallestThatFits(patience=3600)" --policy easy
"""

import schedlab as sl


class SmallestThatFits(sl.Policy):
    """Whatever fits, smallest first; but nobody overtakes a job that has waited longer than `patience` seconds."""

    def __init__(self, patience=86_400):
        # Arguments come from the command line. Every simulation gets an object of its own.
        self.patience = patience

    def decide(self, view, events):
        # Asked once for each instant at which something happened; `events` says what: ("submitted", job),
        # ("completed", job), … A decision takes effect at once.
        #
        # view.now, view.free_cores     how things are
        # view.queue                    who waits, first come first; also columns: view.queue.cores, .estimate, .wait …
        # view.running, view.cluster    who runs, and the free cores of each node
        # view.start(job)               True if it fits and runs now
        # view.reserve(job)             nobody may delay it from now on; says when it could start
        # view.wake_at(time)            ask again then
        while (head := view.queue.head) is not None and view.now - head.eligible > self.patience:
            if not view.start(head):
                return
        for job in view.queue.sorted(by="cores"):
            view.start(job)
