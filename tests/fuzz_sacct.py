"""Fuzz the reader of Slurm dumps: mutated dumps and junk must give a sound workload or an InputError, nothing else.

python -m tests.fuzz_sacct --seconds 600 --seed 1
"""

from __future__ import annotations

import gzip
import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from tests.fuzzing import check_workload, main, mutate

from schedlab.files import bytestream
from schedlab.files.bytestream import GZIP, PIECE
from schedlab.model.errors import InputError
from schedlab.model.workload import Workload
from schedlab.workload.options import ReadOptions
from schedlab.workload.sacct import blocks as sacct_blocks
from schedlab.workload.sacct.read import looks_like, read_sacct
from schedlab.workload.sacct.write import write_sacct

ODD = [
    *("|", "||", "\n", "\r\n", "\r", "", " ", "\0", "\ufeff", "-1", "0", "1e9", "nan", "9" * 30, "Unknown", "None"),
    *("12.batch", "12_3", "12_[4-9%2]", "12+1", "0x1f", "2024-02-30T00:00:00", "2024-02-28T12:00:00+0100", "1K"),
    *("UNLIMITED", "1-00:00:00", "00:00.5", "cpu=", "cpu", "mem=1T", "gres/gpu:a=1", "a|b", "a&b", "CANCELLED by 7"),
    *("JobID|Submit|State|Elapsed|NCPUS\n", "RUNNING", "PENDING", "\x1f", "é", "'", '"'),
]
COLUMNS = {
    "JobID": ["{id}", "{id}", "{id}", "{id}.batch", "{id}_{task}", "{id}+1", "{id}_[1-5]"],
    "JobIDRaw": ["{id}"],
    "JobName": ["sim", "a|b", "x y", ""],
    "User": ["ann", "bob", ""],
    "Account": ["phys", "chem"],
    "Partition": ["batch", "gpu"],
    "QOS": ["normal"],
    "State": [
        "COMPLETED",
        "COMPLETED",
        "FAILED",
        "CANCELLED by 12",
        "CANCELLED",
        "TIMEOUT",
        "RUNNING",
        "PENDING",
        "NEW",
    ],
    "Submit": ["{submit}"],
    "Eligible": ["{submit}", "{eligible}", "Unknown"],
    "Start": ["{start}", "{start}", "Unknown"],
    "End": ["{end}", "{end}", "None"],
    "Elapsed": ["00:10:00", "1-00:00:00", "00:00:00"],
    "ElapsedRaw": ["600", "0"],
    "Suspended": ["00:00:00", "00:01:00"],
    "Timelimit": ["01:00:00", "2-00:00:00", "UNLIMITED", "Partition_Limit"],
    "TimelimitRaw": ["60", "UNLIMITED"],
    "ReqCPUS": ["1", "12", "0"],
    "NCPUS": ["1", "12", "64"],
    "NNodes": ["1", "2", "5", "1K"],
    "ReqMem": ["2800Mc", "4000Mn", "500G", "0"],
    "ReqTRES": ["billing=12,cpu=12,mem=33600M,node=1", "cpu=4,gres/gpu=3,node=2", "cpu=7,mem=10M,node=3", ""],
    "AllocTRES": ["cpu=12,mem=1G,node=2", ""],
    "Constraints": ["", "a", "a&b", "a|b", "[x*2]"],
    "SubmitLine": [
        "sbatch -d afterok:12 run.sh",
        "sbatch --wrap=a|b",
        "sbatch --dependency=afterany:10:11,singleton x",
    ],
}
CLEAN, PROCS, BAD, LIMITS = ("pwa", "strict", "none"), ("requested", "allocated"), ("fail", "drop"), ("runtime", 60.0)


def valid_dump(chance: random.Random) -> bytes:
    """A dump of some columns in some order."""
    columns = [name for name in COLUMNS if chance.random() < 0.75]
    columns = list(dict.fromkeys([*columns, "Submit", "State"])) if chance.random() < 0.95 else columns
    chance.shuffle(columns)
    ends = chance.choice(["\n", "\n", "|\n", "\r\n"])
    lines = ["|".join(columns) + ends]
    way = chance.choice(["%s", "iso", "zone"])
    now = 1_700_000_000
    for number in range(chance.randint(0, 15)):
        now += chance.choice([0, 1, 60, -30])
        start, length = now + chance.choice([0, 5, 500]), chance.choice([0, 1, 3600])
        times = {"submit": now, "eligible": now + 10, "start": start, "end": start + length}
        values = {name: written(value, way) for name, value in times.items()}
        values |= {"id": str(chance.choice([100 + number, 100 + number, 100])), "task": str(number)}
        lines.append("|".join(chance.choice(COLUMNS[name]).format(**values) for name in columns) + ends)
    return "".join(lines).encode()


