"""Reading Slurm accounting dumps: rows by hand for every rule, and the samples."""

import gzip
import math
from datetime import UTC, datetime

import numpy as np
import pytest
from tests.batches import after
from tests.sacct_rows import DAY, HEADER, job, reader, row

from schedlab.files import bytestream
from schedlab.model.errors import InputError
from schedlab.model.predecessors import COMPLETED, STARTED
from schedlab.model.request import SINGLE_CORE
from schedlab.workload.options import ReadOptions
from schedlab.workload.read import read_workload
from schedlab.workload.sacct import blocks as sacct_blocks
from schedlab.workload.sacct.read import SACCT_COMMAND, looks_like, read_sacct

MIB = 2**20


@pytest.fixture
def read(tmp_path):
    return reader(tmp_path)


def test_a_job(read):
    workload = read(HEADER, row())
    found = job(workload)
    assert (found["id"], found["submit"], found["wait"], found["runtime"], found["limit"]) == (1, 0, 10, 50, 3600)
    assert (found["count"], workload.requests[found["request"]], found["status"]) == (4, SINGLE_CORE, 1)
    assert (found["cancel"], found["predecessors"]) == (math.inf, [])
    assert workload.origin == datetime(2024, 3, 1, 12, tzinfo=UTC)
    assert workload.labels == {"user": ["ann"]}
    assert (workload.report.records, workload.report.kept, workload.report.filled) == (1, 1, {})


def test_columns_in_any_order_with_parsable_and_windows_ends(tmp_path):
    path = tmp_path / "jobs.txt"
    path.write_bytes(
        b"End|ReqCPUS|state|JobID|Start|JobName|Submit|\r\n"
        b"2024-03-01T12:01:00|4|COMPLETED|1|2024-03-01T12:00:10|x|2024-03-01T12:00:00|\r\n\r\n"
    )
    workload = read_sacct(path, ReadOptions())
    found = job(workload)
    assert (found["id"], found["runtime"], found["wait"], found["count"]) == (1, 50, 10, 4)
    assert found["limit"] == 50
    assert workload.report.filled == {"limit: run time": 1}


def test_times_as_seconds_and_with_zones(read):
    rows = (
        "1|ann|COMPLETED|1709294400|1709294410|1709294460|01:00:00|4",
        "2|ann|COMPLETED|2024-03-01T13:00:00+0100|2024-03-01T12:00:10Z|2024-03-01T12:01:00|01:00:00|4",
    )
    for some in (rows, rows[:1], rows[1:]):
        for number in range(len(some)):
            found = job(read(HEADER, *some), number)
            assert (found["submit"], found["wait"], found["runtime"]) == (0, 10, 50)


def test_elapsed_instead_of_start_and_end(read):
    header = "JobID|State|Submit|{}|NCPUS"
    workload = read(header.format("Elapsed"), f"1|COMPLETED|{DAY}12:00:00|1-00:00:05|2")
    assert job(workload)["runtime"] == 86_405
    assert math.isnan(job(workload)["wait"])
    assert job(read(header.format("ElapsedRaw"), f"1|FAILED|{DAY}12:00:00|77|2"))["runtime"] == 77
    with_start = read(header.format("Start|Elapsed"), f"1|FAILED|{DAY}12:00:00|{DAY}12:00:20|00:01:17|2")
    assert (job(with_start)["wait"], job(with_start)["runtime"]) == (20, 77)
    with_end = read(header.format("End|Elapsed"), f"1|FAILED|{DAY}12:00:00|{DAY}12:02:00|00:01:17|2")
    assert (job(with_end)["wait"], job(with_end)["runtime"]) == (43, 77)


def test_time_suspended_does_not_count(read):
    assert job(read(f"{HEADER}|Suspended", f"{row()}|00:00:20"))["runtime"] == 30


def test_steps_belong_to_their_jobs(read):
    steps = [row(f"1.{step}") for step in ("batch", "extern", "0")]
    report = read(HEADER, row("1"), *steps, row("2")).report
    assert (report.records, report.kept) == (5, 2)
    assert report.dropped == {"step of a job, not a job of its own": 3}


