"""What is kept of a Slurm that has run: its log and settings, its own accounting, counters, priorities and shares."""

from __future__ import annotations

import gzip
import io
import re
from collections.abc import Callable
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from schedlab._core import View
from schedlab.slurm.time import SECOND

if TYPE_CHECKING:
    from schedlab.slurm.controller import Controller

FOLDER = "slurm"
_FIELD = re.compile(r"(?<!\w)(\w++)=(\S*)")
_TIMES = {"SubmitTime": "submit", "EligibleTime": "eligible", "StartTime": "start", "EndTime": "end"}


class Evidence:
    """Collects while the simulation goes on; `every` seconds a sample, the first after half of that (0: none)."""

    def __init__(
        self, controller: Controller, job_of: Callable[[int], int], notes: dict[str, bytes], every: float
    ) -> None:
        self._controller, self._job_of, self._notes, self._every = controller, job_of, notes, every
        self.next = every / 2 if every else -1.0
        self.refusals: list[dict[str, Any]] = []
        self._counters: list[dict[str, Any]] = []
        self._priorities: list[dict[str, Any]] = []
        self._shares: list[dict[str, Any]] = []

    def refused(self, job: int, time: float, words: str) -> None:
        self.refusals.append({"job": job, "time": time, "reason": words})

    def take(self, view: View) -> None:
        """A sample, if it is time for one."""
        if not 0 <= self.next <= view.now:
            return
        time = {"time": view.now}
        self._counters.append(time | self._controller.counters())
        for priority in self._controller.priorities():
            row = asdict(priority)
            row = row | {"job": self._job_of(priority.job), "user": self._controller.users.get(row.pop("uid"), "")}
            tres = " ".join(f"{name}={amount:g}" for name, amount in row.pop("tres").items())
            self._priorities.append(time | row | {"tres": tres})
        self._shares += [time | asdict(share) for share in self._controller.shares()]
        while self.next <= view.now:
            self.next += self._every

    def files(self, zero: int) -> dict[str, bytes]:
        """By their names in the folder of the run; `zero` is what Slurm's clock says at second 0."""
        tables = {
            "counters": self._counters,
            "priorities": self._priorities,
            "shares": self._shares,
            "refused": self.refusals,
            "accounting": accounting(self._controller.accounting_file, zero, self._job_of),
        }
        found = {f"{name}.parquet": _parquet(rows) for name, rows in tables.items() if rows}
        found |= {f"{name}.gz": gzip.compress(content, mtime=0) for name, content in self._logs()}
        return {f"{FOLDER}/{name}": content for name, content in (found | self._notes).items()}

    def _logs(self) -> list[tuple[str, bytes]]:
        """Without the name of its folder, which is another one every time."""
        folder = str(self._controller.folder).encode()
        files = [path for path in self._controller.logs if path.is_file()][:1]  # the other one repeats it
        return [(path.name, content.replace(folder, b"")) for path in files if (content := path.read_bytes())]


def accounting(path: Path, zero: int, job_of: Callable[[int], int]) -> list[dict[str, Any]]:
    """What Slurm itself writes down of finished jobs: whole seconds, counted from second 0."""
    lines = path.read_text(errors="replace").splitlines() if path.is_file() else []
    rows = []
    for line in lines:
        fields = dict(_FIELD.findall(line))
        row: dict[str, Any] = {"slurm_job": int(fields["JobId"]), "job": job_of(int(fields["JobId"]))}
        row |= {ours: _seconds(fields.get(theirs, ""), zero) for theirs, ours in _TIMES.items()}
        row |= {"nodes": fields.get("NodeList", ""), "cpus": int(fields.get("ProcCnt", 0))}
        row |= {"state": fields.get("JobState", ""), "user": fields.get("UserId", "").partition("(")[0]}
        rows.append(row)
    return rows


def _seconds(text: str, zero: int) -> int | None:
    try:
        moment = datetime.fromisoformat(text).replace(tzinfo=UTC)
    except ValueError:
        return None  # Unknown
    return int(moment.timestamp()) - zero // SECOND


def _parquet(rows: list[dict[str, Any]]) -> bytes:
    import polars as pl

    target = io.BytesIO()
    pl.DataFrame(rows, infer_schema_length=None).write_parquet(target)
    return target.getvalue()
