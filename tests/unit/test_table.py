"""Tables: what becomes of their rows, and that what schedlab writes is read back as it was."""

import gzip
from datetime import UTC, datetime

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.batches import after

from schedlab.model.errors import InputError
from schedlab.model.predecessors import NOT_COMPLETED, STARTED, Predecessor
from schedlab.model.request import Request
from schedlab.model.workload import Phase, Shape, Workload
from schedlab.workload.options import ReadOptions
from schedlab.workload.table.find import draft
from schedlab.workload.table.read import looks_like, read_table
from schedlab.workload.table.toml import parse_mapping
from schedlab.workload.table.write import write_table


def read(path, text, mapping=None, **options):
    path.write_text(text)
    return read_table(path, ReadOptions(**options), mapping and parse_mapping(mapping))


def jobs_of(workload):
    (jobs,) = workload.batches()
    return jobs


def requests_of(workload):
    jobs = jobs_of(workload)
    return [(int(count), workload.requests[place]) for count, place in zip(jobs.count, jobs.request, strict=True)]


def test_own_column_names_need_no_mapping(tmp_path):
    text = "id,submit,runtime,limit,cores,user\n7,10,60,120,4,ann\n8,5,30,,2,bob\n"
    workload = read(tmp_path / "jobs.csv", text)
    jobs = jobs_of(workload)
    assert jobs.id.tolist() == [8, 7]  # by submit time
    assert jobs.submit.tolist() == [5, 10]
    assert jobs.limit.tolist() == [30, 120]
    assert jobs.count.tolist() == [2, 4]
    assert [workload.labels["user"][number] for number in jobs.user] == ["bob", "ann"]
    assert workload.report.filled == {"limit: run time": 1}
    assert workload.origin is None
    assert len(workload.content_hash) == 64


SIZES = "[columns]\nsubmit = { value = 0 }\nruntime = { value = 1 }\n"


@pytest.mark.parametrize(
    ("titles", "row", "mapping", "count", "request_"),
    [
        ("c", "6", 'cores = "c"', 6, Request({"cores": 1})),
        ("n,c", "3,6", 'nodes = "n"\ncores = "c"', 3, Request({"cores": 2}, per_node_max=1)),
        ("n,c", "1,6", 'nodes = "n"\ncores = "c"', 1, Request({"cores": 6})),
        ("n,c", "4,6", 'nodes = "n"\ncores = "c"', 4, Request({"cores": 2}, per_node_max=1)),
        ("n", "3", 'nodes = "n"', 3, Request({"cores": 1}, per_node_max=1, exclusive=True)),
        ("n,c", "3,2", 'nodes = "n"\ncores = {column = "c", per = "node"}', 3, Request({"cores": 2}, per_node_max=1)),
        ("c,p", "24,12", 'cores = "c"\ncores_per_node = "p"', 2, Request({"cores": 12}, per_node_max=1)),
        ("c,p", "13,12", 'cores = "c"\ncores_per_node = "p"', 13, Request({"cores": 1}, per_node_max=12)),
        ("c,g", "12,2", 'cores = "c"\ngpus = "g"', 2, Request({"cores": 6, "gpus": 1})),
        ("c,g", "4,0", 'cores = "c"\ngpus = "g"', 4, Request({"cores": 1})),
        ("c,g", "1,gpu:2", "cores = 'c'\ngpus = {column = 'g', pattern = ':(.)'}", 1, Request({"cores": 1, "gpus": 2})),
        ("n,p", "3,2", 'cores = {column = "p", times = "n"}', 6, Request({"cores": 1})),
        ("m", "1500", 'cores = {column = "m", unit = "milli"}', 2, Request({"cores": 1})),
        ("c,f", "1,a&b", 'cores = "c"\nfeatures = "f"', 1, Request({"cores": 1}, features=frozenset("ab"))),
        ("c,f", "1,a|b", 'cores = "c"\nfeatures = "f"', 1, Request({"cores": 1})),
        ("c,p", "1,long", 'cores = "c"\nrequest_partition = "p"', 1, Request({"cores": 1}, partition="long")),
        ("c,x", "1,yes", 'cores = "c"\nexclusive = "x"', 1, Request({"cores": 1}, exclusive=True)),
        ("x", "5", 'nodes = {value = 1}\n[resources]\nlicences = "x"', 1, Request({"licences": 5})),
    ],
)  # fmt: skip
def test_requests(tmp_path, titles, row, mapping, count, request_):
    workload = read(tmp_path / "jobs.csv", f"id,{titles}\n1,{row}\n", SIZES + mapping)
    assert requests_of(workload) == [(count, request_)]


