"""An estimator with scikit-learn: run times learnt from jobs that have ended, for EASY to plan with.

Needs scikit-learn (pip install scikit-learn). Trained anew after every 200 jobs; until then the limit is believed.
"""

from pathlib import Path

import numpy as np

import schedlab as sl


class Forest(sl.Estimator):
    """Gradient-boosted trees on cores, limit, hour of day and what the user's last job took."""

    def __init__(self, every=200, most=5000):
        self.every, self.most = every, most
        self.asked, self.rows, self.times, self.last, self.model = {}, [], [], {}, None

    def estimate(self, job):
        row = [job.cores, job.limit, job.submit / 3600 % 24, self.last.get(job.user, -1.0)]
        self.asked[job.sequence] = row
        if self.model is None:
            return job.limit
        return float(np.clip(np.exp(self.model.predict([row])[0]), 1.0, job.limit))

    def ended(self, job, runtime):
        self.rows.append(self.asked.pop(job.sequence))
        self.times.append(np.log(max(runtime, 1.0)))
        self.last[job.user] = runtime
        if len(self.times) % self.every == 0:
            from sklearn.ensemble import HistGradientBoostingRegressor

            learner = HistGradientBoostingRegressor(max_iter=40, random_state=0)
            self.model = learner.fit(self.rows[-self.most :], self.times[-self.most :])


if __name__ == "__main__":
    jobs = sl.read_workload(Path(__file__).parent / "demo.swf")
    cluster = sl.Cluster.uniform(64, cores=4)
    for estimate in ("limit", "last-two", "user-mean", "nearest(5)", Forest()):
        run = sl.simulate(jobs, cluster, "easy:scan=sjf", estimate=estimate)
        error = (run.jobs["estimate"] - (run.jobs["end"] - run.jobs["start"])).abs().median()
        name = run.options["estimate"]
        print(f"{name:10} median error {error:6.0f} s, mean wait {run.summary['wait']['mean'] / 3600:.2f} h")
