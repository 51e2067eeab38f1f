"""Where plug-ins can stand: policies, orders, placements, estimates, readers, metrics."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.batches import FIVE_JOBS, TWO_NODES, config, job_batch, time_batch
from tests.plugin_files import MINE, fake_distribution

from schedlab.analysis.compare import compare
from schedlab.engine.store import MemoryWriter
from schedlab.model.errors import InputError
from schedlab.model.plugins import load
from schedlab.model.run import Run
from schedlab.policy.estimates import parse_estimate
from schedlab.policy.orders import parse_order
from schedlab.policy.placements import Placement, parse_placement
from schedlab.policy.spec import parse_policy
from schedlab.workload.read import read_workload

# Policies, orders, placements, estimates


@pytest.mark.parametrize(
    ("text", "canonical", "folder"),
    [
        ("mine.py:Plain", "mine.py:Plain", "mine.Plain"),
        (" mine.py : Plain ", "mine.py:Plain", "mine.Plain"),
        ("easy:order=mine.py:by_area", "easy:order=mine.py:by_area", "easy-order=mine.by_area"),
        (
            "easy: place = mine.py:left_to_right, order=mine.py:by_area",
            "easy:order=mine.py:by_area,place=mine.py:left_to_right",
            "easy-order=mine.by_area,place=mine.left_to_right",
        ),
        ("none:order=mine.py:by_area", "none:order=mine.py:by_area", "none-order=mine.by_area"),
        ("easy:order=sjf,scan=mine.py:by_age", "easy:order=sjf,scan=mine.py:by_age", "easy-order=sjf,scan=mine.by_age"),
        ("mine.py:Cap(watts=4000)", "mine.py:Cap(watts=4000)", "mine.Cap_watts=4000-…"),
        ("./mine.py:Plain", "./mine.py:Plain", "mine.Plain-…"),
        ("mine.py:Cap(3,margin=')')", "mine.py:Cap(watts=3,margin=')')", "mine.Cap_watts=3,margin=-…"),
        (
            "skip:order=mine.py:by_age(power='),('),depth=3",
            "skip:order=mine.py:by_age(power='),('),depth=3",
            "skip-order=mine.by_age_power=_,_,depth=3-…",
        ),
    ],
)
def test_policies(mine: Path, monkeypatch: pytest.MonkeyPatch, text: str, canonical: str, folder: str) -> None:
    monkeypatch.chdir(mine.parent)
    spec = parse_policy(text)
    assert str(spec) == canonical
    assert parse_policy(canonical) == spec
    assert hash(parse_policy(canonical)) == hash(spec)
    assert re.sub(r"-[0-9a-f]{8}$", "-…", spec.folder) == folder


def test_a_whole_policy(mine: Path) -> None:
    spec = parse_policy(f"{mine}:Cap(watts=3)")
    assert spec.plugin is not None
    assert (spec.plugin.kind, spec.backfill, spec.order.text, spec.place.name) == (
        "policy",
        "none",
        "fcfs",
        "first-fit",
    )
    assert parse_policy("easy").plugin is None


def test_an_order_that_looks_at_the_clock_is_dynamic(mine: Path) -> None:
    assert [parse_order(f"{mine}:{name}").dynamic for name in ("by_area", "by_age", "Weighted")] == [False, True, True]
    order = parse_order(f"{mine}:by_age(power=2)")
    assert (order.program, order.text) == ((), f"{mine}:by_age(power=2)")
    assert order.plugin is not None
    assert order.plugin.make().keywords == {"power": 2}


def test_a_placement(mine: Path) -> None:
    place = parse_placement(f"{mine}:left_to_right")
    assert place == Placement("plugin", plugin=load("placement", f"{mine}:left_to_right"))
    assert str(place) == f"{mine}:left_to_right"


def test_an_estimate(mine: Path) -> None:
    estimate = parse_estimate(f"{mine}:Mine")
    assert (estimate.kind, str(estimate)) == ("plugin", f"{mine}:Mine")
    assert estimate.plugin is not None
    assert estimate.plugin.kind == "estimator"


def test_a_mistake_in_a_file_is_shown_there(mine: Path) -> None:
    for text in (f"easy:order={mine}:by_aera", f"easy:place={mine}:left", f"{mine}:Capp"):
        with pytest.raises(InputError, match="has no"):
            parse_policy(text)
    with pytest.raises(InputError) as caught:
        parse_policy(f"easy:order={mine}x/mine.py:by_area")
    assert caught.value.where == f"{mine}x/mine.py"


def test_built_in_names_ask_no_package() -> None:
    code = (
        "import sys\n"
        "from schedlab.policy.spec import parse_policy\nfrom schedlab.policy.estimates import parse_estimate\n"
        "parse_policy('easy:order=sjf,scan=cores*2,place=random(3)'), parse_policy('wfp3'), parse_estimate('limit*2')\n"
        "print({'importlib.metadata', 'numpy', 'polars', 'pydantic', 'matplotlib'} & {*sys.modules})"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "set()"


@pytest.mark.usefixtures("acme_package")
def test_registered_names() -> None:
    spec = parse_policy("acme-cap(watts=7)")
    assert (spec.text, spec.folder[:17]) == ("acme-cap(watts=7)", "acme-cap_watts=7-")
    assert spec.plugin is not None
    assert (spec.plugin.source, spec.plugin.make().watts) == ("acme 1.2", 7)
    assert parse_policy("easy:order=acme-area,place=acme-left").text == "easy:order=acme-area,place=acme-left"
    assert parse_order("acme-age(power=2)").dynamic
    assert str(parse_estimate("acme-limit")) == "acme-limit"
    with pytest.raises(InputError, match=r"did you mean 'acme-cap'\?"):
        parse_policy("acme-cup")


# Readers


def test_a_reader(mine: Path, tmp_path: Path) -> None:
    log = tmp_path / "three.txt"
    log.write_text("10\n20\n30\n")
    workload = read_workload(log, reader=f"{mine}:read_xyz(count=2)")
    assert workload.jobs["runtime"].to_list() == [10, 20, 30]
    assert workload.jobs["count"].to_list() == [2, 2, 2]
    assert workload.report.kept == 3
    assert len(workload.content_hash) == 64  # known although the reader did not say it
    assert read_workload(log, reader=load("reader", f"{mine}:read_xyz").make()).name == "three"


def test_a_reader_that_fails(mine: Path, tmp_path: Path) -> None:
    log = tmp_path / "three.txt"
    log.write_text("ten")
    with pytest.raises(InputError, match="could not convert string to float: 'ten'") as caught:
        read_workload(log, reader=f"{mine}:read_xyz")
    line = MINE.splitlines().index("    times = [float(line) for line in path.read_text().split()]") + 1
    assert caught.value.where == f"{mine}, line {line}"
    with pytest.raises(InputError, match="gave a list, expected a Workload"):
        read_workload(log, reader=f"{mine}:read_nothing")
    with pytest.raises(InputError, match="no such file"):
        read_workload(tmp_path / "four.txt", reader=f"{mine}:read_xyz")


def test_a_registered_reader_is_found_by_the_name_of_the_file(acme_package: Path, tmp_path: Path) -> None:
    for name in ("log.xyz", "LOG.XYZ.txt"):
        (tmp_path / name).write_text("10 20")
        assert len(read_workload(tmp_path / name)) == 2
    assert read_workload(tmp_path / "log.xyz", reader="acme-xyz").report.kept == 2
    with pytest.raises(InputError, match="columns"):
        read_workload(tmp_path / "log.xyz", reader="swf")
    fake_distribution(
        acme_package, MINE + "\nread_xyz.extensions = ['.xyz']\n", "[schedlab.readers]\nb = b_plugins:read_xyz\n", "b"
    )
    with pytest.raises(InputError, match="several readers") as caught:
        read_workload(tmp_path / "log.xyz")
    assert caught.value.hint == "say which: --reader acme-xyz or --reader b"


# Metrics

METRICS = """
def last_end(run):
    return run.tables.column("end").max()