def test_states(read):
    rows = [row("1"), row("2", "TIMEOUT"), row("3", "CANCELLED by 75"), row("4", "MELTED")]
    workload = read(HEADER, *rows)
    assert workload.jobs["status"].to_list() == [1, 0, 5, 0]
    assert workload.report.filled == {"status: the state is not known, counts as failed": 1}


def test_what_goes_on_is_left_out(read):
    rows = [row("1"), row("2", "RUNNING", end="Unknown"), row("3", "PENDING", start="Unknown", end="Unknown")]
    report = read(HEADER, *rows, row("4", "SUSPENDED", end="Unknown"), clean="none").report
    assert report.kept == 1
    assert report.dropped == {"still running when the dump was made": 2, "still pending when the dump was made": 1}


NEVER = (
    row("2", "CANCELLED by 75", start="12:05:00", end="12:05:00"),
    row("3", "CANCELLED", start="Unknown", end="12:06:00"),
    row("4", "DEADLINE", start="None", end="12:07:00"),
)


def test_jobs_that_never_started(read):
    assert read(HEADER, row(), *NEVER).report.dropped == {"cancelled before it started": 3}
    workload = read(HEADER, row(), *NEVER, clean="none")
    assert workload.jobs["cancel"].to_list() == [math.inf, 300, 360, 420]
    assert workload.jobs["runtime"].to_list() == [50, 0, 0, 0]
    assert workload.jobs["wait"].is_nan().to_list() == [False, True, True, True]
    assert workload.jobs["status"].to_list() == [1, 5, 5, 0]


def test_run_time_0(read):
    short = row("2", "FAILED", start="12:00:10", end="12:00:10")
    assert read(HEADER, row(), short).report.dropped == {"run time 0 or unknown": 1}
    found = job(read(HEADER, row(), short, clean="none"), 1)
    assert (found["runtime"], found["cancel"], found["wait"]) == (0, math.inf, 10)


def test_limits(read):
    rows = [row("1", limit="2-00:00:00"), row("2", limit="UNLIMITED"), row("3", limit="Partition_Limit")]
    workload = read(HEADER, *rows)
    assert workload.jobs["limit"].to_list() == [172_800, 50, 50]
    assert workload.report.filled == {"limit: run time": 2}
    workload = read(HEADER, *rows, missing_limit=100.0)
    assert workload.jobs["limit"].to_list() == [172_800, 100, 100]
    assert workload.report.filled == {"limit: given number": 2}
    raw = read(HEADER.replace("Timelimit", "TimelimitRaw"), row("1", limit="90"))
    assert raw.jobs["limit"].to_list() == [5400]


def test_the_strict_filter(read):
    rows = [row("1", limit="00:00:20"), row("2", limit="UNLIMITED"), row("3", cpus="99")]
    workload = read(HEADER, *rows, clean="strict", max_procs=64)
    assert workload.jobs["runtime"].to_list() == [20]
    assert workload.report.dropped == {"requested time 0 or unknown": 1, "larger than the machine": 1}


def test_eligible_is_when_it_counts(read):
    header = f"{HEADER}|Eligible"
    workload = read(
        header,
        f"{row('1')}|{DAY}12:00:04",  # held for four seconds
        f"{row('2')}|{DAY}12:00:30",  # later than its start: cannot be
        f"{row('3')}|Unknown",
        f"{row('4')}|{DAY}11:59:00",
        f"{row('5', 'CANCELLED', start='Unknown', end='12:05:00')}|{DAY}12:04:00",
        clean="none",
    )
    found = {one["id"]: one for one in workload.jobs.iter_rows(named=True)}
    assert {number: one["submit"] for number, one in found.items()} == {1: 4, 2: 10, 3: 0, 4: 0, 5: 240}
    assert {number: one["wait"] for number, one in found.items() if number < 5} == {1: 6, 2: 0, 3: 10, 4: 10}
    assert found[5]["cancel"] == 300
    assert workload.report.filled == {"submit: when it became eligible (held, begin time, dependency)": 3}


