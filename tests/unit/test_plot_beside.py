"""Figures of jobs side by side: what is in them, from jobs whose speed-ups are computed by hand (test_beside)."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from tests.unit.test_beside import simulated
from tests.unit.test_plot import assert_readable, figure_drawn

import schedlab as sl
from schedlab.analysis.core_rows import Machine, job_bars
from schedlab.analysis.correlation import correlation
from schedlab.plot.applications import plot_applications
from schedlab.plot.distributions import plot_box
from schedlab.plot.gantt import plot_gantt
from schedlab.plot.improvement import plot_improvement

ROWS = {
    "group": ["twin"] * 3 + ["cosched"] * 3 + ["mine"] * 3,
    "improvement.faster": [0.0] * 3 + [0.1, 0.2, 0.3] + [0.1, 0.1, 0.1],
    "speedup.mean": [1.0] * 3 + [1.1, 1.2, 1.3] * 2,
    "utilisation_until_empty": [0.5] * 3 + [0.9, 0.8, 0.7] * 2,
    "slowed_share": [0.0] * 9,
}


def test_the_application_that_gains_is_on_top() -> None:
    axes = plot_applications([simulated("cosched"), simulated("easy:nodes=exclusive")])
    assert [label.get_text() for label in axes.get_yticklabels()] == ["b", "a"]
    means = [float(line.get_xdata()[0]) for line in axes.get_lines() if line.get_marker() == "D"]
    assert means == pytest.approx([1.25, 1.0, 0.8, 1.0])
    assert axes.get_xlim()[0] < 0.8 and axes.get_xlim()[1] > 1.25


def test_two_jobs_have_the_halves_of_each_node() -> None:
    """Rows are cores: each of the jobs has two of the four of each node, and together they have all."""
    run = simulated("cosched")
    bars = job_bars(run, Machine(run.cluster), (0.0, 125.0))
    rows = {
        (int(run.jobs["job"][int(job)]), int(low), int(high))
        for job, low, high in zip(bars.job, bars.low, bars.high, strict=True)
    }
    cores = {job: sorted(row for own, low, high in rows if own == job for row in range(low, high)) for job in (1, 2)}
    assert sorted(cores[1] + cores[2]) == list(range(8))
    for job in (1, 2):
        assert [sum(4 * node <= row < 4 * node + 4 for row in cores[job]) for node in (0, 1)] == [2, 2]


def test_gantt_by_application() -> None:
    axes = plot_gantt(simulated("cosched"), colour="application")
    assert_readable(figure_drawn(axes))
    with pytest.raises(sl.InputError, match="no application"):
        plot_gantt(sl.simulate(sl.Workload.of(submit=[0], runtime=[1], count=[1]), "2x4"), colour="application")


def test_speedups_are_drawn_around_one() -> None:
    axes = plot_box([simulated("cosched")], metric="speedup")
    low, high = axes.get_xlim()
    assert axes.get_xscale() == "linear" and low < 0.83 and high > 1.22


def test_improvement_against_its_reasons(tmp_path: Path) -> None:
    """Whoever is neither better nor worse (the twin) is not drawn; r is 1, -1, or not known."""
    figure = plot_improvement(pl.DataFrame(ROWS), tmp_path / "figure.png")
    first, second, third = figure.axes
    assert [len(axes.get_lines()) for axes in figure.axes] == [2, 2, 2]
    assert first.get_lines()[0].get_ydata() == pytest.approx([10, 20, 30])
    titles = [axes.get_title(loc="right") for axes in (first, second, third)]
    assert titles == ["r = +1.00, –", "r = -1.00, –", "r = –, –"]
    assert_readable(figure_drawn(figure))


def test_improvement_needs_a_study_with_a_heatmap() -> None:
    with pytest.raises(sl.InputError, match="no run has the metric 'speedup"):
        plot_improvement(pl.DataFrame({"group": ["a"], "improvement.faster": [0.1]}))


def test_correlation() -> None:
    """By hand: the deviations are (-1, 0, 1) and (-1, 1, 0), so r = 1 / 2."""
    assert correlation([1, 2, 3], [1, 3, 2]) == pytest.approx(0.5)
    assert correlation([1, 2], [1, 2]) is None and correlation([1, 1, 1], [1, 2, 3]) is None
