"""Lessons: files of text with small scenarios, notes about their steps, and the starts that the text speaks of."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from schedlab.model.errors import InputError, InputErrors
from schedlab.model.heatmap import Heatmap
from schedlab.web.play.small import Small, SmallJob, flow_of
from schedlab.web.play.tell import play
from schedlab.web.play.told import Play

_PART = ("title", "text", "machine", "jobs", "plays", "notes", "heatmap", "workflow")
_PLAY = ("name", "policy", "starts", "metrics", "estimate", "overrun", "handling")
_NOTE = ("at", "text", "ask")


@dataclass(frozen=True, slots=True)
class Note:
    """Said at the step at that time; `ask` before its decisions are shown."""

    at: float
    text: str
    ask: str = ""


@dataclass(frozen=True, slots=True)
class Part:
    """Scenarios that are played side by side, on one clock."""

    title: str
    text: str
    scenarios: tuple[Small, ...]
    starts: tuple[tuple[float, ...], ...]  # of each scenario's jobs, as the author computed them
    metrics: tuple[Mapping[str, str], ...]  # of each scenario, those that the text speaks of
    notes: tuple[Note, ...]


@dataclass(frozen=True, slots=True)
class Lesson:
    id: str
    title: str
    summary: str
    text: str
    parts: tuple[Part, ...]
    closing: str = ""

    def card(self) -> dict[str, str]:
        return {"id": self.id, "title": self.title, "summary": self.summary}


@cache
def lessons() -> tuple[Lesson, ...]:
    """All that there are, in the order of their files."""
    found = sorted(files("schedlab.web").joinpath("lessons").iterdir(), key=lambda file: file.name)
    return tuple(
        read_lesson(file.name, file.read_text(encoding="utf-8")) for file in found if file.name.endswith(".toml")
    )


def find(name: str) -> Lesson:
    for lesson in lessons():
        if lesson.id == name:
            return lesson
    raise InputError("there is no such lesson", where=name[:60], hint=", ".join(each.id for each in lessons()))


def read_lesson(file: str, text: str) -> Lesson:
    """`01-backfilling.toml` is the lesson `backfilling`."""
    table = tomllib.loads(text)
    _only(table, ("title", "summary", "text", "closing", "parts"), file)
    return Lesson(
        id=file.removesuffix(".toml").partition("-")[2],
        title=table["title"],
        summary=table["summary"],
        text=table["text"],
        parts=tuple(_part(part, f"{file}, part {number}") for number, part in enumerate(table["parts"], 1)),
        closing=table.get("closing", ""),
    )


def _part(part: Mapping[str, Any], where: str) -> Part:
    _only(part, _PART, where)
    jobs = tuple(SmallJob(*row) for row in part["jobs"])
    heatmap = _heatmap(part["heatmap"], where) if "heatmap" in part else None
    scenarios = []
    for one in part["plays"]:
        _only(one, _PLAY, where)
        flow = flow_of(handling=one["handling"], **part["workflow"]) if "handling" in one else None
        scenarios.append(
            Small(
                machine=part["machine"],
                policy=one["policy"],
                jobs=jobs,
                estimate=one.get("estimate", "limit"),
                overrun=one.get("overrun", "kill"),
                heatmap=heatmap,
                flow=flow,
                name=one.get("name", one["policy"]),
            )
        )
    notes = []
    for note in part.get("notes", ()):
        _only(note, _NOTE, where)
        notes.append(Note(float(note["at"]), note["text"], note.get("ask", "")))
    starts = tuple(tuple(float(time) for time in one["starts"]) for one in part["plays"])
    metrics = tuple(one.get("metrics", {}) for one in part["plays"])
    return Part(part["title"], part.get("text", ""), tuple(scenarios), starts, metrics, tuple(notes))


def _heatmap(table: Mapping[str, Any], where: str) -> Heatmap:
    """`alone` is the speed-up of each on halves of nodes without neighbours."""
    _only(table, ("names", "speedups", "alone"), where)
    return Heatmap.from_cells(table["names"], table["speedups"], alone={0.5: table["alone"]}, source=where)


def _only(table: Mapping[str, Any], keys: tuple[str, ...], where: str) -> None:
    wrong = [InputError(f"'{key}' is no key of this table", where=where) for key in table if key not in keys]
    if wrong:
        raise InputErrors(wrong)


def played(lesson: Lesson) -> tuple[tuple[Play, ...], ...]:
    """The plays of each part."""
    return tuple(tuple(play(scenario) for scenario in part.scenarios) for part in lesson.parts)


@cache
def document(name: str) -> dict[str, Any]:
    """As a page gets it. It never changes: it is simulated once."""
    lesson = find(name)
    parts = [
        {
            "title": part.title,
            "text": part.text,
            "notes": [asdict(note) for note in part.notes],
            "plays": [each.to_dict() for each in plays],
            "typed": _typed(part),
        }
        for part, plays in zip(lesson.parts, played(lesson), strict=True)
    ]
    return {**lesson.card(), "text": lesson.text, "closing": lesson.closing, "parts": parts}


def _typed(part: Part) -> dict[str, Any] | None:
    """The same as a scenario of one's own, to try changes; None where a form has no room for all of it."""
    first = part.scenarios[0]
    if any(each.heatmap or each.flow for each in part.scenarios) or len({each.estimate for each in part.scenarios}) > 1:
        return None
    if len({each.overrun for each in part.scenarios}) > 1:
        return None
    return {
        "machine": first.machine.removeprefix("pool:"),
        "policies": [each.policy for each in part.scenarios],
        "estimate": first.estimate,
        "overrun": first.overrun,
        "jobs": [[job.submit, job.cores, job.runtime, job.estimate, job.user] for job in first.jobs],
    }
