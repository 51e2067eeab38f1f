"""What a run shows between its passes, written down: taken from the engine's view and plan here and nowhere else."""

from __future__ import annotations

from dataclasses import dataclass, field

from schedlab._core import DecisionError, Job, View
from schedlab.engine.observer import Nodes, Observer
from schedlab.engine.stepper import Stepper
from schedlab.model.errors import InputError
from schedlab.model.run import Run
from schedlab.web.play.small import Small

MOST_STEPS = 2000


@dataclass(frozen=True, slots=True)
class Intended:
    """A waiting job with its reservation, if it has one."""

    job: int
    start: float | None
    end: float | None
    nodes: Nodes
    spare: int | None


@dataclass(slots=True)
class Instant:
    """All passes at one time."""

    time: float
    queue_before: list[int]
    free_before: int
    events: list[tuple[str, int]] = field(default_factory=list)
    started: list[tuple[int, Nodes]] = field(default_factory=list)
    queue: list[Intended] = field(default_factory=list)
    running: list[tuple[int, float]] = field(default_factory=list)  # with the believed ends
    held: list[int] = field(default_factory=list)
    free: int = 0


class _Starts(Observer):
    """In the order in which they were made."""

    name = "starts"

    def __init__(self) -> None:
        self.made: list[tuple[float, int, Nodes]] = []

    def started(self, view: View, job: Job, nodes: Nodes) -> None:
        self.made.append((view.now, job.id, nodes))


def record(small: Small) -> tuple[Run, list[Instant]]:
    """The run, with reasons, and its instants."""
    starts = _Starts()
    stepper = Stepper(small.scenario(reasons=True, observers=(starts,)))
    instants: list[Instant] = []
    try:
        while stepper.advance():
            view = stepper.view
            if not instants or instants[-1].time != view.now:
                known = [each.job for each in instants[-1].queue] if instants else []
                instants.append(Instant(view.now, _in_turn(view, known), view.free_cores))
            if len(instants) > MOST_STEPS:
                raise InputError(
                    f"there are more than {MOST_STEPS:,} steps", hint="take fewer jobs, or a longer period"
                )
            _note(instants[-1], stepper)
        run = stepper.finish()
    except BaseException as error:
        stepper.leave()
        if isinstance(error, DecisionError):  # of a policy that cannot go on
            raise InputError(str(error), where=f"policy '{small.policy}'", hint="try another one") from None
        raise
    by_time = {instant.time: instant for instant in instants}
    for time, job, nodes in starts.made:
        by_time[time].started.append((job, nodes))
    return run, instants


def _in_turn(view: View, known: list[int]) -> list[int]:
    """The queue before a pass: as the policy left it, those who came at its end."""
    waiting = [job.id for job in view.queue]
    there = set(waiting)
    return [job for job in known if job in there] + [job for job in waiting if job not in set(known)]


def _note(instant: Instant, stepper: Stepper) -> None:
    instant.events += [(kind, job.id) for kind, job in stepper.events if isinstance(job, Job)]
    stepper.decide()
    view = stepper.view
    instant.queue = [
        Intended(
            each.job.id,
            each.start,
            None if each.start is None else each.start + each.job.estimate,
            each.nodes,
            each.spare,
        )
        for each in stepper.plan()
    ]
    instant.running = [(job.id, job.estimated_end) for job in view.running]
    instant.held = [job.id for job in view.held]
    instant.free = view.free_cores
