"""The native parser alone: bytes to columns."""

import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.swf_files import row

from schedlab import _core

TYPES = {
    "id": "int64",
    "submit": "float64",
    "runtime": "float64",
    "limit": "float64",
    "count": "int64",
    "user": "int32",
    "group": "int32",
    "queue": "int32",
    "partition": "int32",
    "executable": "int32",
    "status": "int8",
    "wait": "float64",
    "cancel": "float64",
    "after": "int64",
    "think": "float64",
    "memory": "int64",
}


def parse(data: bytes | str, **options):
    parser = _core.SwfParser(**options)
    good = parser.feed(data.encode() if isinstance(data, str) else data) and parser.finish()
    assert good == (parser.failure is None and not parser.needs_names)
    return parser


def one(text: str, **options):
    """The only job of a log, as {column: value}."""
    parser = parse(text, **options)
    assert parser.failure is None, parser.failure
    return {name: column.tolist()[0] for name, column in parser.take().items() if len(column)}


def test_all_fields():
    parser = parse("7 100 20 300 8 250.5 1000 16 3600 2048 1 11 12 13 14 15 6 30\n")
    jobs = parser.take()
    assert {name: str(column.dtype) for name, column in jobs.items()} == TYPES
    assert {name: column.tolist() for name, column in jobs.items()} == {
        "id": [7],
        "submit": [100.0],
        "wait": [20.0],
        "runtime": [300.0],
        "count": [16],
        "limit": [3600.0],
        "memory": [2048 * 1024],
        "status": [1],
        "user": [11],
        "group": [12],
        "executable": [13],
        "queue": [14],
        "partition": [15],
        "after": [6],
        "think": [30.0],
        "cancel": [math.inf],
    }
    assert (parser.records, parser.kept, parser.dropped, parser.filled, parser.unknown) == (1, 1, {}, {}, {})


def test_unknown_fields():
    parser = parse("7 100 -1 300 8 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1\n")
    jobs = {name: column.tolist()[0] for name, column in parser.take().items()}
    assert math.isnan(jobs.pop("wait"))
    labels = dict.fromkeys(("user", "group", "executable", "queue", "partition"), -1)
    times = {"submit": 100.0, "runtime": 300.0, "limit": 300.0, "think": 0.0, "cancel": math.inf}
    assert jobs == {"id": 7, "count": 8, "memory": 0, "status": -1, "after": -1, **times, **labels}
    assert parser.filled == {"processors: the other of requested and allocated": 1, "limit: run time": 1}
    others = ("requested processors", "requested time", "requested memory", "status", "preceding job", "think time")
    assert parser.unknown == dict.fromkeys(("wait time", "average CPU time", "used memory", *others, *labels), 1)


def test_take_gives_each_job_once():
    parser = _core.SwfParser()
    parser.feed((row(job=1) + "\n" + row(job=2) + "\n").encode())
    assert parser.ready == 2
    assert parser.take()["id"].tolist() == [1, 2]
    assert parser.ready == 0
    assert parser.take()["id"].tolist() == []
    parser.feed((row(job=3) + "\n").encode())
    assert parser.take()["id"].tolist() == [3]


def test_arrays_outlive_the_parser():
    parser = parse("".join(row(job=n) + "\n" for n in range(1000)))
    ids = parser.take()["id"]
    del parser
    assert ids.tolist() == list(range(1000))
    ids[0] = 5  # and belong to the caller


@pytest.mark.parametrize("end", ["\n", "\r\n", " \t\r\n", "\n\n", "\n  \n"])
def test_line_ends(end):
    parser = parse(end.join(["; Version: 2", row(job=1), row(job=2), row(job=3)]))
    assert parser.take()["id"].tolist() == [1, 2, 3]
    assert parser.header == ["; Version: 2"]


def test_blanks_and_tabs():
    text = "\t 7\t100  20 \t 300 8 -1 -1 8 3600 -1 1 -1 -1 -1 -1 -1 -1 -1\n"
    assert one(text)["submit"] == 100


def test_byte_order_mark():
    assert parse("\ufeff" + row(job=4)).take()["id"].tolist() == [4]


def test_columns_beyond_18_are_ignored():
    assert one(row(job=4) + " {1,2,3} q_2w 1:ppn=12 ; -7 nan")["id"] == 4


