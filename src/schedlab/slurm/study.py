"""An ensemble as a study file: the same jobs through the same Slurm, in different phases of its loops."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from schedlab.slurm.decider import described


def ensemble_text(
    conf: Path,
    jobs: Path,
    options: Mapping[str, Any],
    observe: Sequence[str],
    phases: int,
    reading: Mapping[str, str | None],
) -> str:
    """With changes to the slurm.conf, the unchanged one is run too and is what it is compared with."""
    files = {name: Path(options[name]).resolve() if options[name] else None for name in ("accounts", "qos")}
    as_it_is = described(**{**options, **files, "conf": str(conf), "set": []})
    policies = [as_it_is] + ([described(**{**options, **files, "conf": str(conf)})] if options["set"] else [])
    lines = [
        'name = "slurm-real"',
        f"repetitions = {phases}",
        *([f"baseline = {{ policy = {json.dumps(as_it_is)} }}"] if len(policies) > 1 else []),
        "",
        "[workload]",
        f"log = {json.dumps(str(jobs))}",
        'clean = "none"',
        *(f"{name} = {json.dumps(value)}" for name, value in reading.items() if value),
        "",
        "[run]",
        f"cluster = {json.dumps(str(conf))}",
        f"policy = {json.dumps(policies)}",
        *([f"observe = {json.dumps([list(observe)])}"] if observe else []),  # all of them, in every run
    ]
    return "\n".join(lines) + "\n"