last_end.unit = "time"
last_end.better = "lower"

def several(run):
    return {"a.b": 1, "not known": float("nan"), "policy length": len(run.policy)}

def text(run):
    return "long"

def odd(run):
    return 1

odd.unit = "furlong"

def fails(run):
    return run.nothing
"""


def finished(policy: str, later: float = 0) -> Run:
    jobs = [(*row[:3], row[3] + later, row[4] + later, *row[5:]) for row in FIVE_JOBS]
    with MemoryWriter(TWO_NODES) as writer:
        writer.write("jobs", job_batch(jobs))
        writer.write("timeline", time_batch())
        return writer.finish(config(policy))


def measured(tmp_path: Path, *names: str) -> Any:
    path = tmp_path / "metrics.py"
    path.write_text(METRICS)
    metrics = [load("metric", f"{path}:{name}") for name in names]
    return compare([finished("slow", 50), finished("quick")], metrics=metrics)


def test_metrics(tmp_path: Path) -> None:
    table = measured(tmp_path, "last_end", "several")
    assert [metric.label for metric in table.metrics] == ["last end", "a.b", "not known", "policy length"]
    assert [(metric.unit, metric.better) for metric in table.metrics[:2]] == [("time", "lower"), ("number", None)]
    assert [table.values(metric) for metric in table.metrics] == [[210, 160], [1, 1], [None, None], [4, 5]]
    assert table.best(table.metrics[0]) == {1}
    assert table.rows[0].summary["metrics"]["last_end"] == 210
    assert "metrics" not in compare([finished("easy")]).rows[0].summary


def test_metrics_that_do_not_work(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="text is 'long', expected a number"):
        measured(tmp_path, "text")
    with pytest.raises(InputError, match="its unit cannot be 'furlong'"):
        measured(tmp_path, "odd")
    with pytest.raises(InputError, match="gives 'last_end' too"):
        measured(tmp_path, "last_end", "last_end")
    with pytest.raises(InputError, match="AttributeError") as caught:
        measured(tmp_path, "fails")
    line = METRICS.splitlines().index("    return run.nothing") + 1
    assert caught.value.where == f"{tmp_path / 'metrics.py'}, line {line}"