def test_any_cut_gives_the_same():
    lines = ["; UnixStartTime: 5", *(row(job=n, submit=n * 0.25) for n in range(1, 40)), "", "; Note: late"]
    data = "\r\n".join(lines).encode()
    whole = parse(data).take()
    shuffle = random.Random(1)
    for _ in range(100):
        parser = _core.SwfParser()
        cuts = sorted(shuffle.choices(range(len(data) + 1), k=shuffle.randint(0, 60)))
        for start, stop in zip([0, *cuts], [*cuts, len(data)], strict=True):
            assert parser.feed(data[start:stop])
        assert parser.finish()
        for name, column in parser.take().items():
            np.testing.assert_array_equal(column, whole[name])
        assert parser.header == ["; UnixStartTime: 5", "; Note: late"]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0.0),
        ("12", 12.0),
        ("+12", 12.0),
        ("012", 12.0),
        ("12.", 12.0),
        (".5", 0.5),
        ("0.1", 0.1),
        ("1e3", 1000.0),
        ("1.5E+2", 150.0),
        ("2.5e-3", 0.0025),
        ("123456789012.123456789", 123456789012.123456789),
        ("0.1000000000000000055511151231257827", 0.1),
        ("999999999999.9999", 999999999999.9999),
        ("0.30000000000000004", 0.30000000000000004),
        ("-0", 0.0),
        ("0" * 400 + "7", 7.0),
    ],
)
def test_numbers(text, value):
    assert one(row(submit=text))["submit"] == value


@given(st.floats(0, 1e12))
def test_floats_are_read_exactly(value):
    assert one(row(submit=repr(value)))["submit"] == value
    assert one(row(submit=f"{value:.3f}"))["submit"] == float(f"{value:.3f}")


@pytest.mark.parametrize("text", ["-1", "-1.0", "-1.00", "-1e0"])
def test_unknown_however_written(text):
    assert parse(row(limit=text, user=text, after=text)).unknown["requested time"] == 1


TIME = "seconds from 0 to 1e12, or -1 for unknown"
WHOLE = "a whole number from 0 to 1e9, or -1 for unknown"
KILOBYTES = "kilobytes from 0 to 1e15, or -1 for unknown"
LABEL = "a number from 0 up, a name of at most 256 characters, or -1 for unknown"
ID = "a number from 0 up, or a name of at most 256 characters"


@pytest.mark.parametrize(
    ("field", "text", "name", "column", "expected"),
    [
        ("submit", "-5", "submit time", 2, TIME),
        ("submit", "abc", "submit time", 2, TIME),
        ("submit", "1e13", "submit time", 2, TIME),
        ("run", "-1359980917", "run time", 4, TIME),
        ("run", "nan", "run time", 4, TIME),
        ("run", "-nan", "run time", 4, TIME),
        ("run", "inf", "run time", 4, TIME),
        ("run", "1e999", "run time", 4, TIME),
        ("run", "0x10", "run time", 4, TIME),
        ("run", "1e", "run time", 4, TIME),
        ("run", "--1", "run time", 4, TIME),
        ("run", "+-1", "run time", 4, TIME),
        ("run", ".", "run time", 4, TIME),
        ("run", "1.2.3", "run time", 4, TIME),
        ("run", "12;", "run time", 4, TIME),
        ("requested", "-4", "requested processors", 8, WHOLE),
        ("limit", "-0.5", "requested time", 9, TIME),
        ("executable", "x" * 257, "executable", 14, LABEL),
        ("queue", "a\x01b", "queue", 15, LABEL),
        ("after", "first", "preceding job", 17, "the number of a job, or -1 for none"),
        ("after", "-3", "preceding job", 17, "the number of a job, or -1 for none"),
        ("job", "-1", "job number", 1, ID),
        ("job", "nan", "job number", 1, ID),
    ],
)
def test_bad_fields_name_the_column(field, text, name, column, expected):
    parser = parse("; header\n" + row(job=50) + "\n" + row(**{"job": 51, field: text}) + "\n" + row(job=52) + "\n")
    shown = text.replace("\x01", "\\x01")
    shown = f'"{shown}"' if len(shown) <= 40 else f'"{shown[:40]}…"'
    assert parser.failure == (3, f"{name} (column {column}) is {shown}, expected {expected}")
    assert parser.bad_rows == [parser.failure]
    assert parser.feed(b"more") is False


def test_too_few_columns():
    assert parse("1 2 3").failure == (1, "3 columns, expected at least 18")
    assert parse("\n\njunk").failure == (3, "1 column, expected at least 18")
    assert parse(" ".join(["1"] * 17)).failure == (1, "17 columns, expected at least 18")


