"""The learning environment: known choices give known schedules, rewards add up, Gymnasium is content."""

from __future__ import annotations

import subprocess
import sys
import warnings
from collections.abc import Callable
from math import log
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gymnasium
import numpy as np
import pytest
from benchmarks.python_env import PythonEnv
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env

import schedlab as sl
from schedlab.learn import SchedulingEnv
from schedlab.learn.observation import JOB_FEATURES, MACHINE_FEATURES

DEMO = Path(__file__).parents[2] / "examples" / "demo.swf"
ESTIMATE, PRESENT, FITS = (JOB_FEATURES.index(name) for name in ("estimate", "present", "fits"))

Choose = Callable[[dict[str, Any]], Any]


def first(seen: dict[str, Any]) -> int:
    return 0


def shortest(seen: dict[str, Any]) -> int:
    return int(np.argmin(seen["jobs"][:, ESTIMATE] + 2 * (1 - seen["jobs"][:, PRESENT])))


def by_estimate(seen: dict[str, Any]) -> Any:
    return -seen["jobs"][:, ESTIMATE]


def play(env: SchedulingEnv, choose: Choose, start: int) -> tuple[float, int]:
    """The sum of the rewards of an episode, and its steps."""
    seen, _ = env.reset(options={"start": start})
    total, steps, over = 0.0, 0, False
    while not over:
        seen, reward, over, truncated, _ = env.step(choose(seen))
        assert not truncated
        total, steps = total + reward, steps + 1
    return total, steps


@pytest.mark.parametrize(
    ("policy", "choose", "options"),
    [
        ("fcfs", first, {"backfill": False}),
        ("easy", first, {}),
        ("sjf", shortest, {"backfill": False}),
        ("easy:order=sjf,scan=fcfs", shortest, {}),
        ("easy:order=sjf", by_estimate, {"action": "priority"}),
        ("sjf", by_estimate, {"action": "priority", "backfill": False}),
        ("easy:place=best-fit", first, {"placement": "best-fit"}),
        ("easy:place=contiguous", first, {"placement": "contiguous"}),
    ],
)
def test_known_choices_give_the_native_schedule(policy: str, choose: Choose, options: dict[str, Any]) -> None:
    env = SchedulingEnv(DEMO, "64x4", window=256, **options)
    for start in (0, 600, 1744):
        total, _ = play(env, choose, start)
        mine, native = env.finish(), sl.simulate(env.jobs, env.cluster, policy)
        assert len(mine.jobs) == 256
        assert mine.jobs["start"].to_list() == native.jobs["start"].to_list()
        assert mine.jobs["nodes"].to_list() == native.jobs["nodes"].to_list()
        assert total == pytest.approx(-native.summary["bounded_slowdown"]["mean"], rel=1e-12)


def test_estimates_that_learn_are_those_of_the_native_run() -> None:
    env = SchedulingEnv(DEMO, "64x4", window=256, estimate="last-two")
    play(env, shortest, 600)
    native = sl.simulate(env.jobs, env.cluster, "easy:order=sjf,scan=fcfs", estimate="last-two")
    assert env.finish().jobs["start"].to_list() == native.jobs["start"].to_list()


def test_jobs_that_are_more_than_a_number_of_cores() -> None:
    """Memory and bounds per node: whether a job fits is a matter of nodes."""
    random = np.random.default_rng(3)
    requests = [sl.Request({"cores": 1, "memory": 2}), sl.Request({"cores": 2, "memory": 1}, per_node_max=1)]
    jobs = sl.Workload.of(
        requests=requests,
        submit=random.integers(0, 300, 120),
        runtime=random.integers(1, 60, 120),
        limit=random.integers(20, 90, 120),
        count=random.integers(1, 5, 120),
        request=random.integers(0, 2, 120),
    )
    for backfill, policy in ((True, "easy"), (False, "fcfs")):
        env = SchedulingEnv(jobs, sl.Cluster.uniform(4, cores=4, memory=6), backfill=backfill)
        total, _ = play(env, first, 0)
        native = sl.simulate(jobs, env.cluster, policy)
        assert env.finish().jobs["start"].to_list() == native.jobs["start"].to_list()
        assert total == pytest.approx(-native.summary["bounded_slowdown"]["mean"], rel=1e-12)


