"""The judge looks at some jobs at a time: whatever it finds in a run as a whole it finds in parts of it."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import schedlab as sl
from schedlab.engine.check.nodesets import NodeSetError, NodeSets
from schedlab.execution.maintenance import Reservation
from schedlab.model.cluster import Cluster, NodeGroup

JOBS = 1000
CLUSTER = Cluster(
    (NodeGroup("thin", 6, {"cores": 4, "memory": 16}), NodeGroup("fat", 3, {"cores": 8, "memory": 64}, prefix="f"))
)
Change = Callable[[pl.DataFrame], pl.DataFrame]


@pytest.fixture(scope="module", params=["nodes", "pool", "calendar"])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    random = np.random.default_rng(5)
    runtime = random.integers(0, 90, JOBS)
    columns: dict[str, Any] = {"submit": np.sort(random.integers(0, 6000, JOBS)), "runtime": runtime}
    columns |= {"limit": runtime + random.integers(-3, 40, JOBS).clip(1 - runtime), "user": random.integers(1, 9, JOBS)}
    if request.param == "pool":
        columns["count"] = random.integers(1, 20, JOBS)
        run = sl.simulate(sl.Workload.of(**columns), "pool:48", "easy")
    else:
        kinds = [sl.Request({"cores": 1, "memory": size}) for size in (1, 2, 4)] + [sl.Request(exclusive=True)]
        columns |= {"request": random.integers(0, 4, JOBS), "count": random.integers(1, 9, JOBS)}
        aside = [Reservation("n[1-2]", 900, 500, users=[3])] if request.param == "calendar" else []
        run = sl.simulate(sl.Workload.of(**columns, requests=kinds), CLUSTER, "easy", observers=aside)
    return run.save(tmp_path_factory.mktemp("parts") / "run")


def changed(folder: Path, out: Path, group: int, **changes: Change) -> Path:
    """The run with other tables, in row groups of so many rows."""
    out.mkdir()
    config = json.loads((folder / "run.json").read_text())
    for name in ("jobs", "timeline"):
        table = pl.from_arrow(pq.read_table(folder / f"{name}.parquet"))
        assert isinstance(table, pl.DataFrame)
        told = changes.get(name, lambda frame: frame)(table)
        pq.write_table(told.to_arrow(), out / f"{name}.parquet", row_group_size=group)
        config["files"][f"{name}.parquet"] = hashlib.sha256((out / f"{name}.parquet").read_bytes()).hexdigest()
    (out / "run.json").write_text(json.dumps(config))
    return out


def put(column: str, value: Any, row: int = JOBS // 2) -> Change:
    """`value` is what is there, or a function of what was."""

    def change(frame: pl.DataFrame) -> pl.DataFrame:
        values = frame[column].to_list()
        values[row] = value(values[row]) if callable(value) else value
        return frame.with_columns(pl.Series(column, values, frame.schema[column], strict=False))

    return change


def more(number: float) -> Callable[[float], float]:
    return lambda was: was + number


LIES: dict[str, dict[str, Change]] = {
    "nothing": {},
    **{f"start {by:+}": {"jobs": put("start", more(by))} for by in (-2000, -7, 3)},
    **{f"end {by:+}": {"jobs": put("end", more(by))} for by in (-2000, -5, 11, 3000)},
    "end unknown": {"jobs": put("end", float("nan"))},
    "end never": {"jobs": put("end", float("inf"))},
    "moved": {"jobs": lambda frame: put("end", more(-500))(put("start", more(-500))(frame))},
    "submit": {"jobs": put("submit", more(-1))},
    "submit late": {"jobs": put("submit", more(4000))},
    "eligible": {"jobs": put("eligible", more(2))},
    "never eligible": {"jobs": put("eligible", None)},
    "never started": {"jobs": put("start", None)},
    "state": {"jobs": put("state", "waiting")},
    "killed": {"jobs": put("state", "killed")},
    "cores": {"jobs": put("cores", more(1))},
    "chunks": {"jobs": put("count", more(2))},
    "request": {"jobs": put("request", 99)},
    "other request": {"jobs": put("request", lambda was: 3 - was)},
    "runtime": {"jobs": put("runtime", more(1))},
    "limit": {"jobs": put("limit", more(5))},
    "estimate": {"jobs": put("estimate", more(5))},
    "no estimate": {"jobs": lambda frame: put("estimate", None, 3)(put("estimate", more(5))(frame))},
    "nodes": {"jobs": put("nodes", "n[1-3]*4")},
    "no such node": {"jobs": put("nodes", "n[7-12]")},
    "one node": {
        "jobs": lambda frame: frame.with_columns(nodes=pl.when(pl.col("nodes").is_not_null()).then(pl.lit("n5*2")))
    },
    "brackets": {"jobs": put("nodes", "n[1-3")},
    "no nodes": {"jobs": put("nodes", None)},
    "id twice": {"jobs": put("job", lambda was: was - 400)},
    "id twice, far": {"jobs": lambda frame: put("job", 10**15, 3)(put("job", 10**15)(frame))},
    "position twice": {"jobs": put("sequence", lambda was: was - 300)},
    "position far": {"jobs": put("sequence", 10**6)},
    "row missing": {"jobs": lambda frame: frame.with_row_index("n").filter(pl.col("n") != 444).drop("n")},
    "row twice": {"jobs": lambda frame: pl.concat([frame, frame[123:124]])},
    "order": {"jobs": lambda frame: frame.sample(fraction=1.0, shuffle=True, seed=1)},
    "used": {"timeline": put("used_cores", more(1))},
    "running": {"timeline": put("running", more(-1), 17)},
    "queued": {"timeline": put("queued_cores", more(1), -1)},
    "untold": {"timeline": lambda frame: pl.concat([frame[:300], frame[301:]])},
    "time": {"timeline": put("time", more(0.25))},
    "back": {"timeline": lambda frame: frame.reverse()},
}


def judged(folder: Path, at_once: int) -> tuple[Counter[str], set[str]]:
    """How many offences of each kind, and those of kinds of which all are listed."""
    found = sl.check(folder, at_once=at_once)
    counts = Counter(each.kind for each in found)
    several = {each.kind: int(each.message.split()[0].replace(",", "")) for each in found if " in all" in each.message}
    return counts | Counter(several), {str(each) for each in found if each.kind not in several}


@pytest.mark.parametrize("lie", LIES)
def test_parts_and_the_whole(lie: str, folder: Path, tmp_path: Path) -> None:
    run = changed(folder, tmp_path / "run", 37, **LIES[lie])
    whole = judged(run, 10**9)
    if lie in ("nothing", "order"):
        assert whole[0] == {}
    assert judged(run, 1) == judged(run, 200) == whole


def test_a_damaged_page_is_told(folder: Path, tmp_path: Path) -> None:
    run = changed(folder, tmp_path / "run", 100)
    path = run / "jobs.parquet"
    with pq.ParquetFile(path) as file:
        places = [file.metadata.row_group(4).column(column) for column in range(file.metadata.num_columns)]
    content = bytearray(path.read_bytes())
    page = next(each for each in places if each.path_in_schema == "limit")
    begin = page.dictionary_page_offset or page.data_page_offset
    content[begin : begin + page.total_compressed_size] = bytes(page.total_compressed_size)
    path.write_bytes(content)
    hashed, unreadable = sl.check(run, at_once=1)
    assert "is not the file that run.json describes" in str(hashed)
    assert str(unreadable).startswith("file: jobs.parquet cannot be read: ")


SETS = ["n1", "n1*3", "n[1-3]", "n[1-2]*2,n3", "n1,n3*2,f[1,3]*4", "n[2,4-6]*4,f[1-3]", "f2,n1", "n[1,2,1]", "n[1-2"]
SETS += [
    "n1]",
    "n[[1]]",
    "n[1]2",
    "",
    ",",
    "n1,",
    ",n1",
    "n1*0",
    "n[1*2,3]",
    "n[1,f2]",
    "x",
    "n[1-9]",
    "n[3-1]",
    "*2",
    "[1-2]",
]
SETS += [
    "n[1],n[2]*3,n[3,4]",
    "n1**2",
    "n1*2*2",
    "n[a]",
    "n[1-2-3]",
    "n[1,2]]",
    "n 1",
    "n[]",
    "n[,1]",
    "n1,n1",
    "5",
    "1-2",
]


def test_many_node_sets_at_once() -> None:
    """As they are read one by one."""
    cluster = Cluster((NodeGroup("thin", 6, {"cores": 4}), NodeGroup("fat", 3, {"cores": 8}, prefix="f")))
    found = NodeSets(cluster).read_all(pa.array(SETS))
    for place, text in enumerate(SETS):
        here = slice(found.first[place], found.first[place] + found.length[place])
        try:
            expected = NodeSets(cluster).read(text)
        except NodeSetError as problem:
            assert found.problems[place] == str(problem)
            assert found.length[place] == 0
        else:
            assert (found.node[here].tolist(), found.chunks[here].tolist()) == expected
            assert place not in found.problems
