"""EASY under a power cap with plain EASY on the same log, and with EASY on the pool that has as much power."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import schedlab as sl
from benchmarks import once
from benchmarks.measure import Spent, interleaved, middle
from benchmarks.report import Line
from benchmarks.settings import ROOT, Settings
from benchmarks.workload import LogSpec

WATTS = {"idle": 60, "per_core": 15}


def lines(settings: Settings) -> Iterator[Line]:
    yield from _speed(settings)
    yield from _waits()


def _speed(settings: Settings) -> Iterator[Line]:
    """A cap at nine tenths of the cores: jobs wait for power, not for nodes."""
    spec = LogSpec(settings.jobs(200_000))
    watts = spec.nodes * WATTS["idle"] + 0.9 * spec.total_cores * WATTS["per_core"]
    calls = [partial(_time, spec, policy) for policy in ("easy", _capped(watts))]
    plain, capped = (middle(found).on(settings.clock) for found in interleaved(settings.repeats, *calls))
    yield Line(
        "power",
        f"EASY under a power cap against plain EASY, {spec.jobs:,} jobs, {spec.nodes} × {spec.cores} cores",
        capped / plain,
        at_most=3,
        note=f"{capped:.3f} s : {plain:.3f} s",
    )


def _waits() -> Iterator[Line]:
    """The demo log on 64 × 4 cores with 7,000 W, and on the 210 cores that these are enough for."""
    log, nodes = sl.read_workload(ROOT / "examples" / "demo.swf"), sl.read_cluster("64x4")
    capped = sl.simulate(log, nodes, _capped(7000)).summary["wait"]
    pool = sl.simulate(log, sl.read_cluster("pool:210"), "easy").summary["wait"]
    for name in ("mean", "max"):
        yield Line(
            "power",
            f"{name} wait of the demo log at 7,000 W against a pool of the same power",
            capped[name] / pool[name],
            at_most=1.1,
            note=f"{capped[name] / 3600:.2f} h : {pool[name] / 3600:.2f} h",
        )


def _capped(watts: float) -> str:
    return f"power-cap(watts={watts}, policy='easy', idle={WATTS['idle']}, per_core={WATTS['per_core']})"


def _time(spec: LogSpec, policy: str) -> Spent:
    return once.simulate(spec, policy)[0]