def test_random_choices_against_the_same_environment_in_python_alone() -> None:
    for seed in range(60):
        random = np.random.default_rng(seed)
        jobs = {
            "submit": np.sort(random.integers(0, 400, 40)).astype(float),
            "runtime": random.integers(1, 40, 40).astype(float),
            "limit": random.integers(1, 50, 40).astype(float),
            "count": random.integers(1, 9, 40),
        }
        env = SchedulingEnv(sl.Workload.of(**jobs), "pool:8", window=5)
        plain = PythonEnv(jobs, 8, window=5, episode=40)
        seen, _ = env.reset()
        expected, over = plain.reset(0), False
        while not over:
            for part, values in expected.items():
                np.testing.assert_allclose(seen[part], values, atol=1e-6)
            action = int(random.integers(5))
            seen, reward, over, _, _ = env.step(action)
            expected, cost, ended = plain.step(action)
            assert (reward, over) == (pytest.approx(cost), ended)


def test_the_head_is_protected_from_jobs_that_come_later() -> None:
    """4 cores, 3 in use until 100. At 1 the agent runs job 2 and leaves job 3 (4 cores); at 11, when job 2 ends, it
    picks job 3, which job 4 (new, 1 core, 1000 s) would delay."""
    jobs = sl.Workload.of(submit=[0, 1, 1, 11], runtime=[100, 10, 5, 1000], count=[3, 1, 4, 1])
    env = SchedulingEnv(jobs, "pool:4")
    _, steps = play(env, first, 0)
    assert env.finish().jobs["start"].to_list() == [0.0, 1.0, 100.0, 105.0]
    assert steps == 5


@pytest.mark.parametrize("metric", ["bounded_slowdown", "wait", "slowdown"])
def test_rewards_add_up_to_minus_the_mean(metric: str) -> None:
    """Jobs 2 and 4 have length 0 and no slowdown; job 3 is killed at its limit."""
    jobs = sl.Workload.of(
        submit=[0, 0, 1, 2, 3], runtime=[30, 0, 50, 0, 20], limit=[40, 5, 10, 5, 20], count=[4, 1, 2, 3, 4]
    )
    env = SchedulingEnv(jobs, "pool:4", reward=metric)
    total, _ = play(env, first, 0)
    summary = sl.simulate(jobs, env.cluster, "easy").summary
    assert total == pytest.approx(-summary[metric]["mean"], rel=1e-12)


def test_a_reward_of_your_own_gets_what_the_table_has() -> None:
    costs: list[dict[str, Any]] = []

    def core_hours(job: dict[str, Any]) -> float:
        costs.append(job)
        return (job["start"] - job["eligible"]) * job["cores"] / 3600

    env = SchedulingEnv(DEMO, "64x4", reward=core_hours)
    total, _ = play(env, first, 600)
    table = env.finish().jobs
    assert total == pytest.approx(-((table["start"] - table["eligible"]) * table["cores"]).mean() / 3600)
    rows = {row["job"]: row for row in table.rows(named=True)}
    for job in costs:
        assert {key: rows[job["job"]][key] for key in job} == job


def test_what_is_seen() -> None:
    """4 cores. Job 1 has 3 of them until 100; at 10 there are job 2 (2 cores), waiting since 4, and job 3 (1 core)."""
    jobs = sl.Workload.of(submit=[0, 4, 10], runtime=[50, 10, 10], limit=[100, 600, 30], count=[3, 2, 1])
    env = SchedulingEnv(jobs, "pool:4", window=3)
    env.reset()
    seen, reward, over, _, about = env.step(0)
    assert (reward, over, about["now"], about["action_mask"].tolist()) == (
        pytest.approx(-1 / 3),
        False,
        10.0,
        [1, 1, 0],
    )
    month = log(1 + 30 * 86400)
    expected = [
        [2 / 4, log(3) / log(5), log(601) / month, log(7) / month, 6 / 606, 0, 1],
        [1 / 4, log(2) / log(5), log(31) / month, 0, 0, 1, 1],
        [0, 0, 0, 0, 0, 0, 0],
    ]
    np.testing.assert_allclose(seen["jobs"], expected, rtol=1e-6)
    np.testing.assert_allclose(seen["machine"], [1 / 4, 2 / 5, 0, 3 / 7, 1, 1, 1, 1, 1, 1], rtol=1e-6)
    assert seen["machine"].shape == (len(MACHINE_FEATURES),)
    queue = SimpleNamespace(cores=np.array([2, 1]), estimate=np.array([600.0, 30.0]), eligible=np.array([4.0, 10.0]))
    assert env.job_features(queue, 10.0, 4).tolist() == seen["jobs"][:2, :5].tolist()


