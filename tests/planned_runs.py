"""Runs under policies that do at each time what a plan says, and what it takes to falsify them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import schedlab as sl

Row = dict[str, Any]
Act = Callable[[Any], Any]  # gets the view
Plan = dict[float, Act]

NODES = sl.Cluster.uniform(3, cores=4)


def simulated(plan: Plan, cluster: sl.Cluster = NODES, **given: Any) -> sl.Run:
    """A run under a policy that does at each time what the plan says."""

    def decide(view: Any, events: Any) -> None:
        if not view.data:
            view.data["woken"] = [view.wake_at(time) for time in plan if time > view.now]
        if view.now in plan:
            plan.pop(view.now)(view)

    options = {name: given.pop(name) for name in ("dependencies", "overrun", "observers") if name in given}
    policy = type("Planned", (), {"decide": staticmethod(decide)})()
    return sl.simulate(sl.Workload.of(**given), cluster, policy, validate=True, **options)


def job(view: Any, number: int) -> Any:
    return next(job for jobs in (view.queue, view.running, view.suspended) for job in jobs if job.id == number)


def start(number: int, nodes: list[tuple[int, int]] | None = None, **more: Any) -> Act:
    def act(view: Any) -> None:
        assert view.start(job(view, number), nodes=nodes, **more)

    return act


def all_of(*acts: Act) -> Act:
    return lambda view: [act(view) for act in acts]


def read(folder: Path, table: str) -> list[Row]:
    return pq.read_table(folder / f"{table}.parquet").to_pylist()


def write(folder: Path, table: str, rows: list[Row]) -> None:
    """Put rows in place of a table's own, and make run.json believe it."""
    path = folder / f"{table}.parquet"
    schema = pq.read_schema(path)
    plain = [
        pa.field(field.name, pa.string() if pa.types.is_dictionary(field.type) else field.type) for field in schema
    ]
    pq.write_table(pa.Table.from_pylist(rows, pa.schema(plain)), path)
    described = json.loads((folder / "run.json").read_text())
    described["files"][path.name] = hashlib.sha256(path.read_bytes()).hexdigest()
    (folder / "run.json").write_text(json.dumps(described))


def found(folder: Path) -> set[tuple[str, int | None]]:
    return {(offence.kind, offence.job) for offence in sl.check(folder)}
