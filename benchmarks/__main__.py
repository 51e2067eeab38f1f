"""`python -m benchmarks [NAME …] [--quick] [--json FILE]`: measure, and print one table."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks import (
    accasim,
    batsim,
    batsim_clients,
    conservative,
    elise,
    equals,
    explore,
    fidelity,
    figures,
    floor,
    generating,
    in_python,
    kube,
    kube_exact,
    learn,
    memory,
    planning,
    power,
    rates,
    reading,
    sacct,
    scale,
    scaling,
    slurm,
    study,
    submit,
    suite,
    watch,
    workflows,
)
from benchmarks.report import Line, show
from benchmarks.settings import Settings

BENCHMARKS: dict[str, Callable[[Settings], Iterator[Line]]] = {
    "accasim": accasim.lines,
    "batsim": batsim.lines,
    "floor": floor.lines,
    "scaling": scaling.jobs_lines,
    "nodes": scaling.nodes_lines,
    "conservative": conservative.lines,
    "planning": planning.lines,
    "power": power.lines,
    "rates": rates.lines,
    "elise": elise.lines,
    "memory": memory.lines,
    "scale-accasim": scale.beside_accasim,
    "python": in_python.lines,
    "submit": submit.lines,
    "workflows": workflows.lines,
    "watch": watch.lines,
    "learn": learn.lines,
    "reading": reading.lines,
    "sacct": sacct.lines,
    "generating": generating.lines,
    "study": study.lines,
    "figures": figures.lines,
    "explore": explore.lines,
    "equals": equals.lines,
    "slurm": slurm.lines,
    "kube": kube.lines,
    "kube-exact": kube_exact.lines,
}
LONG = {  # only if they are asked for
    "slurm-week": slurm.week,
    "fidelity": fidelity.lines,
    "batsim-schedulers": batsim.other_lines,
    "batsim-clients": batsim_clients.lines,
    "kube-repeats": kube_exact.repeats,
    "scale": scale.lines,
    "deep": conservative.deep_lines,
    "suite": suite.lines,
}


def main() -> int:
    options = _options()
    settings = Settings(quick=options.quick, repeats=options.repeats, clock=options.clock)
    busy = os.getloadavg()[0]
    if busy > 0.5:
        print(
            f"load average is {busy:.1f}: something else is running, times will be larger than they should",
            file=sys.stderr,
        )
    lines: list[Line] = []
    for name in options.name or BENCHMARKS:
        print(f"{name} …", file=sys.stderr, flush=True)
        lines += (BENCHMARKS | LONG)[name](settings)
    machine = f"{_processor()}, {os.cpu_count()} cores, Python {platform.python_version()}, {settings.clock} time"
    show(lines, ("QUICK, a tenth of the jobs · " if options.quick else "") + machine)
    if options.json:
        found = {"machine": machine, "quick": options.quick, "lines": [line.to_dict() for line in lines]}
        options.json.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n")
    return 1 if any(line.met is False for line in lines) else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m benchmarks", description="Measure every speed that schedlab promises.")
    known = f"{', '.join(BENCHMARKS)}; also {', '.join(LONG)}"
    parser.add_argument("name", nargs="*", help=f"which to run, by default {known}, which takes long")
    parser.add_argument("--quick", action="store_true", help="a tenth of the jobs: a first look, not a verdict")
    parser.add_argument("--repeats", type=int, default=5, help="measurements of which the median counts (default 5)")
    parser.add_argument(
        "--clock", choices=("wall", "cpu"), default="wall", help="what the ratios are made of (default wall)"
    )
    parser.add_argument("--json", type=Path, help="also write the lines to this file")
    options = parser.parse_args()
    if unknown := set(options.name) - set(BENCHMARKS | LONG):
        parser.error(f"unknown benchmark {', '.join(sorted(unknown))}; there are {known}")
    return options


def _processor() -> str:
    information = Path("/proc/cpuinfo")
    found = (
        [line for line in information.read_text().splitlines() if line.startswith("model name")]
        if information.exists()
        else []
    )
    return found[0].split(":", 1)[1].strip() if found else platform.processor() or platform.machine()


if __name__ == "__main__":
    sys.exit(main())
