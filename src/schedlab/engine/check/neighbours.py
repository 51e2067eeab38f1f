"""Who was on which node together with whom: for models in which jobs mind their neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.check.columns import ranges
from schedlab.engine.check.places import Places
from schedlab.engine.check.stays import Stays


@dataclass(frozen=True)
class Company:
    """The time of every node in parts, in each of which the same jobs are there.

    Parts are in the order of their nodes, those of a node in the order of time; times at which a node is empty are left
    out. A place, one node of one stay, has some parts that follow each other; one of no length has none.
    """

    node: NDArray[np.int64]  # of each part
    begin: NDArray[np.float64]
    end: NDArray[np.float64]
    jobs: NDArray[np.int64]  # how many are there
    stay: NDArray[np.int64]  # of each place
    first: NDArray[np.int64]  # its first part,
    length: NDArray[np.int64]  # and how many it has

    def everybody(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """All pairs of a place and a part of it: as many as there are jobs in the parts."""
        return ranges(self.first, self.length)

    def stretches(
        self, of_part: NDArray[Any]
    ) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64], NDArray[Any]]:
        """Of every place: from when to when something is the same that is known of each part, and what it is."""
        if not len(self.node):
            return self.stay[:0], self.begin, self.end, of_part
        apart = (self.node[1:] != self.node[:-1]) | (self.begin[1:] != self.end[:-1]) | (of_part[1:] != of_part[:-1])
        first = np.flatnonzero(np.insert(apart, 0, True))  # parts at which another stretch of a node begins
        last = np.append(first[1:], len(self.node)) - 1
        number = np.cumsum(np.insert(apart, 0, False))
        some = np.flatnonzero(self.length)
        begin, end = self.first[some], self.first[some] + self.length[some] - 1
        place, stretch = ranges(number[begin], number[end] - number[begin] + 1)
        since = self.begin[np.maximum(first[stretch], begin[place])]
        until = self.end[np.minimum(last[stretch], end[place])]
        return some[place], since, until, of_part[first[stretch]]


def company_of(stays: Stays, places: Places) -> Company:
    begin, end = stays.begin[places.stay], stays.end[places.stay]
    some = np.flatnonzero(end > begin)
    times = distinct(np.concatenate([begin[some], end[some]]))
    edge = places.node[some] * len(times)
    since, until = edge + np.searchsorted(times, begin[some]), edge + np.searchsorted(times, end[some])
    edges = distinct(np.concatenate([since, until]))
    first, last = np.searchsorted(edges, since), np.searchsorted(edges, until)
    size = len(edges) + 1
    jobs = np.cumsum(np.bincount(first, minlength=size) - np.bincount(last, minlength=size))
    used = np.flatnonzero(jobs)
    new = np.cumsum(jobs > 0) - 1
    firsts, lengths = np.zeros(len(places.stay), np.int64), np.zeros(len(places.stay), np.int64)
    firsts[some], lengths[some] = new[first], last - first
    edges, many = np.append(edges, 0), max(len(times), 1)
    return Company(
        node=edges[used] // many,
        begin=times[edges[used] % many],
        end=times[edges[used + 1] % many],
        jobs=jobs[used],
        stay=places.stay,
        first=firsts,
        length=lengths,
    )


def distinct(values: NDArray[Any]) -> NDArray[Any]:
    """In order, each once. (NumPy's own `unique` looks them up in a table, which is many times slower here.)"""
    found: NDArray[Any] = np.sort(values)
    return np.asarray(found[np.append(True, found[1:] != found[:-1])[: len(found)]])


@dataclass(frozen=True)
class Steps:
    """A number of each stay that changes at times: in the order of the stays and of time, one for each time."""

    stay: NDArray[np.int64]
    time: NDArray[np.float64]
    value: NDArray[np.float64]

    def at(self, stay: NDArray[np.int64], time: NDArray[np.float64], otherwise: float) -> NDArray[np.float64]:
        """What it is at these times of these stays; before its first change it is `otherwise`."""
        times = distinct(np.concatenate([self.time, time]))
        keys = self.stay * len(times) + np.searchsorted(times, self.time)
        found = np.searchsorted(keys, stay * len(times) + np.searchsorted(times, time), side="right") - 1
        own = (found >= 0) & (np.append(self.stay, -1)[found] == stay)
        return np.where(own, np.append(self.value, otherwise)[np.where(own, found, -1)], otherwise)


def last_of_each_time(stay: NDArray[np.int64], time: NDArray[np.float64], value: NDArray[np.float64]) -> Steps:
    """Of values in any order of stays and times: the last one that is given for each."""
    order = np.lexsort((time, stay))  # stable
    stay, time, value = stay[order], time[order], value[order]
    last = np.append((stay[1:] != stay[:-1]) | (time[1:] != time[:-1]), True)[: len(stay)]
    return Steps(stay[last], time[last], value[last])


def running_sum(stay: NDArray[np.int64], time: NDArray[np.float64], change: NDArray[np.float64]) -> Steps:
    """Of changes that come to nothing for every stay: what they are together from each time on."""
    order = np.lexsort((time, stay))
    return last_of_each_time(stay[order], time[order], np.cumsum(change[order]))
