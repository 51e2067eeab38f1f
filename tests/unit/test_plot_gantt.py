"""Gantt charts: which rows jobs get, and what is drawn of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_rgba
from tests.batches import TWO_NODES, config, job_batch, time_batch
from tests.unit.test_plot import assert_readable, figure_drawn, five_jobs

import schedlab as sl
from schedlab.analysis.core_rows import Bars, Machine, job_bars
from schedlab.engine.store import MemoryWriter
from schedlab.model.errors import InputError
from schedlab.model.nodeset import expand
from schedlab.model.random import random_stream
from schedlab.model.run import Run
from schedlab.model.states import NODE_STATES, PIECE_ENDS
from schedlab.plot.catalogue import draw
from schedlab.plot.gantt import plot_gantt
from schedlab.plot.gantt_colours import MOST_NAMES, colouring
from schedlab.plot.style import COLOURS

WHOLE = (0.0, 1e9)


def rectangles(bars: Bars) -> list[tuple[float, ...]]:
    columns = (bars.job, bars.begin, bars.end, bars.low, bars.high)
    return sorted(zip(*(column.tolist() for column in columns), strict=True))


def busy_machine(cluster: sl.Cluster, number: int = 400, **columns: Any) -> Run:
    random = random_stream(1, "gantt")
    jobs = sl.Workload.of(
        submit=np.sort(random.uniform(0, 40_000, number)),
        runtime=np.ceil(random.exponential(1500, number)),
        count=random.integers(1, 14, number),
        user=random.integers(0, 10, number),
        **columns,
    )
    return sl.simulate(jobs, cluster, "easy:place=random")


def test_rows_of_five_jobs() -> None:
    # Two rows a node. Job 3 (third in the log) has both nodes at once, which is one rectangle.
    bars = job_bars(five_jobs(), Machine(TWO_NODES), WHOLE)
    assert rectangles(bars) == [(0, 0, 100, 0, 2), (1, 10, 110, 2, 4), (2, 110, 160, 0, 4), (3, 100, 105, 0, 2)]
    assert rectangles(job_bars(five_jobs(), Machine(TWO_NODES), (105, 110))) == [(1, 10, 110, 2, 4)]


@pytest.mark.parametrize("cluster", [sl.Cluster.uniform(8, cores=4), sl.Cluster.of_cores(32)])
def test_no_two_jobs_share_a_row(cluster: sl.Cluster) -> None:
    run = busy_machine(cluster)
    machine = Machine(run.cluster)
    bars = job_bars(run, machine, WHOLE)
    area = ((bars.high - bars.low) * (bars.end - bars.begin)).sum()
    assert area == pytest.approx(float(((run.jobs["end"] - run.jobs["start"]) * run.jobs["cores"]).sum()))
    for row in range(machine.rows):
        inside = np.flatnonzero((bars.low <= row) & (row < bars.high))
        order = inside[np.argsort(bars.begin[inside])]
        assert (bars.end[order][:-1] <= bars.begin[order][1:]).all()
    if not cluster.pool:
        for job, low, high in zip(bars.job, bars.low, bars.high, strict=True):
            nodes = {machine.names[row // 4] for row in range(low, high)}
            assert nodes <= {name for name, _ in expand(run.jobs["nodes"][int(job)])}


def test_a_job_alone_on_its_node_has_all_its_rows() -> None:
    request = sl.Request({"cores": 1}, exclusive=True)
    jobs = sl.Workload.of(submit=[0.0], runtime=[10.0], count=[1], requests=[request])
    run = sl.simulate(jobs, sl.Cluster.uniform(2, cores=4), "fcfs")
    assert rectangles(job_bars(run, Machine(run.cluster), WHOLE)) == [(0, 0, 10, 0, 4)]


def test_stretches_instead_of_the_job_and_nodes_that_were_down() -> None:
    """Job 1 ran on the first node, was requeued, and ran again on the second, while the first was down."""
    rows = [(1, 0, 0.0, 50.0, 80.0, "completed", 2, False, {1: 2})]
    with MemoryWriter(TWO_NODES) as writer:
        writer.write("jobs", job_batch(rows))
        writer.write("timeline", time_batch([(0.0, 1, 0, 2, 0), (80.0, 0, 0, 0, 0)]))
        writer.write(
            "pieces",
            {
                "id": np.array([1, 1]),
                "sequence": np.array([0, 0]),
                "begin": np.array([0.0, 50.0]),
                "end": np.array([20.0, 80.0]),
                "how": np.array([PIECE_ENDS.index("requeued"), PIECE_ENDS.index("completed")], np.uint8),
                "reason": np.zeros(2, np.uint8),
                "cores": np.array([2, 2]),
                "count": np.array([2, 2]),
                "request": np.zeros(2, np.int32),
                "work": np.array([30.0, 30.0]),
                "expected_end": np.array([80.0, 80.0]),
                "done": np.array([20.0, 30.0]),
                "whole": np.array([30.0, 30.0]),
                "allocated": np.array([1, 2], np.int32),
                "node": np.array([0, 1], np.int32),
                "chunks": np.array([2, 2], np.int32),
            },
        )
        modes = np.array([NODE_STATES.index("down"), NODE_STATES.index("up")], np.uint8)
        writer.write("nodes", {"time": np.array([20.0, 60.0]), "node": np.array([0, 0]), "mode": modes})
        run = writer.finish(config())
    assert rectangles(job_bars(run, Machine(TWO_NODES), WHOLE)) == [(0, 0, 20, 0, 2), (0, 50, 80, 2, 4)]
    axes = plot_gantt(run)
    closed, jobs = (shapes for shapes in axes.collections if isinstance(shapes, PolyCollection))
    np.testing.assert_allclose(np.ptp(closed.get_paths()[0].vertices, axis=0), [40, 2])  # seconds, rows
    assert len(jobs.get_paths()) == 2
    assert [text.get_text() for text in axes.figure.legends[0].texts] == ["node not up"]


def test_shapes_of_a_small_run() -> None:
    axes = plot_gantt(five_jobs(), width="column")
    shapes = next(shapes for shapes in axes.collections if isinstance(shapes, PolyCollection) and shapes.get_paths())
    corners = sorted(tuple(path.vertices[:4].min(axis=0)) for path in shapes.get_paths())
    assert corners == [(0, 0), (pytest.approx(10 / 60), 2), (pytest.approx(100 / 60), 0), (pytest.approx(110 / 60), 0)]
    assert not axes.images
    assert {text.get_text() for text in axes.texts} == {"1", "2", "3"}  # job 4 is too short for its number
    assert [label.get_text() for label in axes.get_yticklabels()] == ["n1", "n2"]
    assert (axes.get_ylabel(), axes.get_xlabel()) == ("nodes", "time (minutes)")
    assert_readable(figure_drawn(axes))


def test_a_pool_has_cores() -> None:
    axes = plot_gantt(busy_machine(sl.Cluster.of_cores(32)), width="column", colour="size")
    assert axes.get_ylabel() == "cores"
    assert axes.get_ylim() == (32, 0)
    assert_readable(figure_drawn(axes))


def test_colours_by_user() -> None:
    # Users 0 (jobs 2 and 4: 200 + 10 core-seconds) and 1 (jobs 1, 3 and 5: 200 + 200 + 0).
    found = colouring(five_jobs(), "user")
    assert found.names == {"user 1": COLOURS[0], "user 0": COLOURS[1]}
    np.testing.assert_allclose(found.colours[:4], [to_rgba(found.names[f"user {user}"]) for user in (1, 0, 1, 0)])
    assert colouring(five_jobs(), "group").names == {"unknown": "#d9dce0"}


def test_names_of_users_and_the_others() -> None:
    run = busy_machine(sl.Cluster.uniform(8, cores=4), labels={"user": [f"person{number}" for number in range(10)]})
    names = colouring(run, "user").names
    assert len(names) == MOST_NAMES + 1
    assert "3 others" in names
    assert all(name.startswith("person") for name in list(names)[:MOST_NAMES])


def test_colours_by_number() -> None:
    for by, of_job_4 in (("slowdown", 15.0), ("bounded_slowdown", 7.5)):
        found = colouring(five_jobs(), by)
        assert found.scale.get_clim() == (1, 1000)
        np.testing.assert_allclose(found.colours[0], found.scale.to_rgba(1.0))
        np.testing.assert_allclose(found.colours[3], found.scale.to_rgba(of_job_4))
        assert found.colours[4][3] == 0  # it never ran: nothing to see
        assert found.scale_label == f"{by.replace('_', ' ')} (up to 1,000)"
    with pytest.raises(InputError, match="did you mean 'user'"):
        colouring(five_jobs(), "users")


def test_several_runs_need_the_same_colours() -> None:
    runs = [busy_machine(sl.Cluster.uniform(8, cores=4)), five_jobs()]
    with pytest.raises(InputError, match="another colour"):
        draw("gantt", runs, colour="user")
    figure = draw("gantt", [five_jobs("easy"), five_jobs("fcfs")], colour="user")
    assert [text.get_text() for text in figure.legends[0].texts] == ["user 1", "user 0"]
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["easy", "fcfs"]


def hundred_thousand_jobs() -> Run:
    """100 s each, one after the other on each of 125 nodes of 4 cores: job n is on node n mod 125."""
    number, nodes = 100_000, 125
    sequence = np.arange(number)
    start = 100.0 * (sequence // nodes)
    batch = job_batch([(1, 0, 0.0, 0.0, 100.0, "completed", 4, False, {0: 4})])
    batch = {name: np.repeat(column, number) for name, column in batch.items()}
    batch |= {
        "id": sequence + 1,
        "sequence": sequence,
        "user": (sequence % nodes % 3).astype(np.int32),
        "submit": start,
        "eligible": start,
        "start": start,
        "end": start + 100,
        "allocated": np.arange(1, number + 1, dtype=np.int32),
        "node": (sequence % nodes).astype(np.int32),
    }
    with MemoryWriter(sl.Cluster.uniform(nodes, cores=4)) as writer:
        writer.write("jobs", batch)
        writer.write("timeline", time_batch([(0.0, 125, 0, 500, 0), (80_000.0, 0, 0, 0, 0)]))
        return writer.finish(config())


def test_a_hundred_thousand_jobs_are_an_image() -> None:
    run = hundred_thousand_jobs()
    axes = plot_gantt(run, colour="user")
    assert not any(isinstance(shapes, PolyCollection) for shapes in axes.collections)
    (image,) = axes.images
    pixels = np.asarray(image.get_array())
    assert pixels.shape == (500, 1920, 4)
    names = colouring(run, "user").names
    for row, column in ((0, 0), (3, 1000), (4, 1919), (250, 7), (499, 1919)):
        expected = to_rgba(names[f"user {row // 4 % 3}"])
        np.testing.assert_allclose(pixels[row, column] / 255, expected, atol=0.003)
    assert (pixels[..., 3] == 255).all()
