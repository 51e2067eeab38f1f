"""Batsim workloads in small: jobs and profiles as a file, and what is read of it."""

import json

from schedlab.workload.batsim.read import read_batsim
from schedlab.workload.options import ReadOptions

DELAY = {"d": {"type": "delay", "delay": 10}}


def job(name=1, **changes):
    fields = {"id": name, "subtime": 0, "walltime": 100, "res": 1, "profile": "d"} | changes
    return {key: value for key, value in fields.items() if value is not ...}


def save(folder, jobs, profiles=None, **more):
    path = folder / "w.json"
    path.write_text(json.dumps({"nb_res": 4, "jobs": jobs, "profiles": profiles or DELAY} | more))
    return path


def read(path, options=None, **more):
    workload = read_batsim(path, options or ReadOptions(), **more)
    (jobs,) = workload.batches()
    return jobs, workload