@pytest.mark.parametrize(
    ("per", "count", "amount"), [("job", 2, 512 * 10**6), ("node", 2, 1024 * 10**6), ("core", 2, 4096 * 10**6)]
)
def test_memory_of_a_chunk(tmp_path, per, count, amount):
    mapping = SIZES + f'nodes = "n"\ncores = "c"\nmemory = {{ column = "m", unit = "MB", per = "{per}" }}'
    text = "n,c,m\n2,8,1024\n"
    plain = requests_of(read(tmp_path / "a.csv", text, mapping, requests="cores"))
    assert plain == [(count, Request({"cores": 4}, per_node_max=1))]
    with_memory = requests_of(read(tmp_path / "a.csv", text, mapping))
    assert with_memory == [(count, Request({"cores": 4, "memory": amount}, per_node_max=1))]


def test_dates_begin_at_zero(tmp_path):
    mapping = """[columns]
        submit = { column = "s", unit = "date" }
        start = { column = "b", unit = "date" }
        end = { column = "e", unit = "date", format = "%d.%m.%Y %H:%M" }
        limit = { column = "l", unit = "clock" }
        cores = { value = 1 }"""
    text = (
        "s,b,e,l\n"
        "2020-02-28T23:00:00,2020-02-28 23:30:00,29.02.2020 00:30,1-00:00:00\n"
        "2020-02-28T22:59:59.5Z,2020-02-29T01:00:00+01:00,29.02.2020 00:01,90\n"
    )
    workload = read(tmp_path / "jobs.csv", text, mapping)
    jobs = jobs_of(workload)
    assert workload.origin == datetime(2020, 2, 28, 22, 59, 59, tzinfo=UTC)
    assert jobs.submit.tolist() == [0.5, 1]
    assert jobs.wait.tolist() == [3600.5, 1800]
    assert jobs.runtime.tolist() == [60, 3600]
    assert jobs.limit.tolist() == [90 * 60, 86400]


def test_large_numbers_are_unix_times(tmp_path):
    text = "submit,runtime,cores\n1600000000500,7000,1\n1600000002000,1000,1\n"
    mapping = '[columns]\nsubmit={column="submit",unit="ms"}\nruntime={column="runtime",unit="ms"}\ncores="cores"'
    workload = read(tmp_path / "jobs.csv", text, mapping)
    assert workload.origin == datetime(2020, 9, 13, 12, 26, 40, tzinfo=UTC)
    assert jobs_of(workload).submit.tolist() == [0.5, 2]
    assert jobs_of(workload).runtime.tolist() == [7, 1]


STATES = """[columns]
id = "id"
submit = "submit"
runtime = "run"
limit = "limit"
wait = "wait"
cores = "cores"
status = { column = "state", completed = ["COMPLETED"], failed = ["FAILED", "TIMEOUT"], cancelled = ["CANCELLED"] }
"""
ROWS = """id,submit,run,limit,wait,cores,state
1,0,10,20,5,4,COMPLETED
2,1,30,20,5,4,TIMEOUT
3,2,0,20,7,4,CANCELLED by 12
4,3,,20,7,4,FAILED
5,4,10,,7,4,odd
6,,10,20,7,4,COMPLETED
7,6,10,20,7,0,COMPLETED
8,7,10,20,7,64,completed
"""


def test_cleaning_is_that_of_swf(tmp_path):
    path = tmp_path / "jobs.csv"
    workload = read(path, ROWS, STATES)
    assert jobs_of(workload).id.tolist() == [1, 2, 5, 8]
    assert jobs_of(workload).status.tolist() == [1, 0, -1, 1]
    assert workload.report.dropped == {
        "submit time unknown": 1,
        "processors unknown": 1,
        "cancelled before it started": 1,
        "run time 0 or unknown": 1,
    }
    assert workload.report.filled == {"limit: run time": 1, "status: not in the lists, counts as unknown": 1}
    strict = read(path, ROWS, STATES, clean="strict", max_procs=32)
    assert jobs_of(strict).id.tolist() == [1, 2]
    assert jobs_of(strict).runtime.tolist() == [10, 20]
    everything = jobs_of(read(path, ROWS, STATES, clean="none", missing_limit=99))
    assert everything.id.tolist() == [1, 2, 3, 4, 5, 8]
    assert everything.cancel.tolist() == [np.inf, np.inf, 9, np.inf, np.inf, np.inf]
    assert everything.limit.tolist() == [20, 20, 20, 20, 99, 20]


