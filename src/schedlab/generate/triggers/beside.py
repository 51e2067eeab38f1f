"""The requests and labels of a workload, with those of the jobs that are put into it in front."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from schedlab.generate.load import INSERTED
from schedlab.generate.triggers.templates import FIRST_ID, Templates
from schedlab.model.errors import InputError
from schedlab.model.request import Request
from schedlab.model.workload import JobBatch, Workload


class Beside:
    """What the templates need comes first in `requests` and `labels`: those of the workload grow while it is read."""

    def __init__(self, workload: Workload, templates: Templates) -> None:
        self._workload, self._own = workload, len(templates.requests)
        self.requests: list[Request] = [*templates.requests, *workload.requests]
        self._executables = _Renumbered(workload, "executable", list(templates.executables))
        self._users = _Renumbered(workload, "user", list(templates.users))
        self.labels: dict[str, list[str]] = {}
        self._share()

    def renumbered(self, batch: JobBatch) -> JobBatch:
        """Jobs of the workload with the numbers that their requests and labels have here."""
        _refuse_high_ids(self._workload.name, batch)
        shift = np.int32(self._own)
        shapes = batch.shapes
        found = replace(
            batch,
            request=batch.request + shift,
            executable=self._executables.of(batch.executable),
            user=self._users.of(batch.user),
            shapes=None if shapes is None else replace(shapes, request=shapes.request + shift),
        )
        self._share()
        return found

    def _share(self) -> None:
        """Takes over what reading the workload has added since."""
        self.requests.extend(self._workload.requests[len(self.requests) - self._own :])
        self.labels.update(self._workload.labels)
        self.labels.update(executable=self._executables.names, user=self._users.names)


class _Renumbered:
    """A column with names of our own in front: its other numbers follow in the order in which they appear."""

    def __init__(self, workload: Workload, column: str, own: list[str]) -> None:
        self.names = own
        self._labels, self._column = workload.labels, column
        self._place = np.empty(0, np.int32)  # of each number; -1: it has not appeared

    def of(self, numbers: NDArray[np.int32]) -> NDArray[np.int32]:
        most = int(numbers.max(initial=-1))
        if most < 0:
            return numbers
        if most >= len(self._place):
            self._place = np.append(self._place, np.full(most + 1 - len(self._place), -1, np.int32))
        known = numbers >= 0
        for number in np.unique(numbers[known & (self._place[numbers] < 0)]).tolist():
            labels = self._labels.get(self._column, [])
            self._place[number] = len(self.names)
            self.names.append(labels[number] if number < len(labels) else str(number))
        return np.where(known, self._place[numbers], numbers)


def _refuse_high_ids(name: str, batch: JobBatch) -> None:
    """Ours are between those of logs and those of jobs that hold the pressure or fill the machine."""
    wrong = batch.id[(batch.id >= FIRST_ID) & (batch.id < INSERTED)]
    if len(wrong):
        hint = f"numbers from {FIRST_ID} are for injected jobs; give the workload's jobs smaller ones"
        raise InputError(f"there is a job number {wrong.max()}", where=name, hint=hint)
