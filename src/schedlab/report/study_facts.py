"""What a study was made of and how to make it again: parameters, failures, environment, file, commands, hashes."""

from __future__ import annotations

import hashlib
import platform
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from schedlab.experiment.named_files import files_of
from schedlab.experiment.parameters import PARAMETERS
from schedlab.experiment.plan import PlannedRun, identity
from schedlab.experiment.results import Results
from schedlab.experiment.study import Study
from schedlab.model.errors import InputError
from schedlab.model.units import format_duration
from schedlab.model.version import VERSION
from schedlab.report.findings import Findings

MOST_FAILURES = 100
MOST_LOOKED_AT = 20  # runs whose environment is read


@dataclass(frozen=True, slots=True)
class Parameter:
    name: str
    kind: str  # varied, fixed, or of the study
    values: str
    meaning: str


@dataclass(frozen=True, slots=True)
class Failures:
    rows: list[tuple[str, str, str]]  # where, the error, its traceback
    more: int  # that are not among them


def parameters(found: Findings) -> list[Parameter]:
    """What varied, then what did not."""
    study = found.results.study
    names = list(dict.fromkeys(name for run in found.results.planned for name in run.point))
    varied = [name for name in names if name in found.results.varied]
    rows = [_parameter(found, name, "varied") for name in varied]
    rows += [_parameter(found, name, "fixed") for name in names if name not in varied]
    asked = {
        "repetitions": "how often each point is run",
        "seed": "from which all random numbers come",
        "baseline": "what the others are compared with",
        "phase": "whose jobs count",
        "trim": "shares of jobs left out at both ends",
        "keep": "what is kept of each run",
    }
    for name, meaning in asked.items():
        if (value := study.get(name)) not in (None, {}, ""):
            short = found.results.short
            pairs = value.items() if isinstance(value, dict) else ()
            shown = ", ".join(f"{key} = {short(key, one)}" for key, one in pairs) or str(value)
            rows.append(Parameter(name, "study", shown, meaning))
    return rows


def failures(results: Results) -> Failures:
    """The runs that failed, each with its error."""
    failed = results.status.failures
    rows = [
        (f"{results.group_of(run.point)}, repetition {run.repetition + 1}", error, trace.strip())
        for run, error, trace in failed[:MOST_FAILURES]
    ]
    return Failures(rows, len(failed) - len(rows))


def environment(results: Results) -> list[tuple[str, str]]:
    rows = [("schedlab", ", ".join(dict.fromkeys(result["schedlab"] for result in results.results)))]
    rows += _where_run(results)
    rows.append(("report written with", f"schedlab {VERSION}, Python {platform.python_version()}, {_processor()}"))
    memory = [peak for result in results.results if (peak := (result.get("performance") or {}).get("memory"))]
    if memory:
        rows.append(("largest memory of a run", f"{max(memory):,.0f} MB"))
    return rows


def study_file(results: Results) -> str | None:
    path = results.folder / "study.toml"
    return path.read_text() if path.is_file() else None


def versions(results: Results) -> str:
    return " or ".join(dict.fromkeys(result["schedlab"] for result in results.results)) or VERSION


def hashes(results: Results) -> list[tuple[str, str]]:
    """Of the files that the study reads, and of its runs together."""
    rows = []
    for path, (name, run) in _files(results).items():
        with Path(path).open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        changed = "" if _as_it_ran(results, run) else " (this file, or schedlab, may not be as it was when it was run)"
        rows.append((f"{name} {Path(path).name}", f"sha256 {digest}{changed}"))
    together = hashlib.sha256("\n".join(sorted(run.identity for run in results.planned)).encode()).hexdigest()
    rows.append(
        (f"{len(results.planned):,} planned runs", f"sha256 of their identities, sorted, a line each: {together}")
    )
    return rows


def _parameter(found: Findings, name: str, kind: str) -> Parameter:
    names = found.results.study.get("names", {}).get(name, {})
    texts = {str(one): found.results.without_folders(name, str(one)) for one in found.parameter(name)}
    shown = ", ".join(f"{names[one]}: {text}" if one in names else text for one, text in texts.items())
    return Parameter(name, kind, shown, PARAMETERS[name].meaning if name in PARAMETERS else "")


def _where_run(results: Results) -> list[tuple[str, str]]:
    """As the runs themselves have noted; those of which only the summary is kept have not."""
    step = max(1, len(results.results) // MOST_LOOKED_AT)
    found: dict[str, None] = {}
    for result in results.results[::step]:
        if result["files"]:
            try:
                noted = results.run(result["identity"]).config.get("environment", {})
            except InputError:  # somebody removed its tables
                continue
            found[", ".join(_called(name, str(value)) for name, value in noted.items())] = None
    return [("runs made with", "; ".join(found))] if found else []


def _called(name: str, value: str) -> str:
    return value if name == "machine" else f"{'Python' if name == 'python' else name} {value}"


def _processor() -> str:
    """Linux knows its name; other systems only the kind."""
    path = Path("/proc/cpuinfo")
    lines = path.read_text(errors="replace").splitlines() if path.is_file() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    kind = f"{platform.system()} {platform.machine()}"
    return f"{kind}, {names[0]} ({len(names)} cores)" if names else kind


def seconds(results: Results) -> list[tuple[str, str, str, str]]:
    """How long runs took, and what of it was the workload and the engine."""
    names = {"workload": "making or reading the jobs", "engine": "simulating", "all": "all, with metrics and files"}
    rows = []
    for key, meaning in names.items():
        found = [float(result["seconds"][key]) for result in results.results]
        if found:
            rows.append((meaning, f"{sum(found) / len(found):.3f}", f"{max(found):.3f}", _total(sum(found))))
    return rows


def _total(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds < 100 else format_duration(round(seconds))


def _files(results: Results) -> dict[str, tuple[str, PlannedRun]]:
    """Each file that is an input and still lies there, with the parameter and the first run that read it."""
    first: dict[tuple[str, Any], PlannedRun] = {}
    for run in results.planned:
        for given in run.point.items():
            first.setdefault(given, run)
    found: dict[str, tuple[str, PlannedRun]] = {}
    for (name, value), run in first.items():
        for path in files_of(name, value):
            found.setdefault(path, (name, run))
    return found


def _as_it_ran(results: Results, run: PlannedRun) -> bool:
    """The identity of a run has the content of its files in it."""
    asked = results.study
    same: Any = {name: asked.get(name) for name in ("phase", "trim", "keep")}
    study = Study(results.name, {}, metrics=tuple(asked.get("metrics", ())), **same)
    return identity(run.point, run.seed, study) == run.identity
