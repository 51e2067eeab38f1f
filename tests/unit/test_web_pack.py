"""What a browser gets of a run is what its tables say."""

from __future__ import annotations

import zlib
from itertools import groupby
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.blocks import unpack
from tests.format_1 import write as write_format_1

import schedlab as sl
from schedlab._core import expand_sets, gantt_rows
from schedlab.analysis.core_rows import Bars, Machine, job_bars
from schedlab.analysis.series import machine_series
from schedlab.engine.store import read_run
from schedlab.execution.failures import Failures
from schedlab.execution.power import Power
from schedlab.model.nodeset import expand
from schedlab.model.random import random_stream
from schedlab.model.run import Run
from schedlab.model.states import STATES
from schedlab.plot.style import shades
from schedlab.web import tiles
from schedlab.web.pack import Pack
from schedlab.web.words import SHADES


def busy(number: int = 300, *, whole_seconds: bool = True, cluster: sl.Cluster | None = None) -> Run:
    random = random_stream(5, "web")
    submit, runtime = np.sort(random.uniform(0, 30_000, number)), random.exponential(900, number) + 1
    jobs = sl.Workload.of(
        submit=np.floor(submit) if whole_seconds else submit,
        runtime=np.ceil(runtime) if whole_seconds else runtime,
        count=random.integers(1, 14, number),
        user=random.integers(0, 10, number),
    )
    return sl.simulate(jobs, cluster or sl.Cluster.uniform(8, cores=4), "easy", reasons=True)


@pytest.mark.parametrize("whole_seconds", [True, False])
def test_jobs_are_those_of_the_table(whole_seconds: bool) -> None:
    run = busy(whole_seconds=whole_seconds)
    found, jobs = unpack(Pack(run).block("jobs")), run.jobs
    for name in ("job", "submit", "eligible", "start", "end", "cores", "user"):
        np.testing.assert_array_equal(found[name], jobs[name].to_numpy(), name)
    assert [STATES[int(code)] for code in found["state"]] == jobs["state"].cast(str).to_list()
    wait = jobs["start"] - jobs["eligible"]
    expected = np.maximum((wait + jobs["end"] - jobs["start"]) / np.maximum(jobs["end"] - jobs["start"], 10.0), 1.0)
    np.testing.assert_allclose(found["slowdown"], expected, rtol=1e-6)


def test_rectangles_are_those_of_figures() -> None:
    run = busy()
    pack = Pack(run)
    expected = job_bars(run, Machine(run.cluster), pack.span)
    found = unpack(pack.block("bars-0"))
    np.testing.assert_array_equal(found["row"], expected.job)
    np.testing.assert_array_equal(found["low"], expected.low)
    np.testing.assert_array_equal(found["low"] + found["size"], expected.high)
    assert (np.diff(expected.begin) >= 0).all()  # the browser looks them up by their beginning
    chart = unpack(pack.block("chart"))
    assert chart["number"].tolist() == [len(expected)]
    assert (chart["first"].tolist(), chart["last"].tolist()) == ([expected.begin.min()], [expected.end.max()])


def test_reasons_are_those_of_the_table() -> None:
    run = busy()
    pack = Pack(run)
    found = unpack(pack.block("waits-0"))
    table = run.reasons.sort("sequence", "from")
    np.testing.assert_array_equal(found["row"], table["sequence"].to_numpy())
    np.testing.assert_array_equal(found["from"], table["from"].to_numpy())
    np.testing.assert_array_equal(found["until"], table["until"].to_numpy())
    words = pack.facts()["words"]["why"]
    assert [words[int(code)] for code in found["why"]] == table["why"].cast(str).to_list()
    assert unpack(pack.block("waits"))["first"].tolist() == [int(table["sequence"][0]), int(table["sequence"][-1]) + 1]


@pytest.mark.parametrize("on_disk", [False, True])
def test_reasons_of_one_job_are_those_among_all(on_disk: bool, tmp_path: Path) -> None:
    run = busy()
    if on_disk:
        run = read_run(run.save(tmp_path / "run"))
    pack = Pack(run)
    every = unpack(pack.block("waits-0"))
    for row in range(len(run.jobs)):
        found = unpack(pack.block(f"reasons-{row}"))
        for name in ("row", "from", "until", "why", "who"):
            np.testing.assert_array_equal(found[name], every[name][every["row"] == row], name)
    for name in ("reasons-300", "reasons--1", "reasons-", "reasons", "reasons-1-2", "reasons-٣", "reasons-" + "9" * 30):
        with pytest.raises(KeyError):
            pack.block(name)


