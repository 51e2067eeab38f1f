"""A run folder of format 1, written down as that format had it: no code of today's writers has a hand in it.

Two nodes of four cores, EASY, dependencies followed. Job 1 works at half its rate from 10 on; n2 fails at 30, and with
it job 2, which is requeued; job 3 waits for the end of job 1 and 4 s more; job 4 is killed at its limit; job 5 is
larger than the cluster.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

WORD = pa.dictionary(pa.int8(), pa.string())
BIG, INT, TIME, TEXT, FLAG = pa.int64(), pa.int32(), pa.float64(), pa.string(), pa.bool_()
NO: list[Any] = [None] * 5

TABLES: dict[str, dict[str, tuple[pa.DataType, list[Any]]]] = {
    "jobs": {
        "job": (BIG, [5, 4, 1, 3, 2]),
        "sequence": (BIG, [4, 3, 0, 2, 1]),
        "user": (INT, [4, None, 3, 3, 4]),
        "group": (INT, NO),
        "queue": (INT, NO),
        "partition": (INT, NO),
        "submit": (TIME, [7, 6, 0, 5, 0]),
        "eligible": (TIME, [None, 6, 0, 74, 0]),
        "start": (TIME, [None, 6, 0, 74, 50]),
        "end": (TIME, [7, 11, 70, 94, 110]),
        "state": (WORD, ["rejected", "killed", "completed", "completed", "completed"]),
        "reason": (WORD, ["larger than the cluster", None, None, None, None]),
        "cores": (BIG, [9, 2, 2, 4, 4]),
        "count": (BIG, [9, 2, 2, 4, 4]),
        "request": (INT, [0, 0, 0, 0, 0]),
        "runtime": (TIME, [10, 10, 40, 20, 60]),
        "limit": (TIME, [20, 5, 100, 30, 100]),
        "estimate": (TIME, [20, 5, 100, 30, 100]),
        "nodes": (TEXT, [None, "n2*2", "n1*2", "n[1-2]*2", "n[1-2]*2"]),
        "backfilled": (FLAG, [False, False, False, False, False]),
        "priority": (TIME, [None, 6, 0, 74, 0]),
        "after": (BIG, [None, None, None, 1, None]),
        "think": (TIME, [0, 0, 0, 4, 0]),
    },
    "timeline": {
        "time": (TIME, [0, 6, 11, 30, 50, 70, 74, 94, 110]),
        "running": (INT, [2, 3, 2, 1, 2, 1, 2, 1, 0]),
        "queued": (INT, [0, 0, 0, 1, 0, 0, 0, 0, 0]),
        "used_cores": (BIG, [6, 8, 6, 2, 6, 4, 8, 4, 0]),
        "queued_cores": (BIG, [0, 0, 0, 4, 0, 0, 0, 0, 0]),
    },
    "pieces": {
        "job": (BIG, [1, 2, 1, 2]),
        "sequence": (BIG, [0, 1, 0, 1]),
        "begin": (TIME, [0, 0, 10, 50]),
        "end": (TIME, [10, 30, 70, 110]),
        "how": (WORD, ["slowed", "requeued", "completed", "completed"]),
        "reason": (WORD, [None, "node failure", None, None]),
        "cores": (BIG, [2, 4, 2, 4]),
        "count": (BIG, [2, 4, 2, 4]),
        "request": (INT, [0, 0, 0, 0]),
        "work": (TIME, [40, 60, 30, 60]),
        "rate": (TIME, [1, 1, 0.5, 1]),
        "expected_end": (TIME, [100, 100, 100, 150]),
        "nodes": (TEXT, ["n1*2", "n[1-2]*2", "n1*2", "n[1-2]*2"]),
    },
    "nodes": {"time": (TIME, [30, 50]), "node": (TEXT, ["n2", "n2"]), "state": (WORD, ["down", "up"])},
    "observed": {"sequence": (BIG, [0, 2]), "heat": (TIME, [1.5, 2.5])},
}

GROUP = {"name": "nodes", "count": 2, "resources": {"cores": 4}, "prefix": "n", "first": 1, "width": 1, "sockets": 1}
RUN_JSON: dict[str, Any] = {
    "schedlab": "0.1.0",
    "format": 1,
    "policy": "easy",
    "options": {"estimate": "limit", "overrun": "kill", "passes": "instant", "dependencies": "follow"},
    "cluster": {"name": "2x4", "pool": False, "groups": [{**GROUP, "features": []}], "partitions": []},
    "workload": {"name": "jobs", "sha256": "", "origin": None, "report": {"records": 5, "kept": 5}},
    "requests": [{"chunk": {"cores": 1}}],
    "summary": {
        "jobs": 5,
        "started": 4,
        "states": {"completed": 3, "killed": 1, "cancelled": 0, "rejected": 1, "held": 0, "waiting": 0},
        "reasons": {"larger than the cluster": 1, "time limit": 1},
        "requeues": {"node failure": 1},
        "tau": 10.0,
        "trim": None,
        "makespan": 110.0,
        "utilisation": 0.6704545454545454,
        "utilisation_queued": 0.25,
        "queued_share": 0.18181818181818182,
        "queue_length": {"mean": 0.18181818181818182, "max": 1},
        "throughput_per_hour": 130.9090909090909,
        "backfilled_share": 0.0,
        "wait": {
            "mean": 12.5,
            "median": 0.0,
            "p5": 0.0,
            "p25": 0.0,
            "p75": 12.5,
            "p90": 35.00000000000001,
            "p95": 42.499999999999986,
            "p99": 48.499999999999986,
            "max": 50.0,
            "weighted": 25.53191489361702,
        },
        "turnaround": {
            "mean": 51.25,
            "median": 45.0,
            "p5": 7.25,
            "p25": 16.25,
            "p75": 80.0,
            "p90": 98.0,
            "p95": 103.99999999999999,
            "p99": 108.79999999999998,
            "max": 110.0,
            "weighted": 80.53191489361703,
        },
        "slowdown": {
            "mean": 1.2083333333333333,
            "median": 1.0,
            "p5": 1.0,
            "p25": 1.0,
            "p75": 1.2083333333333333,
            "p90": 1.5833333333333335,
            "p95": 1.708333333333333,
            "p99": 1.8083333333333331,
            "max": 1.8333333333333333,
        },
        "bounded_slowdown": {
            "mean": 1.2083333333333333,
            "median": 1.0,
            "p5": 1.0,
            "p25": 1.0,
            "p75": 1.2083333333333333,
            "p90": 1.5833333333333335,
            "p95": 1.708333333333333,
            "p99": 1.8083333333333331,
            "max": 1.8333333333333333,
        },
        "processor_slowdown": {
            "mean": 1.0,
            "median": 1.0,
            "p5": 1.0,
            "p25": 1.0,
            "p75": 1.0,
            "p90": 1.0,
            "p95": 1.0,
            "p99": 1.0,
            "max": 1.0,
        },
        "rejections": [
            {
                "reason": "larger than the cluster",
                "resource": "cores",
                "jobs": 1,
                "first": "job 5 asks for 9 cores, the cluster has 8",
            }
        ],
        "observed": {"failures": 1.0, "failed_jobs": 1.0, "lost_core_hours": 0.03333333333333333},
    },
    "placement": {"name": "first-fit", "exclusive": False},
}


def write(folder: Path, *, without: tuple[str, ...] = ()) -> Path:
    """The folder; `without` columns ("pieces.reason") or tables ("observed") that its first versions did not have."""
    folder.mkdir()
    files = {}
    for name, columns in TABLES.items():
        if name in without:
            continue
        arrays = {
            column: pa.array(values, kind)
            for column, (kind, values) in columns.items()
            if f"{name}.{column}" not in without
        }
        pq.write_table(pa.table(arrays), folder / f"{name}.parquet")
        files[f"{name}.parquet"] = hashlib.sha256((folder / f"{name}.parquet").read_bytes()).hexdigest()
    (folder / "run.json").write_text(json.dumps(RUN_JSON | {"files": files}, indent=2))
    return folder
