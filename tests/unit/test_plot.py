"""The picture that compares policies."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from tests.batches import TWO_NODES, config, job_batch, time_batch

from schedlab.engine.store import MemoryWriter
from schedlab.model.run import Run
from schedlab.plot.comparison import plot_comparison


def five_jobs(policy: str) -> Run:
    with MemoryWriter(TWO_NODES) as writer:
        writer.write_jobs(job_batch())
        writer.write_timeline(time_batch())
        return writer.finish(config(policy))


def test_a_line_per_policy_in_each_part(tmp_path: Path) -> None:
    figure = plot_comparison([five_jobs("easy"), five_jobs("fcfs")], tmp_path / "picture.png", title="five jobs")
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")
    assert [len(axes.get_lines()) for axes in figure.axes] == [2, 2, 2]
    waits = figure.axes[0].get_lines()[0]
    np.testing.assert_allclose(np.asarray(waits.get_xdata()) * 3600, [0, 0, 0, 70, 90])
    np.testing.assert_allclose(waits.get_ydata(), [0, 25, 50, 75, 100])
