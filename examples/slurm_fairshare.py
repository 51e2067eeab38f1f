"""What the studies of docs/slurm-fairshare.md say of each user: the mean wait before and after, phase by phase.

schedlab experiment run examples/slurm_fairshare.toml --out fairshare
python examples/slurm_fairshare.py fairshare

Where jobs have another owner after than before (examples/slurm_given_jobs.toml), it also compares the same jobs.
"""

import sys

import numpy as np
from scipy.stats import bootstrap

from schedlab.experiment.results import Results
from schedlab.model.run import Run
from schedlab.plot.measures import owner_name

Owners = list[str]  # of the jobs, in the order of the log


def main(folder: str) -> None:
    before, after = groups_of(Results(folder))
    old, new = owners_of(before[0]), owners_of(after[0])
    print("mean waits in minutes, and their difference with a bootstrap interval of 95 % for each user alone")
    tell(before, after, old, new)
    if old != new:
        same = [first if first == then else f"{first}'s given to {then}" for first, then in zip(old, new, strict=True)]
        print("the same jobs before and after")
        tell(before, after, same, same)


def groups_of(results: Results) -> list[list[Run]]:
    """The runs of each group, in the order of those repetitions that all groups have."""
    found: dict[str, dict[int, Run]] = {}
    for result in results.results:
        runs = found.setdefault(results.group_of(result["point"]), {})
        runs[result["repetition"]] = results.run(result["identity"])
    common = sorted(set.intersection(*map(set, found.values())))
    return [[runs[repetition] for repetition in common] for runs in found.values()]


def owners_of(run: Run) -> Owners:
    return [owner_name(run, "user", number) for number in run.jobs["user"].to_list()]


def waits(runs: list[Run], owners: Owners) -> dict[str, np.ndarray]:
    """Owner -> mean wait in minutes in each run."""
    names, place = np.unique(owners, return_inverse=True)
    jobs = np.bincount(place)
    means = [np.bincount(place, (run.jobs["start"] - run.jobs["submit"]).to_numpy()) / jobs / 60 for run in runs]
    return {str(name): np.array([mean[at] for mean in means]) for at, name in enumerate(names)}


def tell(before: list[Run], after: list[Run], old_owners: Owners, new_owners: Owners) -> None:
    waits_after = waits(after, new_owners)
    for user, old in waits(before, old_owners).items():
        new = waits_after[user]
        counts = dict.fromkeys([old_owners.count(user), new_owners.count(user)])
        line = f"{user} ({', then '.join(map(str, counts))} jobs): {old.mean():6.1f} -> {new.mean():6.1f}"
        if len(old) < 2:
            print(f"{line}, one pair of runs: nothing is known about the spread")
            continue
        change = new.mean() - old.mean()
        low, high = bootstrap((new - old,), np.mean, random_state=np.random.default_rng(0)).confidence_interval  # BCa
        certain = "longer" if low > 0 else "shorter" if high < 0 else "no difference can be told"
        share = 100 * change / old.mean()
        longer = f"longer in {(new > old).sum()} of {len(old)} phases"
        print(f"{line}, {change:+5.1f} min [{low:+.1f}, {high:+.1f}] ({share:+.0f} %), {longer}: {certain}")


if __name__ == "__main__":
    main(sys.argv[1])
