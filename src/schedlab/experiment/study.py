"""The study file: a workload, a machine, schedulers, and which of their parameters vary. See docs/experiments.md.

All mistakes of a file are reported at once, each with its line.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from schedlab.engine.scenario import split_observers
from schedlab.experiment.parameters import PARAMETERS, Value
from schedlab.experiment.study_workflows import refuse_both, wrong_workflows
from schedlab.files.bytestream import text_of
from schedlab.model.errors import InputError
from schedlab.model.suggest import did_you_mean
from schedlab.model.toml_lines import TomlMistakes, load_toml
from schedlab.workflow.mix import located_mix

Point = dict[str, Value]  # parameters of one run, without repetition

_KEYS = (
    *("name", "repetitions", "seed", "baseline", "metrics", "phase", "trim", "keep"),
    *("workload", "run", "exclude", "point"),
)
KEEPS = ("tables", "summary")
PHASES = ("fill", "stabilisation", "experiment", "drain")
LONGEST_RANGE = 10_000
QUOTED = re.compile(r"[\"']([^\"']+)[\"']")  # an argument of a policy or observer, which may be the name of a file


@dataclass(frozen=True, slots=True)
class Study:
    """What a study file says. `grid` has for each parameter the values it takes, in the order of the file."""

    name: str
    grid: dict[str, tuple[Value, ...]]
    repetitions: int = 1
    seed: int = 0
    baseline: Point = field(default_factory=dict)
    metrics: tuple[str, ...] = ()
    phase: str | None = None
    trim: str | None = None
    keep: str = "tables"  # what of each run: everything, or its summary only
    exclude: tuple[dict[str, tuple[Value, ...]], ...] = ()
    extra: tuple[Point, ...] = ()
    names: dict[str, dict[str, str]] = field(default_factory=dict)  # of a parameter: its values that have a short name
    text: str = ""  # the file

    @property
    def varied(self) -> tuple[str, ...]:
        """The parameters that tell its runs apart, repetitions aside."""
        values: dict[str, set[Value]] = {name: set(given) for name, given in self.grid.items()}
        for point in self.extra:
            for name, value in point.items():
                values.setdefault(name, set()).add(value)
        return tuple(name for name, given in values.items() if len(given) > 1)

    def points(self) -> Iterator[Point]:
        """The grid without what is excluded, then the explicit points; each once."""
        seen: set[str] = set()
        for values in itertools.product(*self.grid.values()):
            point = dict(zip(self.grid, values, strict=True))
            if not any(_matches(point, rule) for rule in self.exclude):
                seen.add(json.dumps(point, sort_keys=True))
                yield point
        single = {name: values[0] for name, values in self.grid.items() if len(values) == 1}
        for extra in self.extra:
            point = {**single, **extra}
            if (key := json.dumps(point, sort_keys=True)) not in seen:
                seen.add(key)
                yield point


def read_study(path: str | Path) -> Study:
    file = Path(path)
    return parse_study(text_of(file), str(file))


def parse_study(text: str, file: str) -> Study:
    """The study that the TOML `text` describes; paths in it are relative to the folder of `file`."""
    data, mistakes = load_toml(text, file)
    mistakes.check_keys((), data, _KEYS, f"a study has {', '.join(_KEYS)}")
    reading = _Reading(data, mistakes, Path(file).parent)
    study = reading.study(Path(file).stem, text)
    mistakes.raise_all()
    refuse_both(study.points(), file)
    return study


class _Reading:
    """Turns the tables of a file into a study, noting what is wrong."""

    def __init__(self, data: Mapping[str, Any], mistakes: TomlMistakes, folder: Path) -> None:
        self.data, self.mistakes, self.folder = data, mistakes, folder
        self.names: dict[str, dict[str, str]] = {}

    def study(self, stem: str, text: str) -> Study:
        grid = {**self._table("workload"), **self._table("run")}
        self._check_sources(grid)
        return Study(
            name=self._plain("name", str, stem),
            grid={**grid, **({} if "policy" in grid else {"policy": ("easy",)})},
            repetitions=self._plain("repetitions", int, 1, least=1),
            seed=self._plain("seed", int, 0, least=0),
            baseline=self._point(self.data.get("baseline", {}), ("baseline",), grid),
            metrics=tuple(self._metrics()),
            phase=self._phase(grid),
            trim=self._trim(),
            keep=self._keep(),
            exclude=tuple(self._rule(rule, ("exclude", n), grid) for n, rule in enumerate(self._list("exclude"))),
            extra=tuple(self._point(point, ("point", n), grid) for n, point in enumerate(self._list("point"))),
            names=self.names,
            text=text,
        )

    def _table(self, table: str) -> dict[str, tuple[Value, ...]]:
        given = self.data.get(table, {})
        if not isinstance(given, dict):
            self.mistakes.add((table,), f"expected a table [{table}]")
            return {}
        found = {}
        known = [name for name, parameter in PARAMETERS.items() if parameter.table == table]
        for key, value in given.items():
            if key not in known:
                elsewhere = f"it belongs into [{PARAMETERS[key].table}]" if key in PARAMETERS else ""
                hint = elsewhere or did_you_mean(key, known, f"[{table}] has {', '.join(known)}")
                self.mistakes.add((table, key), f"unknown key '{key}'", hint)
                continue
            values = self._values(value, (table, key))
            found[key] = tuple(self._checked(key, one, (table, key)) for one in values)
            if len(set(found[key])) < len(found[key]):
                self.mistakes.add((table, key), f"{key}: a value appears twice", "name each once")
        return found

    def _values(self, value: Any, path: tuple[str | int, ...]) -> list[Any]:
        """A value, a list of them, or `{ from = 0.5, to = 1.0, step = 0.1 }`; a value may have a name."""
        if isinstance(value, list):
            if not value:
                self.mistakes.add(path, f"{path[-1]}: the list is empty", "give at least one value")
            return value
        if not isinstance(value, dict) or "name" in value:
            return [value]
        numbers: list[Any] = [value.get(key) for key in ("from", "to", "step")]
        if set(value) != {"from", "to", "step"} or not all(_is_number(number) for number in numbers):
            self.mistakes.add(path, f"{path[-1]}: expected {{ from = …, to = …, step = … }} with numbers")
            return []
        low, high, step = numbers
        count = int((high - low) / step + 1 + 1e-9) if step > 0 and high >= low else 0
        if not 1 <= count <= LONGEST_RANGE:
            self.mistakes.add(path, f"{path[-1]}: the range has {count} values", f"expected 1 to {LONGEST_RANGE:,}")
            return []
        whole = all(isinstance(number, int) for number in numbers)
        return [low + n * step if whole else round(low + n * step, 12) for n in range(count)]

    def _checked(self, name: str, value: Any, path: tuple[str | int, ...]) -> Value:
        if isinstance(value, dict) and "name" in value:
            return self._named(name, value, path)
        known = self.names.get(name, {})
        if isinstance(value, str) and value in known.values():
            return next(text for text, short in known.items() if short == value)
        if name == "observe":
            value = self._observers(value)
        elif name == "workflows" and isinstance(value, str) and value.strip():
            value = located_mix(value, self._located)
        elif name in ("log", "model", "cluster", "reader", "policy", "heatmap", "inject") and isinstance(value, str):
            value = self._located(value)
        try:
            PARAMETERS[name].check(value)
        except InputError as error:
            self.mistakes.add(path, f"{name} = {json.dumps(value, default=str)}: {error.message}", error.hint)
        if name == "log" and isinstance(value, str) and not Path(value).is_file():
            self.mistakes.add(path, f"log = {json.dumps(value)}: there is no such file", "check the path")
        return value if isinstance(value, str | int | float | bool) else ""

    def _named(self, name: str, given: Mapping[str, Any], path: tuple[str | int, ...]) -> Value:
        """`{ name = "as it is", policy = "…" }`: results call the value by its name."""
        short, known = given["name"], self.names.setdefault(name, {})
        if set(given) != {"name", name} or not isinstance(given[name], str) or not isinstance(short, str) or not short:
            self.mistakes.add(path, f"{name}: expected {{ name = …, {name} = … }} with texts")
            return ""
        if short in known.values():
            self.mistakes.add(path, f"{name}: the name {json.dumps(short)} appears twice", "name each once")
        value = self._checked(name, given[name], path)
        known[str(value)] = short
        return value

    def _observers(self, value: Any) -> Any:
        """Those of one run as one text: a list of them, or several with a plus sign between."""
        given = value if isinstance(value, list) else [value]
        if not all(isinstance(one, str) for one in given):
            return value
        return " + ".join(self._located(part) for one in given for part in split_observers(one)) or "none"

    def _located(self, text: str) -> str:
        """Files are named relative to the study file."""
        text = QUOTED.sub(lambda quoted: quoted[0].replace(quoted[1], self._path(quoted[1])), text)
        place, colon, rest = text.partition(":")
        return f"{self._path(place)}{colon}{self._path(rest)}"

    def _path(self, name: str) -> str:
        candidate = self.folder / name
        return str(candidate) if name and not Path(name).is_absolute() and candidate.is_file() else name

    def _check_sources(self, grid: Mapping[str, Any]) -> None:
        given = {"log", "model"} & set(grid)
        if len(given) > 1 or not (given or "workflows" in grid):
            self.mistakes.add(("workload",), "a study needs jobs: a log or a model", "log = FILE, or model = MODEL")
        for mistake, hint in wrong_workflows(grid, self._list("point")):
            self.mistakes.add(("workload", "workflows"), mistake, hint)
        if "model" in grid and not {"jobs", "span", "experiment"} & set(grid):
            self.mistakes.add(("workload",), "how many jobs shall the model make?", "jobs = 10_000, or span = '7d'")
        if "fill" in grid and "experiment" not in grid:
            self.mistakes.add(("workload", "fill"), "a fill needs an experiment", "experiment = '7d'")
        for other in {"stretch", "pressure"} & set(grid) if "load" in grid else ():
            self.mistakes.add(("workload", "load"), f"load and {other} both say how many jobs come", "give one of them")
        if "cluster" not in grid and ({"pressure", "fill"} & set(grid) or "log" not in grid):
            self.mistakes.add(("run",), "on which machine?", "cluster = '120x2' in [run]")

    def _point(self, given: Any, path: tuple[str | int, ...], grid: Mapping[str, Any]) -> Point:
        if not isinstance(given, dict):
            self.mistakes.add(path, f"{path[0]}: expected a table", "such as { policy = 'fcfs' }")
            return {}
        found: Point = {}
        for key, value in given.items():
            if key not in PARAMETERS:
                self.mistakes.add((*path, key), f"unknown parameter '{key}'", did_you_mean(key, list(grid), ""))
            else:
                found[key] = self._checked(key, value, (*path, key))
        return found

    def _rule(self, given: Any, path: tuple[str | int, ...], grid: Mapping[str, Any]) -> dict[str, tuple[Value, ...]]:
        if not isinstance(given, dict) or not given:
            self.mistakes.add(path, "expected parameters with values", "such as policy = 'fcfs'")
            return {}
        rule = {}
        for key, value in given.items():
            if key not in grid:
                self.mistakes.add((*path, key), f"'{key}' is not varied here", did_you_mean(key, list(grid), ""))
                continue
            values = value if isinstance(value, list) else [value]
            rule[key] = tuple(self._in_rule(key, one) for one in values)
            for one in set(rule[key]) - set(grid[key]):
                self.mistakes.add((*path, key), f"{key} = {json.dumps(one)} does not occur, so nothing is excluded")
        return rule

    def _in_rule(self, key: str, value: Any) -> Any:
        named = {short: text for text, short in self.names.get(key, {}).items()}
        if not isinstance(value, str) or value in named:
            return named.get(value, value)
        if key == "workflows":
            return located_mix(value, self._located)
        return self._observers(value) if key == "observe" else self._located(value)

    def _list(self, key: str) -> list[Any]:
        given = self.data.get(key, [])
        if not isinstance(given, list):
            self.mistakes.add((key,), f"expected tables [[{key}]]", f"write [[{key}]], with double brackets")
            return []
        return given

    def _plain(self, key: str, kind: type, default: Any, least: int | None = None) -> Any:
        value = self.data.get(key, default)
        wrong = value is not default and (not isinstance(value, kind) or isinstance(value, bool))
        if wrong or (least is not None and not wrong and value < least):
            noun = "a text" if kind is str else f"a whole number of at least {least}"
            self.mistakes.add((key,), f"{key} = {json.dumps(value, default=str)}: expected {noun}")
            return default
        return value

    def _metrics(self) -> Iterator[str]:
        from schedlab.analysis.compare import METRIC_NAMES, METRICS, PERFORMANCE, metric_called
        from schedlab.model.plugins import registered

        given = self.data.get("metrics", [])
        known = [*METRICS, *PERFORMANCE, *(entry.name for entry in registered("metric"))]
        for metric in given if isinstance(given, list) else [given]:
            if isinstance(metric, str) and metric_called(metric):
                yield metric
            elif metric not in known and not (isinstance(metric, str) and ":" in metric):
                hint = did_you_mean(str(metric), known, f"metrics: {METRIC_NAMES}; or your own mine.py:function")
                self.mistakes.add(("metrics",), f"there is no metric {json.dumps(metric, default=str)}", hint)
            else:
                yield self._located(metric)

    def _phase(self, grid: Mapping[str, Any]) -> str | None:
        text: str | None = self._plain("phase", str, None)
        if text is not None and "log" not in grid:  # a log may have phases of its own
            known = PHASES if "fill" in grid else ()
            if text not in known:
                hint = did_you_mean(text, known, f"phases: {', '.join(known)}") if known else "phases come with a fill"
                self.mistakes.add(("phase",), f"phase = {json.dumps(text)}: the workload has no such phase", hint)
        return text

    def _trim(self) -> str | None:
        from schedlab.analysis.trim import Trim

        text: str | None = self._plain("trim", str, None)
        if text is not None and "phase" in self.data:
            self.mistakes.add(("trim",), "phase and trim both say what to leave out", "give one of them")
        try:
            if text is not None:
                Trim.parse(text)
        except InputError as error:
            self.mistakes.add(("trim",), error.message, error.hint)
        return text

    def _keep(self) -> str:
        value: str = self._plain("keep", str, "tables")
        if value not in KEEPS:
            hint = "tables: everything of each run; summary: its metrics only"
            self.mistakes.add(("keep",), f"keep = {json.dumps(value)}: expected tables or summary", hint)
        return value


def _matches(point: Point, rule: Mapping[str, tuple[Value, ...]]) -> bool:
    return all(point.get(name) in values for name, values in rule.items())


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
