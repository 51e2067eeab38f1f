"""The jobs of a Batsim workload as columns, and everything that is wrong with them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.model.errors import InputError
from schedlab.model.mistakes import SHOWN
from schedlab.model.suggest import did_you_mean
from schedlab.workload.batsim.profiles import Profiles
from schedlab.workload.batsim.reference import Estimate, estimate
from schedlab.workload.batsim.values import LARGEST_TIME, is_whole, shown
from schedlab.workload.stream import Known

MOST_HOSTS = 10**9
FIELDS = ("id", "subtime", "walltime", "res", "profile")
# Columns that Batsim does not know: it hands other fields of a job to the scheduler as they are.
LABEL_FIELDS = {
    "user": "user",
    "user_id": "user",
    "group": "group",
    "group_id": "group",
    "queue": "queue",
    "partition": "partition",
}


class JobTable:
    """Columns of all jobs in the order of the file. Those of `bad` rows have no meaning; `mistakes` has the first."""

    def __init__(self, records: list[Any], profiles: Profiles, speed: float, file: str) -> None:
        self.file, self._speed = file, speed
        self.bad = np.zeros(len(records), bool)
        self._places: dict[str, int] = {}  # of profiles that jobs have, among `profiles`
        self.mistakes: list[InputError] = []
        self.mistake_count = 0
        self.jobs: list[dict[str, Any]] = [job if isinstance(job, dict) else {} for job in records]
        for row, job in enumerate(records):
            if not isinstance(job, dict) or not job:
                self._mistake(row, f"is {shown(job)}, expected an object with {', '.join(FIELDS)}")
        self.ids = self._ids()
        self.submit = self._numbers("subtime", "a time in seconds, at least 0")
        self.count = self._numbers("res", "a whole number of hosts")
        self.walltime = self._walltimes()
        self.profiles, self.profile = self._profiles(profiles)

    def check_all(self, known: Profiles) -> None:
        """The profiles that no job has, too."""
        for name in known.names():
            if name not in self._places:
                self._timed(known, name)

    def _mistake(self, row: int, message: str, hint: str = "") -> None:
        self.bad[row] = True
        self.mistake_count += 1
        if len(self.mistakes) < SHOWN:
            self.mistakes.append(InputError(message, where=f"{self.file}, {self.label(row)}", hint=hint))

    def label(self, row: int) -> str:
        """What messages call a job: by its id, by its place where it has none."""
        name = self.jobs[row].get("id")
        return f"job {shown(name)}" if isinstance(name, int | str) else f"jobs[{row}]"

    def _rows(self, odd: NDArray[np.bool_]) -> list[int]:
        """Of these rows those that have something in them."""
        return [row for row in np.flatnonzero(odd).tolist() if self.jobs[row]]

    def _ids(self) -> list[str]:
        ids: list[str] = []
        first: dict[str, int] = {}
        for row, job in enumerate(self.jobs):
            value = job.get("id")
            text = str(value) if is_whole(value, 0) else value if isinstance(value, str) else ""
            ids.append(text)
            if not job:
                continue
            if not text:
                self._mistake(row, f"'id' is {shown(value)}, expected a text or a whole number, at least 0")
            elif first.setdefault(text, row) != row:
                self._mistake(row, f"jobs[{row}] has the 'id' of jobs[{first[text]}]", "expected an id of its own")
        return ids

    def _column(self, key: str) -> NDArray[np.float64]:
        """The numbers under that key; NaN for what is none."""
        values = [job.get(key) for job in self.jobs]
        limit = 2**62
        return np.array(
            [v if type(v) is float or (type(v) is int and -limit < v < limit) else math.nan for v in values], np.float64
        )

    def _numbers(self, key: str, expected: str) -> NDArray[np.float64]:
        column = self._column(key)
        good = (column >= 0) & (column <= LARGEST_TIME)
        if key == "res":
            good &= (column == np.floor(column)) & (column <= MOST_HOSTS)
        for row in self._rows(~good):
            self._mistake(row, f"'{key}' is {shown(self.jobs[row].get(key))}, expected {expected}")
        return np.where(good, column, 0.0)

    def _walltimes(self) -> NDArray[np.float64]:
        """NaN where there is none: not there, or -1."""
        column = self._column("walltime")
        there = np.array([job.get("walltime") is not None for job in self.jobs], bool)
        for row in self._rows(there & (column != -1) & ~((column > 0) & (column <= LARGEST_TIME))):
            found = shown(self.jobs[row]["walltime"])
            self._mistake(row, f"'walltime' is {found}, expected seconds above 0, or -1 for none")
        return np.where(column > 0, column, np.nan)

    def _profiles(self, known: Profiles) -> tuple[list[Estimate], NDArray[np.intp]]:
        """The different profiles, and for each job the place of its own among them."""
        found: list[Estimate] = [Estimate()]  # the place of what is wrong
        places = self._places
        column = np.zeros(len(self.jobs), np.intp)
        for row, job in enumerate(self.jobs):
            name = job.get("profile")
            if not job:
                continue
            if not isinstance(name, str):
                self._mistake(row, f"'profile' is {shown(name)}, expected the name of a profile")
                continue
            if name not in known:
                listing = "expected a name under 'profiles'"
                hint = did_you_mean(name, known.names(), listing) if len(self.mistakes) < SHOWN else ""
                self._mistake(row, f"'profile' is '{name}', which is not there", hint)
                continue
            if name not in places:
                timed = self._timed(known, name)
                places[name] = 0 if timed is None else len(found)
                found += [] if timed is None else [timed]
            column[row] = places[name]
            self.bad[row] |= not places[name]
            hosts = found[column[row]].hosts
            if hosts and not self.bad[row] and hosts != {self.count[row]}:
                written = " and ".join(str(number) for number in sorted(hosts))
                self._mistake(row, f"'res' is {job['res']}, its profile '{name}' is for {written} hosts")
        return found, column

    def _timed(self, known: Profiles, name: str) -> Estimate | None:
        """How long a profile takes; None if it is wrong."""
        profile = known.get(name)
        if profile is None:
            return None
        timed = estimate(profile, self._speed)
        if timed.fixed + timed.spread <= LARGEST_TIME:
            return timed
        where = f"{self.file}, profile '{name}'"
        known.mistakes.append(InputError(f"takes more than {LARGEST_TIME:.0e} s", where=where))
        return None

    def labels(self, known: Known, rows: NDArray[np.intp]) -> dict[str, NDArray[np.int32]]:
        """Users, groups… of these rows: numbers as they are where all are numbers, else by name."""
        columns: dict[str, NDArray[np.int32]] = {}
        for key, column in LABEL_FIELDS.items():
            values = [self.jobs[row].get(key) for row in rows.tolist()]
            if column in columns or all(value is None for value in values):
                continue
            if all(value is None or (is_whole(value, -1) and value < 2**30) for value in values):
                numbers = [-1 if value is None else value for value in values]
            else:
                names = ["" if value is None else value if isinstance(value, str) else shown(value) for value in values]
                numbers = [known.number(column, name) for name in names]
            columns[column] = np.array(numbers, np.int32)
        return columns

    def other_fields(self, rows: NDArray[np.intp]) -> dict[str, int]:
        """Fields of these jobs that are not read, and how many have them."""
        counts: dict[str, int] = {}
        for row in rows.tolist():
            for key in self.jobs[row]:
                if key not in FIELDS and key not in LABEL_FIELDS:
                    counts[key] = counts.get(key, 0) + 1
        return counts
