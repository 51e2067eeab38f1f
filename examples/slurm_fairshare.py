"""What examples/slurm_fairshare.toml says of each user: the mean wait before and after, run by run in the same phase.

schedlab experiment run examples/slurm_fairshare.toml --out fairshare
python examples/slurm_fairshare.py fairshare
"""

import sys

import numpy as np

from schedlab.analysis.bootstrap import bootstrap_difference
from schedlab.analysis.fairness import users_table
from schedlab.experiment.results import Results


def waits(results: Results) -> list[dict[str, np.ndarray]]:
    """Of each policy, before and after: user -> mean wait in minutes in each repetition."""
    found: dict[str, dict[str, dict[int, float]]] = {}
    for result in results.results:
        of_users = found.setdefault(result["point"]["policy"], {})
        for row in users_table(results.run(result["identity"])).iter_rows(named=True):
            of_users.setdefault(row["user"], {})[result["repetition"]] = row["wait.mean"] / 60
    common = set.intersection(*(set(runs) for of_users in found.values() for runs in of_users.values()))
    return [
        {user: np.array([runs[repetition] for repetition in sorted(common)]) for user, runs in sorted(of_users.items())}
        for of_users in found.values()
    ]


def main(folder: str) -> None:
    before, after = waits(Results(folder))
    print("mean waits in minutes, and their difference with a bootstrap interval of 95 %")
    for user, old in before.items():
        new = after[user]
        change = bootstrap_difference(new, old)
        line = f"{user}: {old.mean():6.1f} -> {new.mean():6.1f}"
        if change is None:
            print(f"{line}, one pair of runs: nothing is known about the spread")
            continue
        certain = "longer" if change.low > 0 else "shorter" if change.high < 0 else "no difference can be told"
        share = 100 * change.estimate / old.mean()
        longer = f"longer in {(new > old).sum()} of {len(old)} phases"
        interval = f"[{change.low:+.1f}, {change.high:+.1f}]"
        print(f"{line}, {change.estimate:+5.1f} min {interval} ({share:+.0f} %), {longer}: {certain}")


if __name__ == "__main__":
    main(sys.argv[1])
