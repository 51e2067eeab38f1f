"""The header of an accounting dump, and rows that have too many fields because `|` occurs inside one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from schedlab.model.errors import InputError

SACCT_COLUMNS = (
    *("JobID", "JobIDRaw", "User", "Account", "Partition", "QOS", "State", "Submit", "Eligible", "Start", "End"),
    *("Suspended", "Timelimit", "ReqCPUS", "NCPUS", "NNodes", "ReqMem", "ReqTRES", "AllocTRES", "Reason"),
    *("Reservation", "Constraints"),
)
SACCT_COMMAND = (
    "TZ=UTC SLURM_TIME_FORMAT=%s sacct -P -a -X -D --noconvert -S 2025-01-01 -E 2025-02-01 "
    f"--format={','.join(SACCT_COLUMNS)} > jobs.sacct"
)

# What is read, by the name that the reader uses, with the columns that can give it: the first that is there does.
SOURCES = {
    "id": ("JobIDRaw", "JobID"),
    "shown": ("JobID",),
    "user": ("User", "UID"),
    "group": ("Account",),
    "queue": ("QOS",),
    "partition": ("Partition",),
    "state": ("State",),
    "submit": ("Submit",),
    "eligible": ("Eligible",),
    "start": ("Start",),
    "end": ("End",),
    "elapsed": ("ElapsedRaw", "Elapsed"),
    "suspended": ("Suspended",),
    "limit": ("Timelimit", "TimelimitRaw"),
    "requested_cpus": ("ReqCPUS",),
    "allocated_cpus": ("NCPUS", "AllocCPUS"),
    "requested_nodes": ("ReqNodes",),
    "allocated_nodes": ("NNodes", "AllocNodes"),
    "memory": ("ReqMem",),
    "requested": ("ReqTRES",),
    "allocated": ("AllocTRES",),
    "features": ("Constraints",),
    "licences": ("Licenses",),
    "reservation": ("Reservation",),
    "reason": ("Reason",),
    "dependency": ("Dependency",),
    "line": ("SubmitLine",),
}
DELIMITERS = "|;\t,"  # a comma occurs within fields, too
_JOB_ROW = re.compile(r"\s*\d+(?:_\d+|_\[[^|]*\]|\+\d+)?(?:\.\w+)?[|;\t,]")
_DASHES = re.compile(r"\s*-+(?:\s+-+){2,}\s*")
_PROCESSORS = ("requested_cpus", "allocated_cpus", "requested", "allocated")

# People write these, and Slurm does not escape what they write.
_FREE = {
    *("jobname", "constraints", "submitline", "comment", "admincomment", "systemcomment", "workdir", "extra"),
    *("stdin", "stdout", "stderr"),
}
_TIME = r"(?:\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\S*|\d{1,12}|Unknown|None|N/A)?"
_DURATION = r"(?:[\d:.-]+|UNLIMITED|Partition_Limit|INVALID|Unknown)"
_DURATION_IF_ANY = rf"{_DURATION}?"
_NUMBER = r"\d[\d.]*[KMGTPE]?"
_NUMBER_IF_ANY = rf"(?:{_NUMBER})?"
_PATTERNS = {
    "jobid": r"\d.*",
    "jobidraw": r"\d.*",
    "state": r"[A-Z_]+\+?(?: by .*)?",
    "exitcode": r"(?:\d+:\d+)?",
    "derivedexitcode": r"(?:\d+:\d+)?",
    "reqmem": r"(?:\d[\d.]*[KMGTPE]?[cn]?)?",
    **dict.fromkeys(("submit", "eligible", "start", "end"), _TIME),
    **dict.fromkeys(("elapsed", "cputime"), _DURATION),
    **dict.fromkeys(("timelimit", "timelimitraw", "suspended", "totalcpu", "usercpu", "systemcpu"), _DURATION_IF_ANY),
    **dict.fromkeys(("reserved", "planned", "resvcpu", "plannedcpu", "mincpu", "avecpu"), _DURATION_IF_ANY),
    **dict.fromkeys(("reqtres", "alloctres"), r"(?:[\w/:.-]+=.*)?"),
    **dict.fromkeys(("reqcpus", "alloccpus", "ncpus", "allocnodes", "nnodes", "elapsedraw", "cputimeraw"), _NUMBER),
    **dict.fromkeys(("reqnodes", "ntasks", "uid", "gid", "associd", "dbindex", "priority", "qosraw"), _NUMBER_IF_ANY),
    **dict.fromkeys(("resvcpuraw", "plannedcpuraw", "consumedenergy", "consumedenergyraw", "wckeyid"), _NUMBER_IF_ANY),
    "": "",  # behind the last | of --parsable
}
_CHECKS = {name: re.compile(pattern) for name, pattern in _PATTERNS.items()}
JOINT = "\x1f"  # stands for | in a field that was put together
MOST_SURPLUS = 1000


class BadRowError(Exception):
    """A row that cannot be put right."""


@dataclass(frozen=True)
class Header:
    """The columns of a dump as its first line names them."""

    names: tuple[str, ...]
    delimiter: str = "|"
    assumed: bool = False  # there is none: these are the columns of the command

    @cached_property
    def places(self) -> dict[str, int]:
        """Where to find what is read: the reader's name, and the place of the column."""
        written = {name.casefold(): place for place, name in reversed(list(enumerate(self.names)))}
        found = {}
        for what, columns in SOURCES.items():
            places = [written[name.casefold()] for name in columns if name.casefold() in written]
            if places:
                found[what] = places[0]
        if {"start", "end"} <= found.keys():
            found.pop("elapsed", None)
        return found

    def quoted(self, text: str) -> str:
        """A field as it stands in a row."""
        plain = self.delimiter == "|" or not any(letter in text for letter in (self.delimiter, '"'))
        return text if plain else '"' + text.replace('"', '""') + '"'

    def whole(self, text: str) -> str:
        """A field that was put together, as it was written."""
        return text.replace(JOINT, self.delimiter)

    def name(self, what: str) -> str:
        """The column that gives `what`, as the file names it."""
        return self.names[self.places[what]]

    def missing(self) -> list[str]:
        """What is not there and has to be, in words."""
        needs = {"id": "JobIDRaw or JobID", "submit": "Submit", "state": "State"}
        found = [words for what, words in needs.items() if what not in self.places]
        if not {"start", "end"} <= self.places.keys() and "elapsed" not in self.places:
            found.append("Start and End (or ElapsedRaw)")
        if not any(what in self.places for what in _PROCESSORS):
            found.append("ReqCPUS (or NCPUS, ReqTRES, AllocTRES)")
        return found

    @cached_property
    def free(self) -> list[int]:
        """The places of columns in which people write what they like."""
        return [place for place, name in enumerate(self.names) if name.casefold() in _FREE]

    @cached_property
    def stretches(self) -> list[range]:
        """The places before, between and behind these."""
        return [range(first + 1, end) for first, end in pairwise([-1, *self.free, len(self.names)])]

    @cached_property
    def _checks(self) -> list[list[tuple[int, re.Pattern[str]]]]:
        """Of each stretch the columns that can be checked."""
        known = {place: _CHECKS.get(name.casefold()) for place, name in enumerate(self.names)}
        return [[(place, check) for place in stretch if (check := known[place])] for stretch in self.stretches]

    def mended(self, fields: list[str]) -> list[str]:
        """A row of too many fields with as many as there are columns; what is not used is left empty.

        Fields are joined where people write free text, in every way that leaves dates, numbers and states in their
        columns. If all ways agree on what is used, the row is right.
        """
        size, surplus = len(self.names), len(fields) - len(self.names)
        told = f"has {len(fields)} fields, the header has {size}"
        if surplus < 0:
            raise BadRowError(f"{told}; a line break inside a field?")
        if self.delimiter != "|":
            raise BadRowError(f"{told}; a {self.delimiter!r} inside a field without quotation marks?")
        steps = self._ways(fields, surplus) if surplus <= MOST_SURPLUS else []
        if not steps:
            raise BadRowError(f"{told}, and joining some does not fit")
        row = [""] * size
        used = set(self.places.values())
        for place, step in zip(self.free, steps, strict=True):
            if place in used:
                texts = {JOINT.join(fields[place + before : place + after + 1]) for before, after in step}
                row[place] = self._only(texts, place, told)
        shifts = [{0}, *({after for _, after in step} for step in steps)]
        for stretch, some in zip(self.stretches, shifts, strict=True):
            for place in used.intersection(stretch):
                row[place] = self._only({fields[place + shift] for shift in some}, place, told)
        return row

    def _only(self, texts: set[str], place: int, told: str) -> str:
        if len(texts) > 1:
            ways = sorted(repr(_cut(text)) for text in texts)[:2]
            raise BadRowError(f"{told}: {self.names[place]} could be {' or '.join(ways)}")
        return texts.pop()

    def _ways(self, fields: list[str], surplus: int) -> list[list[tuple[int, int]]]:
        """For each free column by how many fields the row may be shifted before and after it; none if nothing fits."""
        steps: list[list[tuple[int, int]]] = []
        reached = [0] if self._fits(fields, 0, 0) else []
        for number, place in enumerate(self.free):
            last = place == self.free[-1]
            fitting = [shift for shift in range(surplus + 1) if self._fits(fields, number + 1, shift)]
            # Nobody begins a text with |. The last of these columns has all that is left over.
            step = [
                (before, after)
                for before in reached
                for after in fitting
                if (after == before or (after > before and fields[place + before])) and (after == surplus or not last)
            ]
            steps.append(step)
            reached = sorted({after for _, after in step})
        wanted = {surplus}
        for number in reversed(range(len(steps))):
            steps[number] = [way for way in steps[number] if way[1] in wanted]
            wanted = {before for before, _ in steps[number]}
        return steps if steps and steps[0] else []

    def _fits(self, fields: list[str], stretch: int, shift: int) -> bool:
        """Whether a stretch has dates, numbers and states where they should be, with the row shifted so far."""
        return all(check.fullmatch(fields[place + shift]) for place, check in self._checks[stretch])


