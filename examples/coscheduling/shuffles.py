"""Figure 10 of the ELiSE paper: what does the makespan follow, over 100 orders of the same jobs?

    python shuffles.py lm-aris.compute-NAS.json.gz --out shuffles.png [--full] [--policy POLICY …]

500 jobs of the applications of a heatmap (of at most 512 processes), in equal shares, on 200 nodes of 20 cores: how
much better the makespan is than on whole nodes, against the mean speed-up of the jobs, the utilisation until nobody
waits, and the share of jobs that are slowed down. docs/coscheduling.md tells what comes out.
"""

from __future__ import annotations

import argparse
from typing import Any

import polars as pl
from pools import COMPACT, Case, makespan, of_heatmap

from schedlab.analysis.beside import improvement
from schedlab.analysis.correlation import correlation
from schedlab.heatmap.read import read_heatmap
from schedlab.plot.improvement import REASONS, plot_improvement

POLICIES = ("cosched", "cosched:place=best-pair", "cosched:threshold=0.9", "cosched:place=best-pair,threshold=1")


def row(case: Case, policy: str, shuffle: int, compact: float) -> dict[str, Any]:
    run = case.run(policy, shuffle)
    found = {f"improvement.{name}": value for name, value in improvement(makespan(run), compact).items()}
    summary = run.summary
    reasons = {key: summary["speedup"]["mean"] if key == "speedup.mean" else summary[key] for key in REASONS}
    return {"group": policy, "shuffle": shuffle, **found, **reasons}


def told(of_policy: pl.DataFrame) -> str:
    """The mean, the range, and with what it goes together."""
    better = 100 * of_policy["improvement.faster"]
    values = {key: of_policy[key] for key in REASONS}
    found = [correlation(better, values[key]) for key in REASONS]
    together = "  ".join("    –" if r is None else f"{r:+.2f}" for r in found)
    speedup, use, slowed = (values[key].mean() for key in REASONS)
    means = f"{speedup:.3f}  {100 * use:4.1f}  {100 * slowed:4.1f}"
    return f"{better.mean():+5.1f} ({better.min():+5.1f} to {better.max():+5.1f})   {means}   {together}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("heatmap")
    parser.add_argument("--policy", action="append", help=f"beside {', '.join(POLICIES)}; once for each")
    parser.add_argument("--machine", default="200x20")
    parser.add_argument("--most", type=int, default=512, help="processes of a job")
    parser.add_argument("--jobs", type=int, default=500)
    parser.add_argument("--full", action="store_true", help="100 orders, not 20")
    parser.add_argument("--out", help="the figure")
    asked = parser.parse_args()
    heatmap = read_heatmap(asked.heatmap)
    names = [name for name, size in zip(heatmap.names, heatmap.processes, strict=True) if 0 < size <= asked.most]
    case = Case(heatmap.part(names), of_heatmap(heatmap, names), asked.machine, asked.jobs)
    policies, rows = [*POLICIES, *(asked.policy or [])], []
    for shuffle in range(100 if asked.full else 20):
        compact = makespan(case.run(COMPACT, shuffle))
        rows += [row(case, policy, shuffle, compact) for policy in policies]
    table = pl.DataFrame(rows)
    print(f"{asked.jobs} jobs of {len(names)} applications on {asked.machine}, {len(rows) // len(policies)} orders")
    print(f"{'':36} makespan faster (%)        speed-up  use %  slow %   r with speed-up, use, slow")
    for policy in policies:
        print(f"{policy:36} {told(table.filter(pl.col('group') == policy))}")
    print(f"{'all of them':36} {told(table)}")
    if asked.out:
        plot_improvement(table, asked.out)


if __name__ == "__main__":
    main()
