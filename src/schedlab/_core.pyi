"""schedlab's native core"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, overload

import numpy
import numpy.typing
from numpy.typing import NDArray

import schedlab.model.errors
import schedlab.model.predecessors
import schedlab.model.request

class Job:
    """A job as a policy may know it."""

    @property
    def id(self) -> int: ...
    @property
    def sequence(self) -> int: ...
    @property
    def state(self) -> str:
        """
        waiting, running, suspended, held, gone, or coming: submitted for later
        """

    @property
    def submit(self) -> float: ...
    @property
    def eligible(self) -> float: ...
    @property
    def wait(self) -> float: ...
    @property
    def limit(self) -> float: ...
    @property
    def estimate(self) -> float: ...
    @property
    def count(self) -> int: ...
    @property
    def cores(self) -> int: ...
    @property
    def request(self) -> int: ...
    @property
    def user(self) -> int: ...
    @property
    def group(self) -> int: ...
    @property
    def queue(self) -> int: ...
    @property
    def partition(self) -> int: ...
    @property
    def spread(self) -> bool:
        """whether it has a part of every socket of its nodes, beside others"""

    @property
    def application(self) -> str | None:
        """by its name in the heatmap; None if it has none"""

    @property
    def start(self) -> float:
        """NaN if it has not started"""

    @property
    def estimated_end(self) -> float: ...
    @property
    def rate(self) -> float:
        """how fast it works; 1 is as in the workload"""

    @property
    def factors(self) -> dict[str, float]:
        """of its rate, by who has set them; factors that are 1 are left out"""

    @property
    def done(self) -> float:
        """
        seconds of its work that it has done so far, at whatever rates and in however many attempts; of a requeued one, what was saved
        """

    @property
    def remaining(self) -> float:
        """
        seconds of work that are left to do, with what it costs to begin again; not told to policies
        """

    @property
    def total_work(self) -> float:
        """
        seconds of work of the whole job: its run time, unless an execution model has said otherwise of the nodes where it runs; not told to policies
        """

    @property
    def shapes(self) -> list[tuple[int, float, float]]:
        """
        (cores, limit, estimate) of each shape it may have; the first is the one it was submitted with
        """

    @property
    def shape(self) -> int:
        """which of its shapes it has"""

    @property
    def malleable(self) -> bool:
        """whether it may change its shape while it runs"""

    @property
    def waits_for(self) -> list[int]:
        """
        ids of the predecessors of a held job of which it is not known yet what becomes of them
        """

    @property
    def nodes(self) -> list[tuple[int, int]]:
        """
        (node, chunks) of a running job; of one that was granted amounts, as many chunks as they hold, and at least 1
        """

    @property
    def granted(self) -> list[tuple[int, dict[str, int | list[int]]]]:
        """
        (node, {resource: amount, or the devices}) of a job that was granted amounts; empty if it has chunks of its request
        """

    @property
    def attachments(self) -> dict[str, Any]:
        """
        what it carries along, for deciders and observers that ask for it (`wants_attachments`); a copy
        """

    @overload
    def __eq__(self, arg: Job, /) -> bool: ...
    @overload
    def __eq__(self, arg: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __repr__(self) -> str: ...

class Jobs:
    """Some jobs: a sequence of them, and their columns as arrays."""

    def __len__(self) -> int: ...
    def __getitem__(self, index: int) -> Job: ...
    def __iter__(self) -> Iterator[Job]: ...
    @property
    def head(self) -> Job | None:
        """the first one; None if there is none"""

    def sorted(self, by: object, reverse: bool = False) -> list[Job]:
        """
        The jobs by a column (its name), an array of keys or a function of a job; smallest first.
        """

    @property
    def id(self) -> numpy.typing.NDArray[Any]: ...
    @property
    def sequence(self) -> numpy.typing.NDArray[Any]: ...
    @property
    def submit(self) -> numpy.typing.NDArray[Any]: ...
    @property
    def eligible(self) -> numpy.typing.NDArray[Any]: ...
    @property
    def wait(self) -> numpy.typing.NDArray[Any]: ...
    @property
    def limit(self) -> numpy.typing.NDArray[Any]: ...
    @property
    def estimate(self) -> numpy.typing.NDArray[Any]: ...
    @property
    def count(self) -> numpy.typing.NDArray[Any]: ...
    @property
    def cores(self) -> numpy.typing.NDArray[Any]: ...
    @property
    def request(self) -> numpy.typing.NDArray[Any]: ...
    @property
    def user(self) -> numpy.typing.NDArray[Any]: ...
    @property
    def group(self) -> numpy.typing.NDArray[Any]: ...
    @property
    def queue(self) -> numpy.typing.NDArray[Any]: ...
    @property
    def partition(self) -> numpy.typing.NDArray[Any]: ...
    @property
    def start(self) -> numpy.typing.NDArray[Any]: ...
    @property
    def estimated_end(self) -> numpy.typing.NDArray[Any]: ...

class View:
    """What a policy sees, and how it decides. Decisions take effect at once."""

    @property
    def now(self) -> float: ...
    @property
    def queue(self) -> Jobs:
        """waiting jobs in the order in which they became eligible"""

    @property
    def running(self) -> Jobs:
        """running jobs, soonest estimated end first"""

    @property
    def suspended(self) -> Jobs: ...
    @property
    def held(self) -> Jobs:
        """
        jobs that wait for others or that a decision holds, in the order of entering
        """

    @property
    def plan(self) -> Plan: ...
    @property
    def free_cores(self) -> int: ...
    @property
    def refusal(self) -> str:
        """
        who did not allow the last start that was tried: an observer, or the cap of a budget; or empty
        """

    @refusal.setter
    def refusal(self, arg: str, /) -> None: ...
    @property
    def refuser(self) -> str:
        """the name of the observer who did not allow it"""

    @refuser.setter
    def refuser(self, arg: str, /) -> None: ...
    @property
    def data(self) -> dict[str, Any]:
        """what observers publish and policies read"""

    @property
    def cluster(self) -> ClusterView: ...
    def history(self, user: int, last: int = 100) -> dict[str, numpy.typing.NDArray[Any]]:
        """
        The last finished jobs of a user as columns: id, cores, submit, start, end, runtime, limit.
        """

    def budget_books(self) -> dict[str, Any]:
        """
        What is taken of the machine's budget, if it has one: now, peak, total (x seconds); time and level of each change; sequence and taken (x seconds) of each stay of a job on its nodes.
        """

    def take_moves(self) -> list[tuple[bool, Job, list[tuple[int, int]]]]:
        """
        (takes, job, nodes) of each job that took or left nodes since this was last asked; for observers.
        """

    def jobs_on(self, node: int) -> list[Job]:
        """The jobs that run there, in the order in which they came."""

    @overload
    def neighbours(self, job: Job) -> list[Job]:
        """
        The other jobs on the nodes of a running job, in the order in which they came.
        """

    @overload
    def neighbours(self, node: int) -> list[Job]:
        """Whom a job would have beside it there: the same as `jobs_on`."""

    def speedup(self, job: Job, beside: Job) -> float:
        """
        How fast it would work beside the other, against whole nodes of its own (heatmap).
        """

    def fits(self, job: Job) -> bool:
        """Would it start now, reservations aside?"""

    def start(
        self,
        job: Job,
        nodes: Sequence[tuple[int, int | Mapping[str, int | Sequence[int]]]] | None = None,
        shape: int | None = None,
        priority: float = 0.0,
        backfilled: bool | None = None,
    ) -> bool:
        """
        Start a waiting job where the placement puts it, or on `nodes` [(node, chunks), …]; in one of its shapes. Instead of chunks it may be granted amounts on each node: {"cores": 17, "memory": 2**30, "gpus": [0, 3]}; a list names single devices. False if it does not fit, or would delay a job that holds a reservation. `backfilled` says whether it passes a job that is ahead of it.
        """

    def reserve(self, job: Job | None) -> float:
        """
        Protect a waiting job until it starts or leaves: others that would delay it are not started. Returns when it could start. Nothing for None, the head of an empty queue.
        """

    def unreserve(self, job: Job) -> None: ...
    def reject(self, job: Job) -> None: ...
    def kill(self, job: Job, reason: str = "") -> None:
        """
        `reason`: preempted, node failure, maintenance or time limit; nothing if it is another one.
        """

    def complete(self, job: Job) -> None:
        """
        A running job leaves as completed: its work is done, whatever is left of its runtime.
        """

    def requeue(self, job: Job, saved: float = 0.0, cost: float = 0.0, reason: str = "") -> None:
        """
        Back to the queue. `saved` seconds of its work need not be done again, `cost` seconds come on top; `reason` as for `kill`.
        """

    def suspend(self, job: Job) -> None:
        """Off its nodes; its work is kept."""

    def resume(
        self,
        job: Job,
        nodes: Sequence[tuple[int, int | Mapping[str, int | Sequence[int]]]] | None = None,
        cost: float = 0.0,
    ) -> bool:
        """
        Let a suspended job go on, after `cost` more seconds of work. False if it does not fit.
        """

    def reshape(
        self,
        job: Job,
        shape: int,
        nodes: Sequence[tuple[int, int | Mapping[str, int | Sequence[int]]]] | None = None,
        cost: float = 0.0,
    ) -> bool:
        """
        Let a running malleable job go on in another of its shapes. False if that does not fit.
        """

    def set_rate(self, job: Job, factor: float) -> None:
        """
        How much faster or slower you make a running job from now on: 1 not at all, 0 stands still. Its rate is the product of what everybody says.
        """

    @property
    def owner(self) -> str:
        """whose turn it is: factors of rates that are set now are his"""

    @owner.setter
    def owner(self, arg: str, /) -> None: ...
    def submit(
        self,
        runtime: float,
        count: int = 1,
        request: schedlab.model.request.Request | int | None = None,
        limit: float | None = None,
        at: float | None = None,
        user: int = -1,
        group: int = -1,
        queue: int = -1,
        partition: int = -1,
        *,
        cancel: float | None = None,
        attachments: Mapping[str, Any] | None = None,
        name: str | None = None,
        id: int | None = None,
        predecessors: Iterable[Job | int | schedlab.model.predecessors.Predecessor] | None = None,
        any: bool = False,
    ) -> Job:
        """
        A job that is not of the workload: it enters now, or at a later time `at`. `request` is what each of its `count` chunks asks for, or the number of a request that is known (`request_number`); None is one core. The limit is the runtime if none is given; `cancel` is when it leaves if it still waits. Without an `id` it gets one from 10**12 on. `predecessors` are jobs that it waits for, their ids, or schedlab.Predecessor with a condition and a delay; all of them, or `any`.
        """

    def submit_many(
        self,
        runtime: numpy.typing.ArrayLike,
        count: numpy.typing.ArrayLike = 1,
        request: schedlab.model.request.Request | numpy.typing.ArrayLike | None = None,
        limit: numpy.typing.ArrayLike | None = None,
        at: numpy.typing.ArrayLike | None = None,
        user: numpy.typing.ArrayLike = -1,
        group: numpy.typing.ArrayLike = -1,
        queue: numpy.typing.ArrayLike = -1,
        partition: numpy.typing.ArrayLike = -1,
        *,
        cancel: numpy.typing.ArrayLike | None = None,
        attachments: Sequence[Mapping[str, Any] | None] | None = None,
        name: Sequence[str | None] | None = None,
        id: numpy.typing.ArrayLike | None = None,
        predecessors: Sequence[Iterable[Job | int | schedlab.model.predecessors.Predecessor] | None] | None = None,
        any: numpy.typing.ArrayLike = False,
    ) -> numpy.typing.NDArray[numpy.int64]:
        """
        Many jobs as columns, one number standing for a column of it; returns their ids. They enter in the order of `at`, ties as given.
        """

    def request_number(self, request: schedlab.model.request.Request | None) -> int:
        """
        The number of a request, for `submit`: looked up once instead of at every job. None is one core.
        """

    @property
    def submitted(self) -> int:
        """how many jobs that are not of the workload have entered"""

    @property
    def announced(self) -> int:
        """how many have been submitted, also for later"""

    def withdraw(self, job: Job) -> None:
        """
        A job that waits or is held leaves, cancelled; one that has not entered yet never will.
        """

    def hold(self, job: Job) -> None:
        """A waiting job waits no more, until it is released."""

    def release(self, job: Job) -> None:
        """A held job waits from now on, as if it were submitted now."""

    def wake_at(self, time: float) -> None:
        """
        Ask for a pass at that time; an observer's `woken` is called before it.
        """

    def close(self, node: int, why: str = "down") -> None:
        """
        No new jobs for a node: down, off, booting, maintenance or drained. Jobs that run there go on.
        """

    def open(self, node: int) -> None: ...
    def explain(self, job: Job, why: str, who: Job | int | None = None) -> None:
        """
        Say why a job waits, in words of your own or of `schedlab.model.states.WAIT_REASONS`, and which job (or id) is in its way. It holds until something else is said; an empty text leaves it to the engine again. Without `reasons` nothing is written down.
        """

    @property
    def gives_reasons(self) -> bool:
        """
        Whether the run says why jobs wait: without it, what `explain` is told is of no use.
        """

    def touch(self) -> None:
        """
        Something that the engine does not know of has changed: jobs that could not start may do so now.
        """

class Plan:
    """What is free when, as far as estimates tell."""

    def earliest_start(self, what: Job | int, for_: float | None = None) -> float:
        """
        When a job, or so many cores, could start; `for_` seconds instead of the job's estimate.
        """

    def fits(self, what: Job | int, at: float | None = None, for_: float | None = None) -> bool:
        """
        Is there room for a job, or so many cores, at that time and for so long?
        """

class ClusterView:
    """The nodes, now."""

    @property
    def nodes(self) -> int: ...
    @property
    def free_cores(self) -> int: ...
    def free_of(self, resource: int) -> numpy.typing.NDArray[Any]:
        """Free amount of a resource (by its number) on each node."""

    def total_of(self, resource: int) -> numpy.typing.NDArray[Any]: ...
    @property
    def free(self) -> numpy.typing.NDArray[Any]:
        """free cores of each node"""

    @property
    def total(self) -> numpy.typing.NDArray[Any]:
        """cores of each node"""

    def state(self, node: int) -> str:
        """up, down, off, booting, maintenance or drained"""

    @property
    def changes(self) -> int:
        """how often nodes have changed their states"""

    @property
    def states(self) -> list[str]:
        """up, down, off, booting, maintenance or drained, of each node"""

    @property
    def up(self) -> numpy.typing.NDArray[Any]:
        """whether each node takes jobs"""

    def usable(self, job: Job) -> numpy.typing.NDArray[Any]:
        """
        Whether the job may have each node, if it has room, from now until it would end as believed: the node is up, suits its request, and is not set aside for others in that time.
        """

    def usable_until(self, job: Job) -> numpy.typing.NDArray[Any]:
        """
        Until when the job could have each node: infinity, or when the node is set aside for others next; `now` where it cannot have it now.
        """

    def describe(self, facts: dict[str, Any]) -> None:
        """What does not change: names, groups, features, partitions."""

    @property
    def names(self) -> list[str]:
        """of the nodes"""

    @property
    def group(self) -> numpy.typing.NDArray[Any]:
        """of each node, by its number"""

    @property
    def group_names(self) -> list[str]:
        """names of the node groups"""

    @property
    def features(self) -> list[frozenset[str]]:
        """of each node"""

    @property
    def pool(self) -> bool:
        """whether it is one pool of cores, without nodes"""

    @property
    def partitions(self) -> dict[str, tuple[str, ...]]:
        """the groups of each"""

def set_deep_queue(reservations: int) -> int:
    """
    From how many reservations on conservative backfilling moves many at once; gives what it was. For tests: schedules are the same.
    """

class Pairs:
    """How fast applications run beside one another."""

    def __init__(
        self, *, names: Sequence[str], speedups: Sequence[float], alone: Sequence[float], multiply: bool, cap: bool
    ) -> None: ...
    @property
    def names(self) -> list[str]: ...

class Execution:
    """
    How placed jobs fare, in the core: their work, and factors of their rates.
    """

    @property
    def name(self) -> str:
        """as an owner of factors"""

def sharing(name: str, factor: float) -> Execution:
    """Jobs that share a node with others work at this rate."""

def interference(name: str, pairs: Pairs) -> Execution:
    """Jobs that share nodes work as fast as they let each other."""

def speeds(name: str, speeds: Sequence[float]) -> Execution:
    """
    A job takes as long as its slowest node lets it; a speed for each node, 1 is that of the log.
    """

class DecisionError(schedlab.model.errors.DecisionError):
    pass

class InvariantError(Exception):
    pass

class NativePolicy:
    """A built-in policy."""

    def __init__(
        self,
        *,
        backfill: str,
        order: Sequence[tuple[str, float]] | tuple[object, bool],
        scan: Sequence[tuple[str, float]] | tuple[object, bool] | None,
        depth: int,
        reservations: int,
        every: float = 0.0,
        backfill_every: float = 0.0,
        keys_every: float = 0.0,
        half_life: float = 0.0,
    ) -> None: ...
    def decide(self, view: View) -> None:
        """What it would do now, done."""

    def plan(self, view: View) -> list[tuple[Job, float | None, list[tuple[int, int]], int | None]]:
        """
        (job, start, nodes, spare) of everybody who waits, in its order, after it has decided: the start of the reservation, if the job has one; (node, chunks), empty where the plan is a matter of counting; the cores that are left over then.
        """

    def memory(self) -> list[float]:
        """What it remembers beyond the marks on jobs."""

    def recall(self, view: View, memory: Sequence[float]) -> None:
        """Finds its place again in a run that is taken up."""

class Simulation:
    """One run: a machine, the rules of time, and how jobs are placed."""

    def __init__(
        self,
        *,
        resources: Sequence[str],
        groups: Sequence[tuple[int, Sequence[int]]],
        placement: str,
        placement_seed: int,
        place: object | None,
        exclusive: bool,
        estimate: str,
        estimate_factor: float,
        estimator: tuple[str, object, object] | None,
        pass_per_event: bool,
        kill_at_limit: bool,
        calendar: Sequence[tuple[Sequence[int], float, float, Sequence[int], str]],
        budget: tuple[str, float, int | None, Sequence[tuple[Sequence[int], int, int]]] | None,
        keep_history: bool,
        follow_rates: bool,
        validate: bool,
        repeat_workload: bool,
        follow_dependencies: bool,
        threshold: float = 0.0,
    ) -> None: ...
    def add_request(
        self,
        *,
        chunk: Sequence[int],
        per_node_min: int,
        per_node_max: int,
        exclusive: bool,
        spread: bool = False,
        groups: Sequence[bool],
        reason: int,
    ) -> None:
        """
        Makes the next request known; jobs point to requests by their number. A reason > 0 rejects its jobs.
        """

    @property
    def view(self) -> View: ...
    def prepare(
        self,
        *,
        native: NativePolicy,
        decide: object | None,
        recall: object | None,
        before: object | None,
        after: object | None,
        entered: object | None = None,
        woken: object | None = None,
        wakers: Sequence[str] = [],
        allows: object | None,
        batches: object,
        write: object,
        progress: object | None,
        watched: bool,
        within: object | None = None,
        more_may_come: object | None = None,
        request_number: object | None = None,
        request_known: object | None = None,
        name_known: object | None = None,
        last_referrer: object | None = None,
        given_order: object | None = None,
        given_scan: object | None = None,
    ) -> None:
        """
        Who decides, who looks on, and where jobs come from and results go. `entered` is told of jobs that joined the queue because of what was done in `before`. `progress` is told at the end of an instant, `within` in the middle of a slow pass, when nothing may be looked at. `more_may_come()` says who expects more jobs when nothing is left to happen, or nothing; the others are for jobs that are submitted during the run: `request_number(request)`, `request_known(text)` and `name_known(id, name)` of a run that is taken up again, and the orders that the batches have keys of.
        """

    def note_request(self, text: str) -> None:
        """
        A request that became known during the run, for one that takes it up again.
        """

    def run(self) -> float:
        """Simulates the whole workload; returns the seconds it took."""

    def advance(self) -> bool:
        """Goes on to the next pass, step by step; False when it is over."""

    def lead(self, time: float) -> None:
        """
        Step by step, where another world leads: time passes until then, and `advance` does not go beyond it. What is done to jobs and nodes before `advance` is told in its first pass.
        """

    def take_wakes(self) -> list[float]:
        """
        Of one that is led: the times of the wake-ups that were asked for since this was last asked.
        """

    def next_event(self) -> float:
        """
        When something happens next, as things are; infinity if nothing will. It knows the future.
        """

    def events(self) -> list[tuple[str, Job | int | None]]:
        """What is told in this pass."""

    def finish(self) -> None:
        """
        Hands over what is left, and the jobs that are still there as they are.
        """

    def forget(self) -> None: ...
    def set_ticks(self, instants: int, seconds: float) -> None:
        """
        How often progress is told: every so many instants, but no more often than that.
        """

    def keep_places(self) -> None:
        """
        Before `run`: tell what every job had on each node, not only of those that were granted amounts.
        """

    def use_own_amounts(self) -> None:
        """
        Before any request is known: whoever decides may grant less than jobs ask for, and no job is rejected for its size.
        """

    def set_pairs(self, pairs: Pairs) -> None:
        """Before `run`: how fast applications run beside one another."""

    def stop_at(self, time: float) -> None:
        """Before `run`: what happens later does not happen."""

    def add_execution(self, model: Execution) -> None:
        """Before `run`: how placed jobs fare."""

    def add_python_execution(self, name: str, work: object | None, rate: object | None) -> None:
        """
        The same in Python: work(view, job, nodes) and rate(view, job, neighbours), or None.
        """

    def measure(self) -> None:
        """Before `run`: write down what each decision costs."""

    def give_reasons(self) -> None:
        """Before `run`: write down why jobs wait."""

    def keep_journal(self) -> None:
        """From now on, writes down what is decided."""

    def take_journal(self) -> bytes:
        """What was decided since it was last taken."""

    def snapshot(self) -> bytes:
        """At the end of an instant: what else a resumed run has to know."""

    @property
    def passes(self) -> int:
        """How many passes there were, less one."""

    @property
    def remembered(self) -> int:
        """How many jobs are remembered because others refer to them, or will."""

    def replay(self, journal: bytes, passes: int, snapshot: bytes) -> None:
        """
        Before `run`: do what was decided once more, without asking anybody, up to that pass.
        """

    @property
    def last_job(self) -> int:
        """The id of the job that was last dealt with."""

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

def observe(
    view: View,
    jobs: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu")],
    machine: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu")],
    horizons: Sequence[float],
    longest: float,
    counting: bool,
    all: bool,
) -> tuple[int, bool]:
    """
    Fills what an agent sees of waiting jobs and the machine (schedlab.learn.observation). How many jobs wait, and whether one of them could start: any, or one of those with a row.
    """

def expand_sets(
    text: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)],
    ends: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    names: Sequence[str],
) -> tuple[object, object, object, object]:
    """
    Node sets, one behind the other in `text`, as ranges of nodes: of each set the end; of each range its first node, the node after its last, and the chunks on each. ValueError, with the set, if it does not name such nodes.
    """

def gantt_rows(
    first: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    ends: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    first_node: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    last_node: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    chunks: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    begin: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    end: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    set: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    cores: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
) -> tuple[object, object, object]:
    """
    Which rows stays get, in the order of their beginning: stay, low, high of each rectangle.
    """

def gantt_cells(
    stay: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    low: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    high: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    job: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    begin: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    end: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    span: tuple[float, float],
    rows: int,
    across: int,
    down: int,
) -> tuple[object, object]:
    """
    Rectangles of stays, in the order of their beginning, from afar, cell by cell: the job that has most of it (-1: none), and how much of it jobs have, 0 to 255.
    """

def block_divisor(values: numpy.typing.NDArray[Any]) -> int:
    """
    The unit (1, or thousandths: 1000) of which all values but NaN are whole multiples, or 0.
    """

def block_column(
    values: numpy.typing.NDArray[Any],
    divisor: int,
    delta: bool,
    null: float | None = None,
    beside: numpy.typing.NDArray[Any] | None = None,
    beside_null: float | None = None,
) -> tuple[dict[str, Any], object]:
    """
    A column of a block (schedlab.web.block) of this unit: its head and its bytes. `null` means unknown, as NaN does; `beside` is the column to which it may be relative.
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
        memory: bool = False,
    ) -> None:
        """
        A negative `missing_limit` stands for the run time; `named` takes all job ids as names; `memory`: requested memory counts, and has to make sense.
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
    def odd(self) -> dict[str, int]:
        """
        How many jobs have a value that makes no sense and that they do not need, by field.
        """

    @property
    def unkept(self) -> dict[str, int]:
        """How many jobs have what the columns have no place for."""

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