def test_changes_are_those_of_the_timeline() -> None:
    run = busy()
    found, table = unpack(Pack(run).block("changes-0")), run.timeline
    for name in ("time", "running", "queued", "used_cores", "queued_cores"):
        np.testing.assert_array_equal(found[name], table[name].to_numpy(), name)


def test_means_of_steps_are_those_of_the_analysis() -> None:
    run = busy(2500)
    pack = Pack(run)
    steps = pack.facts()["over_time"]["steps"][0]
    found = unpack(pack.block("steps-0"))
    begin, end = pack.span
    expected = machine_series(run, step=(end - begin) / steps)
    np.testing.assert_allclose(found["used_cores"] / 32, expected["utilisation"][:steps], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(found["queued"], expected["queued"][:steps], rtol=1e-5, atol=1e-5)
    assert found["most"].max() == run.timeline["queued"].max()


def test_every_block_that_is_named_is_there() -> None:
    pack = Pack(busy(cluster=sl.Cluster.of_cores(32)))
    for name in pack.names():
        unpack(pack.block(name))
    with pytest.raises(KeyError):
        pack.block("bars-99")
    with pytest.raises(KeyError):
        pack.block("facts")


def test_a_run_of_format_1(tmp_path: Path) -> None:
    # Job 2 was requeued: two stays, at 0 and at 50; n2 (rows 4 to 7) failed at 30.
    pack = Pack(read_run(write_format_1(tmp_path / "old")))
    found, jobs = unpack(pack.block("bars-0")), unpack(pack.block("jobs"))
    assert jobs["job"].tolist() == [1, 2, 3, 4, 5]
    stays = sorted(zip(found["row"], found["begin"], found["end"], strict=True))
    assert [(begin, end) for row, begin, end in stays if row == 1] == [(0, 30), (50, 110)]
    closed = unpack(pack.block("closed"))
    assert (closed["begin"][0], closed["low"][0], closed["size"][0]) == (30, 4, 4)


def test_power_is_what_the_observer_measured() -> None:
    """Through failures: its mean over the run and its peak are those of the summary."""
    workload = sl.Workload.of(submit=np.arange(0, 4000, 40), runtime=[300] * 100, count=[3, 5, 1, 8] * 25)
    observers = [Power(idle=100, active=180, per_core=20), Failures(mtbf=20_000, repair=500, seed=3)]
    run = sl.simulate(workload, sl.Cluster.uniform(8, cores=4), "easy", observers=observers)
    found, measured = unpack(Pack(run).block("power")), run.summary["observed"]
    assert measured["failures"] > 0
    energy = (found["power"][:-1] * np.diff(found["time"])).sum()
    assert energy / 3.6e6 == pytest.approx(measured["energy_kwh"], rel=1e-9)
    assert found["power"].max() == pytest.approx(measured["peak_power_watts"])


STAYS = st.lists(
    st.tuples(st.integers(0, 30), st.integers(1, 20), st.sets(st.integers(0, 2), min_size=1), st.integers(1, 40)),
    max_size=25,
)


@given(STAYS, st.sampled_from([4, 64, 70]))
@settings(max_examples=80)
def test_rows_of_nodes_are_dealt_out_as_told(given_stays: list[tuple[int, int, set[int], int]], size: int) -> None:
    """Small nodes natively as bits, large ones as ranges; here row by row, of three nodes."""
    stays = sorted(given_stays, key=lambda stay: stay[0])
    begin, length, nodes, cores = zip(*stays, strict=True) if stays else ((), (), (), ())
    each = [sorted(some) for some in nodes]
    flat = np.array([node for some in each for node in some], np.int32)
    found = gantt_rows(
        np.arange(4, dtype=np.int64) * size,
        np.cumsum([len(some) for some in each], dtype=np.int64),
        *(flat, flat + 1, np.ones(len(flat), np.int32)),
        *(np.array(begin, float), np.array(begin, float) + np.array(length, float)),
        *(np.arange(len(stays)), np.array(cores, np.int64)),
    )
    rows: dict[int, list[int]] = {stay: [] for stay in range(len(stays))}
    for stay, low, high in zip(*(np.asarray(column).tolist() for column in found), strict=True):
        rows[stay] += range(low, high)
    taken: dict[int, list[int]] = {}  # rows of stays that are still there
    for stay in range(len(stays)):
        taken = {other: some for other, some in taken.items() if begin[other] + length[other] > begin[stay]}
        own: list[int] = []
        for node in each[stay]:
            every = range(node * size, (node + 1) * size)
            if cores[stay] >= size:
                own += every
                continue
            free = sorted(set(every) - {row for some in taken.values() for row in some})
            runs = [[row for _, row in run] for _, run in groupby(enumerate(free), lambda pair: pair[1] - pair[0])]
            fit = min((run for run in runs if len(run) >= cores[stay]), key=len, default=free)
            own += fit[: cores[stay]]
            taken.setdefault(stay, []).extend(fit[: cores[stay]])
        assert rows[stay] == own


BARS = st.lists(st.tuples(st.floats(0, 100), st.floats(0.01, 60), st.integers(0, 6), st.integers(1, 2)), max_size=12)


@given(BARS, st.integers(1, 9), st.integers(1, 8))
@settings(max_examples=60)
def test_cells_hold_what_the_rectangles_cover(given_bars: list[tuple[float, ...]], bins: int, most_rows: int) -> None:
    """Against counting each rectangle into each cell."""
    columns = np.array(sorted(given_bars), float).reshape(-1, 4).T  # in the order of their beginning
    begin, length, low, size = columns
    job = np.arange(len(begin))
    bars = Bars.of(job, begin, begin + length, low.astype(np.int64), (low + size).astype(np.int64))
    found = tiles.tile(bars, 8, 0.0, 100.0, bins=bins, most_rows=most_rows)
    down = min(8, most_rows)
    areas = np.zeros((len(job), down, bins))
    for at in range(len(job)):
        for y in range(down):
            for x in range(bins):
                across = min(bars.end[at] * bins / 100, x + 1) - max(begin[at] * bins / 100, x)
                along = min(bars.high[at] * down / 8, y + 1) - max(bars.low[at] * down / 8, y)
                areas[at, y, x] = max(across, 0) * max(along, 0)
    cover = np.minimum(areas.sum(axis=0), 1).ravel()
    np.testing.assert_allclose(found.cover / 255, cover, atol=1 / 255)
    most = areas.max(axis=0, initial=0).ravel()
    taken = np.flatnonzero(found.who >= 0)
    own = areas.reshape(len(job), -1)[found.who[taken], taken] if len(taken) else np.empty(0)
    np.testing.assert_allclose(own, most[taken], atol=1e-4)
    assert (most[found.who < 0] < 1e-6).all()


def test_tiles_only_where_there_are_many() -> None:
    assert tiles.levels(tiles.MOST_DRAWN) == 0
    assert tiles.levels(tiles.MOST_DRAWN + 1) == 1
    assert tiles.levels(2 * tiles.MOST_DRAWN + 1) == 2
    assert tiles.levels(8 * tiles.MOST_DRAWN + 1) == 3


def test_a_job_takes_few_bytes() -> None:
    """100,000 jobs are to make a file below 15 MB, base64 and all: 112 bytes a job; with reasons it takes more."""
    pack = Pack(busy(4000))
    names = [name for name in pack.names() if not name.startswith("waits")]
    assert sum(len(zlib.compress(pack.block(name))) for name in names) / 4000 < 40


def test_shades_are_those_of_figures() -> None:
    from matplotlib.colors import to_hex

    ramp = shades()
    assert list(SHADES) == [to_hex(ramp(step)) for step in range(0, 256, 15)]


@pytest.mark.parametrize(
    "names", [["n1", "n2", "n10", "head"], ["n01", "n02", "n10", "a-9", "a-10", "7", "n99999999999"]]
)
def test_node_sets_are_those_of_the_model(names: list[str]) -> None:
    """Read natively, by tables of numbers, as `model.nodeset` reads them."""
    texts = [*names, *(f"{one},{other}*3" for one in names for other in names if one != other)]
    texts += ["n[1-2]", "n[1,10]*2"] if "n1" in names else ["n[01-02],n10", "a-[9-10]*4", "n99999999999*2"]
    ends = np.cumsum([len(text.encode()) for text in texts], dtype=np.int64)
    found = [
        np.asarray(column) for column in expand_sets(np.frombuffer("".join(texts).encode(), np.uint8), ends, names)
    ]
    ranges = list(zip(*(column.tolist() for column in found[1:]), strict=True))
    for at, text in enumerate(texts):
        own = ranges[int(found[0][at - 1]) if at else 0 : int(found[0][at])]
        read = [(names[node], chunks) for first, last, chunks in own for node in range(first, last)]
        assert read == [(name, count) for name, count in expand(text)]
    for wrong in ("n3", "n[1-", "n001", "x", "n[1-99]", "n1*0", "n1,"):
        with pytest.raises(ValueError, match=r".*"):
            expand_sets(np.frombuffer(wrong.encode(), np.uint8), np.array([len(wrong)]), names)
