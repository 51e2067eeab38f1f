"""A job's story in words."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from schedlab.model.states import (
    BEHIND,
    DEPENDENCY,
    GATE,
    HELD,
    NOT_ENOUGH_FREE,
    NOT_STARTED,
    OWN_WORDS,
    WOULD_DELAY,
)
from schedlab.model.units import format_duration

if TYPE_CHECKING:
    from schedlab.model.story import Story, Stretch

MOST_STRETCHES = 12  # of waiting; if there are more, those of one reason are put together
MOST = 5  # of those who passed it, and of those who held the cores
HOW = "simulate with --reasons (simulate(…, reasons=True)) to know what it waited for"

_SAID = {
    NOT_ENOUGH_FREE: "not enough was free for it",
    HELD: "it was held",
    "limit": "nothing stood in its way, but the policy did not look so far (its depth, or once a pass)",
    "partition or features": "the nodes that it may have were full or closed, while others were free",
    "closed nodes": "nodes were closed (down, off, drained or in maintenance)",
    "budget": "the machine's budget (power) would have been exceeded",
    "calendar": "nodes were set aside for others",
    NOT_STARTED: "it would have fitted, and the policy did not start it",
}


def in_words(stretch: Stretch) -> str:
    """Why it waited then."""
    match stretch.why:
        case str(word) if word == WOULD_DELAY:
            return f"it would have fitted, but would have delayed job {stretch.who}"
        case str(word) if word == BEHIND:
            return f"job {stretch.who} was before it in the queue, and could not start"
        case str(word) if word == DEPENDENCY:
            return f"for job {stretch.who} to end" if stretch.who else "for the time after its predecessor's end"
        case str(word) if word == GATE:
            return f"{stretch.words} did not allow it to start"
        case str(word) if word == OWN_WORDS:
            return f"“{stretch.words}”, says the policy" + (f" (job {stretch.who})" if stretch.who else "")
    return _SAID.get(stretch.why, stretch.why) + (f" (job {stretch.who})" if stretch.who else "")


def moment(story: Story, time: float) -> str:
    """A time of the run: its date, if the log has one."""
    origin = story.run.workload.get("origin")
    if not origin:
        return format_duration(time)
    return f"{(datetime.fromisoformat(origin) + timedelta(seconds=time)):%Y-%m-%d %H:%M:%S}"


def sentences(story: Story) -> Iterator[str]:
    size, believed = _cores(story.cores), format_duration(story.estimate)
    yield f"Job {story.job} under {story.run.policy}: {size}, believed to run for {believed}."
    yield f"Submitted at {moment(story, story.submit)}; {_eligible(story)}; {_fate(story)}."
    yield ""
    yield from _waited(story)
    if story.waited_until > story.submit and story.eligible is not None:
        yield from _passed(story)
        yield from _held_the_cores(story)
        yield from _could_start(story)


def label(stretch: Stretch) -> str:
    """The same in a few words, for a figure."""
    if stretch.words:
        return stretch.words if stretch.why == OWN_WORDS else f"{stretch.why}: {stretch.words}"
    if stretch.why in (WOULD_DELAY, BEHIND):
        return f"{stretch.why} {stretch.who}"
    return stretch.why + (f" (job {stretch.who})" if stretch.who else "")


def labels_of(story: Story, most: int) -> list[str]:
    """The labels of its reasons, in the order in which they come; of many, those that lasted longest."""
    lengths: dict[str, float] = {}
    for each in story.stretches:
        lengths[label(each)] = lengths.get(label(each), 0.0) + each.end - each.begin
    longest = sorted(lengths, key=lambda name: -lengths[name])[:most]
    return [name for name in lengths if name in longest]


def _cores(number: int) -> str:
    return f"{number:,} core{'s' if number != 1 else ''}"


def _eligible(story: Story) -> str:
    if story.eligible is None:
        return "never eligible"
    late = story.eligible - story.submit
    return f"eligible {format_duration(late)} later" if late > 0 else "eligible at once"


def _fate(story: Story) -> str:
    if story.start is None:
        return f"it never started, and left at {moment(story, story.end)} ({story.state})"
    since = story.submit if story.eligible is None else story.eligible
    how = ", backfilled" if story.backfilled else ""
    ran = format_duration(story.end - story.start)
    when = f"{format_duration(story.start - since)} after that" if story.start > since else "in the same instant"
    return f"started {when}{how}, and {story.state} after {ran}"


def _waited(story: Story) -> Iterator[str]:
    whole = story.waited
    if whole <= 0:
        yield "It did not wait."
        return
    if not story.told:
        yield f"It waited {format_duration(whole)}. This run does not say why: {HOW}."
        return
    yield f"It waited {format_duration(whole)} for its start:" if story.start is not None else "It waited:"
    if len(story.stretches) <= MOST_STRETCHES:
        for stretch in story.stretches:
            length = stretch.end - stretch.begin
            since = moment(story, stretch.begin)
            yield f"  {format_duration(length):>12} {length / whole:>5.0%}  from {since}: {in_words(stretch)}"
        return
    together: dict[str, list[float]] = {}
    for stretch in story.stretches:
        together.setdefault(in_words(stretch), []).append(stretch.end - stretch.begin)
    largest = sorted(together.items(), key=lambda item: -sum(item[1]))
    for words, lengths in largest[:MOST_STRETCHES]:
        often = f", {len(lengths)} times" if len(lengths) > 1 else ""
        yield f"  {format_duration(sum(lengths)):>12} {sum(lengths) / whole:>5.0%}  {words}{often}"
    if rest := largest[MOST_STRETCHES:]:
        length = sum(sum(lengths) for _, lengths in rest)
        yield f"  {format_duration(length):>12} {length / whole:>5.0%}  {len(rest):,} other reasons"


def _passed(story: Story) -> Iterator[str]:
    yield ""
    if not story.passers:
        yield "Nobody who came later passed it."
        return
    number = len(story.passers)
    yield f"{number:,} job{'s' if number > 1 else ''} that came later passed it:"
    for each in story.passers[:MOST]:
        yield f"  job {each.job} ({_cores(each.cores)}) at {moment(story, each.start)}; {each.right}"
    if number > MOST:
        yield f"  and {number - MOST:,} more"


def _held_the_cores(story: Story) -> Iterator[str]:
    yield ""
    if not story.holders:
        yield "Nobody held any cores meanwhile."
        return
    yield "Who had the cores meanwhile, as shares of the machine over the time that it waited:"
    for each in story.holders[:MOST]:
        span = f"from {moment(story, each.begin)} to {moment(story, each.end)}"
        yield f"  {each.share:>5.1%}  job {each.job} ({_cores(each.cores)}), {span}"
    if len(story.holders) > MOST:
        rest = sum(each.share for each in story.holders[MOST:])
        yield f"  {rest:>5.1%}  {len(story.holders) - MOST:,} others"


def _could_start(story: Story) -> Iterator[str]:
    yield ""
    first = story.could_start
    if first >= story.waited_until:
        yield "There was no earlier time at which it could have started, as far as the tables tell."
        return
    since = story.waited_until - first
    told = next((label(each) for each in story.stretches if each.begin == first), "counting cores alone")
    yield f"It could first have started at {moment(story, first)}, {format_duration(since)} earlier ({told})."