def test_a_start_before_the_submission(read):
    workload = read(HEADER, row(start="11:59:50"))
    assert (job(workload)["submit"], job(workload)["wait"], job(workload)["runtime"]) == (0, 0, 70)
    assert workload.report.filled == {"wait: 0, it started before it was submitted": 1}


def test_dependencies(read):
    lines = ["sbatch a.sh", "sbatch -d afterok:1:7 b.sh", "sbatch -d singleton c.sh", "sbatch -d afterany:1_4 d.sh"]
    rows = [f"{row(str(number))}|{DAY}12:00:06|{line}" for number, line in enumerate(lines, start=1)]
    workload = read(f"{HEADER}|Eligible|SubmitLine", *rows)
    found = {
        one["id"]: (one["predecessors"], one["submit"], one["wait"]) for one in workload.jobs.iter_rows(named=True)
    }
    # A job that follows another one keeps its submission: the simulation finds out when it may start.
    assert found == {1: ([], 6, 4), 2: ([1, 7], 0, 4), 3: ([], 6, 4), 4: ([], 0, 4)}
    filled = workload.report.filled
    # Slurm is told of 7; of an element 1_4 the dump has no record.
    assert filled["dependencies: left out, singleton, expand or no number of a job"] == 1
    assert filled["dependencies: left out, on jobs that are not in the log"] == 1
    assert workload.report.for_slurm["predecessors: from its dependency (simulate with dependencies=follow)"] == 2
    assert workload.dependencies == {2: "afterok:1:7"}
    column = read(f"{HEADER}|Dependency", f"{row('1')}|", f"{row('2')}|afterany:1")
    assert column.jobs["predecessors"].to_list() == [[], [1]]


@pytest.mark.parametrize("in_memory", [True, False])
def test_dependencies_on_elements_of_arrays(read, in_memory):
    """Slurm is told of them by the number of their job, whatever the order of rows and however often they are read."""
    waits = {"20": "afterok:21:10_2,aftercorr:10", "21": "after:10_1:10_7", "22": "aftercorr:10"}
    rows = [f"{job}|{row(job)}|{text}" for job, text in waits.items()]
    rows[2:2] = [f"10_1|{row('11')}|", f"10_2|{row('10')}|"]
    workload = read(f"JobID|{HEADER}|Dependency", *rows, in_memory=in_memory, window=1)
    for _ in range(2):
        assert workload.dependencies == {20: "afterok:21:10,aftercorr:10", 21: "after:11", 22: "aftercorr:10"}
        found = {
            number: some
            for batch in workload.batches()
            if batch.predecessors is not None
            for number, some in zip(batch.id.tolist(), batch.predecessors.lists(), strict=True)
            if some
        }
        assert found[20] == [(21, COMPLETED, 0), (10, COMPLETED, 0), (11, COMPLETED, 0), (10, COMPLETED, 0)]
        assert found[21] == [(11, STARTED, 0)]
        assert found[22] == [(11, COMPLETED, 0), (10, COMPLETED, 0)]  # both elements of the array
    assert workload.report.filled["dependencies: left out, on jobs that are not in the log"] == 1
    bare = read(f"{HEADER.replace('Raw', '')}|Dependency", f"{row('10_1')}|", f"{row('11')}|afterok:10_1:9")
    (batch,) = bare.batches()
    assert bare.dependencies == {11: f"afterok:{batch.id[batch.names.index('10_1')]}:9"}


def test_arrays_with_raw_numbers(read):
    rows = [f"{shown}|{row(raw)}" for shown, raw in (("10_1", "11"), ("10_2", "10"), ("10_[3-9%2]", "12"))]
    workload = read(f"JobID|{HEADER}", *rows)
    assert workload.jobs["id"].to_list() == [10, 11]
    assert workload.report.dropped == {"elements of a job array that never started": 1}
    assert next(workload.batches()).names is None


