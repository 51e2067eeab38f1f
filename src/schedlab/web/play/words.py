"""Decisions in words: by what right a job starts, and what a waiting job waits for, with the numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from schedlab.model.states import BEHIND, DEPENDENCY, NOT_ENOUGH_FREE, WOULD_DELAY
from schedlab.model.story import Stretch
from schedlab.model.story_words import in_words
from schedlab.policy.spec import PolicySpec
from schedlab.web.play.record import Instant, Intended
from schedlab.web.play.told import PlayedJob

PLANNING = ("conservative",)  # disciplines in which everybody has a reservation


@dataclass(frozen=True, slots=True)
class Scene:
    """What words about an instant need."""

    spec: PolicySpec
    jobs: Mapping[int, PlayedJob]
    instant: Instant
    before: Mapping[int, Intended]  # reservations that jobs had until now
    counted: bool  # whether jobs fit by numbers of cores alone
    words: Mapping[int, str]  # of jobs whose reasons have some

    def name(self, job: int) -> str:
        return self.jobs[job].label

    @property
    def head(self) -> Intended | None:
        return self.instant.queue[0] if self.instant.queue else None


def number(value: float) -> str:
    return f"{round(value, 2):.12g}"


def cores(count: int) -> str:
    return f"{count} core" if count == 1 else f"{count} cores"


def are(count: int) -> str:
    return "is" if count == 1 else "are"


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def comes(job: PlayedJob, held_for: Sequence[str], counts_from: float) -> str:
    wants = f"{cores(job.cores)}, for {number(job.estimate)} s at most"
    if held_for:
        return f"{job.label} comes ({wants}), and is held until {_listed(held_for)} {_have(held_for)} completed."
    if counts_from > job.submit:
        return f"{job.label} is held no longer: what it waited for has completed."
    return f"{job.label} comes: {wants}."


def _have(names: Sequence[str]) -> str:
    return "has" if len(names) == 1 else "have"


def ends(job: PlayedJob, kills: bool) -> str:
    if job.state == "killed":
        return f"{job.label} has reached its limit of {number(job.estimate)} s and is killed."
    believed = (job.start or 0.0) + job.estimate
    if job.end < believed:
        return f"{job.label} ends, {number(believed - job.end)} s before its estimated end."
    return f"{job.label} ends." if kills else f"{job.label} ends, {number(job.end - believed)} s later than estimated."


def starts(scene: Scene, job: int, backfilled: bool, free: int, spare: int | None) -> str:
    """`free` cores before it, `spare` ones beside the head's reservation before it."""
    who, had = scene.jobs[job], scene.before.get(job)
    room = _room(scene, who, free)
    if scene.spec.backfill in PLANNING:
        return _starts_as_planned(scene, who, had, room, backfilled)
    if not backfilled:
        return _starts_in_order(scene, who, had, room)
    head, until = scene.head, scene.instant.time + who.estimate
    if head is None or head.start is None:
        passed = "those before it do not fit, and no place is kept for them" if head else "those before it did not fit"
        return f"{who.label} starts: {room}; {passed}."
    first = f"{who.label} starts now, ahead of {scene.name(head.job)} (backfilling): {room}"
    if scene.spec.reservations > 1:
        return f"{first}, and until {number(until)} it is in nobody's way who has a reservation."
    if until <= head.start:
        due = f"{scene.name(head.job)}'s reservation at {number(head.start)}"
        return f"{first}, and it ends by {number(until)}, before {due}."
    if spare is None:
        then = number(head.start)
        return f"{first}. It may still run at {then}, but {scene.name(head.job)} has its place beside it then."
    return (
        f"{first}. It may still run at {number(head.start)}, when {scene.name(head.job)} has its reservation; but "
        f"{cores(spare)} {are(spare)} left over then, and that is enough for it."
    )


def _room(scene: Scene, who: PlayedJob, free: int) -> str:
    if scene.counted:
        return f"it needs {cores(who.cores)}, {free} {are(free)} free"
    nodes = next(len(given) for job, given in scene.instant.started if job == who.id)
    kind = "whole " if scene.spec.exclusive else ""
    if nodes == 1:
        return f"a {kind}node has room for it"
    return f"{nodes} {kind}nodes have room for it"