def test_binary_data():
    assert parse(b"\x7fELF\x02\x01\x00\x00 a b\n").failure == (1, "binary data (zero bytes) where a record should be")


def test_lines_without_end():
    for size in (1000, 1 << 16):
        parser, fed = _core.SwfParser(), 0
        while parser.feed(b"7" * size) and fed < 3 << 20:
            fed += size
        assert parser.failure == (1, "the line is longer than 1 MiB")
        assert fed <= 1 << 20
    assert parse(row(job=1) + " " + "x" * (1 << 20)).failure == (1, "the line is longer than 1 MiB")
    long = (row(job=1) + " " + "x" * (1 << 20)).encode()
    parser = _core.SwfParser(drop_bad_rows=True)
    for start in range(0, len(long), 100_000):
        parser.feed(long[start : start + 100_000])
    parser.feed(b"yy\n" + row(job=2).encode())
    parser.finish()
    assert parser.take()["id"].tolist() == [2]
    assert (parser.records, parser.dropped) == (2, {"bad row": 1})


def test_bad_rows_dropped():
    lines = [row(job=n, run="x" if n % 2 else 10) for n in range(20)]
    parser = parse("\n".join(lines), drop_bad_rows=True)
    assert parser.take()["id"].tolist() == list(range(0, 20, 2))
    assert parser.dropped == {"bad row": 10}
    assert [line for line, _ in parser.bad_rows] == [2, 4, 6, 8, 10]
    assert (parser.records, parser.kept, parser.failure) == (20, 10, None)


def test_duplicates():
    parser = parse("\n".join(row(job=n) for n in (1, 2, 70_000_000_000, 2)))
    assert parser.failure == (4, 'job number (column 1) "2" occurs a second time')
    parser = parse("\n".join(row(job=n) for n in (1, 2, 2, 2, 3)), drop_bad_rows=True)
    assert parser.take()["id"].tolist() == [1, 2, 3]
    assert parser.dropped == {"bad row": 2}


def test_duplicates_at_the_edges_of_pages():
    edges = sorted({base + step for base in (0, 64, 512, 1 << 20, 10**17) for step in (0, 1, 63, 64, 511, 512)})
    assert parse("\n".join(row(job=n) for n in edges)).kept == len(edges)
    for again in edges:
        assert parse("\n".join(row(job=n) for n in [*edges, again])).failure[0] == len(edges) + 1


def test_partial_executions_are_not_jobs():
    # A job that was checkpointed once: the whole (status 1), and its parts with the same number.
    parser = parse("\n".join([row(status=1), row(status=2, run=40), row(status=3, run=60), row(job=2, status=4)]))
    assert parser.take()["runtime"].tolist() == [100]
    assert parser.dropped == {"partial execution (status 2, 3, 4)": 3}


@pytest.mark.parametrize(
    ("field", "text", "name", "column"),
    [
        ("wait", "-2", "wait time", "wait"),
        ("wait", "soon", "wait time", "wait"),
        ("allocated", "2.5", "allocated processors", None),
        ("allocated", "-4", "allocated processors", None),
        ("cpu", "-3", "average CPU time", None),
        ("used_memory", "1e16", "used memory", None),
        ("memory", "-8", "requested memory", "memory"),
        ("status", "-4", "status", "status"),  # Sandia Ross has some
        ("status", "1.5", "status", "status"),
        ("status", "77", "status", "status"),
        ("user", "-2", "user", "user"),
        ("group", "nan", "group", "group"),
        ("partition", "-inf", "partition", "partition"),
        ("think", "-7", "think time", "think"),
    ],
)
def test_odd_values_in_fields_that_no_job_needs_are_counted(field, text, name, column):
    """They count as unknown, as -1 does."""
    odd, unknown = parse(row(**{field: text})), parse(row(**{field: -1}))
    assert (odd.failure, odd.odd, odd.dropped) == (None, {name: 1}, {})
    found, expected = odd.take(), unknown.take()
    for key, values in found.items():
        np.testing.assert_array_equal(values, expected[key], err_msg=key)
    assert column is None or column in found
    dropped = parse(row(**{field: text, "run": 0}))
    assert dropped.odd == {}  # of jobs, not of records


