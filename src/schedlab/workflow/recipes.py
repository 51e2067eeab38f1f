"""Workflows from the recipes of WfCommons (the extra `workflows`): shapes and run times learnt from real executions."""

from __future__ import annotations

import json
import random
import tempfile
from pathlib import Path
from typing import Any

from schedlab.model.errors import InputError
from schedlab.model.suggest import did_you_mean
from schedlab.model.workflow import Task

_ENDING = "Recipe"


def wfcommons(recipe: str = "montage", tasks: int = 100, seed: int = 0) -> list[Task]:
    """About so many tasks of a workflow of that kind; the same seed gives the same ones."""
    from schedlab.workflow.wfformat import from_document

    where = f"wfcommons(recipe='{recipe}')"
    known = _recipes(where)
    if recipe not in known:
        hint = did_you_mean(recipe, known, f"there are {', '.join(known)}")
        raise InputError(f"there is no recipe '{recipe}'", where=where, hint=hint)
    return list(from_document(_document(known[recipe], tasks, seed, where), where).tasks)


def _recipes(where: str) -> dict[str, Any]:
    """By name: montage, blast …"""
    try:
        from wfcommons.wfchef import recipes
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "wfcommons":
            raise
        hint = "pip install 'schedlab[workflows]'"
        raise InputError("WfCommons is not installed", where=where, hint=hint) from None
    found = {name: kind for name, kind in vars(recipes).items() if name.endswith(_ENDING)}
    return {name.removesuffix(_ENDING).casefold(): kind for name, kind in sorted(found.items())}


def _document(recipe: Any, tasks: int, seed: int, where: str) -> dict[str, Any]:
    """As WfFormat. WfCommons draws from the global generators of Python and NumPy: seeded, and put back after it."""
    import numpy as np
    from wfcommons.wfgen import WorkflowGenerator

    before, before_numpy = random.getstate(), np.random.get_state()
    try:
        random.seed(seed)
        np.random.seed(seed % 2**32)
        workflow = WorkflowGenerator(recipe.from_num_tasks(tasks)).build_workflow()
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "workflow.json")
            workflow.write_json(path)
            document: dict[str, Any] = json.loads(path.read_text())
            return document
    except ValueError as error:  # fewer tasks than the smallest that it knows
        raise InputError(f"WfCommons cannot make it: {error}", where=where) from None
    finally:
        random.setstate(before)
        np.random.set_state(before_numpy)
