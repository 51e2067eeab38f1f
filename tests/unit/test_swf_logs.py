"""All the real logs, against what their collectors counted."""

import gzip
import re

import numpy as np
import pytest

from schedlab.model.errors import InputError
from schedlab.workload.describe import describe
from schedlab.workload.read import read_workload

# Records, and those with run time <= 0, from the table of the traces' README.
ARCHIVE = {
    "HPC2N-2002-2.2-cln": (202_871, 0),
    "RICC-2010-2": (447_794, 10),
    "SDSC-SP2-1998-4.2-cln": (59_715, 5_681),
    "SDSC-BLUE-2000-4.2-cln": (243_306, 10_770),
    "CTC-SP2-1996-3.1-cln": (77_222, 17),
    "CEA-Curie-2011-2.1-cln": (312_826, 17_286),
    "KTH-SP2-1996-2.1-cln": (28_476, 8),
    "LLNL-Thunder-2007-1.1-cln": (121_039, 7_426),
    "LLNL-Atlas-2006-2.1-cln": (43_778, 7_178),
    "UniLu-Gaia-2014-2": (51_987, 128),
    "METACENTRUM-2009-2": (103_656, 3_712),
    "SDSC-DS-2004-2.1-cln": (96_069, 11_176),
    "SDSC-Par-1996-3.1-cln": (32_135, 7),
    "LANL-CM5-1994-4.1-cln": (122_060, 2),
    "NASA-iPSC-1993-3.1-cln": (18_239, 173),
    "LPC-EGEE-2004-1.2-cln": (234_889, 20_567),
    "LCG-2005-1": (188_041, 521),
    "lublin_256": (10_000, 0),
    "CERIT-SC-2013-wagap": (17_900, 2),
    "ALCF-Mira-2018": (22_508, 0),
    "ALCF-Theta-2022": (23_911, 0),
}
# Records that `pwa` drops although they have a run time: their processors are unknown.
NO_PROCESSORS = {"KTH-SP2-1996-2.1-cln": 1, "LANL-CM5-1994-4.1-cln": 3}


@pytest.mark.parametrize("name", ARCHIVE)
def test_archive_logs(traces, name):
    records, idle = ARCHIVE[name]
    workload = read_workload(traces / f"{name}.swf.gz", bad_rows="drop")
    report = workload.report
    (jobs,) = workload.batches()
    assert report.records == records
    assert report.kept == len(jobs) == records - sum(report.dropped.values())
    assert records - report.kept == idle + NO_PROCESSORS.get(name, 0)
    assert np.all(np.diff(jobs.submit) >= 0)
    assert jobs.runtime.min() > 0
    assert jobs.limit.min() > 0
    assert jobs.count.min() > 0
    assert len(np.unique(jobs.id)) == len(jobs)


def test_every_other_log_can_be_read(traces):
    found = {
        path.name: path for folder in ("results", "slurm", "slurm-real") for path in traces.rglob(f"{folder}/**/*.swf*")
    }
    logs = [path for name, path in found.items() if re.search(r"\.swf(\.gz)?$", name)]
    assert len(logs) >= 15
    for path in logs:
        assert read_workload(path, clean="none").report.dropped == {}, path.name


def test_the_table_of_elise(traces):
    (jobs,) = read_workload(traces / "results" / "elise-workload0-fifo.csv.gz", procs="allocated").batches()
    assert len(jobs) == 10_000
    assert set(jobs.count.tolist()) == {32, 64, 128}  # whole nodes of 32
    assert np.mean(jobs.wait) == pytest.approx(215.888, abs=5e-4)


def test_negative_run_times_of_cerit(traces):
    path = traces / "CERIT-SC-2013-wagap.swf.gz"
    with pytest.raises(InputError, match=r'line 4186: run time \(column 4\) is "-1359980917"'):
        read_workload(path)
    assert read_workload(path, bad_rows="drop").report.dropped == {"bad row": 2}


def test_thunder_is_out_of_order(traces):
    report = read_workload(traces / "LLNL-Thunder-2007-1.1-cln.swf.gz").report
    assert report.out_of_order == 808
    assert report.dropped["submit time unknown"] == 1190


def test_the_strict_filter_gives_the_published_jobs(traces):
    """Gaussier, Glesser, Reis and Trystram, SC'15: the jobs they simulated, from the archive's own log."""
    (found,) = read_workload(traces / "CTC-SP2-1996-3.1-cln.swf.gz", clean="strict", max_procs=338).batches()
    result = traces / "results" / "predictsim-CTC-SP2-EASY.swf.gz"
    published = {}
    with gzip.open(result, "rt") as lines:
        for fields in (line.split() for line in lines if not line.startswith(";")):
            published[int(fields[0])] = tuple(float(fields[column]) for column in (1, 3, 7, 8))
    ours = zip(found.submit.tolist(), found.runtime.tolist(), found.count.tolist(), found.limit.tolist(), strict=True)
    assert dict(zip(found.id.tolist(), ours, strict=True)) == published
    assert len(found) == 77_199
    # And the file of results, written by end time, comes out in the same order.
    (sorted_results,) = read_workload(result, clean="none").batches()
    assert sorted_results.id.tolist() == found.id.tolist()


def test_streaming_a_real_log(traces):
    path = traces / "LLNL-Thunder-2007-1.1-cln.swf.gz"
    whole, streamed = read_workload(path), read_workload(path, in_memory=False, window=20_000)
    assert len(list(streamed.batches())) > 1
    assert streamed.jobs.equals(whole.jobs)


def test_description_of_a_real_log(traces):
    found = describe(traces / "KTH-SP2-1996-2.1-cln.swf.gz")
    assert round(found.span / 86400) == 333  # the README
    assert found.processors == 100
    assert 0.6 < found.offered_load < 0.8
    assert found.users == 214  # the archive numbers them from 1 to 214
