"""What passes between a pod's binding and its run, and after its end: as an execution model, for any policy.

From the binding on the pod holds its share of the node. Then the kubelet hears of it (`sync`), fetches the image if the
node has not got it (`pull`), or asks the registry whether it is still the right one (`again`), and creates the
container (`create`). After the run `end` passes until the scheduler knows. Each is a number of seconds, or a list of
them, which are quantiles at equal distances: [0.3, 0.5, 4] are a least, a middle and a largest one, and anything
between.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from schedlab._core import Job, View
from schedlab.engine.execution import Execution
from schedlab.engine.observer import Nodes, PerJob
from schedlab.model.errors import InputError, InputErrors
from schedlab.model.random import random_stream

PARTS = ("sync", "pull", "again", "create", "end")
Delay = float | Sequence[float]


class StartUp(Execution):
    """Jobs hold their nodes for their run time and for these delays; what came before the run is counted as waiting.

    All images are one: a node has it once a job has started there, or from the beginning if it is `cached`. A job of
    several nodes runs when the last of them is ready. Draws depend on `seed`, the job and the attempt, on nothing else.
    """

    name = "startup"

    def __init__(
        self,
        sync: Delay = 0.0,
        pull: Delay = 0.0,
        again: Delay = 0.0,
        create: Delay = 0.0,
        end: Delay = 0.0,
        cached: bool = False,
        seed: int = 1,
    ) -> None:
        given = {"sync": sync, "pull": pull, "again": again, "create": create, "end": end}
        self._quantiles = _checked(given)
        self._cached, self._seed = cached, seed
        self._has_image: set[int] = set()
        self._attempts: dict[int, int] = {}
        self._before: dict[int, float] = {}  # of each job: seconds from its start until it ran
        self._waits: dict[int, float] = {}

    def work(self, view: View, job: Job, nodes: Nodes) -> float:
        before, after = self._delays(job, nodes)
        return job.total_work + before + after

    def started(self, view: View, job: Job, nodes: Nodes) -> None:
        before, _ = self._delays(job, nodes)
        self._before[job.sequence] = before
        self._waits[job.sequence] = view.now - job.submit + before
        self._attempts[job.sequence] = self._attempts.get(job.sequence, 0) + 1
        self._has_image.update(node for node, _ in nodes)

    def finish(self, view: View) -> dict[str, float]:
        if not self._before:
            return {}
        return {
            "mean_startup": math.fsum(self._before.values()) / len(self._before),
            "mean_wait_until_running": math.fsum(self._waits.values()) / len(self._waits),
        }

    def per_job(self) -> dict[str, PerJob]:
        return {"startup": self._before}

    def facts(self) -> dict[str, Any]:
        return {"model": "startup", **self._quantiles, "cached": self._cached, "seed": self._seed}

    def _delays(self, job: Job, nodes: Nodes) -> tuple[float, float]:
        """Before the run, on the node that is ready last; and after it."""
        attempt = self._attempts.get(job.sequence, 0)
        drawn = random_stream(self._seed, "startup", str(job.sequence), str(attempt))
        before = max(self._before_run(node, drawn) for node, _ in nodes)
        return before, self._drawn("end", drawn)

    def _before_run(self, node: int, drawn: np.random.Generator) -> float:
        image = "again" if self._cached or node in self._has_image else "pull"
        return sum(self._drawn(part, drawn) for part in ("sync", image, "create"))

    def _drawn(self, part: str, drawn: np.random.Generator) -> float:
        quantiles = self._quantiles[part]
        place = drawn.random() * (len(quantiles) - 1)
        low = min(int(place), len(quantiles) - 2) if len(quantiles) > 1 else 0
        high = min(low + 1, len(quantiles) - 1)
        return quantiles[low] + (place - low) * (quantiles[high] - quantiles[low])


def _checked(given: dict[str, Delay]) -> dict[str, list[float]]:
    found, mistakes = {}, []
    for name, value in given.items():
        listed = list(value) if isinstance(value, Sequence) and not isinstance(value, str) else [value]
        wrong = not listed or not all(
            isinstance(one, int | float) and not isinstance(one, bool) and 0 <= one < math.inf for one in listed
        )
        if wrong or listed != sorted(listed):
            hint = "seconds, at least 0: 1.5; or quantiles, smallest first: [0.3, 0.5, 4]"
            mistakes.append(InputError(f"startup: {name} cannot be {value!r:.60}", hint=hint))
        else:
            found[name] = [float(one) for one in listed]
    if mistakes:
        raise InputErrors(mistakes)
    return found
