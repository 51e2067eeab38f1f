"""Texts of Slurm accounting dumps, and rows that have `|` inside a field."""

import math

import pytest

from schedlab.workload.sacct.fields import (
    CANCELLED,
    ENDED,
    PENDING,
    RUNNING,
    parse_count,
    parse_duration,
    parse_features,
    parse_memory,
    parse_minutes,
    parse_seconds,
    parse_state,
    parse_time,
    parse_tres,
)
from schedlab.workload.sacct.rows import JOINT, BadRowError, Header

MIB, GIB = 2**20, 2**30


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1970-01-02T00:00:01", 86_401),
        ("1970-01-02 00:00:01", 86_401),
        ("1970-01-02T00:00:01Z", 86_401),
        ("1970-01-02T01:00:01+0100", 86_401),
        ("1970-01-01T22:00:01-02:00", 86_401),
        ("86401", 86_401),
        ("2021-10-05T11:26:12", 1_633_433_172),
    ],
)
def test_times(text, seconds):
    assert parse_time(text) == seconds


@pytest.mark.parametrize("text", ["", "Unknown", "None", "N/A", "0"])
def test_times_that_are_not_known(text):
    assert math.isnan(parse_time(text))


@pytest.mark.parametrize(
    "text", ["yesterday", "2021-02-30T00:00:00", "2021-10-05", "11:26", "1960-01-01T00:00:00", "-5", "0x10", "1e9"]
)
def test_what_is_not_a_time(text):
    with pytest.raises(ValueError):
        parse_time(text)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("00:01:05", 65), ("01:05", 65), ("00:04.836", 4.836), ("1-00:00:10", 86_410), ("37-07:20:50", 3_223_250)],
)
def test_durations(text, seconds):
    assert parse_duration(text) == pytest.approx(seconds, abs=1e-9)


@pytest.mark.parametrize("text", ["", "UNLIMITED", "Partition_Limit", "INVALID", "Unknown"])
def test_limits_that_say_nothing(text):
    assert math.isnan(parse_duration(text))
    assert math.isnan(parse_minutes(text))


def test_raw_durations():
    assert parse_seconds("259222") == 259_222
    assert parse_minutes("2880") == 172_800
    assert math.isnan(parse_minutes("4294967295"))  # Slurm's own "infinite"
    for parse in (parse_seconds, parse_minutes, parse_duration):
        for text in ("1.5x", "-1", "99999999999999999", "a:b"):
            with pytest.raises(ValueError):
                parse(text)


@pytest.mark.parametrize(
    ("text", "amounts"),
    [
        ("4000M", (4000 * MIB, None, None)),
        ("500G", (500 * GIB, None, None)),
        ("4000", (4000 * MIB, None, None)),
        ("1.5G", (1536 * MIB, None, None)),
        ("2800Mc", (None, 2800 * MIB, None)),
        ("4000Mn", (None, None, 4000 * MIB)),
        ("16Gn", (None, None, 16 * GIB)),
        ("0", (0, None, None)),
        ("", (None, None, None)),
    ],
)
def test_memory(text, amounts):
    assert [None if math.isnan(amount) else amount for amount in parse_memory(text)] == list(amounts)


def test_what_is_not_memory():
    for text in ("4000X", "M", "-4M", "4 G", "9" * 19 + "E"):
        with pytest.raises(ValueError):
            parse_memory(text)


@pytest.mark.parametrize(
    ("text", "amounts"),
    [
        ("billing=12,cpu=12,gres/gpu=2,gres/gpu:v100=2,mem=33600M,node=1", (12, 1, 2, 33600 * MIB)),
        ("cpu=4,gres/gpu:a100=1,gres/gpu:v100=2,node=2", (4, 2, 3, None)),
        ("cpu=8", (8, None, 0, None)),
        ("", (None, None, None, None)),
    ],
)
def test_tres(text, amounts):
    assert [None if math.isnan(amount) else amount for amount in parse_tres(text)] == list(amounts)


def test_what_are_not_tres():
    for text in ("cpu", "cpu=x", "cpu=1,,mem=2M", "mem=lots"):
        with pytest.raises(ValueError):
            parse_tres(text)


