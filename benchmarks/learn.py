"""The environment of `schedlab.learn`: its steps per second beside those of the same environment in Python alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

import schedlab as sl
from benchmarks import subject
from benchmarks.measure import call, interleaved, middle
from benchmarks.python_env import PythonEnv
from benchmarks.report import Line
from benchmarks.settings import Settings
from benchmarks.workload import LogSpec, columns
from schedlab.learn import SchedulingEnv

EPISODES = 5
# Jobs of an episode, load, jobs visible. 128 are visible in RLScheduler (Zhang et al., SC'20).
QUEUES = {"short queue": (256, 0.9, 32), "long queue": (2048, 2.0, 128)}

Choice = tuple[Any, float, bool]  # what is seen after it, the reward, whether the episode is over
Played = tuple[list[float], list[Any]]  # rewards and observations


def lines(settings: Settings) -> Iterator[Line]:
    for name, (episode, load, window) in QUEUES.items():
        yield from _speed(settings, name, episode, load, window)


def _speed(settings: Settings, name: str, episode: int, load: float, window: int) -> Iterator[Line]:
    """Both make the same random choices; both have to see the same and get the same rewards."""
    spec = LogSpec((EPISODES + 1) * episode, nodes=64, load=load)
    jobs, pool = columns(spec), sl.Cluster.of_cores(spec.total_cores)
    env = SchedulingEnv(subject.in_memory(jobs), pool, window=window, episode=episode)
    plain = PythonEnv(jobs, spec.total_cores, window, episode)
    choices = np.random.default_rng(1).integers(0, window, 10 * spec.jobs).tolist()
    starts = range(0, EPISODES * episode, episode)

    def step(action: int) -> Choice:
        seen, reward, over, _, _ = env.step(action)
        return seen, reward, over

    games = (
        partial(_play, lambda start: env.reset(options={"start": start}), step, starts, choices),
        partial(_play, plain.reset, plain.step, starts, choices),
    )
    steps = _agree(*(game() for game in games))
    measured = interleaved(settings.repeats, *(partial(call, game) for game in games))
    native, other = (middle([spent for spent, _ in found]).on(settings.clock) for found in measured)
    yield Line(
        "learn",
        f"steps a second of SchedulingEnv, {name}, {window} jobs visible",
        steps / native,
        "/s",
        note=f"{steps:,} steps in {EPISODES} episodes of {episode} jobs, random choices, easy",
    )
    yield Line(
        "learn",
        f"as many as the same environment in Python alone, {name}",
        other / native,
        note=f"{steps / native:,.0f} : {steps / other:,.0f} steps a second, all rewards and observations equal",
    )


def _play(reset: Callable[[int], Any], step: Callable[[int], Choice], starts: range, choices: list[int]) -> Played:
    rewards: list[float] = []
    observations = []
    for start in starts:
        reset(start)
        over = False
        while not over:
            seen, reward, over = step(choices[len(rewards)])
            rewards.append(reward)
            observations.append(seen)
    return rewards, observations


def _agree(one: Played, other: Played) -> int:
    """How many steps both took; an error if they are not the same."""
    if len(one[0]) != len(other[0]) or not np.allclose(one[0], other[0], rtol=1e-9):
        raise RuntimeError("the two environments do not give the same rewards")
    for mine, theirs in zip(one[1], other[1], strict=True):
        if any(not np.allclose(mine[key], theirs[key], atol=1e-5) for key in mine):
            raise RuntimeError("the two environments do not show the same")
    return len(one[0])