def test_arrays_without_raw_numbers_keep_their_names(read):
    rows = [row(shown) for shown in ("9", "10_1", "10_2", "10_[3-9%2]", "10_2.batch")]
    workload = read(HEADER.replace("JobIDRaw", "JobID"), *rows)
    (batch,) = workload.batches()
    assert batch.names == ("9", "10_1", "10_2")
    assert batch.id[0] == 9
    assert len(set(batch.id.tolist())) == 3
    follow = [f"{row('10_1')}|", f"{row('11')}|afterok:10_1"]
    (batch,) = read(HEADER.replace("JobIDRaw", "JobID") + "|Dependency", *follow).batches()
    assert dict(zip(batch.names, after(batch), strict=True))["11"] == batch.id[batch.names.index("10_1")]


def test_components_of_heterogeneous_jobs(read):
    workload = read(HEADER.replace("JobIDRaw", "JobID"), row("20+0"), row("20+1"), row("30"))
    assert workload.jobs["id"].to_list() == [20, 21, 30]
    assert workload.report.filled == {"components of heterogeneous jobs scheduled on their own": 2}
    assert read(f"JobID|{HEADER}", f"20+1|{row('21')}").report.filled == workload.report.filled | {
        "components of heterogeneous jobs scheduled on their own": 1
    }


def test_attempts_of_a_job_are_jobs_of_their_own(read):
    first = row("5", "REQUEUED")
    second = row("5", submit="12:01:00", start="12:02:00", end="12:03:00")
    workload = read(HEADER, first, row("6"), second)
    assert len(set(workload.jobs["id"].to_list())) == 3
    assert sorted(workload.jobs["id"].to_list())[:2] == [5, 6]
    assert workload.jobs["runtime"].to_list() == [50, 50, 60]
    named = read(HEADER.replace("JobIDRaw", "JobID"), first, row("6_1"), second)
    assert next(named.batches()).names == ("5", "6_1", "5#1")


def test_dumps_put_together(read):
    """Months overlap: a job that ran over the end of one is in both dumps, and each has a header."""
    workload = read(HEADER, row("1"), row("2"), HEADER, row("2"), row("3"))
    assert workload.jobs["id"].to_list() == [1, 2, 3]
    assert workload.report.records == 4
    assert workload.report.dropped == {"the same record again": 1}


def test_names_become_numbers(read):
    header = f"{HEADER}|Account|QOS|Partition"
    rows = [f"{row('1')}|phys|high|gpu", f"{row('2')}|chem||gpu", f"{row('3')}|phys|high|"]
    workload = read(header, *rows)
    assert workload.labels == {
        "user": ["ann"],
        "group": ["phys", "chem"],
        "queue": ["high"],
        "partition": ["gpu"],
    }
    assert workload.jobs["group"].to_list() == [0, 1, 0]
    assert workload.jobs["queue"].to_list() == [0, -1, 0]
    assert workload.jobs["partition"].to_list() == [0, 0, -1]


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (row("x7"), 'JobIDRaw is "x7", expected a job number such as 123, 123_4 or 123+0'),
        (row("4294967296"), 'JobIDRaw is "4294967296", expected a job number'),
        (row(submit="soon"), 'Submit is "soon", expected a time such as 2024-03-01T12:00:00'),
        (row(end="25:00:00"), 'End is "2024-03-01T25:00:00", expected a time'),
        (row(state="42"), 'State is "42", expected a job state such as COMPLETED'),
        (row(limit="a day"), 'Timelimit is "a day", expected a duration such as 1-12:30:00'),
        (row(cpus="four"), 'ReqCPUS is "four", expected a whole number'),
        (row(start="12:02:00"), 'End ("2024-03-01T12:01:00") is before Start ("2024-03-01T12:02:00")'),
        (row() + "|more", "has 9 fields, the header has 8, and joining some does not fit"),
        ("1|ann", "has 2 fields, the header has 8; a line break inside a field?"),
    ],
)
def test_bad_rows(read, tmp_path, bad, message):
    with pytest.raises(InputError) as failure:
        read(HEADER, row("5"), "", bad, row("6", cpus="?"))
    assert failure.value.where == f"{tmp_path / 'jobs.sacct'}, line 4"
    assert failure.value.message.startswith(message)
    assert SACCT_COMMAND in failure.value.hint
    report = read(HEADER, row("5"), "", bad, row("6", cpus="?"), bad_rows="drop").report
    assert (report.records, report.kept, report.dropped) == (3, 1, {"bad row": 2})
    assert [text.partition(":")[0] for text in report.bad_rows] == ["line 4", "line 5"]
    assert message in report.bad_rows[0]


