"""What is in the figures: numbers computed by hand from five jobs."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import numpy as np
import polars as pl
import pytest
from matplotlib.figure import Figure
from tests.batches import NAN, TWO_NODES, config, job_batch, time_batch
from tests.unit.test_plot import assert_readable, figure_drawn, five_jobs

import schedlab as sl
from schedlab.engine.store import MemoryWriter
from schedlab.model.errors import InputError
from schedlab.model.run import Run
from schedlab.model.workload import Phase
from schedlab.plot.bars import plot_bars
from schedlab.plot.baseline import plot_baseline
from schedlab.plot.catalogue import KINDS, draw
from schedlab.plot.classes import plot_classes
from schedlab.plot.curves import plot_curves
from schedlab.plot.distributions import cumulative, plot_box, plot_ecdf, plot_violin
from schedlab.plot.heatmap import plot_heatmap, short
from schedlab.plot.measures import measured, sample_of
from schedlab.plot.over_time import plot_queue, plot_utilisation
from schedlab.plot.performance import plot_performance
from schedlab.plot.users import plot_users, user_means

# 160 seconds make three steps of a minute: 0 to 60, 60 to 120, 120 to 160.
BUSY = [220 / 240 * 100, 230 / 240 * 100, 100]
WAITING = [70 / 60, 90 / 60, 0]
OF_PAIRS = ("applications", "improvement")  # of runs with a heatmap (test_plot_beside)
OF_WORKFLOWS = ("workflows", "dag")  # of runs with workflows (test_plot_workflows)
OF_MORE = ("comparison", "baseline", "performance", "speedups", "sweep", *OF_PAIRS, *OF_WORKFLOWS)


def nothing_started() -> Run:
    with MemoryWriter(TWO_NODES) as writer:
        writer.write("jobs", job_batch([(5, 0, 40.0, NAN, 40.0, "rejected", 9, False, {})]))
        writer.write("timeline", time_batch([(40.0, 0, 0, 0, 0)]))
        return writer.finish(config("easy"))


def line(axes: Any, number: int = 0) -> tuple[Any, Any]:
    return axes.get_lines()[number].get_data()


def test_utilisation_over_time() -> None:
    axes = plot_utilisation([five_jobs("easy"), five_jobs("fcfs")])
    for number in (0, 1):
        places, share = line(axes, number)
        np.testing.assert_allclose(places, np.array([30, 90, 140]) / 60)
        np.testing.assert_allclose(share, BUSY)
    assert axes.get_xlabel() == "time (minutes)"
    assert axes.get_ylabel() == "cores in use\n(mean over 1 min)"


def test_queue_over_time_with_dates() -> None:
    axes = plot_queue([five_jobs(origin="2026-03-02T12:00:00+00:00")])
    places, waiting = line(axes)
    days = (datetime(2026, 3, 2, 12) - datetime(1970, 1, 1)).total_seconds() / 86_400
    np.testing.assert_allclose(places, days + np.array([30, 90, 140]) / 86_400, rtol=0, atol=1e-9)
    np.testing.assert_allclose(waiting, WAITING)
    assert axes.get_xlabel() == "2 March 2026 (UTC)"
    assert axes.get_title(loc="left") == "easy"


def test_a_part_of_the_time() -> None:
    places, waiting = line(plot_queue([five_jobs()], span=(20, 110)))
    np.testing.assert_allclose(np.asarray(places) * 1.0, [50, 95])  # seconds: the span is shorter than two minutes
    np.testing.assert_allclose(waiting, [(10 * 1 + 50 * 2) / 60, (20 * 2 + 10 * 1) / 30])


def test_axes_of_somebody_else() -> None:
    figure = Figure()
    upper, lower = figure.subplots(2)
    assert plot_utilisation([five_jobs("easy"), five_jobs("fcfs")], axes=upper, labels=["A", "B"]) is upper
    assert plot_box([five_jobs()], axes=lower) is lower
    assert [text.get_text() for text in upper.get_legend().get_texts()] == ["A", "B"]
    assert not figure.legends


def test_metrics_of_jobs() -> None:
    # In the order in which they left: jobs 1, 4, 2, 3.
    run = five_jobs()
    np.testing.assert_allclose(measured(run, "wait"), [0, 70, 0, 90])
    np.testing.assert_allclose(measured(run, "turnaround"), [100, 75, 100, 140])
    np.testing.assert_allclose(measured(run, "slowdown"), [1, 15, 1, 2.8])
    np.testing.assert_allclose(measured(run, "bounded_slowdown"), [1, 7.5, 1, 2.8])  # job 4 ran 5 s: counts as 10 s
    np.testing.assert_allclose(measured(run, "wait", (10, 30)), [0, 90])
    with pytest.raises(InputError, match="did you mean 'wait'"):
        measured(run, "waits")


def test_boxes() -> None:
    axes = plot_box([five_jobs("easy"), five_jobs("fcfs")], metric="wait")
    # Waits 0, 0, 70, 90: quartiles at ranks 0.75 and 2.25.
    for row, box in enumerate(axes.patches):
        assert (box.get_x(), box.get_width()) == pytest.approx((0, 75))
        assert box.get_y() + box.get_height() / 2 == pytest.approx(row)
    assert [label.get_text() for label in axes.get_yticklabels()] == ["easy", "fcfs"]
    assert [float(marker.get_xdata()[0]) for marker in axes.get_lines()] == [40, 40]
    ends = {round(float(x), 6) for lines in axes.collections for x in lines.get_paths()[-1].vertices[:, 0]}
    assert ends >= {0, 35, 75, 87}  # median 35; 95 % is at rank 2.85: 70 + 0.85 · 20
    assert axes.get_xlabel() == "wait"


def test_violins() -> None:
    axes = plot_violin([five_jobs("easy")], metric="bounded_slowdown")
    body = axes.collections[0].get_paths()[0].vertices
    assert body[:, 0].min() == pytest.approx(1, rel=0.01)
    assert body[:, 0].max() == pytest.approx(7.5, rel=0.01)
    assert np.abs(body[:, 1]).max() == pytest.approx(0.42)
    assert float(axes.get_lines()[0].get_xdata()[0]) == pytest.approx(1.9)  # the median of 1, 1, 2.8, 7.5
    assert axes.get_xlabel() == "bounded slowdown"


def test_shares() -> None:
    for metric, largest, name in (("slowdown", 15, "slowdown"), ("bounded_slowdown", 7.5, "bounded slowdown")):
        axes = plot_ecdf([five_jobs("easy")], metric=metric)
        values, shares = line(axes)
        np.testing.assert_allclose(values, [1, 1, 1, 2.8, largest])
        np.testing.assert_allclose(shares, [0, 25, 50, 75, 100])
        assert axes.get_xlabel() == f"{name} (at most)"


def test_a_job_of_length_zero_has_no_slowdown() -> None:
    """It is in no figure of slowdowns, and in all of the others."""
    rows = [(1, 0, 0.0, 100.0), (3, 1, 100.0, 100.0), (5, 2, 100.0, 150.0)]  # job, sequence, start, end
    with MemoryWriter(TWO_NODES) as writer:
        writer.write("jobs", job_batch([(j, n, 0.0, a, b, "completed", 4, False, {0: 2, 1: 2}) for j, n, a, b in rows]))
        writer.write("timeline", time_batch())
        run = writer.finish(config())
    np.testing.assert_allclose(measured(run, "wait"), [0, 100, 100])
    np.testing.assert_allclose(measured(run, "slowdown"), [1, 3])
    np.testing.assert_allclose(measured(run, "bounded_slowdown"), [1, 10, 3])
    for kind in ("box", "violin", "ecdf", "classes", "users"):
        figure_drawn(draw(kind, [run], metric="slowdown"))
    assert user_means([run], ["A"], "slowdown")[0] == {"user 1": {"A": [2]}}


def test_many_points_are_thinned_evenly() -> None:
    values, shares = cumulative(np.arange(1_000_000.0))
    assert len(values) <= 4000
    assert (values[0], values[-1], shares[-1]) == (0, 999_999, 1)
    np.testing.assert_allclose(shares, (values + 1) / 1_000_000)


@pytest.mark.parametrize(
    "kind",
    [kind for kind in KINDS if kind not in OF_MORE],
)
def test_a_run_in_which_nothing_started(kind: str) -> None:
    runs = [nothing_started()] * (2 if kind == "differences" else 1)
    figure_drawn(draw(kind, runs))


def test_queues_as_boxes_and_shares_of_time() -> None:
    """Nobody waits for 70 of 160 seconds, one job for 20, two for 70; they ask for 0, 4 and 6 cores."""
    axes = plot_ecdf([five_jobs()], metric="queue_length")
    places, shares = line(axes)
    assert list(places) == [0, 0, 1, 2]
    np.testing.assert_allclose(shares, [0, 43.75, 56.25, 100])
    assert (axes.get_ylabel(), axes.get_xlabel()) == ("time", "jobs waiting (at most)")
    assert list(line(plot_ecdf([five_jobs()], metric="queue_length", resource="cores"))[0]) == [0, 0, 4, 6]
    found = sample_of(five_jobs(), "queue_length").distribution()
    assert [found[name] for name in ("mean", "p25", "median", "p75", "max")] == [1, 0, 1, 2, 2]
    assert found["mean"] == five_jobs().summary["queue_length"]["mean"]
    part = sample_of(five_jobs(), "queue_length", (25.0, 105.0), "cores")  # 4 for 5 s, 6 for 70 s, 4 for 5 s
    assert part.distribution()["mean"] == (4 * 10 + 6 * 70) / 80
    box = plot_box([five_jobs()], metric="queue_length")
    assert box.patches[0].get_bbox().intervalx.tolist() == [0, 2]  # type: ignore[attr-defined]
    assert box.get_xlabel() == "jobs waiting"
    assert np.isfinite(plot_violin([five_jobs()], metric="queue_length").collections[0].get_paths()[0].vertices).all()


@pytest.mark.parametrize("kind", ["box", "violin", "ecdf"])
def test_a_long_queue_is_on_a_scale_of_factors(kind: str) -> None:
    with MemoryWriter(TWO_NODES) as writer:
        writer.write("jobs", job_batch())
        writer.write("timeline", time_batch([(0.0, 1, 0, 4, 0), (40.0, 1, 800, 4, 800), (160.0, 0, 0, 0, 0)]))
        run = writer.finish(config("easy"))
    axes = draw(kind, [run], metric="queue_length")
    assert_readable(figure_drawn(axes))
    assert [text.get_text() for text in axes.get_xticklabels()] == ["0", "1", "10", "100", "500"]  # type: ignore[union-attr]


def test_queues_are_not_jobs() -> None:
    for draw_it in (plot_classes, plot_users):
        with pytest.raises(InputError, match="is of the queue, not of jobs"):
            draw_it([five_jobs()], metric="queue_length")
    with pytest.raises(InputError, match="a resource means nothing for the wait of jobs"):
        plot_box([five_jobs()], resource="cores")


def test_one_value_only() -> None:
    """All waits are the same: a density needs a spread, an axis a length."""
    axes = plot_violin([five_jobs()], span=(0, 11))
    assert np.isfinite(axes.collections[0].get_paths()[0].vertices).all()


def test_differences_of_starts() -> None:
    """The second of two runs against the first, or whichever is recorded."""
    jobs = sl.Workload.of(submit=[0.0, 1.0, 1.0], runtime=[10.0, 100.0, 10.0], count=[1, 1, 1], wait=[0.0, 30.0, 9.0])
    runs = [sl.simulate(jobs, "1x1", policy) for policy in ("fcfs", "sjf", "recorded")]  # starts 0 10 110; 0 20 10
    figure = draw("differences", runs)
    assert isinstance(figure, Figure)
    shares, over_time = figure.axes
    assert [patch.get_label() for patch in shares.patches] == ["fcfs", "sjf"]  # against 0 31 10
    for patch, differences in zip(shares.patches, ([0, -21, 100], [0, -11, 0]), strict=True):
        values, edges, _ = patch.get_data()
        assert values.sum() == pytest.approx(100)
        places = [min(np.searchsorted(edges, d, side="right") - 1, len(values) - 1) for d in differences]
        assert [values[place] for place in places] == pytest.approx([100 * places.count(at) / 3 for at in places])
    means = [drawn.get_ydata() for drawn in over_time.get_lines() if drawn.get_label() in ("fcfs", "sjf")]
    assert [float(np.nanmean(mean)) for mean in means] == pytest.approx([79 / 3, -11 / 3])
    with pytest.raises(sl.InputError, match="two runs"):
        draw("differences", runs[:1])


def test_curves() -> None:
    axes = plot_curves(five_jobs())
    expected = {
        "submitted": [1, 2, 3, 4, 5, 5, 5, 5, 5],
        "started": [1, 2, 2, 2, 2, 3, 3, 4, 4],
        "ended": [0, 0, 0, 0, 0, 1, 2, 3, 4],
    }
    for drawn in axes.get_lines():
        np.testing.assert_allclose(np.asarray(drawn.get_xdata()) * 60, [0, 10, 20, 30, 40, 100, 105, 110, 160])
        np.testing.assert_allclose(drawn.get_ydata(), expected[str(drawn.get_label())])
    assert axes.get_ylabel() == "jobs (cumulative)"


def test_few_running_of_many_jobs_are_seen() -> None:
    """The lines are thinner than the area between them: four jobs of 500."""
    jobs = [(number, 0, 0.0, 1.0 + number // 4, 2.0 + number // 4, "completed", 1, False, {}) for number in range(500)]
    with MemoryWriter(TWO_NODES) as writer:
        writer.write("jobs", job_batch(jobs))
        writer.write("timeline", time_batch())
        run = writer.finish(config("easy"))
    axes = plot_curves(run)
    figure_drawn(axes)
    band = axes.transData.transform([(0, 4), (0, 0)])[:, 1]
    points = (band[0] - band[1]) * 72 / axes.figure.get_dpi()
    assert all(drawn.get_linewidth() < points for drawn in axes.get_lines())


def test_classes() -> None:
    # Sizes 2, 2, 4, 2 are all in the class up to 4; run times 100, 100, 50 and 5 s: two up to 10 min, two below 1 min.
    figure = plot_classes([five_jobs("easy"), five_jobs("fcfs")])
    for panel in figure.axes[:2]:
        cells = panel.collections[0].get_array()
        np.testing.assert_allclose(np.asarray(cells).ravel(), [80, 0])
        assert [text.get_text() for text in panel.texts] == ["1.3m", "0s"]
        assert panel.get_ylim() == (2, 0)  # short jobs on top
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == ["1 min", "10 min"]
    assert [label.get_text() for label in figure.axes[0].get_xticklabels()] == ["4"]
    median = plot_classes([five_jobs()], metric="bounded_slowdown", statistic="median")
    np.testing.assert_allclose(np.asarray(median.axes[0].collections[0].get_array()).ravel(), [(2.8 + 7.5) / 2, 1])
    with pytest.raises(InputError, match="mean or median"):
        plot_classes([five_jobs()], statistic="mode")  # type: ignore[arg-type]


def test_heatmap() -> None:
    table = pl.DataFrame({"load": [0.9, 0.7, 0.9], "policy": ["fcfs", "fcfs", "easy"], "wait": [7200.0, 60.0, None]})
    axes = plot_heatmap(table, x="load", y="policy", value="wait", unit="s", width="column")
    cells = np.ma.filled(axes.collections[0].get_array(), np.nan)
    np.testing.assert_allclose(cells, [[60, 7200], [np.nan, np.nan]])
    assert [text.get_text() for text in axes.texts] == ["1m", "2h"]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["0.7", "0.9"]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["fcfs", "easy"]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("load", "policy")
    assert_readable(figure_drawn(axes))
    with pytest.raises(InputError, match="no column 'x'"):
        plot_heatmap(table)
    with pytest.raises(InputError, match="same load and policy"):
        plot_heatmap(pl.concat([table, table]), x="load", y="policy", value="wait")


def test_numbers_in_cells() -> None:
    assert [short(number) for number in (0.1234, 12.34, 1234, 12_345, 2_500_000, 7e9)] == [
        "0.123",
        "12.3",
        "1,234",
        "12.3k",
        "2.5M",
        "7G",
    ]


def test_bars() -> None:
    table = pl.DataFrame(
        {"label": ["easy", "fcfs"], "value": [3600.0, 9000.0], "low": [1800.0, None], "high": [5400.0, None]}
    )
    axes = plot_bars(table, label="mean wait", unit="s")
    assert [bar.get_width() for bar in axes.patches] == pytest.approx([1, 2.5])
    assert [text.get_text() for text in axes.texts] == ["1", "2.5"]
    whisker = axes.collections[0].get_segments()[0]
    np.testing.assert_allclose(whisker[:, 0], [0.5, 1.5])
    assert axes.get_xlabel() == "mean wait (hours)"
    assert_readable(figure_drawn(axes))
    with pytest.raises(InputError, match="no column 'low'"):
        plot_bars(table.drop("low"))


def test_bars_that_differ_by_large_factors() -> None:
    rows = {"label": ["a", "b", "c"], "value": [2.0, 61.0, 0.0], "low": [-1.0, 50.0, None], "high": [5.0, 72.0, None]}
    axes = plot_bars(pl.DataFrame(rows), label="slowdown")
    assert (axes.get_xscale(), axes.get_xlabel()) == ("log", "slowdown (logarithmic)")
    assert axes.get_xlim()[0] == 1  # half of the smallest
    np.testing.assert_allclose(axes.collections[0].get_segments()[0][:, 0], [1, 5])  # cut at the axis
    assert [text.get_text() for text in axes.texts] == ["2", "61", "0"]
    assert_readable(figure_drawn(axes))
    assert plot_bars(pl.DataFrame(rows | {"value": [2.0, 60.0, 0.0]})).get_xscale() == "linear"
    assert plot_bars(pl.DataFrame(rows | {"value": [-0.5, 60.0, 1.0]})).get_xscale() == "linear"


@pytest.mark.parametrize("width", ["column", "page"])
def test_performance(width: Any) -> None:
    table = pl.DataFrame(
        {
            "time": [0.0, 10.0, 20.0, 100.0, 110.0, 119.0],
            "queued": [0, 1, 1, 2, 2, 2],
            "decide_seconds": [1e-6, 2e-6, 4e-6, 1e-3, 3e-3, 2e-3],
            "memory_mb": [10.0, 11.0, 12.0, None, 14.0, 15.0],
        }
    )
    origin = datetime(2026, 3, 2, tzinfo=UTC)
    figure = plot_performance({"easy": table, "fcfs": table}, width=width, origin=origin)
    over_time, by_queue, memory = figure.axes
    np.testing.assert_allclose(line(over_time)[1], [2e-6, 2e-3])  # medians of the two minutes
    np.testing.assert_allclose(line(by_queue), [[0, 1, 2], [1e-6, 3e-6, 2e-3]])
    np.testing.assert_allclose(line(memory)[1], [10, 11, 12, 14, 15])
    assert memory.get_ylabel() == "memory (MB)"
    assert memory.get_title("left") == "Memory of the process"
    assert_readable(figure_drawn(figure))
    assert len(plot_performance({"easy": table.drop("memory_mb")}, width=width).axes) == 2
    with pytest.raises(InputError, match="the table of easy has no column 'queued'"):
        plot_performance({"easy": table.drop("queued")})


@pytest.mark.parametrize("width", ["column", "page"])
def test_baseline(width: Any) -> None:
    phases = [Phase("fill", 0, 3600), Phase("stabilisation", 3600, 9000), Phase("experiment", 9000, 36_000)]
    figure = plot_baseline(five_jobs(), phases, asked=3600, width=width, title="five")
    assert [text.get_text() for text in figure.axes[0].texts] == ["fill", "stabilisation", "experiment"]
    median = figure.axes[1].patches[1].get_data().values
    np.testing.assert_allclose(median, [35 / 3600] + 9 * [NAN])  # of the first hour; then none was submitted
    assert [text.get_text() for text in figure.legends[0].texts][-1] == "asked: 1 h"
    assert_readable(figure_drawn(figure))


@pytest.mark.parametrize("width", ["column", "page"])
@pytest.mark.parametrize(
    "hours", [(1, 12, 168, 8), (1, 24, 168, 8), (1, 1, 168, 1), (1, 1, 1, 168), (168, 1, 1, 1), (40, 40, 40, 40)]
)
def test_the_names_of_short_phases_stand_apart(hours: tuple[int, ...], width: Any) -> None:
    names = ("fill", "stabilisation", "experiment", "drain")
    ends = np.cumsum((0, *hours)) * 3600.0
    phases = [Phase(name, *ends[number : number + 2]) for number, name in enumerate(names)]
    figure = figure_drawn(plot_baseline(five_jobs(), phases, width=width))
    assert {text.get_text() for text in figure.axes[0].texts} - {""} == set(names)
    assert_readable(figure)


def test_the_axis_of_a_full_machine_says_where_it_begins() -> None:
    hour = 3600.0

    def axes(cores: int) -> Any:
        with MemoryWriter(TWO_NODES) as writer:
            writer.write("jobs", job_batch([(1, 0, 0.0, 0.0, hour, "completed", cores, False, {})]))
            writer.write("timeline", time_batch([(0.0, 0, 1, cores, 1), (hour, 0, 0, 0, 0)]))
            run = writer.finish(config("easy"))
        return plot_baseline(run, [Phase("experiment", 0, hour)]).axes[0]

    assert (axes(4).get_ylim()[0], axes(4).get_title("left")) == (80, "Cores in use (the axis begins at 80 %)")
    assert (axes(3).get_ylim()[0], axes(3).get_title("left")) == (0, "Cores in use")


def test_baseline_of_a_run_without_phases() -> None:
    with pytest.raises(InputError, match="no phases"):
        draw("baseline", [five_jobs()])
    with pytest.raises(InputError, match="one run, not 2"):
        draw("baseline", [five_jobs(), five_jobs()])


def test_names_of_runs() -> None:
    with pytest.raises(InputError, match="one label for each run"):
        plot_queue([five_jobs()], labels=["A", "B"])
    with pytest.raises(InputError, match="no run"):
        plot_queue([])
    with pytest.raises(InputError, match="did you mean 'violin'"):
        draw("violine", [five_jobs()])
