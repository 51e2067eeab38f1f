"""Workloads of Batsim as they are written: what schedulers are told of jobs, kept as bytes of the files.

The engine gets columns of the same jobs. Jobs of one time are submitted file by file, in the order of their ids as
texts, as Batsim does it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from schedlab._core import Job
from schedlab.bridge.batsim.columns import Columns
from schedlab.bridge.batsim.document import Document, full_id, job_reader
from schedlab.bridge.batsim.live import Live
from schedlab.bridge.batsim.messages import text
from schedlab.bridge.batsim.platform import Platform
from schedlab.model.cluster import Cluster
from schedlab.model.errors import InputError
from schedlab.model.request import SINGLE_CORE
from schedlab.model.workload import JobBatch, ReadReport, Workload

BATCH = 1 << 13  # jobs that are handed to the engine at a time

_object_reader = msgspec.json.Decoder(dict[str, Any])


class Documents:
    """All workloads of a run, `w0`, `w1`, … in the order of their files."""

    def __init__(self, documents: Sequence[Document], platform: Platform, content_hash: str = "") -> None:
        self.documents, self.platform = list(documents), platform
        self.by_name = {document.name: document for document in documents}
        self._hash = content_hash
        self._places: dict[int, int] | None = None  # of the engine's ids, where these are not 1, 2, 3, …
        self._ids: dict[str, set[str]] = {}  # of workloads of which it was asked
        self.kept = sum(len(document.jobs) for document in documents)  # jobs that are submitted
        for document in self.documents:
            document.settle(platform)

    @classmethod
    def read(cls, paths: Iterable[Path], platform: Platform | None = None) -> Documents:
        """Those of the files, their profiles checked for this machine; without one, as many hosts as they ask for."""
        digest = hashlib.sha256()
        found = [Document.read(path, f"w{number}", digest) for number, path in enumerate(paths)]
        hosts = max((document.hosts for document in found), default=1)
        return cls(found, platform or Platform.of(Cluster.uniform(hosts)), digest.hexdigest())

    def __len__(self) -> int:
        return self.kept

    def meet(self, job: Job) -> tuple[Live, bytes]:
        """A job that is submitted now, and what is told of it: as it is written, with its full id."""
        document, line = self._line(job.id)
        try:
            fields = _object_reader.decode(line)
        except msgspec.DecodeError as error:  # in a field that is the scheduler's: nobody has read it before
            raise InputError(f"job {job.id}: {error}", where=document.file) from None
        identity = fields["id"] = full_id(fields["id"], document.name)
        if fields["subtime"] != job.submit:  # the log was transformed
            fields["subtime"] = job.submit
        live = Live(
            identity,
            text(identity),
            document.name,
            job,
            profile=fields["profile"],
            res=fields["res"],
            subtime=job.submit,
            walltime=job.limit,
        )
        live.ranks = fields.get("smpi_ranks_to_hosts_mapping")
        return live, msgspec.json.encode(fields)

    def knows(self, identity: str) -> bool:
        """Whether a job of the files has that full id. (Asked of few jobs, so nothing is kept for it before.)"""
        name = identity.partition("!")[0]
        if name not in self.by_name:
            return False
        if name not in self._ids:
            self._ids[name] = {full_id(job_reader.decode(line).id, name) for line in self.by_name[name].jobs}
        return identity in self._ids[name]

    def _line(self, job: int) -> tuple[Document, bytes]:
        place = job - 1 if self._places is None else self._places[job]
        for document in self.documents:
            if place < len(document.jobs):
                return document, document.jobs[place]
            place -= len(document.jobs)
        raise KeyError(job)

    def workload(self) -> Workload:
        """The same jobs for the engine. Their ids are those of the file, where these are numbers."""
        columns = Columns(self.documents)
        numbers = columns.number if columns.numbered else np.arange(1, columns.length + 1)
        self._keep_places(numbers)
        order = columns.order()
        names = None if columns.numbered else columns.full_names()

        def batches() -> Iterator[JobBatch]:
            for begin in range(0, columns.length, BATCH):
                rows = order[begin : begin + BATCH]
                yield JobBatch.of(
                    id=numbers[rows],
                    names=None if names is None else tuple(names[row] for row in rows.tolist()),
                    submit=columns.submit[rows],
                    runtime=columns.runtime[rows],
                    limit=columns.limit[rows],
                    count=columns.count[rows],
                )

        return Workload(
            "+".join(Path(document.file).stem for document in self.documents) or "no jobs",
            batches,
            report=ReadReport(records=columns.length, kept=columns.length),
            content_hash=self._hash,
            header={"MaxProcs": str(max((document.hosts for document in self.documents), default=0))},
        )

    def adopt(self, workload: Workload) -> Workload:
        """Jobs of the file that were read, and perhaps transformed, elsewhere: told as they are written there.

        Their times of submission are the workload's; how long they take, and may take, is as it is written.
        """
        columns = Columns(self.documents)
        place_of = {columns.name(place): place for place in range(columns.length)}
        batches = []
        self._places = {}
        for batch in workload.batches():
            written = batch.names or [str(job) for job in batch.id.tolist()]
            if unknown := [name for name in written if name not in place_of]:
                hint = "jobs of another log, or with other ids, cannot be among those of a Batsim workload"
                raise InputError(f"there is no job '{unknown[0]}'", where=str(workload.path), hint=hint)
            rows = [place_of[name] for name in written]
            self._places.update(zip(batch.id.tolist(), rows, strict=True))
            batches.append(
                replace(
                    batch,
                    request=np.zeros(len(batch), np.int32),
                    runtime=columns.runtime[rows],
                    limit=columns.limit[rows],
                    count=columns.count[rows],
                )
            )
        self.kept = len(self._places)
        return replace(workload, source=lambda: iter(batches), requests=[SINGLE_CORE])

    def _keep_places(self, numbers: NDArray[np.int64]) -> None:
        if not np.array_equal(numbers, np.arange(1, len(numbers) + 1)):
            self._places = {number: place for place, number in enumerate(numbers.tolist())}
