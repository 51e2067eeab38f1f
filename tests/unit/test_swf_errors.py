"""Every mistake ends in one message that names the place and the remedy."""

import gzip
import os

import pyarrow as pa
import pytest
from tests.swf_files import log, row

from schedlab.model.errors import InputError
from schedlab.workload.options import ReadOptions
from schedlab.workload.read import read_workload


def failure(path, **options) -> InputError:
    with pytest.raises(InputError) as caught:
        read_workload(path, **options)
    assert caught.value.exit_code == 2
    return caught.value


def parts(error: InputError) -> tuple[str, str, str]:
    return error.where, error.message, error.hint


NOT_SWF = (
    "is this an SWF log? It has one job a line: 18 numbers (job, submit time, wait, run time, …) separated by blanks, "
    "below header lines that begin with a semicolon"
)
DROP = 'correct the line, or leave such records out: --bad-rows drop (bad_rows="drop")'


def test_missing_file(tmp_path):
    path = tmp_path / "lod.swf"
    assert parts(failure(path)) == (str(path), "no such file", "check the path")
    near = log(tmp_path / "log.swf", row())
    assert parts(failure(path)) == (str(path), "no such file", f"did you mean {near}?")
    deep = tmp_path / "no" / "log.swf"
    assert parts(failure(deep)) == (
        str(deep),
        "no such file",
        f"there is no folder {tmp_path / 'no'} either; check the path",
    )
    assert failure("a\0b").message == "no such file"


def test_directory(tmp_path):
    assert parts(failure(tmp_path)) == (str(tmp_path), "is a directory, not a file", "name a file in it")
    log(tmp_path / "log.swf", row())
    assert failure(tmp_path).hint == "name a file in it, for example log.swf"


