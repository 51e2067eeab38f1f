"""Table 2 of the ELiSE paper: does the makespan follow the mean speed-up of pairs?

    python table2.py marconi-npb256-speedups.csv --runtimes lm-aris.compute-NAS.json.gz [--full]

500 jobs of 256 processes on 100 nodes of 48 cores, in equal shares of some of the eight codes, in four orders. Which
codes, run times and formula the paper's table is of is not published: so all sets of codes whose mean speed-up rounds
to the printed one, two choices of run times, and both formulas. docs/coscheduling.md tells what comes out.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from itertools import combinations

import numpy as np
from pools import COMPACT, Case, makespan

from schedlab.analysis.beside import improvement
from schedlab.generate.pool.model import Application
from schedlab.heatmap.read import read_heatmap
from schedlab.model.heatmap import Heatmap

PRINTED = {1.07: 24.42, 1.10: 25.29, 1.12: 25.87, 1.155: 30.63}  # mean speed-up of pairs -> per cent
ROUNDING = 0.005  # half of the last digit that all four have
MACHINE, PROCESSES, JOBS, SHUFFLES = "100x48", 256, 500, 4
MOST = 6  # sets of codes for each line of the table, without --full


def sets_of_codes(heatmap: Heatmap, mean: float) -> list[tuple[str, ...]]:
    """Those of 2 codes or more whose pairs, a code beside itself included, have that mean speed-up."""
    every = (names for size in range(2, len(heatmap) + 1) for names in combinations(heatmap.names, size))
    return [names for names in every if abs(heatmap.part(names).friendliness() - mean) <= ROUNDING + 1e-9]


def scaled_runtimes(heatmap: Heatmap, measured: Heatmap) -> dict[str, float]:
    """Of the same code and class in another heatmap (bt.D -> bt.D.256): with the nearest number of processes, and as if
    it scaled perfectly from there."""
    found = {}
    for name in heatmap.names:
        same = [at for at, other in enumerate(measured.names) if other.startswith(f"{name}.")]
        nearest = min(same, key=lambda at: abs(np.log(measured.processes[at] / PROCESSES)))
        found[name] = float(measured.runtimes[nearest] * measured.processes[nearest] / PROCESSES)
    return found


def case(heatmap: Heatmap, names: Sequence[str], runtimes: dict[str, float]) -> Case:
    applications = [Application(name, PROCESSES, runtimes[name]) for name in names]
    return Case(heatmap.part(names), applications, MACHINE, JOBS)


def gain(shared: Case, shuffles: int, policy: str) -> dict[str, float]:
    """Means over the shuffles: against whole nodes, and of this what the heatmap adds to speed-ups of 1."""
    names = shared.heatmap.names
    ones = Heatmap.from_cells(names, np.ones((len(names), len(names))).tolist())
    neutral = Case(ones, shared.applications, shared.machine, shared.jobs)
    found = []
    for shuffle in range(shuffles):
        compact, rounded, beside = (
            makespan(each.run(name, shuffle)) for each, name in ((shared, COMPACT), (neutral, policy), (shared, policy))
        )
        both = improvement(beside, compact)
        found.append((both["faster"], both["shorter"], compact / rounded - 1, rounded / beside - 1))
    means = 100 * np.mean(found, axis=0)
    return dict(zip(("faster", "shorter", "rounding", "speed-up"), means.tolist(), strict=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("heatmap", help="of codes with 256 processes each")
    parser.add_argument("--runtimes", help="a heatmap that has run times of the same codes")
    parser.add_argument("--policy", default="cosched")
    parser.add_argument("--full", action="store_true", help="all sets of codes, in four orders")
    asked = parser.parse_args()
    heatmap = read_heatmap(asked.heatmap)
    choices = {"equal run times": dict.fromkeys(heatmap.names, 100.0)}
    if asked.runtimes:
        choices["measured run times"] = scaled_runtimes(heatmap, read_heatmap(asked.runtimes))
    shuffles = SHUFFLES if asked.full else 1
    for words, runtimes in choices.items():
        print(f"\n{words}: " + ", ".join(f"{name} {seconds:.0f} s" for name, seconds in runtimes.items()))
        print("pairs    printed  sets  T/T' - 1 (%)          1 - T'/T (%)          by rounding  by speed-up")
        for mean, printed in PRINTED.items():
            sets = sets_of_codes(heatmap, mean)
            chosen = sets if asked.full else sets[:: -(-len(sets) // MOST)] if sets else []
            gains = [gain(case(heatmap, names, runtimes), shuffles, asked.policy) for names in chosen]
            if not gains:
                print(f"{mean:<8} {printed:7.2f}  no set of codes has this mean")
                continue
            parts = {key: np.array([each[key] for each in gains]) for key in gains[0]}
            both = "  ".join(
                f"{parts[key].min():5.1f} to {parts[key].max():4.1f}, {parts[key].mean():4.1f}"
                for key in ("faster", "shorter")
            )
            mean_parts = f"{parts['rounding'].mean():11.1f}  {parts['speed-up'].mean():11.1f}"
            print(f"{mean:<8} {printed:7.2f}  {len(gains):4}  {both} {mean_parts}")


if __name__ == "__main__":
    main()