def test_job_ids_may_be_names(tmp_path):
    text = "id,submit,runtime,cores,after\n" + "1,0,5,1,\na_2,1,5,1,1\nb,2,5,1,zzz\n"
    workload = read(tmp_path / "jobs.csv", text)
    jobs = jobs_of(workload)
    assert jobs.id.tolist() == [1, 2, 3]
    assert jobs.names == ("1", "a_2", "b")
    assert after(jobs) == [-1, 1, -1]
    assert workload.report.filled["preceding job: name not seen before, counts as none"] == 1


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("submit,runtime,cores\n0,1,1\n\n1,x,1\n", 4, r'runtime \(column "runtime"\) is "x", expected a number'),
        ('submit,runtime,cores,user\n0,1,1,"a\nb"\n1,1,1.5,c\n', 4, r'cores .* is "1.5", expected a whole number'),
        ("submit,runtime,cores\n0,1\n", 2, "has 2 columns, expected 3 as in the first line"),
        ("submit,runtime,cores\n-5,1,1\n", 2, r'submit .* is "-5", expected seconds from 0'),
        ("submit,runtime,cores\n2019-01-01,1,1\n", 2, 'a date needs unit = "date" in the mapping'),
        ("submit,runtime,cores\n0,1e400,1\n", 2, r'runtime .* is "1e400"'),
        ("submit,start,end,cores\n0,9,7,1\n", 2, "ends 2 s before it starts"),
        ("id,submit,runtime,cores\n5,0,1,1\n5,1,1,1\n", 3, r"id .* 5 has occurred before"),
        ("id,submit,runtime,cores\n5,0,1,1\n,1,1,1\n", 3, r"id .* is missing"),
        ("submit,runtime,cores,user\n0,1,1,\udcff\n", 2, "is not UTF-8 text"),
    ],
)
def test_bad_rows_are_named_or_dropped(tmp_path, text, line, problem):
    path = tmp_path / "jobs.csv"
    path.write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(InputError, match=rf"jobs.csv, line {line}: .*{problem}"):
        read_table(path, ReadOptions())
    good = text.split("\n", 1)[0].encode() + b"\n" + b",".join([b"1"] * (text.split("\n", 1)[0].count(",") + 1))
    path.write_bytes(text.encode(errors="surrogateescape") + good.split(b"\n")[1] + b"\n")
    report = read_table(path, ReadOptions(bad_rows="drop", clean="none")).report
    assert report.dropped == {"bad row": 1}
    assert report.bad_rows[0].startswith(f"line {line}: ")


def test_a_table_that_nobody_knows_gets_a_draft(tmp_path):
    with pytest.raises(
        InputError, match="nothing tells which column is what; there are JobID, Submit Time, x"
    ) as error:
        read(tmp_path / "jobs.csv", "JobID,Submit Time,x\n1,2,3\n")
    assert 'id = "JobID"' in str(error.value)
    assert 'submit = "Submit Time"' in str(error.value)
    assert 'runtime = "…"' in str(error.value)


def test_a_draft_is_a_mapping():
    titles = "job_id,user,account,partition,qos,wallclock_req,nodes_req,processors_req,submit_time,run_time,state"
    mapping = parse_mapping(draft(titles.split(",")))
    assert {name: column.column for name, column in mapping.columns.items()} == {
        "id": "job_id", "submit": "submit_time", "runtime": "run_time", "limit": "wallclock_req", "user": "user",
        "nodes": "nodes_req", "cores": "processors_req", "group": "account", "queue": "qos", "partition": "partition",
        "status": "state",
    }  # fmt: skip


@pytest.mark.parametrize("name", ["jobs.csv.gz.toml", "jobs.mapping.toml"])
def test_a_mapping_beside_the_table(tmp_path, name):
    (tmp_path / name).write_text('[columns]\nsubmit = "when"\nruntime = "long"\ncores = "big"\n')
    log = tmp_path / "jobs.csv.gz"
    log.write_bytes(gzip.compress(b"when;long;big\n0;1;2\n"))
    assert jobs_of(read_table(log, ReadOptions())).count.tolist() == [2]


