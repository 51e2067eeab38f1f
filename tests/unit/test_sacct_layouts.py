"""Dumps of accounting as people have them: other delimiters, quotation marks, no header, the layout for the eye."""

from __future__ import annotations

import re

import pytest
from tests.sacct_rows import HEADER, row

from schedlab.model.errors import InputError
from schedlab.workload.options import ReadOptions
from schedlab.workload.read import read_workload
from schedlab.workload.sacct.read import SACCT_COMMAND, looks_like, read_sacct


def written(folder, *lines):
    path = folder / "jobs.txt"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_other_delimiters_are_told_by_the_header(tmp_path):
    """`sacct -P --delimiter=';'`, or a table that somebody made of a dump, with quotation marks around lists."""
    usual = read_sacct(written(tmp_path, HEADER + "|ReqTRES", row("1") + "|cpu=4,mem=2G,node=2"), ReadOptions())
    for delimiter in (";", "\t", ","):
        tres = '"cpu=4,mem=2G,node=2"' if delimiter == "," else "cpu=4,mem=2G,node=2"
        lines = [text.replace("|", delimiter) for text in (HEADER + "|ReqTRES", row("1") + f"|{tres}")]
        path = written(tmp_path, *lines)
        assert looks_like(path.read_text(), "jobs.csv")
        found = read_workload(path)
        assert found.jobs.equals(usual.jobs) and found.requests == usual.requests, delimiter


def test_a_comma_within_a_list_is_a_bad_row(tmp_path):
    """Without quotation marks nobody knows where a list of resources ends."""
    path = written(tmp_path, *(text.replace("|", ",") for text in (HEADER + "|ReqTRES", row("1") + "|cpu=4,node=2")))
    with pytest.raises(InputError, match=r"(?s)line 2: has 10 fields, the header has 9.*--format=JobID"):
        read_workload(path)


@pytest.mark.parametrize("delimiter", [";", "\t", ","])
def test_delimiters_within_quotation_marks(tmp_path, delimiter):
    """A row of too few fields, with as many delimiters as the header has, is named; the one above it is read."""
    rows = (f"{HEADER}|Reason", f'{row("1")}|"a|b"', '"2|3"|ann|COMPLETED|4|5|6|7|8')
    path = written(tmp_path, *(text.replace("|", delimiter) for text in rows))
    problem = "line 3: has 8 fields, the header has 9; a line break inside a field?"
    with pytest.raises(InputError, match=rf"{re.escape(problem)}\n.*--bad-rows drop"):
        read_sacct(path, ReadOptions())
    found = read_sacct(path, ReadOptions(bad_rows="drop"))
    assert (found.jobs["id"].to_list(), found.report.dropped) == ([1], {"bad row": 1})
    assert found.report.bad_rows == [problem]


def test_a_quotation_mark_that_is_not_closed(tmp_path):
    """It would swallow all rows below."""
    rows = (f"{HEADER}|Reason", f"{row('1')}|a", f'{row("2")}|"b', f"{row('3')}|c", f"{row('4')}|d")
    path = written(tmp_path, *(text.replace("|", ",") for text in rows))
    with pytest.raises(InputError, match="line 3: has a quotation mark that is not closed"):
        read_sacct(path, ReadOptions())
    assert read_sacct(path, ReadOptions(bad_rows="drop")).jobs["id"].to_list() == [1, 3, 4]


def test_a_table_with_a_column_jobid_is_no_dump():
    assert not looks_like("jobid,start,end\n1,2,3\n", "runs.csv")


def test_the_default_layout_of_sacct_is_named(tmp_path):
    """What sacct prints without -P: titles, dashes, values that are cut off."""
    text = """JobID           JobName  Partition    Account  AllocCPUS      State ExitCode
------------ ---------- ---------- ---------- ---------- ---------- --------
5000         a_long_na+        cpu    lattice          1  COMPLETED      0:0
"""
    path = written(tmp_path, text)
    with pytest.raises(InputError, match="is what sacct prints without -P, which cuts values") as error:
        read_workload(path)
    assert SACCT_COMMAND in str(error.value) and str(path) in str(error.value)


def test_a_dump_without_header(tmp_path):
    """`sacct -n`: read if it has the columns of the command, else named with its first line."""
    path = written(tmp_path, row("1"), row("2"))
    with pytest.raises(InputError, match="has no header, so nobody knows what its 8 columns are") as error:
        read_workload(path)
    said = str(error.value)
    assert "it begins with '1|ann|COMPLETED" in said and "leave out -n" in said and SACCT_COMMAND in said
    begin = 1_700_000_000
    usual = "|ann|phys|cpu|normal|COMPLETED"
    times = f"{begin}|{begin}|{begin + 5}|{begin + 105}|00:00:00|01:00:00"
    tail = "1|1|1|0|cpu=1,node=1|cpu=1,node=1|None|"
    rows = [f"7|7{usual}|{times}|{tail}|old|new", f"8|8{usual}|{times}|{tail}|"]
    found = read_workload(written(tmp_path, *rows))
    assert found.jobs["id"].to_list() == [7, 8]
    assert found.report.filled["header, which is not there: columns as in the command for sacct"] == 1
    asked = [dict(found.requests[place].sbatch) for place in found.jobs["request"].to_list()]
    assert asked == [{"constraint": "old|new"}, {}]


def test_a_comma_in_the_last_column_shifts_nothing(tmp_path):
    """`sacct --delimiter=,` puts no quotation marks around lists: joining fields would guess."""
    header, job = HEADER + "|ReqTRES|Constraints", row("1") + "|cpu=4,node=2|a"
    path = written(tmp_path, *(text.replace("|", ",") for text in (header, job)))
    with pytest.raises(InputError, match="',' inside a field without quotation marks"):
        read_workload(path)