def header_of(line: str) -> Header | None:
    """The columns that a line names; None if it does not look like a header."""
    for delimiter in DELIMITERS:
        names = tuple(name.strip().strip('"') for name in line.split(delimiter))
        header = Header(names, delimiter)
        known = header.places.keys()
        if len(names) > 1 and ("id" in known or (delimiter == "|" and "submit" in known)):
            # JobID alone may be the title of a column in any table.
            return header if delimiter == "|" or {"submit", "state"} <= known else None
    return None


def assumed_header(line: str) -> Header | None:
    """The columns of the command, if a record without header above it has them all in their places."""
    fields = line.split("|")
    for names in (SACCT_COLUMNS, (*SACCT_COLUMNS, "")) if without_header(line) else ():
        header = Header(names, assumed=True)
        try:
            if header.mended(fields):
                return header
        except BadRowError:
            continue
    return None


def without_header(line: str) -> bool:
    """Whether a line is the record of a job: `sacct -n` prints no header."""
    return _JOB_ROW.match(line) is not None and line.count("|") >= 4


def in_columns(lines: Sequence[str]) -> bool:
    """Whether this is how sacct prints without -P: columns as wide as 10 letters, dashes under their titles."""
    titles = {word.casefold() for word in lines[0].split()} if lines else set()
    return len(lines) > 1 and not titles.isdisjoint({"jobid", "jobidraw"}) and _DASHES.fullmatch(lines[1]) is not None


def parse_header(line: str, where: str, next_line: str = "") -> Header:
    """The header, which has to name the columns that matter."""
    header = header_of(line)
    if header is None:
        raise _no_header(line, next_line, where)
    missing = header.missing()
    if missing:
        columns = "column is" if len(missing) == 1 else "columns are"
        message = f"{columns} missing: {', '.join(missing)}"
        raise InputError(message, where=f"{where}, line 1", hint=f"make the dump with: {SACCT_COMMAND}")
    return header


def _no_header(line: str, next_line: str, where: str) -> InputError:
    hint = f"make the dump with: {SACCT_COMMAND}"
    if in_columns((line, next_line)):
        said = "is what sacct prints without -P, which cuts values to the width of their columns"
    elif without_header(line):
        columns = line.count("|") + 1
        said = f"has no header, so nobody knows what its {columns} columns are; it begins with {_cut(line)!r}"
        hint = f"leave out -n (--noheader), or {hint}"
    else:
        said = "does not begin with the header of a Slurm accounting dump (JobID|…)"
    return InputError(said, where=where, hint=hint)


def _cut(text: str, longest: int = 40) -> str:
    text = text.replace(JOINT, "|")
    return text if len(text) <= longest else f"{text[:longest]}…"
