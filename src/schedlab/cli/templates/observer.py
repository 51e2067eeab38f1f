"""An observer of your own: watches a simulation, and adds what it found to the summary.

schedlab run LOG.swf --policy easy --policy fcfs --observe mine.py:LongestQueue --json
"""

import schedlab as sl


class LongestQueue(sl.Observer):
    """How many jobs waited at most, and since when."""

    # Define the methods that you need: begin, submitted, before, after, started, stopped, ended, node_changed, finish
    # (docs/extending.md). An observer may also act through the view, and leave values for policies in view.data.

    def begin(self, view):
        self.longest, self.since = 0, 0.0

    def after(self, view):
        # Each time the scheduler has decided.
        if len(view.queue) > self.longest:
            self.longest, self.since = len(view.queue), view.now

    def finish(self, view):
        return {"longest_queue": self.longest, "longest_queue_since": self.since}
