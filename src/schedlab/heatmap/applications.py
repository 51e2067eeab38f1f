"""Which application of a heatmap each job of a log is: by the name of its executable, or drawn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from schedlab.model.errors import InputError
from schedlab.model.heatmap import Heatmap, first_of
from schedlab.model.plugin_text import parse_reference
from schedlab.model.random import random_stream
from schedlab.model.suggest import closest, did_you_mean
from schedlab.model.workload import Workload

RULES = ("executable", "executables", "random")
Places = NDArray[np.int64]


@dataclass(frozen=True)
class Applications:
    """The places of jobs in a heatmap.

    `rule`: "executable", the job's executable has the name of an application; "random", each job gets one at random;
    "executables", each different executable does, so that jobs of one program behave alike. All applications are as
    likely, or in proportion to `frequencies`. The draw of a job depends on the seed and on its place in the log, that
    of an executable on the seed and on its number, and on nothing else.
    """

    heatmap: Heatmap
    rule: str = "executable"
    seed: int = 0
    frequencies: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.rule not in RULES:
            hint = did_you_mean(self.rule, RULES, f"rules: {', '.join(RULES)}")
            raise InputError(f"there is no rule '{self.rule}' for the applications of jobs", hint=hint)
        if not isinstance(self.seed, int) or isinstance(self.seed, bool) or self.seed < 0:
            raise InputError(
                f"a seed is a whole number of 0 or more, not {self.seed!r}", where=f"applications {self.rule}"
            )
        if self.frequencies and self.rule == "executable":
            hint = "rules that draw: random, executables"
            raise InputError(
                "frequencies are for applications that are drawn", where="applications executable", hint=hint
            )
        _shares(self.heatmap, self.frequencies)

    @classmethod
    def parse(cls, text: str, heatmap: Heatmap, frequencies: Mapping[str, float] | None = None) -> Applications:
        """From words: `executable`, `random`, `random(7)`, `executables(seed=7)`."""
        where = f"applications '{text}'"
        reference = parse_reference(text, where)
        given = dict(zip(("seed",), reference.positional, strict=False)) | reference.keywords
        fits = (
            len(reference.positional) <= 1 and set(given) <= {"seed"} and not (given and reference.name == "executable")
        )
        if reference.place or not fits:
            hint = "executable, random(seed=1), executables(seed=1)"
            raise InputError("the arguments cannot be understood", where=where, hint=hint)
        return cls(heatmap, reference.name, given.get("seed", 0), frequencies or {})

    def of(self, executables: NDArray[np.int32], labels: Sequence[str] = (), first: int = 0) -> Places:
        """The places of some jobs: their column executable, the names of its numbers, and how many jobs came before."""
        if self.rule == "executable":
            return self._named(executables, labels)
        shares = _shares(self.heatmap, self.frequencies)
        if self.rule == "random":
            draws = self._draws("job", first, len(executables))
        else:
            if np.any(executables < 0):
                hint = "applications = 'random(1)' draws one for each job, whatever its executable is"
                raise InputError("jobs have no executable", where="applications executables", hint=hint)
            draws = self._draws("executable", 0, int(executables.max(initial=-1)) + 1)[executables]
        return np.searchsorted(shares, draws, side="right").astype(np.int64)

    def count(self, workload: Workload) -> Places:
        """How many jobs of a workload each application has; all that the heatmap does not know are told at once."""
        found, jobs = np.zeros(len(self.heatmap), np.int64), 0
        programs: Counter[int] = Counter()
        for batch in workload.batches():
            if self.rule == "random":
                found += np.bincount(self.of(batch.executable, first=jobs), minlength=len(found))
            else:
                numbers, counts = np.unique(batch.executable, return_counts=True)
                programs.update(dict(zip(numbers.tolist(), counts.tolist(), strict=True)))
            jobs += len(batch)
        order = sorted(programs)
        if order:
            places = self.of(np.array(order, np.int32), workload.labels.get("executable", ()))
            np.add.at(found, places, [programs[number] for number in order])
        return found

    def _draws(self, what: str, first: int, number: int) -> NDArray[np.float64]:
        """Numbers `first`, `first + 1`, … of the stream, wherever one begins to read it."""
        stream = random_stream(self.seed, "heatmap", "applications", what)
        source = stream.bit_generator
        assert isinstance(source, np.random.PCG64)
        source.advance(first)  # a step for each number
        return stream.random(number)

    def _named(self, executables: NDArray[np.int32], labels: Sequence[str]) -> Places:
        known = {name: place for place, name in enumerate(self.heatmap.names)}
        used, back = np.unique(executables, return_inverse=True)
        names = [_name(int(number), labels) for number in used]
        strange = [name for name in names if name not in known]
        if strange:
            self._refuse([name for name in strange if name], unnamed="" in strange)
        return np.array([known[name] for name in names], np.int64)[back]

    def _refuse(self, strange: Sequence[str], unnamed: bool) -> None:
        meant = [(name, closest(name, self.heatmap.names)) for name in strange]
        told = [f"'{name}' (did you mean '{near}'?)" if near else f"'{name}'" for name, near in meant]
        noun = "application" if len(told) == 1 else f"{len(told)} applications"
        found = [f"the heatmap does not know the {noun} {', '.join(told)}"] if told else []
        found += ["there are jobs without an executable"] if unnamed else []
        remedy = "applications = 'random(1)' draws one for each job, 'executables(1)' one for each executable"
        hint = f"it has {first_of(self.heatmap.names)}; {remedy}"
        raise InputError("; ".join(found), where=self.heatmap.source or "heatmap", hint=hint)


def _name(number: int, labels: Sequence[str]) -> str:
    """What an executable is called: as the log says, or its number."""
    return labels[number] if 0 <= number < len(labels) else str(number) if number >= 0 else ""


def _shares(heatmap: Heatmap, frequencies: Mapping[str, float]) -> NDArray[np.float64]:
    """Up to where in [0, 1) each application is drawn."""
    weights = np.zeros(len(heatmap)) if frequencies else np.ones(len(heatmap))
    for name, weight in frequencies.items():
        weights[heatmap.number(name)] = weight
    if not np.all(np.isfinite(weights) & (weights >= 0)) or not weights.any():
        raise InputError("frequencies are numbers of 0 or more, not all of them 0", where="frequencies of applications")
    shares: NDArray[np.float64] = np.cumsum(weights) / weights.sum()
    shares[np.flatnonzero(weights)[-1] :] = 1.0  # whatever was lost in adding up
    return shares
