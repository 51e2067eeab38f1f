"""Fuzz the SWF reader: mutated logs and junk must give a sound workload or an InputError, nothing else.

python tests/fuzz_swf.py --seconds 600 --seed 1
"""

from __future__ import annotations

import gzip
import random
import sys
from itertools import pairwise
from pathlib import Path

from tests.fuzzing import check_workload, main, mutate

from schedlab import _core
from schedlab.model.errors import InputError
from schedlab.workload.read import read_workload

ODD = [
    *("-1", "0", "-0", "1e9", "1e-400", "1e400", "nan", "-nan", "inf", "-2", "+5", "1.5", "0x1f", "9" * 30, "." * 3),
    *(
        "",
        ";",
        ",",
        "\t",
        "\r",
        "\n",
        "\0",
        "\ufeff",
        "name",
        "näme",
        "1_2",
        "12.0",
        "-1.0",
        "1e12",
        "1000000001",
        "e5",
    ),
    *("; MaxProcs: 8\n", "; UnixStartTime: 99999999999\n", "\r\n\r\n", " " * 50, "18446744073709551616", "4" * 18),
]
CLEAN, PROCS, BAD, LIMITS = ("pwa", "strict", "none"), ("requested", "allocated"), ("fail", "drop"), ("runtime", 60.0)


def valid_log(chance: random.Random) -> bytes:
    """A log as it should be: header, records, mostly in order."""
    end = chance.choice(["\n", "\r\n"])
    blank = chance.choice([" ", "  ", "\t", ";", ","])
    lines = (
        [f"; Version: 2.2{end}; MaxProcs: 64{end}; Queue: 1 a{end}; Queue: 2 b{end}"] if chance.random() < 0.7 else []
    )
    now, start = 0.0, chance.choice([0, 1, 10**9])
    for number in range(chance.randint(0, 40)):
        now = max(0.0, now + chance.choice([0, 1, 60, 0.5, -30]))
        run = chance.choice([0, -1, 1, 100, 3600.25])
        fields = [start + number, now, chance.randint(-1, 50), run, chance.choice([-1, 1, 16]), -1, -1]
        fields += [chance.choice([-1, 0, 4]), chance.choice([-1, 60, 7200]), chance.choice([-1, 1024])]
        fields += [chance.choice([-1, 0, 1, 2, 5]), *(chance.randint(-1, 5) for _ in range(5))]
        fields += [chance.choice([-1, start]), chance.choice([-1, 30])]
        lines.append(blank.join(map(str, fields)) + end)
    return "".join(lines).encode()


def case(chance: random.Random) -> bytes:
    kind = chance.random()
    if kind < 0.05:
        return chance.randbytes(chance.randint(1, 3000))
    if kind < 0.1:
        return "".join(chance.choices([*ODD, " ", "7 ", "\n"], k=chance.randint(1, 300))).encode()
    data = mutate(valid_log(chance), chance, ODD)
    if kind < 0.2:
        return mutate(gzip.compress(data, mtime=0), chance, ODD)
    return data


def check_cuts(data: bytes, chance: random.Random) -> None:
    """However the bytes are cut, the parser finds the same."""
    options = {"clean": chance.choice(CLEAN), "drop_bad_rows": chance.random() < 0.7, "named": chance.random() < 0.2}
    states = []
    for pieces in (1, chance.randint(2, 30)):
        parser = _core.SwfParser(**options)
        cuts = [0, *sorted(chance.choices(range(len(data) + 1), k=pieces - 1)), len(data)]
        going = all(parser.feed(data[a:b]) for a, b in pairwise(cuts)) and parser.finish()
        jobs = {name: list(map(repr, column)) for name, column in parser.take().items()}
        counts = (parser.records, parser.kept, parser.dropped, parser.filled, parser.unknown, parser.out_of_order)
        states.append((going, jobs, counts, parser.failure, parser.bad_rows, parser.header, parser.needs_names))
    assert states[0] == states[1]


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
    found = []
    for settings in ({}, {"in_memory": False, "window": chance.choice([1, 5, 20])}):
        try:
            found.append(check_workload(read_workload(path, **options, **settings)))
        except InputError as error:
            message = str(error)
            assert message.startswith(str(path)), message
            assert message.isprintable() or "\n  hint: " in message, message
            found.append({"error": [message]})
    assert found[0] == found[1]
    return "error" not in found[0]


def fuzz(chance: random.Random, folder: Path) -> bool:
    data = case(chance)
    try:
        check_cuts(data, chance)
        return check_read(data, folder / "log.swf", chance)
    except Exception:
        print(f"failed on {data!r}", file=sys.stderr)
        raise


if __name__ == "__main__":
    main(fuzz, __doc__)
