"""The picture of the README: three schedulers on the bundled log, drawn to docs/images/readme.png."""

import sys
from pathlib import Path

import schedlab as sl
from schedlab.plot.comparison import plot_comparison

here = Path(__file__).parent
jobs = sl.read_workload(here / "demo.swf")
cluster = sl.Cluster.uniform(64, cores=4)
runs = [sl.simulate(jobs, cluster, policy) for policy in ("fcfs", "easy", "easy:order=sjf")]

picture = Path(sys.argv[1]) if len(sys.argv) > 1 else here.parent / "docs" / "images" / "readme.png"
picture.parent.mkdir(parents=True, exist_ok=True)
plot_comparison(runs, picture, title="Two weeks of the same 2,000 jobs under three schedulers (64 nodes of 4 cores)")
print(picture)