def test_a_choice_past_the_end_of_the_queue_is_the_last_job() -> None:
    jobs = sl.Workload.of(submit=[0, 0, 0], runtime=[10, 10, 10], count=[4, 4, 4])
    env = SchedulingEnv(jobs, "pool:4")
    play(env, lambda seen: 31, 0)
    assert env.finish().jobs["start"].to_list() == [20.0, 10.0, 0.0]


def test_scores_that_are_no_numbers_go_last() -> None:
    """At 0 jobs 1 and 2 are visible, at 10 jobs 1 and 3."""
    jobs = sl.Workload.of(submit=[0, 0, 0], runtime=[10, 10, 10], count=[4, 4, 4])
    env = SchedulingEnv(jobs, "pool:4", window=2, action="priority")
    play(env, lambda seen: np.array([np.nan, -5.0]), 0)
    assert env.finish().jobs["start"].to_list() == [20.0, 0.0, 10.0]


def test_jobs_that_are_not_visible_follow_in_the_order_of_arrival() -> None:
    """Two cores: of four jobs with one each, the visible one and the first of the others."""
    jobs = sl.Workload.of(submit=[0, 0, 0, 0], runtime=[10, 10, 10, 10], count=[1, 1, 1, 1])
    env = SchedulingEnv(jobs, "pool:2", window=1, action="priority")
    total, steps = play(env, lambda seen: np.array([-1.0]), 0)
    assert env.finish().jobs["start"].to_list() == [0.0, 0.0, 10.0, 10.0]
    assert (total, steps) == (-1.5, 2)


@pytest.mark.parametrize("backfill", [True, False])
def test_the_agent_is_asked_only_where_a_job_could_start(backfill: bool) -> None:
    env = SchedulingEnv(DEMO, "64x4", window=256, backfill=backfill)
    random = np.random.default_rng(5)
    seen, _ = env.reset(options={"start": 600})
    over = False
    while not over:
        assert seen["jobs"][:, FITS].any()
        seen, _, over, _, about = env.step(int(random.integers(256)))
    assert not seen["jobs"].any() and not about["action_mask"].any()


def test_what_cannot_run_is_left_out_and_nobody_is_cancelled() -> None:
    jobs = sl.Workload.of(id=[7, 8, 9], submit=[0, 1, 2], runtime=[10, 10, 10], count=[4, 5, 4], cancel=[99, 99, 3])
    env = SchedulingEnv(jobs, "pool:4")
    play(env, first, 0)
    assert env.finish().jobs.select("job", "start").rows() == [(7, 0.0), (9, 10.0)]
    with pytest.raises(sl.InputError, match="nothing to learn from"):
        SchedulingEnv(jobs, "pool:3")