def test_a_reader_with_a_mapping(tmp_path):
    mapping = tmp_path / "mine.toml"
    mapping.write_text('[table]\nheader = false\n[columns]\nsubmit = "1"\nruntime = "3"\ncores = "2"\n')
    log = tmp_path / "jobs.txt"
    log.write_text("0\t4\t60\n9\t2\t30\n")
    jobs = jobs_of(read_table(log, ReadOptions(), mapping))
    assert jobs.count.tolist() == [4, 2]
    assert jobs.runtime.tolist() == [60, 30]


def test_types_of_parquet_columns(tmp_path):
    path = tmp_path / "jobs.parquet"
    table = pa.table(
        {
            "id": pa.array([3, 4], pa.uint16()),
            "submit": pa.array([datetime(2020, 1, 1, 1), datetime(2020, 1, 1, 2)], pa.timestamp("ns")),
            "runtime": pa.array([1500, None], pa.duration("ms")),
            "cores": pa.array([2.0, 3.0]),
            "user": pa.array(["x", None]).dictionary_encode(),
            "nested": [[1], [2]],
        }
    )
    pq.write_table(table, path)
    workload = read_table(path, ReadOptions(clean="none"))
    jobs = jobs_of(workload)
    assert workload.origin == datetime(2020, 1, 1, 1, tzinfo=UTC)
    assert jobs.submit.tolist() == [0, 3600]
    assert jobs.runtime.tolist() == [1.5, 0]
    assert jobs.user.tolist() == [0, -1]
    bad = parse_mapping('[columns]\nsubmit="submit"\nruntime="runtime"\ncores="nested"')
    with pytest.raises(InputError, match='column "nested" holds list'):
        read_table(path, ReadOptions(), bad)
    pq.write_table(table.set_column(3, "cores", pa.array([1, -2])), path)
    with pytest.raises(InputError, match=r'jobs.parquet, row 2: cores \(column "cores"\) is "-2"'):
        read_table(path, ReadOptions(clean="none"))


def test_a_damaged_parquet_file(tmp_path):
    path = tmp_path / "jobs.parquet"
    path.write_bytes(b"PAR1" + bytes(100))
    with pytest.raises(InputError, match="is not a sound Parquet file"):
        read_table(path, ReadOptions())


def test_a_long_table_is_read_again_by_each_pass(tmp_path):
    path = tmp_path / "jobs.csv"
    rows = 200_000  # several blocks of text
    path.write_text(
        "id,submit,runtime,cores,user\n" + "".join(f"{n},{n // 3},1,{n % 7 + 1},u{n % 5}\n" for n in range(rows))
    )
    whole = jobs_of(read_table(path, ReadOptions()))
    workload = read_table(path, ReadOptions(in_memory=False, window=1000))
    for _ in range(2):
        batches = list(workload.batches())
        assert len(batches) > 1
        for name, column in whole.columns().items():
            assert np.array_equal(column, np.concatenate([getattr(b, name) for b in batches]), column.dtype.kind == "f")


def a_workload() -> Workload:
    workload = Workload.of(
        requests=[
            Request({"cores": 2, "memory": 2**33}, per_node_max=1),
            Request({"cores": 1, "gpus": 0}, 2, 3, frozenset({"fast", "new"}), "long", True),
        ],
        labels={"user": ["bob", ' "alice", jr\nNA '], "partition": ["NA", "-1"]},
        id=[7, 3, 9], submit=[5.25, -1, 1e-9], runtime=[0, 0.1, 3], limit=[0, 7, np.inf], count=[2, 1, 5],
        request=[1, 0, 0], user=[1, 0, -1], queue=[4, -1, 0], partition=[1, 0, 0], wait=[np.nan, 0, 2.5],
        cancel=[np.inf, 9, 8], status=[5, -1, 1], any=[True, False, False],
        predecessors=[[Predecessor(3, STARTED), Predecessor(9, NOT_COMPLETED, 0.1)], [], [7, Predecessor(3, 1, 2e9)]],
    )  # fmt: skip
    workload.origin = datetime(2020, 1, 1, 12, 30, tzinfo=UTC)
    workload.header = {"Computer": "a\nb"}
    workload.phases = (Phase("fill", 0, 1.5),)
    return workload


