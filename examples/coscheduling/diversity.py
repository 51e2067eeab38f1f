"""Process counts and co-scheduling: what is left of the gain when jobs have many sizes, and what Filler keeps of it.

    python diversity.py lm-aris.compute-NAS.json.gz --out diversity.png [--full] [--machine 200x20]

500 jobs of NPB classes D and E in equal shares, of four mixes of process counts from one to five, in four orders: how
much better the makespan is than on whole nodes, how many jobs start later than there, and by how much at most. The
paper does not state its machine: the 426 nodes of ARIS, with --full others too. docs/coscheduling.md tells what comes
out.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

import polars as pl
from pools import COMPACT, Case, makespan, of_heatmap

import schedlab as sl
from schedlab.analysis.beside import improvement
from schedlab.analysis.interval import student_interval
from schedlab.heatmap.read import read_heatmap
from schedlab.model.heatmap import Heatmap
from schedlab.plot.sweep import plot_sweep

MIXES = ((256,), (128, 256), (128, 256, 512), (64, 128, 256, 512, 1024))
CLASSES = ("D", "E")
POLICIES = ("cosched", "cosched:place=best-pair", "cosched:order=filler")
ARIS = "426x20"  # its thin nodes
EVERY_MACHINE = (ARIS, "100x20", "104x20", "128x20", "200x20", "256x20", "400x20")
SHUFFLES = 4


def of_mix(heatmap: Heatmap, sizes: Sequence[int]) -> list[str]:
    """Applications of these process counts; counts that are squares (121, 484) stand for the power of two nearby."""
    found = []
    for name, processes in zip(heatmap.names, heatmap.processes.tolist(), strict=True):
        near = any(0.9 * size < processes <= size for size in sizes)
        if near and (name.count(".") < 2 or name.split(".")[1] in CLASSES):
            found.append(name)
    return found


def delays(run: sl.Run, compact: sl.Run) -> dict[str, float]:
    """The share of jobs that start later than on whole nodes; the longest delay, against the makespan there."""
    starts = [each.jobs.sort("sequence")["start"].to_numpy() for each in (run, compact)]
    delay = starts[0] - starts[1]
    return {"later": float((delay > 1e-6).mean()), "longest": float(delay.max()) / makespan(compact)}


def rows_of(heatmap: Heatmap, machine: str, sizes: Sequence[int], policies: Sequence[str]) -> list[dict[str, Any]]:
    names = of_mix(heatmap, sizes)
    case = Case(heatmap.part(names), of_heatmap(heatmap, names), machine)
    rows = []
    for shuffle in range(SHUFFLES):
        compact = case.run(COMPACT, shuffle)
        for policy in policies:
            run = case.run(policy, shuffle)
            gain = improvement(makespan(run), makespan(compact))["faster"]
            told = {"machine": machine, "policy": policy, "sizes": ", ".join(map(str, sizes))}
            rows.append({**told, "faster": gain, **delays(run, compact)})
    return rows


def drawn(table: pl.DataFrame) -> pl.DataFrame:
    """Means over the orders with intervals, as `plot_sweep` takes them."""
    found = []
    for (machine, policy, sizes), part in table.group_by("machine", "policy", "sizes", maintain_order=True):
        interval = student_interval(part["faster"].to_numpy())
        ends = {"low": interval.low, "high": interval.high} if interval else {"low": None, "high": None}
        value = {"value": part["faster"].mean(), "n": len(part), **ends}
        found.append({"panel": machine, "line": policy, "x": sizes, **value})
    return pl.DataFrame(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("heatmap")
    parser.add_argument("--machine", action="append")
    parser.add_argument("--policy", action="append", help=f"beside {', '.join(POLICIES)}; once for each")
    parser.add_argument("--full", action="store_true", help="more machines")
    parser.add_argument("--out", help="the figure")
    asked = parser.parse_args()
    heatmap = read_heatmap(asked.heatmap)
    machines = asked.machine or (EVERY_MACHINE if asked.full else [ARIS])
    policies = [*POLICIES, *(asked.policy or [])]
    rows = [row for one in machines for sizes in MIXES for row in rows_of(heatmap, one, sizes, policies)]
    table = pl.DataFrame(rows)
    print("makespan faster (%) and, in brackets, jobs that start later than on whole nodes (%)")
    print("and the longest delay (% of the makespan there), by processes of a job")
    for (machine,), of_machine in table.group_by("machine", maintain_order=True):
        print(f"\n{machine:24}" + "".join(f"{policy:>26}" for policy in policies))
        for (sizes,), part in of_machine.group_by("sizes", maintain_order=True):
            cells = [part.filter(pl.col("policy") == policy) for policy in policies]
            means = [[100 * cell[key].mean() for key in ("faster", "later", "longest")] for cell in cells]
            print(
                f"{sizes:24}"
                + "".join(f"{f'{faster:+.1f} ({late:.0f}, {most:.0f})':>26}" for faster, late, most in means)
            )
    if asked.out:
        plot_sweep(drawn(table), asked.out, x="processes of a job", label="makespan faster", unit="%")


if __name__ == "__main__":
    main()