def test_episodes_start_where_the_seed_or_the_option_says() -> None:
    env = SchedulingEnv(DEMO, "64x4", episode=100)
    assert env.starts == range(1901)

    def chosen(**how: Any) -> str:
        env.reset(**how)
        return env.jobs.name

    names = [chosen(seed=3), *(chosen() for _ in range(5))]
    assert len(set(names)) == 6
    assert [chosen(seed=3), *(chosen() for _ in range(5))] == names
    assert chosen(options={"start": 1900}) == "demo[1900:2000]"
    assert len(SchedulingEnv(DEMO, "64x4", episode=9999).starts) == 1


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"window": 0}, "window is 0"),
        ({"episode": 0}, "episode is 0"),
        ({"action": "jobs"}, "did you mean 'job'"),
        ({"reward": "bounded-slowdown"}, "did you mean 'bounded_slowdown'"),
        ({"render_mode": "human"}, "there is ansi"),
    ],
)
def test_mistakes_are_named(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(sl.InputError, match=message):
        SchedulingEnv(DEMO, "64x4", **wrong)


def test_out_of_turn() -> None:
    env = SchedulingEnv(DEMO, "64x4", episode=5)
    with pytest.raises(ResetNeeded, match="call reset"):
        env.step(0)
    for options, message in (({"start": 1996}, "last possible start is 1995"), ({"begin": 1}, "no option 'begin'")):
        with pytest.raises(sl.InputError, match=message):
            env.reset(options=options)
    env.reset()
    with pytest.raises(sl.InputError, match="no job at position -1"):
        env.step(-1)
    play(env, first, 0)
    with pytest.raises(ResetNeeded, match="is over"):
        env.step(0)
    env.close()
    with pytest.raises(ResetNeeded, match="call reset"):
        env.finish()


def test_the_run_of_an_episode() -> None:
    env = SchedulingEnv(DEMO, "64x4")
    env.reset(options={"start": 600})
    for _ in range(100):
        env.step(0)
    assert env.finish().summary["started"] < 256
    play(env, shortest, 600)
    run = env.finish()
    assert run is env.finish()
    assert run.summary["states"]["completed"] + run.summary["states"]["killed"] == 256
    assert sl.check(run) == []


def test_rendering() -> None:
    jobs = sl.Workload.of(submit=[0, 3600], runtime=[7200, 10], limit=[7200, 1800], count=[3, 1])
    env = SchedulingEnv(jobs, "pool:4", render_mode="ansi")
    env.reset()
    env.step(0)
    assert env.render() == (
        "1.00 h: 1 of 4 cores free, 1 jobs wait, 1 of 2 have started\n"
        "   0 job 2           1 cores for   0.50 h, has waited   0.00 h, fits"
    )
    env.step(0)
    assert env.render() == "all 2 jobs have started"


@pytest.mark.parametrize("action", ["job", "priority"])
def test_gymnasium_has_nothing_to_say(action: Any) -> None:
    made = gymnasium.make("schedlab/Scheduling-v0", workload=DEMO, cluster="64x4", action=action, render_mode="ansi")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(made.unwrapped)


def test_several_at_once() -> None:
    made = {"workload": DEMO, "cluster": "64x4", "episode": 20}
    together = gymnasium.make_vec("schedlab/Scheduling-v0", num_envs=3, vectorization_mode="sync", **made)
    seen, about = together.reset(seed=1)
    assert seen["jobs"].shape == (3, 32, len(JOB_FEATURES)) and about["action_mask"].shape == (3, 32)
    ended = np.zeros(3, bool)
    for _ in range(60):
        seen, rewards, over, truncated, _ = together.step(np.zeros(3, int))
        ended |= over
        assert rewards.shape == (3,) and not truncated.any()
    assert ended.all()
    together.close()


def test_one_of_several_plays_as_it_would_alone() -> None:
    def made() -> SchedulingEnv:
        return SchedulingEnv(DEMO, "64x4", episode=20)

    together, alone = gymnasium.vector.SyncVectorEnv([made, made]), made()
    together.reset(seed=[4, 5])
    alone.reset(seed=5)
    over = False
    while not over:
        _, rewards, _, _, _ = together.step([0, 0])
        _, reward, over, _, _ = alone.step(0)
        assert rewards[1] == reward


def test_without_gymnasium_the_error_says_what_to_install() -> None:
    code = "import sys; sys.modules['gymnasium'] = None; import schedlab.learn"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "ImportError: schedlab.learn needs gymnasium; install it with: pip install 'schedlab[learn]'" in done.stderr


def test_environments_that_are_dropped_in_the_middle_leave_nothing_behind() -> None:
    code = f"""
from schedlab.learn import SchedulingEnv
for seed in range(3):
    env = SchedulingEnv({str(DEMO)!r}, "64x4")
    env.reset(seed=seed)
    env.reset()
    env.step(0)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_an_episode_is_set_up_like_any_other_simulation(tmp_path: Path) -> None:
    """Observers, what counts of requests, and who kills at limits: as in `simulate`."""
    memory = sl.Request({"cores": 1, "memory": 3})
    jobs = sl.Workload.of(submit=[0, 0, 0], runtime=[20, 20, 20], limit=[10, 10, 10], requests=[memory])
    cluster = sl.Cluster.uniform(2, 4, memory=4)
    closed = "maintenance('n2', start=0, duration=100)"
    for options in ({}, {"requests": "cores"}, {"overrun": "run"}, {"observers": [closed]}):
        env = SchedulingEnv(jobs, cluster, window=4, episode=3, backfill=False, **options)
        env.reset(options={"start": 0})
        while not env.step(0)[2]:
            pass
        episode, same = env.finish(), sl.simulate(jobs, cluster, "none", **options)
        assert episode.jobs["start"].to_list() == same.jobs["start"].to_list(), options
        assert episode.jobs["end"].to_list() == same.jobs["end"].to_list(), options