@pytest.mark.parametrize(
    ("fields", "options", "problem"),
    [
        ({"allocated": "2.5", "requested": -1}, {}, "allocated processors"),
        ({"requested": "-4"}, {}, "requested processors"),
        ({"allocated": "-4"}, {"procs": "allocated"}, "allocated processors"),
        ({"think": "-7", "after": 1}, {}, "think time"),
    ],
)
def test_odd_values_in_fields_that_a_job_needs_are_fatal(fields, options, problem):
    parser = _core.SwfParser(**options)
    assert parser.feed((row(**fields) + "\n").encode()) is False
    assert parser.failure is not None and parser.failure[1].startswith(problem)


def test_what_has_no_place_is_counted():
    lines = [
        row(job=1, cpu=90, used_memory=4000, memory=64, allocated=4, requested=3),
        row(job=2, cpu=0, allocated=4, requested=-1),
        row(job=3, cpu=90, run=0),
    ]
    assert parse("\n".join(lines)).unkept == {
        "average CPU time (field 6)": 2,
        "used memory (field 7)": 1,
        "the other number of processors (fields 5 and 8 differ)": 1,
        "requested memory (field 10)": 1,
    }
    assert "requested memory (field 10)" not in parse("\n".join(lines), memory=True).unkept


def test_names_as_ids():
    parser = parse("\n".join(row(job=n, after=a) for n, a in [("a.1", -1), ("b", "a.1"), ("17", "b"), ("c", "zz")]))
    jobs = parser.take()
    assert jobs["names"] == ["a.1", "b", "17", "c"]
    assert jobs["id"].tolist() == [1, 2, 3, 4]
    assert jobs["after"].tolist() == [-1, 1, 2, -1]
    assert parser.filled == {"preceding job: name not seen before, counts as none": 1}
    again = parse("\n".join(row(job=n) for n in ("a", "b", "a")))
    assert again.failure == (3, 'job number (column 1) "a" occurs a second time')


def test_names_after_numbers_need_another_pass():
    text = "\n".join(row(job=n) for n in ("1", "2", "2[1]", "3"))
    assert parse(text).needs_names
    jobs = parse(text, named=True).take()
    assert (jobs["names"], jobs["id"].tolist()) == (["1", "2", "2[1]", "3"], [1, 2, 3, 4])


def test_names_after_rows_that_were_dropped_need_another_pass():
    text = "\n".join([row(job="1", after="zz"), row(job="a"), row(job="b")])
    assert parse(text, drop_bad_rows=True).needs_names
    again = parse(text, drop_bad_rows=True, named=True)
    assert (again.take()["names"], again.dropped) == (["1", "a", "b"], {})


def test_names_that_are_not_text():
    assert parse(row(job="x").encode().replace(b"x", b"\xff\xfe")).take()["names"] == ["\\xff\\xfe"]
    assert parse(row(job="größe")).take()["names"] == ["größe"]


def test_labels_that_are_not_small_numbers():
    users = [3, "ann", 98652259585751, "ann", "3.0", 2**30 - 1, 2**30, "bob"]
    parser = parse("\n".join(row(job=n, user=user, queue="q") for n, user in enumerate(users)))
    jobs, base = parser.take(), 2**30
    assert jobs["user"].tolist() == [3, base, base + 1, base, 3, base - 1, base + 2, base + 3]
    assert set(jobs["queue"].tolist()) == {base}
    assert parser.filled == {"user, group…: name or huge number, numbered from 2^30": 5}


@pytest.mark.parametrize("separator", [";", ",", " ; ", ", "])
def test_other_separators(separator):
    text = separator.join(["1", "0", "", "15", "12", "", "", "", "420", "", "1", "user5", "", "", "n", "n", "", ""])
    job = one(text + separator)
    assert (job["runtime"], job["count"], job["limit"], job["group"]) == (15, 12, 420, -1)
    titles = separator.join(["Job Number", "Submit Time", "Wait", "Run Time", *["More words"] * 14])
    parser = parse(titles + "\n" + text)
    assert (parser.records, parser.kept) == (1, 1)


def test_header_is_bounded():
    parser = parse("".join(f"; Note: {n}\n" for n in range(20_000)) + row())
    assert len(parser.header) == 10_000
    parser = parse("; " + "x" * 2_000_000 + "\n" + row())
    assert (parser.header, parser.kept) == ([], 1)


def test_out_of_order():
    assert parse("\n".join(row(job=n, submit=t) for n, t in enumerate([5, 3, 3, 4, 1]))).out_of_order == 2


def test_wrong_options():
    with pytest.raises(ValueError, match="clean"):
        _core.SwfParser(clean="very")
    with pytest.raises(ValueError, match="procs"):
        _core.SwfParser(procs="some")
