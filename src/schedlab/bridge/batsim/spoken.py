"""Jobs of any log in Batsim's words: each core that a job asks for is a host, its run time a delay."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import inf
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from schedlab._core import Job
from schedlab.bridge.batsim.document import Document
from schedlab.bridge.batsim.live import Live
from schedlab.bridge.batsim.messages import text
from schedlab.bridge.batsim.platform import Platform
from schedlab.model.request import SINGLE_CORE
from schedlab.model.workload import JobBatch, Workload

NAME = "w0"
TOLD = ("user", "group", "queue", "partition")  # what else schedulers may want to know


class Spoken:
    """The jobs of a workload; run times are noted in one pass over it, and the scheduler is told of all of them."""

    def __init__(self, workload: Workload, platform: Platform) -> None:
        self._workload = workload
        self._labels = workload.labels
        self._names: dict[int, str] = {}  # of jobs whose ids are no numbers
        ids, runtimes = self._look()
        order = np.argsort(ids, kind="stable")
        self._ids, self._runtimes = ids[order], runtimes[order]
        document = Document(NAME, workload.name)
        document.add_delays({_profile(seconds): seconds for seconds in np.unique(runtimes).tolist()})
        document.settle(platform)
        self.by_name = {NAME: document}

    def __len__(self) -> int:
        return len(self._ids)

    def knows(self, identity: str) -> bool:
        workload, _, name = identity.partition("!")
        if workload != NAME:
            return False
        return name in self._names.values() or (name.isdecimal() and int(name) in self._ids)

    def meet(self, job: Job) -> tuple[Live, bytes]:
        place = int(np.searchsorted(self._ids, job.id))
        if place == len(self._ids) or self._ids[place] != job.id:
            raise KeyError(job.id)
        runtime = float(self._runtimes[place])
        profile = _profile(runtime)
        identity = f"{NAME}!{self._names.get(job.id, job.id)}"
        told: dict[str, Any] = {"id": identity, "subtime": job.submit, "res": job.count, "profile": profile}
        if job.limit < inf:
            told["walltime"] = job.limit
        for column in TOLD:
            if (number := getattr(job, column)) >= 0:
                names = self._labels.get(column, ())
                told[column] = names[number] if number < len(names) else number
        live = Live(
            identity,
            text(identity),
            NAME,
            job,
            profile=profile,
            res=job.count,
            subtime=job.submit,
            walltime=job.limit,
        )
        return live, msgspec.json.encode(told)

    def accounted(self) -> Workload:
        """The jobs as the engine is to account for them: cores, and nothing else."""
        workload = self._workload

        def batches() -> Iterator[JobBatch]:
            for batch in workload.batches():
                yield replace(batch, count=workload.cores(batch), request=np.zeros(len(batch), np.int32), shapes=None)

        return replace(workload, source=batches, requests=[SINGLE_CORE], flexible=False)

    def _look(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        ids, runtimes = [np.empty(0, np.int64)], [np.empty(0)]
        for batch in self._workload.batches():
            ids.append(batch.id)
            runtimes.append(batch.runtime)
            if batch.names is not None:
                self._names.update(zip(batch.id.tolist(), batch.names, strict=True))
        return np.concatenate(ids), np.concatenate(runtimes)


def _profile(seconds: float) -> str:
    return f"delay_{int(seconds) if seconds.is_integer() else seconds!r}"
