"""The jobs of Batsim workloads as columns for the engine, and everything that is wrong with them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import inf

import msgspec
import numpy as np
from numpy.typing import NDArray

from schedlab.bridge.batsim.document import Document, JobLine, job_reader, short_id
from schedlab.model.errors import InputError
from schedlab.model.mistakes import raise_first


class Columns:
    """Of all jobs, in the order of the files. Most ids are numbers: only the others are kept as texts."""

    def __init__(self, documents: Sequence[Document]) -> None:
        self.documents = documents
        self.length = sum(len(document.jobs) for document in documents)
        self.submit, self.runtime, self.limit = (np.zeros(self.length) for _ in range(3))
        self.count = np.ones(self.length, np.int64)
        self.number = np.full(self.length, -1, np.int64)
        self.texts: dict[int, str] = {}  # place -> id without the workload, where that is no number
        self._mistakes: list[InputError] = []
        place = 0
        for document in documents:
            for row, line in enumerate(document.jobs):
                try:
                    self._take(place, job_reader.decode(line), document)
                except (msgspec.ValidationError, ValueError) as error:
                    self._mistakes.append(InputError(str(error), where=f"{document.file}, jobs[{row}]"))
                place += 1
            self._look_for_twins(document, place - len(document.jobs), place)
        raise_first(self._mistakes, ", ".join(document.file for document in documents))

    @property
    def numbered(self) -> bool:
        """Whether the ids can be the engine's: numbers of a single file."""
        return len(self.documents) == 1 and not self.texts

    def name(self, place: int) -> str:
        """The id without the workload."""
        return self.texts.get(place) or str(self.number[place])

    def full_names(self) -> list[str]:
        """With the workload, of all of them."""
        found: list[str] = []
        for document in self.documents:
            begin = len(found)
            found += [f"{document.name}!{self.name(begin + row)}" for row in range(len(document.jobs))]
        return found

    def order(self) -> NDArray[np.intp]:
        """In which they are submitted: by time, then file by file, then by their ids as texts, as Batsim does it."""
        order = np.argsort(self.submit, kind="stable")
        ends = np.cumsum([len(document.jobs) for document in self.documents])
        times = self.submit[order]
        begins = np.flatnonzero(np.concatenate([[True], times[1:] != times[:-1], [True]]))
        for run in np.flatnonzero(np.diff(begins) > 1).tolist():
            among = slice(begins[run], begins[run + 1])
            places = order[among].tolist()
            files = np.searchsorted(ends, places, side="right").tolist()
            keys = [(file, self.name(place), place) for file, place in zip(files, places, strict=True)]
            order[among] = [place for _, _, place in sorted(keys)]
        return order

    def _take(self, place: int, job: JobLine, document: Document) -> None:
        if job.subtime is None or not 0 <= job.subtime < inf:
            raise ValueError(f"job '{job.id}': 'subtime' is {job.subtime}, expected a time from 0 on")
        name = short_id(job.id, document.name)
        if isinstance(name, int):
            self.number[place] = name
        else:
            self.texts[place] = name
        self.submit[place], self.limit[place] = job.subtime, job.limit()
        self.runtime[place] = document.usual_seconds(job)
        self.count[place] = max(job.res, 1)
        document.wanted.add(job.profile)

    def _look_for_twins(self, document: Document, begin: int, end: int) -> None:
        numbers = self.number[begin:end]
        known, times = np.unique(numbers[numbers >= 0], return_counts=True)
        twins = [str(number) for number in known[times > 1].tolist()]
        texts = [text for place, text in self.texts.items() if begin <= place < end]
        twins += sorted(text for text, times in Counter(texts).items() if times > 1)
        self._mistakes += [InputError(f"two jobs have the id '{twin}'", where=document.file) for twin in twins]
