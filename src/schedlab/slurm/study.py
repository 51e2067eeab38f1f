"""An ensemble as a study file: the same jobs through the same Slurm, in different phases of its loops."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from schedlab.slurm.decider import described

AS_IT_IS, CHANGED = "as it is", "changed"  # settings, in results


def name_of(changes: Sequence[str]) -> str:
    """What a run is called that nobody has named."""
    return CHANGED if changes else AS_IT_IS


def ensemble_text(
    conf: Path,
    jobs: Path,
    options: Mapping[str, Any],
    observe: Sequence[str],
    phases: int,
    reading: Mapping[str, str | None],
    label: str = "",
) -> str:
    """With changes to the slurm.conf, the unchanged one is run too and is what it is compared with."""
    files = {name: Path(options[name]).resolve() if options[name] else None for name in ("accounts", "qos")}
    unchanged: dict[str, list[str]] = {AS_IT_IS: []} if options["set"] else {}
    settings = unchanged | {label or name_of(options["set"]): options["set"]}
    policies = {name: described(**{**options, **files, "conf": str(conf), "set": s}) for name, s in settings.items()}
    lines = [
        f"name = {json.dumps(jobs.name)}",
        f"repetitions = {phases}",
        *([f"baseline = {{ policy = {json.dumps(AS_IT_IS)} }}"] if unchanged else []),
        "",
        "[workload]",
        f"log = {json.dumps(str(jobs))}",
        'clean = "none"',
        *(f"{name} = {json.dumps(value)}" for name, value in reading.items() if value),
        "",
        "[run]",
        f"cluster = {json.dumps(str(conf))}",
        "policy = [",
        *(f"  {{ name = {json.dumps(name)}, policy = {json.dumps(text)} }}," for name, text in policies.items()),
        "]",
        *([f"observe = {json.dumps([list(observe)])}"] if observe else []),  # all of them, in every run
    ]
    return "\n".join(lines) + "\n"
