"""A pattern of your own: jobs that are put into a workload at times that you choose.

schedlab run LOG.swf --inject mine.py:every_night --cluster 64x4 --policy easy
"""

from schedlab.generate.triggers.inject import JobTemplate, Periodic


def every_night(workload, runtime=3600, count=16):
    """A job every 24 hours. `workload` has what it is put into: its phases, its name, its jobs."""
    backup = JobTemplate(name="backup", runtime=runtime, count=count, limit=2 * runtime)
    # Other triggers: AtTimes([0, 60]), AtRandom(gaps=…), Programmed(0, lambda last: last.time + 600).
    # Several templates: InTurn([…]), OneOf([…], weights).
    # A template may be a workflow: handled(read_workflow("montage.json"), "chained").
    return Periodic(every=86_400, start=3600), backup