def _starts_in_order(scene: Scene, who: PlayedJob, had: Intended | None, room: str) -> str:
    now = scene.instant.time
    if had is not None and had.start is not None:
        when = "as reserved" if had.start == now else f"{number(had.start - now)} s before its reservation"
        if had.start < now:
            when = f"{number(now - had.start)} s after its reservation"
        return f"{who.label} starts, {when}: {room}."
    return f"{who.label} starts: nobody is before it, {room}."


def _starts_as_planned(scene: Scene, who: PlayedJob, had: Intended | None, room: str, backfilled: bool) -> str:
    now = scene.instant.time
    if had is not None and had.start is not None:
        if had.start <= now:
            return f"{who.label} starts: the time of its reservation has come."
        moved = f"its reservation moves up from {number(had.start)} to now"
        return f"{who.label} starts: {moved}, because cores became free early."
    if not backfilled:
        return f"{who.label} starts: nobody is before it, {room}."
    until = number(now + who.estimate)
    first = f"{who.label} starts now, ahead of others (backfilling): {room}"
    return f"{first}, and until {until} it is in no reservation's way."


def waits(scene: Scene, job: int, why: str, other: int | None) -> str:
    who, own = scene.jobs[job], next((each for each in scene.instant.queue if each.job == job), None)
    free, now = scene.instant.free, scene.instant.time
    if why == DEPENDENCY:
        return f"{who.label} is held until {_name(scene, other)} has completed."
    if why == BEHIND:
        return f"{who.label} waits: {_name(scene, other)} is before it, and nobody may pass."
    if why == NOT_ENOUGH_FREE:
        said = (
            f"it needs {cores(who.cores)}, {free} {are(free)} free"
            if scene.counted
            else "no free place is large enough"
        )
        return f"{who.label} waits: {said}.{_reserved(scene, own)}"
    if why == WOULD_DELAY:
        return f"{who.label} waits, although there is room: {_in_the_way(scene, who, other)}.{_reserved(scene, own)}"
    if why == "limit":
        return f"{who.label} waits, although there is room: {_limited(scene.spec, now)}."
    return f"{who.label} waits: {in_words(Stretch(now, now, why, _name(scene, other), scene.words.get(job)))}."


def _name(scene: Scene, job: int | None) -> str:
    return "another job" if job is None or job not in scene.jobs else scene.name(job)


def _reserved(scene: Scene, own: Intended | None) -> str:
    """Its own reservation, and whose end it is for."""
    if own is None or own.start is None:
        return ""
    had = scene.before.get(own.job)
    moved = ""
    if had is not None and had.start is not None and own.start < had.start:
        moved = f", moved up from {number(had.start)}"
    ending = [scene.name(job) for job, end in scene.instant.running if end == own.start]
    ending += [scene.name(each.job) for each in scene.instant.queue if each.end == own.start]
    if not ending or moved:
        return f" Its reservation is at {number(own.start)}{moved}."
    return f" Its reservation is at {number(own.start)}, when {_listed(ending)} will have ended."


def _in_the_way(scene: Scene, who: PlayedJob, other: int | None) -> str:
    until = number(scene.instant.time + who.estimate)
    blocked = next((each for each in scene.instant.queue if each.job == other), None)
    if blocked is None or blocked.start is None:
        return f"it would delay {_name(scene, other)}"
    said = f"it may run until {until}, and {scene.name(blocked.job)} has its reservation at {number(blocked.start)}"
    if blocked.spare is None or scene.spec.backfill == "easy-strict":
        return f"{said}, which it would be in the way of"
    left = "no core is" if blocked.spare == 0 else f"only {cores(blocked.spare)} {are(blocked.spare)}"
    return f"{said}, beside which {left} left over"


def _limited(spec: PolicySpec, now: float) -> str:
    """Why a discipline did not look at a job that could start."""
    period = max(spec.periods.every, spec.periods.backfill_every)
    if period > 0:
        following = number(spec.periods.next_backfill(now))
        return f"backfilling is tried every {number(period)} s only, the next time at {following}"
    if spec.depth is not None:
        return f"a pass looks at {spec.depth} of the jobs behind the first one only (depth={spec.depth})"
    return "the pass had looked at it before there was"
