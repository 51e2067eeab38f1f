"""Workflows from the recipes of WfCommons (the extra `workflows`): shapes and run times learnt from real executions.

They are made by a process of their own. WfCommons draws from the global random numbers of Python and NumPy, and some of
its recipes go through sets of texts: the same seed gives the same workflow only if Python's hash seed is the same, too.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from schedlab.model.errors import InputError
from schedlab.model.suggest import did_you_mean
from schedlab.model.workflow import Task

RECIPES = ("blast", "bwa", "cycles", "epigenomics", "genome", "montage", "rnaseq", "seismology", "soykb", "srasearch")
_REFUSED = 3


def wfcommons(recipe: str = "montage", tasks: int = 100, seed: int = 0) -> list[Task]:
    """About so many tasks of a workflow of that kind; the same seed gives the same ones."""
    from schedlab.workflow.wfformat import from_document

    where = f"wfcommons(recipe='{recipe}')"
    if recipe not in RECIPES:
        hint = did_you_mean(recipe, RECIPES, f"there are {', '.join(RECIPES)}")
        raise InputError(f"there is no recipe '{recipe}'", where=where, hint=hint)
    if find_spec("wfcommons") is None:
        raise InputError("WfCommons is not installed", where=where, hint="pip install 'schedlab[workflows]'")
    return list(from_document(_document(recipe, tasks, seed, where), where).tasks)


def _document(recipe: str, tasks: int, seed: int, where: str) -> dict[str, Any]:
    """As WfFormat."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "workflow.json")
        command = [sys.executable, "-m", __name__, recipe, str(tasks), str(seed), str(path)]
        done = subprocess.run(
            command, env=os.environ | {"PYTHONHASHSEED": "0"}, cwd=folder, capture_output=True, text=True
        )
        if done.returncode:
            last = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
            hint = "give more tasks, or another recipe" if done.returncode == _REFUSED else ""
            raise InputError(f"WfCommons cannot make it: {last}", where=where, hint=hint)
        document: dict[str, Any] = json.loads(path.read_text())
        return document


def make(recipe: str, tasks: int, seed: int, path: Path) -> None:
    import random

    import numpy as np
    from wfcommons.wfchef import recipes
    from wfcommons.wfgen import WorkflowGenerator

    random.seed(seed)
    np.random.seed(seed % 2**32)
    kind = getattr(recipes, f"{recipe.capitalize()}Recipe")
    try:
        WorkflowGenerator(kind.from_num_tasks(tasks)).build_workflow().write_json(path)
    except ValueError as error:  # fewer tasks than the smallest that it knows
        sys.stderr.write(f"{error}\n")
        sys.exit(_REFUSED)


if __name__ == "__main__":
    make(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4]))
