"""Jobs for the micro cluster, in the manner of section 4.1 of "A Slurm Simulator" (Simakov et al., 2017).

    python examples/micro_cluster/make_jobs.py examples/micro_cluster/jobs.events
    python examples/micro_cluster/make_jobs.py examples/micro_cluster/jobs_given.events --give 0.7

Five users in two accounts submit 500 jobs in eleven hours: of one core to eight nodes, some on one kind of node only,
some with much memory or GPUs. User 3 works much and user 4 little, so that fair-share has something to do. With --give
user 3 submits this share of user 4's jobs instead; nothing else about them changes.
"""

import argparse
from pathlib import Path

import numpy as np

JOBS, HOURS = 500, 11.0
USERS = [("user1", "account1", 0.18), ("user2", "account1", 0.18), ("user3", "account1", 0.34)]
USERS += [("user4", "account2", 0.10), ("user5", "account2", 0.20)]
# Weight, tasks, and what else the job asks for.
KINDS = [(weight, tasks, "") for weight, tasks in ((2, 1), (2, 6), (2, 12), (1, 24), (1, 36), (1, 48), (0.5, 96))]
for node in ("CPU-N", "CPU-M"):
    KINDS += [
        (weight, tasks, f"--constraint={node}") for weight, tasks in ((1, 1), (1, 6), (1, 12), (0.7, 24), (0.7, 48))
    ]
KINDS += [(0.3, tasks, "--mem=500000") for tasks in (1, 6, 12)]
KINDS += [(0.3, tasks, f"--gres=gpu:{gpus}") for tasks, gpus in ((1, 1), (2, 2), (12, 2))]


GIVER, TAKER = 3, 2  # in USERS: user 4 and user 3


def lines(give: float = 0.0, seed: int = 2017) -> list[str]:
    random = np.random.default_rng(seed)
    submits = np.sort(random.uniform(0, HOURS * 3600, JOBS)).astype(int)
    users = random.choice(len(USERS), JOBS, p=[user[2] for user in USERS])
    users = given(users, give, seed)
    weights = np.array([kind[0] for kind in KINDS])
    kinds = random.choice(len(KINDS), JOBS, p=weights / weights.sum())
    limits = random.integers(5, 31, JOBS)  # minutes
    shares = np.clip(random.uniform(-0.1, 1.1, JOBS), 0, 1)  # of the limit: some end at once, some run into it
    found = []
    for job in range(JOBS):
        (user, account, _), (_, tasks, more) = USERS[users[job]], KINDS[kinds[job]]
        runtime = int(shares[job] * limits[job] * 60)
        found.append(
            f"-dt {submits[job]} -e submit_batch_job | -J jobid_{1001 + job} -sim-walltime {runtime} "
            f"--uid={user} -A {account} -t 00:{limits[job]:02d}:00 -n {tasks} --ntasks-per-node={min(tasks, 12)} "
            f"-p normal {more + ' ' if more else ''}job.sh"
        )
    return found


def given(users: np.ndarray, share: float, seed: int) -> np.ndarray:
    """Who submits each job once the taker has this share of the giver's, drawn by random numbers of their own."""
    owned = np.flatnonzero(users == GIVER)
    moved = np.random.default_rng([seed, GIVER]).choice(owned, round(share * len(owned)), replace=False)
    return np.where(np.isin(np.arange(len(users)), moved), TAKER, users)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("file", type=Path)
    parser.add_argument("--give", type=float, default=0.0, metavar="SHARE")
    asked = parser.parse_args()
    asked.file.write_text("\n".join(lines(asked.give)) + "\n")
