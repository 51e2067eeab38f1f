"""An ensemble as a study file: the same jobs through the same Slurm, in different phases of its loops."""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from schedlab.slurm.decider import RealSlurm


def ensemble_text(
    conf: Path,
    jobs: Path,
    options: Mapping[str, Any],
    observe: Sequence[str],
    phases: int,
    reading: Mapping[str, str | None],
) -> str:
    """With changes to the slurm.conf, the unchanged one is run too and is what it is compared with."""
    as_it_is = _policy(conf, {name: value for name, value in options.items() if name != "set"})
    policies = [as_it_is] + ([_policy(conf, options)] if options.get("set") else [])
    lines = [
        'name = "slurm-real"',
        f"repetitions = {phases}",
        *([f"baseline = {{ policy = {json.dumps(as_it_is)} }}"] if len(policies) > 1 else []),
        "",
        "[workload]",
        f"log = {json.dumps(str(jobs))}",
        'requests = "full"',
        'clean = "none"',
        *(f"{name} = {json.dumps(value)}" for name, value in reading.items() if value),
        "",
        "[run]",
        f"cluster = {json.dumps(str(conf))}",
        f"policy = {json.dumps(policies)}",
        *([f"observe = {json.dumps(list(observe))}"] if observe else []),
    ]
    return "\n".join(lines) + "\n"


def _policy(conf: Path, options: Mapping[str, Any]) -> str:
    """The text of the policy; what is as it would be anyway is left out."""
    usual = {name: known.default for name, known in inspect.signature(RealSlurm).parameters.items()}
    given = {"conf": str(conf)} | {name: value for name, value in options.items() if value and value != usual[name]}
    plain = {name: str(value.resolve()) if isinstance(value, Path) else value for name, value in given.items()}
    return f"slurm-real({', '.join(f'{name}={value!r}' for name, value in plain.items())})"
