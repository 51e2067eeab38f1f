"""Fuzz the reader of tables: mutated CSV, Parquet and mappings must give a sound workload or an InputError.

python tests/fuzz_tables.py --seconds 600 --seed 1
"""

from __future__ import annotations

import gzip
import random
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from tests.fuzzing import check_workload, main, mutate

from schedlab.model.errors import InputError
from schedlab.model.workload import Workload
from schedlab.workload.options import ReadOptions
from schedlab.workload.table.read import read_table
from schedlab.workload.table.toml import parse_mapping

ODD = [
    *("-1", "0", "-0", "1e9", "1e-400", "1e400", "nan", "inf", "-2", "+5", "1.5", "0x1f", "9" * 30, "9" * 18, "1_2"),
    *("", ";", ",", "\t", "\r", "\n", "\r\n", "\0", "\ufeff", '"', '""', "name", "näme", "NA", "|", "a|b", "&", "7.0"),
    *(
        "2019-01-01",
        "2019-13-01",
        "0001-01-01",
        "9999-12-31T23:59:59Z",
        "1-00:00:00",
        "12:60",
        "gpu:2",
        "true",
        "1e308",
    ),
]
TIMES = (0, 0, 1, 1, 2, 5)
TITLES = ("id", "submit", "runtime", "limit", "cores", "nodes", "gpus", "memory", "user", "status", "features", "after")
MAPPING = """[table]
separator = "auto"
header = true
missing = ["", "NA", "-1"]
[columns]
id = "id"
submit = { column = "submit", unit = "s" }
runtime = { column = "runtime", unit = "min" }
limit = { column = "limit", unit = "clock" }
cores = { column = "cores", times = "nodes", unit = "milli" }
nodes = "nodes"
gpus = { column = "gpus", pattern = "([0-9]+)", per = "node" }
memory = { column = "memory", unit = "MB", per = "core" }
user = "user"
status = { column = "status", completed = ["1", "DONE"], cancelled = ["5"] }
features = "features"
after = "after"
"""


def valid_row(chance: random.Random, number: int) -> list[str]:
    return [
        str(number if chance.random() < 0.97 else chance.randint(0, 40)),
        str(chance.choice([0, 5, 5.25, 1e6, number])),
        chance.choice(["0", "10", "3600.5", ""]),
        chance.choice(["60", "7200", "-1", ""]),
        str(chance.choice([1, 2, 16, 24])),
        chance.choice(["1", "2", "8", ""]),
        chance.choice(["0", "1", "4", ""]),
        chance.choice(["512", "1000000", ""]),
        chance.choice(["ann", "bob", '"c, d"', "", "7"]),
        chance.choice(["0", "1", "5", "DONE"]),
        chance.choice(["", "fast", "a&b", "a|b"]),
        chance.choice(["", "0", "3"]),
    ]


def valid_table(chance: random.Random) -> bytes:
    end, separator = chance.choice(["\n", "\r\n"]), chance.choice([",", ";", "\t"])
    rows = [valid_row(chance, number) for number in range(chance.randint(0, 40))]
    lines = [separator.join(TITLES), *(separator.join(row) for row in rows)]
    return "".join(line + end for line in lines).encode()


def parquet_table(chance: random.Random, path: Path) -> bytes:
    rows = [valid_row(chance, number) for number in range(chance.randint(1, 40))]
    columns = {title: [row[place] or None for row in rows] for place, title in enumerate(TITLES)}
    table = pa.table(columns)
    for place, title in enumerate(TITLES):
        kind = chance.choice([None, pa.int64(), pa.float64(), pa.timestamp("ms"), pa.duration("s"), pa.bool_()])
        try:
            if kind is not None and title != "user":
                found = table.column(title).cast(pa.float64()).cast(pa.int64(), safe=False).cast(kind)
                table = table.set_column(place, title, found)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            continue
    pq.write_table(table, path)
    return path.read_bytes()


def case(chance: random.Random, path: Path) -> bytes:
    kind = chance.random()
    if kind < 0.05:
        return chance.randbytes(chance.randint(1, 3000))
    if kind < 0.1:
        return "".join(chance.choices([*ODD, ",", "7,", "\n"], k=chance.randint(1, 300))).encode()
    if kind < 0.3:
        data = parquet_table(chance, path)
        return data if chance.random() < 0.7 else mutate(data, chance, ODD, TIMES)
    data = mutate(valid_table(chance), chance, ODD, TIMES)
    return mutate(gzip.compress(data, mtime=0), chance, ODD, TIMES) if kind < 0.35 else data


def sound(workload: Workload) -> dict[str, list[str]]:
    """Dates may lie before the first one, and a request asks for something of all that it names."""
    found = check_workload(workload, bad_rows=20, durations=("runtime", "limit"), largest=1e18)
    for request in workload.requests:
        assert all(amount > 0 for amount in request.chunk.values()), request
    return found


def outcome(path: Path, options: dict[str, object], mapping: str | None) -> dict[str, list[str]]:
    try:
        found = None if mapping is None else parse_mapping(mapping, "mapping")
        return sound(read_table(path, ReadOptions(**options), found))
    except InputError as error:
        message = str(error)
        assert message.startswith((str(path), "mapping")), message
        assert all(char.isprintable() or char == "\n" for char in message), repr(message)
        return {"error": [message]}


def check_read(path: Path, chance: random.Random) -> bool:
    """A workload (the same when streamed) or an InputError. True for a workload."""
    mapping = None
    if chance.random() < 0.6:
        mapping = (
            mutate(MAPPING.encode(), chance, ODD, TIMES).decode(errors="replace") if chance.random() < 0.3 else MAPPING
        )
    options = {
        "clean": chance.choice(("pwa", "strict", "none")),
        "bad_rows": chance.choice(("fail", "drop", "drop")),
        "missing_limit": chance.choice(("runtime", 60.0)),
        "max_procs": chance.choice((0, 8)),
        "requests": chance.choice(["cores", "full"]),
    }
    found = outcome(path, options, mapping)
    assert found == outcome(path, options | {"in_memory": False, "window": chance.choice((1, 5, 20))}, mapping)
    return "error" not in found


def fuzz(chance: random.Random, folder: Path) -> bool:
    path = folder / "table.csv"
    data = case(chance, path)
    path.write_bytes(data)
    try:
        return check_read(path, chance)
    except Exception:
        print(f"failed on {data!r}", file=sys.stderr)
        raise


if __name__ == "__main__":
    main(fuzz, __doc__)