def test_counts():
    assert parse_count("12") == 12
    assert parse_count("2K") == 2048  # nodes, without --noconvert
    for text in ("12a", "-1", "2000000000"):
        with pytest.raises(ValueError):
            parse_count(text)


@pytest.mark.parametrize(
    ("text", "status", "life"),
    [
        ("COMPLETED", 1, ENDED),
        *((state, 0, ENDED) for state in ("FAILED", "TIMEOUT", "OUT_OF_MEMORY", "NODE_FAIL", "PREEMPTED")),
        *((state, 0, ENDED) for state in ("BOOT_FAIL", "DEADLINE", "REQUEUED", "RESIZING", "OUT_OF_ME+")),
        ("CANCELLED", 5, CANCELLED),
        ("CANCELLED by 75200", 5, CANCELLED),
        ("CANCELLED+", 5, CANCELLED),
        ("REVOKED", 5, CANCELLED),
        ("RUNNING", -1, RUNNING),
        ("SUSPENDED", -1, RUNNING),
        ("PENDING", -1, PENDING),
    ],
)
def test_states(text, status, life):
    assert parse_state(text) == (status, life, 1)


def test_a_state_of_a_newer_slurm():
    assert parse_state("MELTED") == (0, ENDED, 0)
    with pytest.raises(ValueError):
        parse_state("2021-10-05T11:26:12")


def test_features():
    assert parse_features("") == parse_features("(null)") == frozenset()
    assert parse_features("CPU-E5645") == {"CPU-E5645"}
    assert parse_features("ib&avx512") == {"ib", "avx512"}
    for text in ("a|b", "[a|b]", "a*4", "(a&b)", "a,b", f"a{JOINT}b"):
        assert parse_features(text) is None


def mended(header: str, row: str) -> dict[str, str]:
    """The used columns of a row, put together."""
    columns = Header(tuple(header.split("|")))
    fields = columns.mended(row.split("|"))
    return {columns.names[place]: fields[place].replace(JOINT, "|") for place in columns.places.values()}


def test_a_job_name_with_a_bar():
    found = mended("JobID|JobName|State|Submit", "7|a|b|COMPLETED|2021-10-05T11:26:12")
    assert found == {"JobID": "7", "State": "COMPLETED", "Submit": "2021-10-05T11:26:12"}


def test_bars_at_the_end_and_one_after_the_other():
    assert mended("JobID|State|JobName|NTasks", "7|FAILED|a||b|") == {"JobID": "7", "State": "FAILED"}
    assert mended("JobID|State|JobName|", "7|FAILED|a|b|") == {"JobID": "7", "State": "FAILED"}


def test_constraints_with_a_bar_are_kept_whole():
    assert mended("JobID|Constraints|ReqCPUS|User", "7|a|b|4|ann")["Constraints"] == "a|b"


def test_bars_in_several_fields():
    header = "JobID|JobName|Submit|SubmitLine|State|Constraints"
    found = mended(header, "7|a|b|2021-10-05T11:26:12|sbatch x | y | z|COMPLETED|p|q")
    assert found["SubmitLine"] == "sbatch x | y | z"
    assert found["Constraints"] == "p|q"
    assert found["State"] == "COMPLETED"


def test_columns_that_are_not_used_may_stay_open():
    assert mended("JobID|JobName|Comment|State", "7|a|b|c|COMPLETED") == {"JobID": "7", "State": "COMPLETED"}


def test_two_ways_to_read_a_row():
    with pytest.raises(BadRowError, match=r"5 fields, the header has 4: Constraints could be 'b\|c' or 'c'"):
        mended("JobID|JobName|Constraints|State", "7|a|b|c|COMPLETED")


def test_no_way_to_read_a_row():
    with pytest.raises(BadRowError, match=r"has 4 fields, the header has 3, and joining some does not fit"):
        mended("JobID|State|Submit", "7|COMPLETED|x|2021-10-05T11:26:12")
    with pytest.raises(BadRowError, match=r"has 2 fields, the header has 3; a line break inside a field\?"):
        mended("JobID|State|Submit", "7|COMPLETED")
