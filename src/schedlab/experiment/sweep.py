"""A metric over the values of one parameter of a study: what belongs on which axis, line and panel."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from schedlab.analysis.study import chosen_metrics
from schedlab.analysis.verdict import metric_name, metric_unit
from schedlab.experiment.results import Results
from schedlab.experiment.study import Point
from schedlab.model.errors import InputError
from schedlab.model.suggest import did_you_mean
from schedlab.model.units import parse_duration, parse_share

if TYPE_CHECKING:
    import polars as pl

FEWEST = 3  # values of a parameter that make a line worth drawing
_WITH_ARGUMENTS = ("policy", "observe", "estimate")  # texts such as easy:depth=10, failures(mtbf=1e6)
_ARGUMENT = r"\b{}\s*=\s*((?:[^,()+]|\([^()]*\))+)"
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?(?![\w.])")


@dataclass(frozen=True, slots=True)
class Axis:
    """A parameter as an axis. Its values are numbers (durations in "s"), or words."""

    name: str  # load, or observe.mtbf: an argument in the texts of a parameter
    unit: str  # "s" for durations
    places: (
        Mapping[Any, float] | Mapping[Any, str]
    )  # value of the parameter -> where it stands; those without the argument nowhere
    rest: Mapping[Any, str]  # value of the parameter -> what is left of its text without the argument, if that differs

    @property
    def numeric(self) -> bool:
        return all(isinstance(place, float) for place in self.places.values())

    @property
    def parameter(self) -> str:
        return self.name.partition(".")[0]

    def titles(self, results: Results, metric: str) -> dict[str, str]:
        """What a figure of that metric says at its axes."""
        unit = {"time": "s", "share": "%"}.get(metric_unit(metric), "")
        label = {"label": metric_name(metric), "unit": unit}
        return {"x": self.name, "x_unit": self.unit, **label, "without": self.without(results)}

    def without(self, results: Results) -> str:
        """What the groups without the argument have instead; empty if all have it, or are lines of their own."""
        others = [value for value in _values(results, self.parameter) if value not in self.places]
        if self.parameter == "policy":
            return ""
        return " or ".join(results.words([self.parameter], {self.parameter: value}) for value in others)


def axes_of(results: Results) -> list[str]:
    """What can be an axis: the parameters that vary, and arguments in their texts that do."""
    return [name for name in (*results.varied, *_arguments(results)) if len(set(_axis(results, name).places)) > 1]


def swept(results: Results) -> list[str]:
    """The axes of numbers with at least three values; of a parameter and its arguments the first that has them."""
    found: dict[str, str] = {}
    for name in axes_of(results):
        axis = _axis(results, name)
        if axis.numeric and len(set(axis.places.values())) >= FEWEST:
            found.setdefault(axis.parameter, name)
    return list(found.values())


def axis_of(results: Results, name: str | None = None) -> Axis:
    """The axis of that name; if none is given the first of numbers, or the first that is not the policy."""
    there = axes_of(results)
    if name is None:
        chosen = swept(results) or sorted(there, key=lambda each: each.partition(".")[0] == "policy")
        if not chosen:
            raise InputError("nothing varies in this study", where=str(results.folder), hint="give a parameter a list")
        name = chosen[0]
    if name not in there:
        repeated = name in ("seed", "repetition", "repetitions")
        said = "repetitions make the intervals" if repeated else f"'{name}' does not vary in this study"
        hint = did_you_mean(name, there, f"what varies: {', '.join(there)}")
        raise InputError(said, where="--x", hint=hint)
    return _axis(results, name)


def sweep_table(results: Results, axis: Axis, metric: str) -> pl.DataFrame:
    """A row for each group of repetitions: `x`, `line`, `panel`, `value`, `low`, `high`, `n`; x is null for a group
    that has no place on the axis: no such argument.

    Lines are policies; where the policy is the axis, what is left of it, or another parameter. What else varies makes
    panels.
    """
    import polars as pl

    chosen_metrics(results.table, [metric])
    points: dict[str, Point] = {results.group_of(result["point"]): result["point"] for result in results.results}
    by = _line_parameter(results, axis)
    others = [name for name in results.varied if name not in (axis.parameter, by)]
    rows = []
    for row in results.groups([metric]).iter_rows(named=True):
        point = points[row["group"]]
        value = point.get(axis.parameter)
        line = ", ".join(filter(None, (axis.rest.get(value, ""), results.words([by], point))))
        line = line or results.short("policy", point.get("policy", results.name))
        where = axis.places.get(value), line, results.words(others, point)
        rows.append((*where, *(row[key] for key in ("mean", "low", "high", "n"))))
    kind = pl.Float64 if axis.numeric else pl.String
    numbers = dict.fromkeys(("value", "low", "high"), pl.Float64)
    return pl.DataFrame(
        rows, {"x": kind, "line": pl.String, "panel": pl.String, **numbers, "n": pl.Int64}, orient="row"
    )


def _line_parameter(results: Results, axis: Axis) -> str:
    """The policy; where that is the axis or does not vary, the handling of workflows, or the parameter with the most
    values."""
    others = [name for name in results.varied if name != axis.parameter]
    if "policy" in others or axis.rest:
        return "policy" if "policy" in others else ""
    if "handling" in others:
        return "handling"
    return max(others, key=lambda name: len(_values(results, name)), default="")


def _axis(results: Results, name: str) -> Axis:
    parameter, _, argument = name.partition(".")
    values = _values(results, parameter)
    if not argument:
        unit, found = _places(parameter, values)
        return Axis(name, unit, _words(results, parameter, found), {})
    texts = {value: match[1].strip() for value in values if (match := _argument(argument).search(str(value)))}
    unit, of_texts = _places(argument, list(dict.fromkeys(texts.values())))
    places = {value: of_texts[text] for value, text in texts.items() if text in of_texts}
    short = partial(results.without_folders, parameter)
    rest = {value: _without(argument, short(str(value))) for value in (values if parameter == "policy" else texts)}
    one = parameter != "policy" and len(set(rest.values())) == 1
    return Axis(name, unit, _words(results, parameter, places), {} if one else rest)


def _words(results: Results, parameter: str, places: Mapping[Any, Any]) -> dict[Any, Any]:
    """Numbers as they are; files in words without their folders."""
    short = partial(results.without_folders, parameter)
    return {value: short(place) if isinstance(place, str) else place for value, place in places.items()}


def _values(results: Results, parameter: str) -> list[Any]:
    return list(dict.fromkeys(run.point[parameter] for run in results.planned if parameter in run.point))


def _arguments(results: Results) -> list[str]:
    """`policy.depth`: the named arguments in the texts of parameters that vary."""
    names = [name for name in _WITH_ARGUMENTS if name in results.varied]
    found = {
        f"{name}.{argument}": None
        for name in names
        for value in _values(results, name)
        for argument in re.findall(r"\b([A-Za-z_]\w*)\s*=", str(value))
    }
    return [name for name in found if len(set(_axis(results, name).places.values())) > 1]


def _argument(name: str) -> re.Pattern[str]:
    return re.compile(_ARGUMENT.format(re.escape(name)))


def _without(argument: str, text: str) -> str:
    """`failures(mtbf=1e6, seed=1)` as `failures(seed=1)`, `easy:depth=5` as `easy`."""
    left = _argument(argument).sub("\0", text)
    left = re.sub(r"\0\s*,\s*|,\s*\0", "", left)
    return re.sub(r"\(\0\)|:\0|\0", "", left).strip()


def _places(name: str, values: Sequence[Any]) -> tuple[str, dict[Any, float] | dict[Any, str]]:
    """What the numbers are ("s", "cores", "limit*…", or plain ones) and where values stand; else texts at their own."""
    ways: list[Callable[[Sequence[Any]], tuple[str, dict[Any, float]]]] = [
        _cores if name == "cluster" else partial(_each, "", float),
        partial(_each, "", parse_share),
        partial(_each, "s", parse_duration),
    ]
    if name not in ("policy", "observe"):
        ways.append(_one_number)
    for way in ways:
        try:
            unit, found = way(values)
        except (InputError, ValueError, OSError):
            continue
        if len(set(found.values())) == len(found):
            return unit, found
    return "", {value: str(value) for value in values}


def _each(unit: str, number: Callable[[Any], float], values: Sequence[Any]) -> tuple[str, dict[Any, float]]:
    if any(isinstance(value, bool) for value in values):
        raise ValueError
    return unit, {value: float(number(value)) for value in values}


def _cores(values: Sequence[Any]) -> tuple[str, dict[Any, float]]:
    from schedlab.cluster.read import read_cluster

    return "cores", {value: float(read_cluster(str(value)).cores) for value in values}


def _one_number(values: Sequence[Any]) -> tuple[str, dict[Any, float]]:
    """Three texts or more that differ in one number (`limit*0.5`, `limit*2` …), whatever the others are (`exact`)."""
    alike: dict[str, list[Any]] = {}
    for value in values:
        alike.setdefault(_NUMBER.sub("\0", str(value)), []).append(value)
    pattern, chosen = max(alike.items(), key=lambda each: len(each[1]))
    numbers = [_NUMBER.findall(str(value)) for value in chosen]
    different = [column for column in zip(*numbers, strict=True) if len(set(column)) > 1]
    if len(chosen) < FEWEST or len(different) != 1:
        raise ValueError
    return pattern.replace("\0", "…"), {
        value: float(number) for value, number in zip(chosen, different[0], strict=True)
    }
