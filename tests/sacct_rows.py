"""Accounting dumps in small: a header, rows below it, and the workload that they are."""

from schedlab.workload.options import ReadOptions
from schedlab.workload.sacct.read import read_sacct

HEADER = "JobIDRaw|User|State|Submit|Start|End|Timelimit|ReqCPUS"
DAY = "2024-03-01T"


def reader(tmp_path):
    """A function from a header and rows to their workload; options are those of `ReadOptions`."""

    def read_text(header, *rows, **options):
        path = tmp_path / "jobs.sacct"
        path.write_text("\n".join([header, *rows]) + "\n")
        return read_sacct(path, ReadOptions(**{"requests": "cores", **options}))

    return read_text


def row(job="1", state="COMPLETED", submit="12:00:00", start="12:00:10", end="12:01:00", limit="01:00:00", cpus="4"):
    """A row below `HEADER`; times of the day, or words."""
    times = (DAY + time if ":" in time else time for time in (submit, start, end))
    return "|".join([job, "ann", state, *times, limit, cpus])


def job(workload, place=0):
    """A job as a dictionary."""
    return workload.jobs.row(place, named=True)