def written(seconds: int, way: str) -> str:
    if way == "%s":
        return str(seconds)
    text = datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    return text + "+0000" if way == "zone" else text


def case(chance: random.Random) -> bytes:
    kind = chance.random()
    if kind < 0.04:
        return chance.randbytes(chance.randint(1, 3000))
    if kind < 0.08:
        return "".join(chance.choices([*ODD, "|", "7|", "\n"], k=chance.randint(1, 300))).encode() + b"\n"
    data = valid_dump(chance)
    below = data.find(b"\n") if chance.random() < 0.9 else 0  # mostly the header stays as it is
    data = mutate(data, chance, ODD, (0, 0, 0, 1, 1, 2, 8), low=below)
    return mutate(gzip.compress(data, mtime=0), chance, ODD) if kind < 0.15 else data


def sound(workload: Workload) -> dict[str, list[str]]:
    """Also: waits, requests, names of users, and the names of all jobs or of none."""
    found = check_workload(workload, bad_rows=20)
    names: list[str] = []
    for batch in workload.batches():
        assert np.all(np.isnan(batch.wait) | (batch.wait >= 0))
        assert all(getattr(batch, name).max() < len(labels) for name, labels in workload.labels.items())
        names.extend(batch.names or ())
    assert all(amount > 0 for request in workload.requests for amount in request.chunk.values())
    assert len(names) in (0, workload.report.kept)
    return found | {"names": names}


def check_round_trip(workload: Workload, path: Path, requests: str) -> None:
    """What is written comes back the same, except for what the writer says."""
    lost = " ".join(write_sacct(path, workload))
    again = read_sacct(path, ReadOptions(clean="none", requests=requests, missing_limit=1.0))
    assert looks_like(path.read_text(errors="replace")[:4096], path.name)
    was, now = workload.jobs, again.jobs
    assert len(was) == len(now)
    if "job numbers" not in lost and "fractions" not in lost:
        assert was["id"].to_list() == now["id"].to_list()
        assert was["runtime"].to_list() == now["runtime"].to_list()
        first = was["submit"][0]
        assert np.allclose(was["submit"].to_numpy() - first, now["submit"].to_numpy())


@contextmanager
def pieces_of(size: int) -> Iterator[None]:
    """Let a file come in pieces of that many bytes, each of which makes a block."""
    usual = bytestream.PIECE, sacct_blocks.BLOCK
    bytestream.PIECE = sacct_blocks.BLOCK = size
    try:
        yield
    finally:
        bytestream.PIECE, sacct_blocks.BLOCK = usual


def check_read(data: bytes, path: Path, chance: random.Random) -> bool:
    """A file of these bytes: a workload (the same when streamed) or an InputError. True for a workload."""
    path.write_bytes(data)
    options = {
        "clean": chance.choice(CLEAN),
        "procs": chance.choice(PROCS),
        "bad_rows": chance.choice(BAD),
        "missing_limit": chance.choice(LIMITS),
        "max_procs": chance.choice([0, 8]),
        "requests": chance.choice(["cores", "full"]),
    }
    found, workload = [], None
    for settings in ({}, {"in_memory": False, "window": chance.choice([1, 5, 20])}):
        try:
            with pieces_of(chance.choice([150, 500, 2000]) if settings else PIECE):
                workload = read_sacct(path, ReadOptions(**options, **settings))
                found.append(sound(workload))
        except InputError as error:
            message = str(error)
            assert message.startswith(str(path)), message
            assert message.isprintable() or "\n  hint: " in message, message
            found.append({"error": [message]})
    # Which mistake of a damaged archive is found first depends on how much is unpacked at a time.
    assert found[0] == found[1] or (data.startswith(GZIP) and all("error" in one for one in found))
    if "error" in found[0]:
        return False
    assert workload is not None
    check_round_trip(workload, path.with_name("again.sacct"), options["requests"])
    return True


def fuzz(chance: random.Random, folder: Path) -> bool:
    data = case(chance)
    try:
        return check_read(data, folder / "jobs.sacct", chance)
    except Exception:
        print(f"failed on {data!r}", file=sys.stderr)
        raise


if __name__ == "__main__":
    main(fuzz, __doc__)
