"""Events, and what each does. The order of simultaneous events is the order of INSTANT or EVENT."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace

from tests.oracle.company import Heat, lay_out, may_meet, value_of, with_parts
from tests.oracle.jobs import Act, Change, Job, Policy, Result, Window, sort_key
from tests.oracle.machine import Cap, Claim, Moment, capacity, fill, least, nodes_of, place, rooms
from tests.oracle.pace import Pace
from tests.oracle.passes import Periods, Reservations, ask, see
from tests.oracle.waiting import CONDITIONS, is_hopeless, release_of

from schedlab.model.cluster import Cluster

INSTANT = ("completion", "submission", "release", "cancellation", "correction", "wake-up")
EVENT = ("correction", "submission", "completion", "release", "cancellation", "wake-up")
CORRECTIONS = (60, 300, 900, 1800, 3600, 7200, 18000, 36000, 72000, 180000, 360000)


def simulate(
    jobs: list[Job],
    cluster: Cluster,
    policy: Policy,
    *,
    estimate: str = "limit",
    overrun: str = "kill",
    passes: str = "instant",
    dependencies: str = "ignore",
    cap: Cap | None = None,
    windows: Sequence[Window] = (),
    script: Sequence[Act] = (),
    beliefs: str = "limit",
    changes: Sequence[Change] = (),
    speeds: Sequence[float] = (),
    sharing: float = 1.0,
    heat: Heat | None = None,
    grants: Grants | None = None,
) -> list[Result]:
    """The schedule, in the order of `sequence`. The jobs are changed; use them once.

    `script` is what somebody does to jobs in the course of it; those that he submits are not among `jobs`. `changes` of
    rates are made before the first pass at or after their time; `speeds` are those of nodes, 1 is that of the log; jobs
    that share a node with others have the factor `sharing`, and what `heat` says. `grants(simulation, job)` is asked of
    every job that has just become eligible, before the policy is.
    """
    options = Options(estimate, overrun, passes, dependencies)
    simulation = Simulation(jobs, cluster, policy, options, cap, windows, script)
    simulation.pace = Pace(simulation, beliefs == "rates", sorted(changes, key=lambda c: c.time), speeds, sharing, heat)
    simulation.grants = grants
    simulation.run()
    jobs = [*jobs, *(job for job in simulation.submitted if job not in jobs)]
    names = [node.name for node in simulation.nodes]
    return [
        Result(
            **{field.name: getattr(job, field.name) for field in fields(Result) if field.name != "nodes"},
            nodes={names[number]: chunks for number, chunks in job.nodes.items()},
        )
        for job in sorted(jobs, key=lambda job: job.sequence)
    ]


Grants = Callable[["Simulation", Job], None]


@dataclass(frozen=True)
class Options:
    estimate: str
    overrun: str
    passes: str
    dependencies: str


class Simulation:
    def __init__(
        self,
        jobs: list[Job],
        cluster: Cluster,
        policy: Policy,
        options: Options,
        cap: Cap | None = None,
        windows: Sequence[Window] = (),
        script: Sequence[Act] = (),
    ) -> None:
        self.script, self.script_given = list(script), bool(script)
        self.jobs, self.cluster, self.policy, self.options = jobs, cluster, policy, options
        self.cap, self.windows = cap, windows
        if cluster.pool:  # its node does not matter, and so do not bounds for nodes
            for job in [*jobs, *(act.job for act in script if isinstance(act.job, Job))]:
                job.request = replace(job.request, per_node_min=0, per_node_max=0, exclusive=False)
        self.nodes = nodes_of(cluster)
        self.default_partition = next((p.name for p in cluster.partitions if p.default), None)
        if policy.fraction is not None:
            bare, self.nodes = self.nodes, with_parts(self.nodes, cluster, policy.fraction)
            for job in jobs:
                lay_out(job, bare, cluster, policy.fraction, self.default_partition)
        self.now = 0.0
        # Time, kind, order (of completions: of starting, else of setting), order of setting, job, attempt.
        self.events: list[tuple[float, int, int, int, Job | None, int]] = []
        self.kinds = INSTANT if options.passes == "instant" else EVENT
        self.events_set = 0
        self.submitted: list[Job] = []
        self.held: list[Job] = []  # by a predecessor
        self.kept_back: list[Job] = []  # by the script
        self.waiting: list[Job] = []
        self.running: list[Job] = []  # in the order of starting
        self.ended_runs: dict[int, list[float]] = {}  # user -> how long his ended jobs ran
        self.reservations = Reservations()
        self.periods = Periods()
        self.ran: list[Job] = []  # has started, once for each start
        self.closed: dict[int, Window] = {}  # nodes, and which maintenance has closed them
        self.begun: set[int] = set()  # maintenance, by its position
        self.grants: Grants | None = None
        self.fresh: list[Job] = []  # became eligible since the policy was asked
        self.pace = Pace(self)

    @property
    def every_node(self) -> range:
        return range(len(self.nodes))

    def set_event(self, kind: str, time: float, job: Job | None) -> None:
        if time == math.inf:  # that never comes
            return
        self.events_set += 1
        order = job.started if job and kind == "completion" else self.events_set
        attempt = job.attempt if job else 0
        heapq.heappush(self.events, (time, self.kinds.index(kind), order, self.events_set, job, attempt))

    def run(self) -> None:
        for job in sorted(self.jobs, key=lambda job: (job.submit, job.sequence)):
            self.set_event("submission", job.submit, job)
        for window in self.windows:
            # Who closes nodes wakes everybody then and when he opens them; that the time is over does so by itself.
            for time in (window.start, window.until, window.until) if window.victims else (window.until,):
                self.set_event("wake-up", time, None)
        for time in {act.time for act in self.script}:
            self.set_event("wake-up", time, None)
        for change in self.pace.changes:
            self.set_event("wake-up", change.time, None)
        while self.something_is_to_come():
            self.now = self.events[0][0]
            if self.options.passes == "event":
                self.release_what_ends_as_believed()
            asked = False
            while self.events and self.events[0][0] == self.now:
                asked |= self.one_round()
            self.instant_is_over(asked)
        for jobs, state in ((self.held, "held"), (self.kept_back, "held")):
            for job in jobs:
                job.state, job.end = state, self.now
        for jobs, state in ((self.waiting, "waiting"), (self.running, "running")):
            for job in jobs:
                job.state, job.end = state, self.now

    def something_is_to_come(self) -> bool:
        """What is out of date does not count: the clock does not go there for it."""
        while self.events and self.is_out_of_date(self.kinds[self.events[0][1]], *self.events[0][4:]):
            heapq.heappop(self.events)
        return bool(self.events)

    def is_out_of_date(self, kind: str, job: Job | None, attempt: int) -> bool:
        if job is None:
            return False
        if kind == "cancellation":
            return bool(job.state) or job in self.running  # it has left already, or the time is ignored
        if kind == "release":
            return job not in self.held
        return kind in ("completion", "correction") and job.attempt != attempt

    def instant_is_over(self, asked: bool) -> None:
        """For those who look on; `asked`: the policy was."""

    def one_round(self) -> bool:
        """passes=instant: all events there are now, then one pass. passes=event: one event, and a pass after it.

        Whether there was a pass.
        """
        concerned = news = False
        while self.events and self.events[0][0] == self.now:
            _, kind_number, _, _, job, attempt = heapq.heappop(self.events)
            kind = self.kinds[kind_number]
            if self.is_out_of_date(kind, job, attempt):
                continue
            happened = getattr(self, "on_" + kind.replace("-", "_"))(job)
            news |= happened and kind != "wake-up"
            concerned |= happened and not (self.options.passes == "event" and kind == "correction")
            if self.options.passes == "event":
                break
        if concerned:
            self.act("before")
            again = True
            while again:
                self.maintain()
                self.pace.make_changes()
                fresh, self.fresh = self.fresh, []
                for job in fresh:
                    if self.grants is not None and job in self.waiting:
                        self.grants(self, job)
                ask(self, news)
                moved = self.pace.look_at_neighbours() and self.options.passes == "instant"
                again = self.act("after") or moved
        return concerned

    # What somebody does to jobs, by a script.

    def act(self, when: str) -> bool:
        """What is to be done now; whether the policy is to be asked because of it."""
        due = [act for act in self.script if act.time == self.now and act.when == when]
        self.script = [act for act in self.script if act not in due]
        told = [self.one_act(act) for act in due]
        return any(told)

    def one_act(self, act: Act) -> bool:
        if isinstance(act.job, Job):
            return self.on_submission(act.job)
        job = next((job for job in self.submitted if job.id == act.job and not job.state), None)
        if job is None:
            return False
        if act.what == "hold" and job in self.waiting:
            self.waiting.remove(job)
            self.reservations.give_up(job)
            self.kept_back.append(job)
            return True
        if act.what == "release" and job in self.kept_back:
            self.kept_back.remove(job)
            return self.make_eligible(job)
        if act.what == "withdraw":
            return self.on_cancellation(job)
        if act.what == "complete" and job in self.running and not job.released:
            job.attempt += 1  # its own end is not to come
            return self.on_completion(job, at_its_end=False)
        return False

    def release_what_ends_as_believed(self) -> None:
        for job in self.running:
            if job.end == self.now and job.believed_end <= self.now:
                job.released = True

    # Maintenance, before each pass.

    def maintain(self) -> None:
        for position, window in enumerate(self.windows):
            if window.victims and position not in self.begun and window.start <= self.now < window.until:
                self.begun.add(position)
                self.close(window)
            if self.now >= window.until and window in self.closed.values():
                self.closed = {node: owner for node, owner in self.closed.items() if owner is not window}
                self.reservations.remake = True

    def close(self, window: Window) -> None:
        for job in [job for job in self.running if not job.released and window.nodes & job.nodes.keys()]:
            if window.victims == "drain":
                continue
            self.running.remove(job)
            job.attempt += 1
            if window.victims == "kill":
                self.reservations.compress = True
                self.leave(job, "killed")
                continue
            job.start, job.nodes, job.believed, job.corrections = math.nan, {}, job.estimate, 0
            job.priority, job.backfilled = math.nan, False
            self.waiting.append(job)
            self.reservations.remake = True
        for node in window.nodes - self.closed.keys():
            self.closed[node] = window
            self.reservations.remake = True

    # Events. Each says whether it is something the policy is to be asked about.

    def on_submission(self, job: Job) -> bool:
        if self.options.dependencies == "follow":
            for number, condition, delay in job.predecessors:
                known = [other for other in self.submitted if other.id == number]
                job.waits += [(other, CONDITIONS[condition], delay) for other in known[:1]]
        job.sequence = len(self.submitted) if self.script_given else job.sequence
        self.submitted.append(job)
        job.estimate = job.believed = self.first_estimate(job)
        if job.cancel < math.inf:
            self.set_event("cancellation", max(job.cancel, self.now), job)
        if not self.could_ever_fit(job):
            self.leave(job, "rejected")
            return False
        if not job.waits or release_of(job) <= self.now:
            return self.make_eligible(job)
        self.held.append(job)
        self.look_at(job)
        if job.hopeless:
            self.leave(job, "cancelled")
        return False

    def look_at(self, job: Job) -> None:
        """What has become of those that a held job waits for?"""
        job.hopeless = is_hopeless(job)
        release = release_of(job)
        if not job.hopeless and release < job.release:
            job.release = release
            self.set_event("release", release, job)

    def on_release(self, job: Job) -> bool:
        if job not in self.held:  # cancelled meanwhile, or another predecessor was enough
            return False
        self.held.remove(job)
        return self.make_eligible(job)

    def make_eligible(self, job: Job) -> bool:
        job.eligible = self.now
        see(self, job)
        self.waiting.append(job)
        self.fresh.append(job)
        return True

    def on_completion(self, job: Job, *, at_its_end: bool = True) -> bool:
        """Its work is done, its limit is reached, or somebody says that it is done."""
        self.running.remove(job)
        ran = self.pace.time_it_ran(job) if at_its_end else self.now - job.start
        self.ended_runs.setdefault(job.user, []).append(ran)
        self.reservations.compress |= self.now < job.believed_end
        self.leave(job, "completed" if not at_its_end or self.pace.done(job) else "killed")
        return True

    def on_cancellation(self, job: Job) -> bool:
        if job in self.kept_back:
            self.kept_back.remove(job)
            self.leave(job, "cancelled")
        elif job in self.held:
            self.leave(job, "cancelled")
        elif job in self.waiting:
            self.waiting.remove(job)
            self.reservations.give_up(job)
            self.leave(job, "cancelled")
            return True
        return False

    def on_correction(self, job: Job) -> bool:
        ran = job.believed
        if job.end == math.inf:
            job.believed = math.inf
        elif job.corrections < len(CORRECTIONS):
            job.believed = job.estimate + CORRECTIONS[job.corrections]
            if job.limit > ran:
                job.believed = min(job.believed, job.limit)
        else:
            job.believed = job.limit if job.limit > ran else ran + CORRECTIONS[-1]
        job.corrections += 1
        self.reservations.remake = True
        self.pace.corrected(job, job.believed - ran)
        self.expect_correction(job)
        return True

    def on_wake_up(self, _: None) -> bool:
        return True

    def leave(self, job: Job, state: str) -> None:
        leaving = [(job, state)]
        while leaving:
            gone, gone_as = leaving.pop(0)
            if gone in self.held:
                self.held.remove(gone)
            gone.state, gone.end = gone_as, self.now
            leaving += [(follower, "cancelled") for follower in self.tell_followers(gone)]

    def tell_followers(self, of: Job) -> list[Job]:
        """Something has become of it. Returns those that now can never be eligible."""
        concerned = [job for job in self.held if not job.hopeless and any(other is of for other, _, _ in job.waits)]
        for job in concerned:
            self.look_at(job)
        return [job for job in concerned if job.hopeless]

    # Durations.

    def time_it_runs(self, job: Job) -> float:
        return job.runtime if self.options.overrun == "run" else min(job.runtime, job.limit)

    def first_estimate(self, job: Job) -> float:
        return self.raw_estimate(job) or 1.0

    def raw_estimate(self, job: Job) -> float:
        if self.options.estimate == "exact":
            return self.time_it_runs(job)
        if self.options.estimate == "last-two":
            ended = self.ended_runs.get(job.user, [])
            return min(job.limit, math.floor((ended[-1] + ended[-2]) / 2)) if len(ended) > 1 else job.limit
        factor = self.options.estimate.removeprefix("limit").removeprefix("*")
        return job.limit * float(factor) if factor else job.limit

    # The machine.

    def is_exclusive(self, job: Job) -> bool:
        return self.policy.exclusive or job.request.exclusive

    def claim(self, job: Job) -> Claim:
        """What a running job holds."""
        return Claim(job, job.request, job.nodes, job.start, job.believed_end, self.is_exclusive(job), job.granted)

    def held_now(self) -> list[Claim]:
        return [self.claim(job) for job in self.running if not job.released]

    def moment(self, claims: list[Claim]) -> Moment:
        """At which these are held."""
        return Moment(claims, rooms(self.nodes, claims))

    def fit(
        self,
        job: Job,
        moments: list[Moment],
        without: frozenset[int] = frozenset(),
        placement: str = "",
        *,
        closed: bool = False,
    ) -> dict[int, int] | None:
        """Where the placement puts the job beside what is held at these moments; None if it does not fit.

        It does not get the nodes `without`; with `closed` none that is closed now.
        """
        rooms, exclusive = least(moments), self.is_exclusive(job)
        if closed:
            rooms = [room._replace(closed=True) if number in self.closed else room for number, room in enumerate(rooms)]
        capacities = [
            0 if number in without else capacity(node, room, job.request, exclusive, self.default_partition)
            for number, (node, room) in enumerate(zip(self.nodes, rooms, strict=True))
        ]
        nodes = place(placement or self.policy.place, rooms, capacities, job, exclusive)
        if nodes is None or self.cap is None:
            return nodes
        own = Claim(job, job.request, nodes, self.now, math.inf, self.is_exclusive(job))
        return nodes if all(self.cap.allows([*moment.claims, own]) for moment in moments) else None

    def kept_off(self, job: Job, begin: float, end: float) -> frozenset[int]:
        """The nodes that the calendar does not let it have between these times."""
        return frozenset().union(*(window.nodes for window in self.windows if window.keeps_off(job, begin, end)))

    def fit_now(self, job: Job) -> dict[int, int] | None:
        without, held = self.kept_off(job, self.now, self.now + job.estimate), [self.moment(self.held_now())]
        if self.policy.place in ("occupied-first", "best-pair") or self.policy.threshold:
            return self.fit_beside_others(job, without)
        if self.policy.place != "careless":
            return self.fit(job, held, without, closed=True)
        nodes = self.fit(job, held, closed=True)
        return None if nodes is None or without & nodes.keys() else nodes

    def fit_beside_others(self, job: Job, without: frozenset[int]) -> dict[int, int] | None:
        """The nodes that the placement likes best for who is there, of those that the threshold allows."""
        heat, threshold = self.pace.heat or Heat(), self.policy.threshold
        there = [[other for other in self.running if not other.released and n in other.nodes] for n in self.every_node]
        capacities = [
            0
            if number in without or number in self.closed or not may_meet(job, there[number], heat, threshold)
            else capacity(node, room, job.request, self.is_exclusive(job), self.default_partition)
            for number, (node, room) in enumerate(zip(self.nodes, rooms(self.nodes, self.held_now()), strict=True))
        ]
        if sum(capacities) < job.count:
            return None
        liked = [value_of(self.policy.place, job, others, heat) for others in there]
        return fill(sorted(self.every_node, key=lambda n: (-liked[n], n)), capacities, job.count)

    def could_ever_fit(self, job: Job) -> bool:
        partition = job.request.partition
        if partition is not None and partition not in {p.name for p in self.cluster.partitions}:
            return False
        return self.fit(job, [self.moment([])]) is not None

    def grant(self, job: Job, granted: dict[int, dict[str, int]]) -> None:
        """Start it with these amounts, if the cap allows it. Its chunks are as many as they hold, at least 1 a node."""
        asked = {resource: amount for resource, amount in job.request.chunk.items() if amount}
        nodes = {
            number: max(min(amounts.get(resource, 0) // amount for resource, amount in asked.items()), 1)
            for number, amounts in granted.items()
        }
        own = Claim(job, job.request, nodes, self.now, math.inf, self.is_exclusive(job), granted)
        if self.cap is None or self.cap.allows([*self.held_now(), own]):
            job.granted = granted
            self.start(job, nodes, [job])
            job.priority = 0.0

    def start(self, job: Job, nodes: dict[int, int], queue: list[Job]) -> None:
        job.backfilled = any(other in self.waiting for other in queue[: queue.index(job)])
        self.waiting.remove(job)
        self.running.append(job)
        job.nodes, job.start = nodes, self.now
        job.priority = sort_key(self.policy.order, job, self.now)[0] if math.isnan(job.key) else job.key
        if math.isnan(job.first_start):
            job.first_start = self.now
            self.tell_followers(job)
        job.started = self.events_set
        self.ran.append(job)
        self.pace.begin(job)
        self.set_event("completion", job.end, job)
        self.expect_correction(job)
        rooms(self.nodes, self.held_now())  # asserts that nothing is over-full

    def expect_correction(self, job: Job) -> None:
        if job.believed_end < job.end:
            self.set_event("correction", job.believed_end, job)
