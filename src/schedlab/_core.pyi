"""schedlab's native core"""

from collections.abc import Sequence
from typing import Annotated

import numpy
from numpy.typing import NDArray

class Job:
    """A job as a policy may know it."""

    @property
    def id(self) -> int: ...
    @property
    def sequence(self) -> int: ...
    @property
    def state(self) -> str: ...
    @property
    def submit(self) -> float: ...
    @property
    def eligible(self) -> float: ...
    @property
    def limit(self) -> float: ...
    @property
    def estimate(self) -> float: ...
    @property
    def count(self) -> int: ...
    @property
    def cores(self) -> int: ...
    @property
    def user(self) -> int: ...
    @property
    def group(self) -> int: ...
    @property
    def queue(self) -> int: ...
    @property
    def start(self) -> float:
        """NaN if it has not started"""

    @property
    def estimated_end(self) -> float: ...
    @property
    def nodes(self) -> list[tuple[int, int]]:
        """(node, chunks) of a running job"""

    def __repr__(self) -> str: ...

class View:
    """What a policy sees, and how it decides. Decisions take effect at once."""

    @property
    def now(self) -> float: ...
    @property
    def waiting(self) -> list[Job]:
        """waiting jobs in the order in which they became eligible"""

    @property
    def running(self) -> list[Job]:
        """running jobs, soonest estimated end first"""

    @property
    def free_cores(self) -> int: ...
    @property
    def free(self) -> list[int]:
        """free cores of each node"""

    def fits(self, job: Job) -> bool:
        """Would it start now?"""

    def start(self, job: Job, nodes: Sequence[tuple[int, int]] | None = None) -> bool:
        """
        Start a waiting job where the placement puts it, or on `nodes` [(node, chunks), …]. False if it does not fit.
        """

    def reject(self, job: Job) -> None: ...
    def kill(self, job: Job) -> None: ...
    def requeue(self, job: Job) -> None:
        """Back to the queue; what it has done is lost."""

    def set_rate(self, job: Job, rate: float) -> None:
        """
        How fast a running job works from now on; 1 is as in the workload, 0 stands still.
        """

    def wake_at(self, time: float) -> None: ...

class DecisionError(Exception):
    pass

class InvariantError(Exception):
    pass

class Simulation:
    """One run: a machine, a policy and the rules of time."""

    def __init__(
        self,
        *,
        resources: Sequence[str],
        groups: Sequence[tuple[int, Sequence[int]]],
        backfill: str,
        order: Sequence[tuple[str, float]],
        scan: Sequence[tuple[str, float]] | None,
        depth: int,
        reservations: int,
        placement: str,
        placement_seed: int,
        exclusive: bool,
        estimate: str,
        estimate_factor: float,
        pass_per_event: bool,
        kill_at_limit: bool,
        follow_dependencies: bool,
        validate: bool,
        repeat_workload: bool,
    ) -> None: ...
    def add_request(
        self,
        *,
        chunk: Sequence[int],
        per_node_min: int,
        per_node_max: int,
        exclusive: bool,
        groups: Sequence[bool],
        reason: int,
    ) -> None:
        """
        Makes the next request known; jobs point to requests by their number. A reason > 0 rejects its jobs.
        """

    def run(
        self,
        *,
        decide: object | None,
        batches: object,
        write_jobs: object,
        write_timeline: object,
        progress: object | None,
    ) -> float:
        """Simulates the whole workload; returns the seconds it took."""

class NodeNames:
    """Writes allocations as node-set strings."""

    def __init__(self, names: Sequence[str]) -> None: ...
    def fold(
        self,
        allocated: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        node: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        chunks: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    ) -> tuple[object, object]:
        """
        The strings as Arrow buffers: where each one ends (int32, one more than rows), and the characters.
        """

class SwfParser:
    """
    A streaming parser of the Standard Workload Format: bytes in, columns of clean jobs out.
    """

    def __init__(
        self,
        *,
        clean: str = "pwa",
        procs: str = "requested",
        missing_limit: float = -1.0,
        drop_bad_rows: bool = False,
        max_procs: int = 0,
        named: bool = False,
    ) -> None:
        """
        A negative `missing_limit` stands for the run time; `named` takes all job ids as names.
        """

    def feed(self, piece: bytes) -> bool:
        """
        The next piece of the file, cut anywhere. False: it stopped; see `failure` and `needs_names`.
        """

    def finish(self) -> bool:
        """The file is over. False as for `feed`."""

    def take(self) -> dict[str, object]:
        """
        The jobs since the last call, in the order of the file, as NumPy columns (not copied).
        """

    @property
    def ready(self) -> int:
        """How many jobs `take` would give."""

    @property
    def named(self) -> bool:
        """Job ids are names; then `id` counts records from 1."""

    @property
    def needs_names(self) -> bool:
        """
        A name came after ids that were taken for numbers: parse the file again with `named`.
        """

    @property
    def records(self) -> int:
        """Records seen: neither header lines nor empty ones."""

    @property
    def kept(self) -> int:
        """Records that became jobs."""

    @property
    def out_of_order(self) -> int:
        """Records submitted before the record above them."""

    @property
    def dropped(self) -> dict[str, int]:
        """How many records were dropped, by reason."""

    @property
    def filled(self) -> dict[str, int]:
        """How many missing values were replaced, by what."""

    @property
    def unknown(self) -> dict[str, int]:
        """How many records have no value, by field."""

    @property
    def failure(self) -> tuple[int, str] | None:
        """The bad row at which it stopped: line and problem."""

    @property
    def bad_rows(self) -> list[tuple[int, str]]:
        """The first few bad rows: line and problem."""

    @property
    def header(self) -> list[str]:
        """The lines that begin with a semicolon (the first 10,000)."""
