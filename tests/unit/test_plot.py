"""What all figures share, and the picture that compares policies."""

from __future__ import annotations

import warnings
from datetime import UTC, datetime
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text
from tests.batches import TWO_NODES, config, job_batch, time_batch

from schedlab.engine.store import MemoryWriter
from schedlab.model.errors import InputError
from schedlab.model.run import Run
from schedlab.plot.catalogue import KINDS, draw
from schedlab.plot.comparison import plot_comparison
from schedlab.plot.style import COLOURS, SMALL, figure_of, plain, save, series, wrapped
from schedlab.plot.times import DAY, Clock, brief, duration_ticks, edges_of, means, scale_durations, spoken, step_for

LONG_NAMES = [f"easy:order={order},place=best-fit" for order in ("saf", "sjf", "wfp3", "unicef", "lxf", "largest")]
LONG_NAMES += [f"conservative:order={order},place=first-fit" for order in ("f1", "f2", "f3", "f4", "ljf", "fcfs")]


def five_jobs(policy: str = "easy", origin: str | None = None) -> Run:
    described = config(policy)
    described["workload"]["origin"] = origin
    with MemoryWriter(TWO_NODES) as writer:
        writer.write("jobs", job_batch())
        writer.write("timeline", time_batch())
        return writer.finish(described)


def figure_drawn(drawn: Any) -> Figure:
    """The figure with everything in its place."""
    figure = drawn if isinstance(drawn, Figure) else figure_of(drawn)
    figure.draw_without_rendering()
    return figure


def boxes(figure: Figure) -> dict[str, Any]:
    """Where each text is, of those that can be seen."""
    found: dict[str, Any] = {}
    axes_boxes = [axes.get_window_extent().expanded(1.01, 1.01) for axes in figure.axes]
    ticks = {
        id(label): box
        for axes, box in zip(figure.axes, axes_boxes, strict=True)
        for label in (*axes.get_xticklabels(), *axes.get_yticklabels())
    }
    for text in figure.findobj(Text):
        assert isinstance(text, Text)
        if not text.get_visible() or not text.get_text().strip():
            continue
        place = text.get_transform().transform(text.get_position())
        if id(text) in ticks:
            box = ticks[id(text)]
            if not (box.x0 <= place[0] <= box.x1 or box.y0 <= place[1] <= box.y1):
                continue
            x, y = place
            beside = x < box.x0 + 1 or x > box.x1 - 1
            if beside and not box.y0 <= y <= box.y1:
                continue
            if not beside and not box.x0 <= x <= box.x1:
                continue
        found[f"{text.get_text()!r} at {place.round()}"] = text.get_window_extent()
    return found


def assert_readable(figure: Figure) -> None:
    found = boxes(figure)
    whole = figure.bbox
    for name, box in found.items():
        assert box.x0 >= whole.x0 - 1 and box.x1 <= whole.x1 + 1, f"{name} is cut off"
        assert box.y0 >= whole.y0 - 1 and box.y1 <= whole.y1 + 1, f"{name} is cut off"
    for (name, box), (other, other_box) in combinations(found.items(), 2):
        across = min(box.x1, other_box.x1) - max(box.x0, other_box.x0)
        down = min(box.y1, other_box.y1) - max(box.y0, other_box.y0)
        assert across <= 1 or down <= 1, f"{name} is on {other}"


# Figures of other runs than plain ones; their own tests look at them.
OTHER_INPUT = ("baseline", "performance", "speedups", "sweep", "applications", "improvement", "workflows", "dag")


@pytest.mark.parametrize("width", ["column", "page"])
@pytest.mark.parametrize(
    "kind",
    [kind for kind in KINDS if kind not in OTHER_INPUT],
)
def test_no_text_is_on_another_with_twelve_long_names(kind: str, width: str) -> None:
    runs = [five_jobs(name, "2026-03-02T00:00:00+00:00") for name in LONG_NAMES]
    figure = figure_drawn(draw(kind, runs, width=width))
    assert figure.get_figwidth() == (3.4 if width == "column" else 7.0)
    text = "".join(item.get_text() for item in figure.findobj(Text)).replace("\n", "")  # type: ignore[union-attr]
    assert all(name in text for name in LONG_NAMES)
    assert_readable(figure)


def test_the_search_for_overlaps_finds_them() -> None:
    figure = Figure(figsize=(3, 3))
    figure.text(0.5, 0.5, "one")
    figure.text(0.52, 0.5, "two")
    with pytest.raises(AssertionError, match="is on"):
        assert_readable(figure_drawn(figure))
    figure = Figure(figsize=(3, 3))
    figure.text(0.95, 0.5, "three")
    with pytest.raises(AssertionError, match="cut off"):
        assert_readable(figure_drawn(figure))


@pytest.mark.parametrize(
    ("kind", "ending"),
    [("gantt", "png"), ("gantt", "svg"), ("comparison", "pdf"), ("violin", "svg"), ("violin", "pdf")],
)
def test_the_same_run_gives_the_same_bytes(kind: str, ending: str, tmp_path: Path) -> None:
    for name in ("one", "two"):
        draw(kind, [five_jobs("easy")], tmp_path / f"{name}.{ending}")
    first = (tmp_path / f"one.{ending}").read_bytes()
    assert first == (tmp_path / f"two.{ending}").read_bytes()
    assert first.startswith({"png": b"\x89PNG", "pdf": b"%PDF", "svg": b"<?xml"}[ending])
    assert b"Date" not in first


