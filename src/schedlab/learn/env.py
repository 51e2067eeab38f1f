"""The environment: an agent chooses which waiting job runs next, on windows of a log (docs/learning.md)."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from numpy.typing import NDArray

from schedlab.engine.scenario import Scenario
from schedlab.learn import observation
from schedlab.learn.cost import Bill, Cost, find_cost
from schedlab.learn.episode import Episode, Rules
from schedlab.learn.log import Log
from schedlab.learn.render import rendered
from schedlab.model.arguments import check_arguments, shown
from schedlab.model.cluster import Cluster
from schedlab.model.errors import InputError
from schedlab.model.run import Run
from schedlab.model.suggest import did_you_mean
from schedlab.model.workload import Workload

Kind = Literal["job", "priority"]
LARGEST_WINDOW = 1_000_000
Action: TypeAlias = int | np.integer[Any] | NDArray[Any]


class SchedulingEnv(gymnasium.Env[observation.Observation, Action]):
    """An episode is a window of consecutive jobs on an empty cluster; the agent is asked whenever one could start.

    `action="job"`: the position of the job to run next; one past the end of the queue means the last. If it does not
    fit, it becomes the head that EASY backfilling protects (`backfill=True`), or everybody waits (`False`).
    `action="priority"`: a score for each visible job; all are tried in that order, highest first.

    `options` are the other fields of a `Scenario`: `estimate`, `overrun`, `passes`, `requests`, `observers` (texts or
    classes: each episode makes its own).

    The rewards of an episode add up to minus the mean cost of its jobs. `reward` names a metric, or is a function of a
    job (a dictionary with the columns of `Run.jobs`) that returns its cost.
    """

    metadata = {"render_modes": ["ansi"], "render_fps": 4}  # noqa: RUF012, as Gymnasium declares it
    job_features = staticmethod(observation.job_features)

    def __init__(
        self,
        workload: Workload | str | Path,
        cluster: Cluster | str | Path | None = None,
        *,
        window: int = 32,
        episode: int = 256,
        action: Kind = "job",
        reward: str | Cost = "bounded_slowdown",
        backfill: bool = True,
        placement: str = "first-fit",
        render_mode: str | None = None,
        **options: Any,
    ) -> None:
        _refuse_nonsense(window, episode, action, render_mode)
        check_arguments("bool", backfill=backfill)
        check_arguments("str", placement=placement)
        scenario = Scenario.of(workload, cluster, **options).loaded()
        jobs, self.cluster = scenario.inputs
        self._log = Log(jobs, self.cluster, placement, scenario.requests)
        self._length = min(int(episode), len(self._log))
        self._window, self._kind, self._cost = window, action, find_cost(reward)
        self._rules = Rules(scenario, window, backfill, placement)
        self._episode: Episode | None = None
        self.render_mode = render_mode
        self.observation_space = spaces.Dict(
            {
                "jobs": spaces.Box(0.0, 1.0, (window, len(observation.JOB_FEATURES)), np.float32),
                "machine": spaces.Box(0.0, 1.0, (len(observation.MACHINE_FEATURES),), np.float32),
            }
        )
        self.action_space = spaces.Discrete(window) if action == "job" else spaces.Box(-1.0, 1.0, (window,), np.float32)

    @property
    def starts(self) -> range:
        """Where an episode may begin: what `reset(options={"start": …})` takes."""
        return range(len(self._log) - self._length + 1)

    @property
    def jobs(self) -> Workload:
        """The jobs of this episode, for a simulation of them under another policy."""
        self._playing()
        return self._jobs

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[observation.Observation, dict[str, Any]]:
        check_arguments("dict | None", options=options)
        super().reset(seed=seed)
        self.close()
        self._jobs = self._log.window(self._start(options or {}), self._length)
        self._bill = Bill(self._jobs, self._cost)
        self._episode = Episode(self._jobs, self._rules)
        return self._seen(self._episode)

    def step(self, action: Action) -> tuple[observation.Observation, float, bool, bool, dict[str, Any]]:
        episode = self._playing()
        if episode.over:
            raise ResetNeeded("the episode is over: call reset()")
        if self._kind == "job" and _position(action, "action") < 0:
            raise InputError(f"there is no job at position {action}", hint="positions count from 0")
        now = episode.view.now
        started = episode.pick(int(action)) if self._kind == "job" else episode.rank(np.asarray(action))
        reward = 0.0
        for sequence in started:
            reward -= self._bill.of(sequence, now)
        seen, about = self._seen(episode)
        return seen, reward, episode.over, False, about

    def action_masks(self) -> NDArray[np.bool_]:
        """Which positions have a job, under the name by which MaskablePPO asks."""
        return self._mask(self._playing()).view(np.bool_)

    def finish(self) -> Run:
        """The episode as a run, to look at, save or check; as far as it got, if it is not over."""
        return self._playing().finish()

    def render(self) -> str | None:
        return rendered(self._playing(), self.cluster.cores) if self.render_mode == "ansi" else None

    def close(self) -> None:
        self._episode = None

    def _playing(self) -> Episode:
        if self._episode is None:
            raise ResetNeeded("there is no episode: call reset()")
        return self._episode

    def _seen(self, episode: Episode) -> tuple[observation.Observation, dict[str, Any]]:
        jobs, machine = episode.seen
        seen = {"jobs": jobs, "machine": machine}
        return seen, {"action_mask": self._mask(episode), "now": episode.view.now}

    def _mask(self, episode: Episode) -> NDArray[np.int8]:
        mask = np.zeros(self._window, np.int8)
        mask[: episode.visible] = 1
        return mask

    def _start(self, options: dict[str, Any]) -> int:
        if unknown := set(options) - {"start"}:
            raise InputError(
                f"reset has no option '{unknown.pop()}'", hint="there is start, the first job of the episode"
            )
        if "start" not in options:
            return int(self.np_random.integers(len(self.starts)))
        start = _position(options["start"], "start")
        if start not in self.starts:
            raise InputError(
                f"an episode cannot start at job {start}", hint=f"the last possible start is {self.starts[-1]}"
            )
        return start


def _position(given: Any, name: str) -> int:
    try:
        return int(given)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{name} is {shown(given)}, expected the position of a job") from None


def _refuse_nonsense(window: int, episode: int, action: str, render_mode: str | None) -> None:
    check_arguments("int", window=window, episode=episode)
    check_arguments("str", action=action)
    check_arguments("str | None", render_mode=render_mode)
    if window > LARGEST_WINDOW:
        raise InputError(f"window is {window}, expected at most {LARGEST_WINDOW:,} jobs")
    for name, value in (("window", window), ("episode", episode)):
        if value < 1:
            raise InputError(f"{name} is {value}, expected at least 1 job")
    if action not in get_args(Kind):
        hint = did_you_mean(action, get_args(Kind), f"one of {', '.join(get_args(Kind))}")
        raise InputError(f"action cannot be {action!r}", hint=hint)
    if render_mode not in (None, "ansi"):
        raise InputError(f"there is no render mode {render_mode!r}", hint="there is ansi")
