"""`read_workload`: a log on disk as a Workload, whatever its format."""

from __future__ import annotations

import os

from schedlab.files.bytestream import Progress
from schedlab.model.arguments import as_path, check_arguments
from schedlab.model.workload import Workload
from schedlab.workload.formats import Reader, reader_for
from schedlab.workload.options import WINDOW, ReadOptions


def read_workload(
    path: str | os.PathLike[str],
    *,
    clean: str = "pwa",
    procs: str = "requested",
    missing_limit: str | float = "runtime",
    bad_rows: str = "fail",
    max_procs: int = 0,
    requests: str = "full",
    in_memory: bool = True,
    window: int | None = WINDOW,
    progress: Progress | None = None,
    hosts: int = 0,
    reader: Reader | None = None,
) -> Workload:
    """The jobs of a log, sorted by submit time, ties by job number; compressed with gzip or zstd, or not.

    The format is told by the file itself (`schedlab formats` lists what is known), or by `reader`: the name of a
    format (`sacct`), `mine.py:read_xyz`, or a function of the path, for which the other options are without meaning.

    The file is read once here, whatever the settings: every mistake in it is found now, and the report is complete.
    With `in_memory=False` only logs of at most `window` jobs are kept; a longer one is read again by each `batches()`,
    in memory that does not grow with it. (One so disordered that the window cannot sort it is kept after all.)

    `clean` says what to leave out (`CLEANINGS`), `procs` which number of processors counts, `missing_limit` what the
    limit of a job without a requested time is, `bad_rows` whether a line that cannot be read is an error or left out.
    `requests="full"` reads everything that a job asks for: memory, partitions, features of nodes; `"cores"` nothing but
    cores, GPUs and how they are spread over nodes. What of it counts on a machine is said when it is simulated there.

    With `hosts`, the number of hosts of a SimGrid platform, jobs of Batsim will take what their profiles take there
    (`docs/formats/batsim.md`). A `Scenario` that reads its workload says it where its cluster is such a platform.
    """
    options = ReadOptions(
        clean, procs, missing_limit, bad_rows, max_procs, requests, in_memory, window, progress, hosts
    )
    check_arguments("Callable | None", progress=progress)
    log = as_path(path, "the name of a log", "such as log.swf.gz; jobs in memory are Workload.of(submit=…, runtime=…)")
    workload = reader_for(log, reader)(log, options)
    if requests == "cores":
        workload.requests[:] = [request.plain() for request in workload.requests]
    return workload