def test_at_most_20_bad_rows_are_told(read):
    report = read(HEADER, row("5"), *[row(cpus="?")] * 30, bad_rows="drop").report
    assert report.dropped == {"bad row": 30}
    assert len(report.bad_rows) == 20


def test_columns_that_are_missing_are_named_at_once(read, tmp_path):
    with pytest.raises(InputError) as failure:
        read("JobID|User|Submit|Start", "1|ann|0|0")
    assert failure.value.where == f"{tmp_path / 'jobs.sacct'}, line 1"
    told = "columns are missing: State, Start and End (or ElapsedRaw), ReqCPUS (or NCPUS, ReqTRES, AllocTRES)"
    assert failure.value.message == told
    assert "sacct -P -a" in failure.value.hint
    with pytest.raises(InputError, match="column is missing: JobIDRaw or JobID"):
        read("User|Submit|State|Elapsed|NCPUS")


def test_what_is_no_dump(read):
    with pytest.raises(InputError, match=r"does not begin with the header of a Slurm accounting dump"):
        read("1 2 3 4")
    with pytest.raises(InputError, match="holds no job records"):
        read(HEADER)


def test_the_dump_is_told_by_its_header():
    assert looks_like(f"{HEADER}\n{row()}", "jobs.txt")
    assert looks_like("Account|AdminComment|JobID|State|\n", "x")
    assert not looks_like("; Version: 2.2\n", "x.swf")
    assert not looks_like("JobID,State\n1,COMPLETED\n", "x.csv")
    assert not looks_like("ID|Name\nJobID|x\n", "x")
    assert not looks_like("", "x.sacct")


def test_bytes_that_are_no_text(tmp_path):
    path = tmp_path / "jobs.sacct"
    path.write_bytes(f"{HEADER}|JobName\n".encode() + row().replace("ann", "j\xf6rg").encode("latin-1") + b"|\xff|x\n")
    workload = read_sacct(path, ReadOptions())
    assert workload.labels["user"] == ["j\ufffdrg"]
    assert workload.report.filled == {"rows with | inside a field: put together": 1}


