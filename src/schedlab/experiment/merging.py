"""Whether runs that were made elsewhere are runs of this study: of the same plan, and with the same results."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from schedlab.experiment.folder import PLAN, finished, read_result, result_file
from schedlab.experiment.ledger import Ledger, read_plan
from schedlab.experiment.named_files import file_names
from schedlab.experiment.plan import PlannedRun
from schedlab.model.errors import InputError
from schedlab.model.tables import TABLES

MOST_SAID, MOST_ERRORS = 3, 10
_ASKED = ("metrics", "keep", "phase", "trim")
_SAME = ("repetition", "seed", "schedlab", "cluster", "not_counted", "summary", "metrics")


def refusals(place: Path, identities: Sequence[str], folder: Path, ledger: Ledger, source: str) -> list[InputError]:
    """All that speaks against taking the runs of `place`, which were said to be those of `source`."""
    return [*_foreign(place, identities, ledger, source), *_unequal(place, identities, folder, source)][:MOST_ERRORS]


def content(result: Mapping[str, Any]) -> dict[str, Any]:
    """What of a result is the same whenever and wherever the run is executed."""
    varying = [table.file for table in TABLES.values() if not table.repeatable]
    tables = {
        name: digest for name, digest in result["files"].items() if name.endswith(".parquet") and name not in varying
    }
    return {name: result.get(name) for name in _SAME} | tables


def _foreign(place: Path, identities: Sequence[str], ledger: Ledger, source: str) -> Iterator[InputError]:
    """Runs of the other plan that this one does not have. (What no plan has any more may come along.)"""
    there, other = read_plan(place / PLAN)
    here, study = ledger.planned(), ledger.study()
    known = {run.identity for run in here}
    strange = set(identities) - known
    foreign = [run for run in there if run.identity in strange]
    if not foreign:
        return
    repetitions: dict[str, set[int]] = {}  # that this study has of a point
    for run in here:
        repetitions.setdefault(_named(run.point), set()).add(run.repetition)
    reasons = dict.fromkeys(_why(run, other, repetitions, study) for run in foreign)
    said = "; ".join(list(reasons)[:MOST_SAID]) + ("; …" if len(reasons) > MOST_SAID else "")
    hint = "parts are run from the same study file, with the same files and the same version of schedlab"
    message = f"{len(foreign):,} of its {len(identities):,} runs are not runs of {ledger.folder}: {said}"
    yield InputError(message, where=source, hint=hint)


def _why(
    run: PlannedRun, other: Mapping[str, Any], repetitions: Mapping[str, set[int]], study: Mapping[str, Any]
) -> str:
    """What tells it from the run of this study that is most like it."""
    differing = [
        "other metrics" if name == "metrics" else f"{name} {other.get(name)} instead of {study.get(name)}"
        for name in ("schedlab", "seed", *_ASKED)
        if other.get(name) != study.get(name)
    ]
    if differing:
        return "it has " + ", ".join(differing)
    like = repetitions.get(_named(run.point))
    if like is None:
        return f"the study does not have {', '.join(f'{name} = {value}' for name, value in run.point.items())}"
    if run.repetition not in like:
        return f"the study has no repetition {run.repetition + 1}"
    paths = [Path(file) for name, value in run.point.items() for file in file_names(name, value)]
    files = dict.fromkeys(path.name for path in paths if path.suffix and not path.suffix[1:].isdecimal())
    return f"{' or '.join(files) or 'a file that it reads'} had another content"


def _named(point: Mapping[str, Any]) -> str:
    """Equal for points that are written alike, wherever files lie."""
    named = {name: Path(value).name if isinstance(value, str) else value for name, value in point.items()}
    return json.dumps(named, sort_keys=True)


def _unequal(place: Path, identities: Sequence[str], folder: Path, source: str) -> Iterator[InputError]:
    for identity in sorted(set(identities) & set(finished(folder))):
        theirs, mine = (content(read_result(where, identity)) for where in (place, folder))
        differing = [name for name in mine | theirs if mine.get(name) != theirs.get(name)]
        if differing:
            message = f"its run {identity} has another result than {result_file(folder, identity)}"
            hint = "the same input gives the same result: find out which of them is wrong"
            yield InputError(f"{message}: {', '.join(differing)} differ", where=source, hint=hint)
