"""How to read a log: what to leave out, and what to put in the place of what is missing."""

from __future__ import annotations

import math
from dataclasses import dataclass

from schedlab.files.bytestream import Progress
from schedlab.model.arguments import check_fields
from schedlab.model.errors import InputError
from schedlab.model.suggest import did_you_mean

CLEANINGS = {
    "pwa": "drop what did not run: run time, processors or submit time unknown or 0 (the archive's advice)",
    "strict": "the filter of Gaussier et al., SC'15: also drop jobs without a requested time or larger than the "
    "machine, and cut run times to the requested time",
    "none": "keep every record that has a submit time and processors, cancelled jobs too",
}
REQUESTS = ("cores", "full")
WINDOW = 200_000  # jobs that may wait to be brought into order; longer than any log here needs, and about 25 MB


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """The options of `read_workload`, which says what they mean."""

    clean: str = "pwa"
    procs: str = "requested"  # or "allocated": which of the two counts first
    missing_limit: str | float = "runtime"  # or seconds: the limit of a job without a requested time
    bad_rows: str = "fail"  # or "drop"
    max_procs: int = 0  # machine size for clean="strict"; 0: do not check
    requests: str = "full"  # or "cores": how much of what jobs ask for is read
    in_memory: bool = True
    window: int | None = WINDOW
    progress: Progress | None = None
    hosts: int = 0  # of a SimGrid platform, where it says how long jobs of Batsim take; 0: it does not

    def __post_init__(self) -> None:
        _one_of("clean", self.clean, tuple(CLEANINGS))
        _one_of("procs", self.procs, ("requested", "allocated"))
        _one_of("bad_rows", self.bad_rows, ("fail", "drop"))
        _one_of("requests", self.requests, REQUESTS)
        limit = self.missing_limit
        if limit != "runtime" and not (isinstance(limit, int | float) and math.isfinite(limit) and limit > 0):
            raise InputError(f"missing_limit cannot be {limit!r}", hint='"runtime", or a number of seconds above 0')
        check_fields(self, "read_workload")
        if self.max_procs < 0:
            raise InputError(
                f"max_procs cannot be {self.max_procs}", hint="the processors of the machine; 0: do not check"
            )

    @property
    def full(self) -> bool:
        """Whether memory, partitions and features are a part of requests."""
        return self.requests == "full"


def _one_of(option: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        hint = did_you_mean(str(value), known, f"one of {', '.join(known)}")
        raise InputError(f"{option} cannot be {value!r}", hint=hint)