def test_other_endings_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"names end in \.pdf, \.png, \.svg"):
        save(Figure(), tmp_path / "picture.gif")
    with pytest.raises(InputError, match="make the folder"):
        save(Figure(), tmp_path / "nowhere" / "picture.png")


def test_fourteen_lines_differ() -> None:
    looks = {(style["color"], str(style["linestyle"])) for style in map(series, range(14))}
    assert len(looks) == 14
    assert len(set(COLOURS)) == 7


def test_long_names_break_after_colons_and_commas() -> None:
    assert wrapped("easy:order=saf,place=best-fit", 18) == "easy:order=saf,\nplace=best-fit"
    assert wrapped("easy:order=saf,place=best-fit", 40) == "easy:order=saf,place=best-fit"
    assert wrapped("fcfs", 2) == "fcfs"


@pytest.mark.parametrize("inches", [1.8, 2.4, 6.0])
def test_dates_of_any_length_have_a_few_ticks_that_differ(inches: float) -> None:
    for length in (1.0, 2.3, 25.0, 46.0, 160.0, 400.0, 9_900.0, 2.6 * DAY, 9 * DAY, 88 * DAY, 1_010 * DAY, 9_000 * DAY):
        figure = Figure((inches + 1, 2))
        axes = figure.add_axes((0.5 / (inches + 1), 0.3, inches / (inches + 1), 0.6))
        axes.tick_params(labelsize=SMALL)
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # matplotlib finds no step
            Clock(datetime(2002, 7, 28, 11, 6, 40, tzinfo=UTC)).finish(axes, (0.0, length))
            figure.draw_without_rendering()
            low, high = axes.get_xlim()
            inside = [tick for tick in axes.xaxis.get_major_ticks() if low <= tick.get_loc() <= high]
        labels = [tick.label1.get_text() for tick in inside]
        boxes = [tick.label1.get_window_extent() for tick in inside if tick.label1.get_text()]
        assert 2 <= len(labels) <= 9, (length, labels)
        assert all(one != other for one, other in pairwise(labels)), (length, labels)
        assert all(one.x1 < other.x0 for one, other in pairwise(boxes)), (length, labels)


def test_steps_of_time() -> None:
    assert step_for((0, 14 * 86_400), 168) == 2 * 3600  # exactly 168 of them
    assert step_for((0, 14 * 86_400 + 1), 168) == 3 * 3600
    np.testing.assert_allclose(edges_of((10, 35), 10), [10, 20, 30, 35])
    np.testing.assert_allclose(edges_of((10, 30), 10), [10, 20, 30])
    # 2 until second 5, then 4: the first step has 5·2 + 5·4 = 30, over 10 s.
    np.testing.assert_allclose(means(np.array([0.0, 5, 30]), np.array([2.0, 4, 0]), np.array([0.0, 10, 30])), [3, 4])


def test_durations_in_a_few_characters() -> None:
    assert [spoken(seconds) for seconds in (40, 90, 3600, 12_600, 90_000, 864_000)] == [
        "40 s",
        "1.5 min",
        "1 h",
        "3.5 h",
        "1.0 d",
        "10 d",
    ]
    assert brief(2100) == "35m"
    assert list(duration_ticks(7200).values()) == ["0", "1 min", "10 min", "1 h"]
    assert list(duration_ticks(200_000).values()) == ["0", "10 min", "1 h", "6 h", "1 d"]
    assert list(duration_ticks(30).values()) == ["0 s", "10 s", "20 s", "30 s"]


@pytest.mark.parametrize("hours", [0.1, 0.4, 0.99, 1.9, 5.9, 13, 20, 23.9, 40, 160, 480, 700, 2000, 8000])
def test_ticks_of_durations_cover_the_axis(hours: float) -> None:
    figure = Figure(figsize=(3.4, 1), layout="constrained")
    axes = figure.subplots()
    scale_durations(axes, hours * 3600)
    plain(axes)
    ticks = np.arcsinh(np.array(axes.get_xticks()) / 60)
    assert np.diff(ticks).min() > 0
    assert 1 - ticks[-1] / np.arcsinh(hours * 60) < 0.15  # of its length
    assert_readable(figure_drawn(figure))


def test_the_last_tick_is_near_the_end() -> None:
    axes = Figure().subplots()
    scale_durations(axes, 20 * 3600)
    assert [label.get_text() for label in axes.get_xticklabels()] == ["0", "1 min", "10 min", "1 h", "6 h", "12 h"]


def test_a_line_per_policy_in_each_part(tmp_path: Path) -> None:
    figure = plot_comparison([five_jobs("easy"), five_jobs("fcfs")], tmp_path / "picture.png", title="five jobs")
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")
    assert [len(axes.get_lines()) for axes in figure.axes] == [2, 2, 2]
    waits = figure.axes[0].get_lines()[0]
    np.testing.assert_allclose(np.asarray(waits.get_xdata()) * 3600, [0, 0, 0, 70, 90])
    np.testing.assert_allclose(waits.get_ydata(), [0, 25, 50, 75, 100])
    assert [text.get_text() for text in figure.legends[0].texts] == ["easy (mean wait 0.0 h)", "fcfs (mean wait 0.0 h)"]
