"""`schedlab resume`: take up runs that were interrupted."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from schedlab.model.errors import InputError


def resume(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="The folder that was given to --out, or that of one of its runs.")
    ],
) -> None:
    """Take up a run that was interrupted, where its last checkpoint was: the result is the same, byte for byte.

    [b]schedlab run LOG --policy mine.py:Slow --out results --checkpoint-every 10m[/b]

    [b]schedlab resume results[/b]
    """
    from schedlab.cli.main import app
    from schedlab.engine.checkpoint import Checkpoint

    found = _checkpoints(folder)
    if not found:
        hint = "only runs begun with --checkpoint-every have checkpoints, and only until they are complete"
        raise InputError("there is nothing to resume", where=str(folder), hint=hint)
    description = Checkpoint(found[0]).describe()
    recipe = None if description is None else description.get("recipe")
    if not recipe:
        hint = "call schedlab.simulate again as before, with the same checkpoint"
        raise InputError("was not begun on the command line", where=str(found[0]), hint=hint)
    os.chdir(recipe["folder"])
    sys.argv[1:] = recipe["arguments"]  # which later checkpoints remember
    app([*recipe["arguments"], "--go-on"])


def _checkpoints(folder: Path) -> list[Path]:
    from schedlab.engine.checkpoint import SUFFIX, checkpoint_beside

    places = [folder if folder.name.endswith(SUFFIX) else checkpoint_beside(folder)]
    if folder.is_dir():
        places += sorted(folder.glob(f"*{SUFFIX}"))
    return [place for place in places if (place / "checkpoint.json").is_file()]