def test_streaming_gives_the_same(tmp_path, monkeypatch):
    rows = []
    for number in range(300):
        seconds = number * 10 + number % 7 * 15  # not quite in order
        submit = f"12:{seconds // 60:02d}:{seconds % 60:02d}"
        fields = row(str(number // 2 if number % 50 == 0 else number), submit=submit, start="13:00:00", end="13:01:00")
        rows.append(fields.replace("ann", f"user{number % 11}") + ("|x|y" if number % 3 == 0 else "|x"))
    path = tmp_path / "jobs.sacct"
    path.write_text("\n".join([f"{HEADER}|JobName", *rows]))
    whole = read_sacct(path, ReadOptions())
    monkeypatch.setattr(bytestream, "PIECE", 1000)
    monkeypatch.setattr(sacct_blocks, "BLOCK", 2000)
    streamed = read_sacct(path, ReadOptions(in_memory=False, window=130))
    assert len(list(streamed.batches())) > 1
    assert streamed.jobs.equals(whole.jobs)
    assert streamed.report == whole.report
    assert (streamed.labels, streamed.content_hash) == (whole.labels, whole.content_hash)


def test_a_line_without_end(tmp_path, monkeypatch):
    monkeypatch.setattr(sacct_blocks, "BLOCK", 1 << 20)
    path = tmp_path / "jobs.sacct"
    path.write_bytes(f"{HEADER}\n".encode() + b"x" * (3 << 20))
    with pytest.raises(InputError, match=r"line 2: is longer than 1 MiB"):
        read_sacct(path, ReadOptions())


def sample(traces, name):
    """A sample, its header, and its rows split at each bar."""
    path = traces / "slurm" / f"ubccr-sacct_{name}.log.gz"
    with gzip.open(path, "rt") as lines:
        header, *rows = [line.rstrip("\n").split("|") for line in lines]
    return path, header, rows


def test_the_simple_sample(traces):
    path, header, rows = sample(traces, "simple")
    workload = read_sacct(path, ReadOptions())
    assert workload.report.kept == len(rows) == 4
    assert workload.report.filled == {"rows with | inside a field: put together": 3}
    # The fields in front of the names, which have the bars, stand where they should.
    starts = [datetime.fromisoformat(fields[header.index("Start")]) for fields in rows]
    ends = [datetime.fromisoformat(fields[header.index("End")]) for fields in rows]
    lasted = [(end - start).total_seconds() for start, end in zip(starts, ends, strict=True)]
    assert workload.jobs["runtime"].to_list() == lasted == [84_805, 12_688, 2_009, 2_003]
    assert workload.jobs["wait"].to_list() == [0, 0, 3, 3]
    assert workload.jobs["count"].to_list() == [1, 1, 2, 2]
    assert [workload.requests[place].chunk["cores"] for place in workload.jobs["request"]] == [32, 32, 9, 9]
    assert workload.labels["user"] == ["user001", "user002", "user003"]


def test_the_sample_of_january(traces):
    path, header, rows = sample(traces, "dump2101")
    with pytest.raises(InputError, match=r"line 16: has 74 fields, the header has 107"):
        read_sacct(path, ReadOptions())
    steps = sum(any("." in field for field in fields[30:38] if field[:7].isdigit()) for fields in rows)
    exact = [fields for fields in rows if len(fields) == len(header)]
    cancelled = [fields for fields in exact if fields[header.index("State")].startswith("CANCELLED")]
    workload = read_sacct(path, ReadOptions(bad_rows="drop"))
    assert workload.report.records == len(rows) == 15
    assert workload.report.dropped == {
        "cancelled before it started": len(cancelled),
        "step of a job, not a job of its own": steps,
        "bad row": 1,
    }
    assert workload.jobs["id"].to_list() == [4_822_203, *range(4_830_973, 4_830_978)]
    assert workload.jobs["runtime"].to_list() == [128_930] + [259_222] * 5  # ElapsedRaw
    assert workload.jobs["wait"].to_list() == [178_434 + 600] + [1_182] * 5  # Reserved: 2-01:43:54 and 00:19:42
    kept = read_sacct(path, ReadOptions(bad_rows="drop", clean="none"))
    assert kept.report.kept == 12
    assert kept.report.filled["submit: when it became eligible (held, begin time, dependency)"] == 6


def test_the_sample_of_october(traces):
    path, _, rows = sample(traces, "dump2110")
    workload = read_sacct(path, ReadOptions())
    assert workload.report.records == len(rows) == 7
    # One job, written down five times, in four of them with bars in name and constraints as well.
    assert workload.report.dropped == {"the same record again": 4, "step of a job, not a job of its own": 2}
    assert workload.report.filled == {"rows with | inside a field: put together": 5}
    found = job(workload)
    assert (found["id"], found["runtime"], found["limit"], found["status"]) == (7_957_382, 56, 86_400, 5)


def test_jobs_that_were_held_until_they_were_cancelled(traces):
    """Slurm says so in Reason, and keeps the time of eligibility of before."""
    workload = read_workload(traces / "slurm" / "ubccr-sacct_dump2101.log.gz", clean="none", bad_rows="drop")
    jobs = workload.jobs
    gone = jobs.filter(np.isfinite(jobs["cancel"].to_numpy()))
    assert len(gone) and (gone["submit"] == gone["cancel"]).all() and (gone["runtime"] == 0).all()
    assert {dict(workload.requests[place].sbatch).get("hold") for place in gone["request"].to_list()} == {""}