def test_not_a_regular_file(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert failure(tmp_path / "pipe").message == "is not a regular file"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_permission_denied(tmp_path):
    path = log(tmp_path / "log.swf", row())
    path.chmod(0)
    assert parts(failure(path)) == (str(path), "permission denied", "chmod u+r log.swf, or ask its owner")


def test_permission_denied_as_root(tmp_path, monkeypatch):
    path = log(tmp_path / "log.swf", row())

    def refuse(*_args, **_options):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pathlib.Path.open", refuse)
    assert parts(failure(path)) == (str(path), "permission denied", "chmod u+r log.swf, or ask its owner")


def test_disk_error(tmp_path, monkeypatch):
    path = log(tmp_path / "log.swf", row())

    def fail(*_args, **_options):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr("pathlib.Path.open", fail)
    assert parts(failure(path)) == (
        *(str(path), "cannot be read: Input/output error"),
        "the disk, or the way to it, fails: look at it, or choose another one",
    )


def test_empty_file(tmp_path):
    path = log(tmp_path / "log.swf")
    assert parts(failure(path)) == (str(path), "is empty", "the copy or download has failed; fetch the file again")


@pytest.mark.parametrize("lines", [["; Version: 2.2", "; MaxProcs: 8"], ["", "  "]])
def test_no_records(tmp_path, lines):
    path = log(tmp_path / "log.swf", *lines)
    assert parts(failure(path)) == (str(path), "holds no job records, only a header", "is it the right file?")


def test_empty_inside_gzip(tmp_path):
    path = tmp_path / "log.swf.gz"
    path.write_bytes(gzip.compress(b""))
    assert failure(path).message == "holds no job records, only a header"


def test_truncated_gzip(tmp_path):
    packed = gzip.compress("\n".join(row(job=n, submit=n * 7919) for n in range(5000)).encode())
    for length in (len(packed) - 1, len(packed) // 2, 15, 5, 2):
        path = tmp_path / f"{length}.swf.gz"
        path.write_bytes(packed[:length])
        assert parts(failure(path, bad_rows="drop")) == (
            str(path),
            "is truncated: it ends in the middle of its gzip data",
            "the copy or download is incomplete; fetch the file again",
        )


def test_damaged_gzip(tmp_path):
    packed = bytearray(gzip.compress("\n".join(row(job=n, submit=n * 7919) for n in range(5000)).encode()))
    packed[len(packed) // 2] ^= 0xFF
    path = tmp_path / "log.swf.gz"
    path.write_bytes(packed)
    assert failure(path, bad_rows="drop").message.startswith("is damaged: its gzip data cannot be decompressed")


def test_truncated_and_damaged_zstd(tmp_path):
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write("\n".join(row(job=n, submit=n * 7919) for n in range(5000)).encode())
    packed = sink.getvalue().to_pybytes()
    path = tmp_path / "log.swf.zst"
    path.write_bytes(packed[: len(packed) // 2])
    assert failure(path).message == "is truncated: it ends in the middle of its zstd data"
    path.write_bytes(packed + b"something else")
    assert failure(path).message.startswith("is damaged: its zstd data cannot be decompressed")


@pytest.mark.parametrize(
    ("start", "kind", "hint"),
    [
        (b"BZh91AY", "bzip2", "unpack it first (bunzip2)"),
        (b"\xfd7zXZ\x00\x00", "xz", "unpack it first (unxz)"),
        (b"PK\x03\x04", "zip", "unpack it first (unzip)"),
        (b"PAR1\x15", "Parquet", "this format is text"),
    ],
)
def test_foreign_formats(tmp_path, start, kind, hint):
    path = tmp_path / "log"
    path.write_bytes(start + b"\0" * 100)
    assert parts(failure(path)) == (str(path), f"is a {kind} file; text, gzip and zstd can be read", hint)


def test_binary_junk(tmp_path):
    path = tmp_path / "log.swf"
    path.write_bytes(b"\x7fELF\x02\x01\x01\x00\x00\x00 \x03\x00\n" * 50)
    expected = (f"{path}, line 1", "binary data (zero bytes) where a record should be", NOT_SWF)
    assert parts(failure(path)) == expected


def test_not_swf(tmp_path):
    path = log(tmp_path / "log.txt", "job,user,start", "1,ann,5")
    assert parts(failure(path, reader="swf")) == (f"{path}, line 1", "1 column, expected at least 18", NOT_SWF)


def test_seventeen_columns(tmp_path):
    path = log(tmp_path / "log.swf", "; Version: 2.2", row(job=1), row(job=2).rsplit(" ", 1)[0], row(job=3))
    assert parts(failure(path)) == (f"{path}, line 3", "17 columns, expected at least 18", DROP)
    assert read_workload(path, bad_rows="drop").report.dropped == {"bad row": 1}


def test_negative_number(tmp_path):
    path = log(tmp_path / "log.swf", row(job=1), row(job=2, run=-7))
    problem = 'run time (column 4) is "-7", expected seconds from 0 to 1e12, or -1 for unknown'
    assert parts(failure(path)) == (f"{path}, line 2", problem, DROP)
    assert str(failure(path)) == f"{path}, line 2: {problem}\n  hint: {DROP}"


def test_absurd_number(tmp_path):
    path = log(tmp_path / "log.swf", row(job=1), row(job=2, requested=10**12))
    problem = (
        'requested processors (column 8) is "1000000000000", expected a whole number from 0 to 1e9, or -1 for unknown'
    )
    assert parts(failure(path)) == (f"{path}, line 2", problem, DROP)


def test_duplicate_job(tmp_path):
    path = log(tmp_path / "log.swf", row(job=17), row(job=18), row(job=17))
    assert parts(failure(path)) == (f"{path}, line 3", 'job number (column 1) "17" occurs a second time', DROP)
    assert read_workload(path, bad_rows="drop").report.kept == 2


def test_nothing_usable(tmp_path):
    path = log(tmp_path / "log.swf", *(row(job=n, run=0) for n in range(1200)), row(job=5000, submit=-1))
    counts = "no usable job among 1,201 records: 1 submit time unknown, 1,200 run time 0 or unknown"
    assert parts(failure(path)) == (str(path), counts, "--clean none keeps more")
    path = log(tmp_path / "log.swf", row(limit=-1))
    assert failure(path, clean="strict").hint == "--clean pwa keeps more"
    path = log(tmp_path / "log.swf", "1 2 3")
    hint = "line 1: 3 columns, expected at least 18; is it a log? schedlab formats lists what can be read"
    assert failure(path, clean="none", bad_rows="drop").hint == hint


@pytest.mark.parametrize(
    ("options", "message", "hint"),
    [
        ({"clean": "strikt"}, "clean cannot be 'strikt'", "did you mean 'strict'? one of pwa, strict, none"),
        ({"procs": "all"}, "procs cannot be 'all'", "one of requested, allocated"),
        ({"bad_rows": "dorp"}, "bad_rows cannot be 'dorp'", "did you mean 'drop'? one of fail, drop"),
        ({"missing_limit": "x"}, "missing_limit cannot be 'x'", '"runtime", or a number of seconds above 0'),
        ({"missing_limit": 0}, "missing_limit cannot be 0", '"runtime", or a number of seconds above 0'),
        ({"missing_limit": float("nan")}, "missing_limit cannot be nan", '"runtime", or a number of seconds above 0'),
        ({"max_procs": -1}, "max_procs cannot be -1", "the processors of the machine; 0: do not check"),
    ],
)
def test_options(options, message, hint):
    with pytest.raises(InputError) as caught:
        ReadOptions(**options)
    assert (caught.value.message, caught.value.hint) == (message, hint)
