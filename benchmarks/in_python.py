"""What policies in Python cost: a whole one beside AccaSim's, and an order in Python beside the same one built in."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import schedlab as sl
from benchmarks import accasim, once, subject
from benchmarks.measure import interleaved, middle
from benchmarks.report import Line
from benchmarks.settings import ROOT, Settings
from benchmarks.workload import LogSpec, columns, write_log

EXAMPLES = ROOT / "examples"
ORDERS = {"saf": "saf", "lxf": "lxf"}  # built in, and its twin in examples/orders.py


def lines(settings: Settings) -> Iterator[Line]:
    spec = LogSpec(settings.jobs(20_000))
    result = accasim.run(accasim.environment(), spec, write_log(spec, settings.folder), "easy", settings.folder)
    jobs, cluster = subject.in_memory(columns(spec)), sl.Cluster.uniform(spec.nodes, cores=spec.cores)
    native = subject.starts(sl.simulate(jobs, cluster, "easy"))
    for file in ("easy_in_python.py", "easy_with_a_reservation.py"):
        policy = f"{EXAMPLES / file}:Easy"
        equal = int(np.sum(subject.starts(sl.simulate(jobs, cluster, policy)) == native))
        if equal != spec.jobs:
            raise RuntimeError(f"{file} starts {spec.jobs - equal} of {spec.jobs} jobs at other times than easy")
        ours = middle([once.simulate(spec, policy)[0] for _ in range(settings.repeats)]).on(settings.clock)
        theirs = result.simulation.on(settings.clock)
        yield Line(
            "python",
            f"{file} against AccaSim's own simulation time with EASY, {spec.jobs:,} jobs",
            theirs / ours,
            at_least=20,
            note=f"{theirs:.2f} s : {ours:.3f} s; all starts equal to those of the native easy",
        )

    spec = LogSpec(settings.jobs(200_000))
    for name, twin in ORDERS.items():
        policies = (f"easy:order={EXAMPLES / 'orders.py'}:{twin}", f"easy:order={name}")
        python, built_in = (
            middle(measured).on(settings.clock)
            for measured in interleaved(
                settings.repeats, *(lambda p=policy: once.simulate(spec, p)[0] for policy in policies)
            )
        )
        dynamic = name == "lxf"
        yield Line(
            "python",
            f"order {name} in Python with native EASY against the same built in, {spec.jobs:,} jobs",
            python / built_in,
            at_most=None if dynamic else 3,
            note=f"{python:.4f} s : {built_in:.4f} s"
            + ("; it depends on the time: asked again at every pass" if dynamic else "; asked once for each batch"),
        )
