"""Figures of workflows: what is drawn, and where."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.patches import FancyArrowPatch, Rectangle
from tests.workflow_runs import DIAMOND, chained, pilot, simulated
from typer.testing import CliRunner

import schedlab as sl
from schedlab.cli.main import app
from schedlab.model.errors import InputError
from schedlab.model.workflow import Task, Workflow
from schedlab.plot.catalogue import draw
from schedlab.plot.dag import MOST_TASKS, plot_dag, plot_shape
from schedlab.plot.gantt_colours import colouring
from schedlab.plot.style import COLOURS, LIGHT
from schedlab.plot.workflows import plot_workflows


def run_of(workflow: Workflow = DIAMOND, cluster: str = "pool:3", **options: Any) -> sl.Run:
    return simulated([chained(workflow)], [(0, 0), (100, 0)], [(0, 4, 3)], cluster, **options)


def boxes(axes: Any) -> list[tuple[float, float]]:
    """From when to when, in the order of the tasks; the axis is in seconds."""
    found = [patch for patch in axes.patches if isinstance(patch, Rectangle)]
    return [(patch.get_x(), patch.get_x() + patch.get_width()) for patch in found]


def arrows(axes: Any) -> int:
    return sum(isinstance(patch, FancyArrowPatch) for patch in axes.patches)


def words(axes: Any) -> list[str]:
    return [text.get_text() for text in axes.texts]


def test_when_the_tasks_of_a_workflow_ran() -> None:
    axes = plot_dag([run_of()])
    assert boxes(axes) == [(4, 14), (14, 19), (19, 26), (26, 27)]
    assert words(axes) == ["a", "b", "c", "d"]
    assert arrows(axes) == 3  # none to b, which is right behind a
    said = axes.get_title(loc="left")
    assert said == "diamond 0 (chained): waited 4 s, ran for 23 s, of which 5 s waiting; critical path 18 s"
    assert boxes(plot_dag([run_of()], workflow=1))[0] == (100, 110)


def test_the_tasks_inside_a_pilot() -> None:
    axes = plot_dag([simulated([pilot(DIAMOND)], [(0, 0)], cluster="pool:4")])
    assert boxes(axes) == [(0, 10), (10, 15), (10, 17), (17, 18)]


def test_nothing_covers_anything() -> None:
    """Forty tasks of 1 s in turn on three cores, with names longer than their boxes."""
    wide = Workflow.of("wide", [Task(f"a long name {at}", 1, 1, 1) for at in range(MOST_TASKS)])
    axes = plot_dag([run_of(wide)])
    figure = axes.get_figure()
    figure.draw_without_rendering()
    patches = [patch.get_window_extent() for patch in axes.patches if isinstance(patch, Rectangle)]
    texts = [text.get_window_extent() for text in axes.texts]
    for one, text in enumerate(texts):
        overlaps = [at for at, patch in enumerate(patches) if at != one and _overlap(text, patch)]
        assert overlaps == []


def _overlap(one: Any, other: Any) -> bool:
    wide = min(one.x1, other.x1) - max(one.x0, other.x0)
    return wide > 1 and min(one.y1, other.y1) - max(one.y0, other.y0) > 1


def test_of_many_tasks_the_stages() -> None:
    tasks = [Task(f"p{at}", 1, 2, 2, (), "project") for at in range(MOST_TASKS)]
    tasks += [Task("add", 1, 3, 3, tuple(task.id for task in tasks), "add")]
    axes = plot_dag([simulated([chained(Workflow.of("big", tasks))], [(0, 0)], cluster="pool:12")])
    assert words(axes) == [f"project × {MOST_TASKS}", "add"]
    assert boxes(axes) == [(0, 6), (6, 9)]
    shape = plot_shape(Workflow.of("big", tasks))
    assert words(shape) == [f"project × {MOST_TASKS}", "add"] and arrows(shape) == 1


def test_arrows_that_follow_from_others_are_left_out() -> None:
    chain = Workflow.of("chain", [Task("a", 1, 1, 1), Task("b", 1, 1, 1, ("a",)), Task("c", 1, 1, 1, ("a", "b"))])
    assert arrows(plot_shape(chain)) == 2
    axes = plot_shape(DIAMOND)
    assert arrows(axes) == 4 and words(axes) == ["a", "b", "c", "d"]
    assert axes.get_title(loc="left") == "diamond: 4 tasks, critical path 18 s"


def test_a_graph_that_cannot_be_drawn() -> None:
    with pytest.raises(InputError, match="shows one run, not 2"):
        draw("dag", [run_of(), run_of()])
    with pytest.raises(InputError, match="there is no workflow 7") as error:
        plot_dag([run_of()], workflow=7)
    assert error.value.hint == "they are 0 to 1"
    with pytest.raises(InputError, match="workflow 0 has not started"):
        plot_dag([simulated([pilot(DIAMOND)], [(0, 0)], [(0, 1, 1)], "pool:3")])
    with pytest.raises(InputError, match="there are no workflows in it"):
        plot_dag([sl.simulate(sl.Workload.of(submit=[0], runtime=[1], count=[1]), "pool:1")])


def test_a_gantt_chart_by_workflow() -> None:
    from matplotlib.colors import to_rgba

    found = colouring(run_of(), "workflow")
    owner = [-1, 0, 0, 0, 0, 1, 1, 1, 1]
    expected = [to_rgba(LIGHT if number < 0 else COLOURS[number]) for number in owner]
    assert np.allclose(found.colours, expected)
    assert list(found.names) == ["diamond 0", "diamond 1", "other jobs"]
    with pytest.raises(InputError, match="there are no workflows in it"):
        colouring(sl.simulate(sl.Workload.of(submit=[0], runtime=[1], count=[1]), "pool:1"), "workflow")


def test_medians_by_handling() -> None:
    """Turnarounds 27 and 23 of tasks, 24 and 18 of pilots."""
    runs = [run_of(), simulated([pilot(DIAMOND)], [(0, 0), (100, 0)], [(0, 6, 4)], "pool:4")]
    axes = plot_workflows(runs).axes[0]
    points = [line.get_ydata() for line in axes.lines if line.get_marker() not in ("None", "_", "", None)]
    assert {float(np.ravel(values)[0]) for values in points} >= {25.0, 21.0}
    with pytest.raises(InputError, match=r"no metric of workflows 'wait\.mean'"):
        plot_workflows(runs, metric="wait.mean")


def test_on_the_command_line(tmp_path: Path) -> None:
    run_of().save(tmp_path / "run")
    run, picture = str(tmp_path / "run"), str(tmp_path / "figure.png")

    def plotted(*given: str) -> Any:
        return CliRunner().invoke(app, ["plot", *given, "-o", picture, "--force"])

    assert plotted(run, "--kind", "dag", "--workflow", "1").exit_code == 0
    assert "4 tasks in" in plotted("diamond", "--kind", "dag").output
    assert plotted(run, run, "--kind", "workflows", "--label", "a", "--label", "b").exit_code == 0
    assert isinstance(plotted(run, "--kind", "workflows", "--x", "load").exception, InputError)
