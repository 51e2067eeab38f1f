"""A metric of your own: a number for each run.

schedlab compare results/* --metric mine.py:tail_wait
schedlab compare results/* --metric "mine.py:tail_wait(share=0.05)"
"""


def tail_wait(run, share=0.01):
    """Mean wait of the `share` of jobs that waited longest."""
    # run.jobs and run.timeline are polars tables (docs/runs.md), run.summary a dict, run.cluster the machine.
    # Return a number, or a dict of numbers by name.
    waits = (run.jobs["start"] - run.jobs["eligible"]).drop_nulls()
    return waits.top_k(max(1, round(share * len(waits)))).mean()


tail_wait.unit = "time"  # seconds; else share, number (if it says nothing) or count
tail_wait.better = "lower"  # marks the best; or "higher"