@pytest.mark.parametrize("name", ["jobs.csv", "jobs.csv.gz", "jobs.csv.zst", "jobs.parquet"])
@pytest.mark.parametrize("clean", ["pwa", "strict", "none"])
def test_what_is_written_is_read_back(tmp_path, name, clean):
    written, path = a_workload(), tmp_path / name
    lost = write_table(path, written)
    found = read_table(path, ReadOptions(clean=clean, max_procs=1))
    assert jobs_of(found).predecessors.lists() == jobs_of(written).predecessors.lists()
    assert jobs_of(found).predecessors.any.tolist() == jobs_of(written).predecessors.any.tolist()
    for column, values in jobs_of(written).columns().items():
        assert np.array_equal(values, getattr(jobs_of(found), column), equal_nan=values.dtype.kind == "f"), column
    assert found.requests == written.requests
    assert found.labels == written.labels
    assert found.report.dropped == found.report.filled == {}
    if name == "jobs.parquet":
        assert lost == []
        assert (found.origin, found.header, found.phases) == (written.origin, written.header, written.phases)
    else:
        assert lost == [
            "the date of second 0 (2020-01-01 12:30:00 UTC): CSV has no place for it, Parquet has",
            "the header (Computer): CSV has no place for it, Parquet has",
            "the phases (fill): CSV has no place for it, Parquet has",
        ]


def test_names_of_jobs_are_written_too(tmp_path):
    named = read(tmp_path / "in.csv", "id,submit,runtime,cores\nx,0,1,1\ny,1,1,1\n")
    write_table(tmp_path / "out.csv", named)
    assert jobs_of(read_table(tmp_path / "out.csv", ReadOptions())).names == ("x", "y")


def test_what_a_table_cannot_hold(tmp_path):
    flexible = Workload.of(submit=[0, 1], runtime=[4, 4], count=[2, 2], shapes=[[Shape(1, 8)], []])
    assert write_table(tmp_path / "a.csv", flexible) == ["other shapes of 1 jobs: a table has no place for them"]
    with pytest.raises(InputError, match="compressed inside"):
        write_table(tmp_path / "a.parquet.gz", flexible)
    nameless = Workload.of(submit=[0, 1], runtime=[4, 4], count=[2, 2], user=[0, 3], labels={"user": ["ann"]})
    assert write_table(tmp_path / "b.csv", nameless)[0].startswith("1 users, groups… without a name")


def test_damaged_notes(tmp_path):
    path = tmp_path / "jobs.parquet"
    write_table(path, a_workload())
    table = pq.read_table(path)
    pq.write_table(table.replace_schema_metadata({"schedlab": '{"origin": 5}'}), path)
    with pytest.raises(InputError, match="its notes by schedlab are damaged"):
        read_table(path, ReadOptions())


def test_gaps_in_a_written_table(tmp_path):
    text = "id,submit,runtime,limit,count,chunk.cores\n1,0,5,5,1,1\n2,0,,5,1,1\n"
    with pytest.raises(InputError, match="line 3: runtime is missing"):
        read(tmp_path / "jobs.csv", text)


@pytest.mark.parametrize(
    ("start", "name", "expected"),
    [
        ("", "jobs.parquet", True),
        ("id,submit,runtime,cores\n1,2,3,4\n", "jobs.csv", True),
        ("Job Number,Submit Time,Wait Time," + "x," * 15 + "\n", "elise.csv", False),
        ("1;0;-1;15;" + "1;" * 15 + "\n", "log.csv", False),
        ("; Version: 2\n1 2 3\n", "log.swf", False),
        ("anything", "log.txt", False),
    ],
)
def test_looks_like(start, name, expected):
    assert looks_like(start, name) is expected


def test_odd_waits_are_counted_where_no_job_needs_them(tmp_path):
    workload = read(tmp_path / "jobs.csv", "submit,runtime,cores,wait\n0,60,4,-7\n5,30,2,soon\n9,30,2,8\n")
    np.testing.assert_array_equal(jobs_of(workload).wait, [np.nan, np.nan, 8])
    assert workload.report.filled["wait: a value that makes no sense, counts as unknown"] == 2
    with pytest.raises(InputError, match="wait"):  # here it says when the job started
        read(tmp_path / "other.csv", "submit,wait,end,cores\n0,-7,50,4\n")
