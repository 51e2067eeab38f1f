"""`schedlab resume`: take up runs that were interrupted."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from schedlab.model.errors import InputError

if TYPE_CHECKING:
    from schedlab.engine.checkpoint import Checkpoint

SUFFIX = ".checkpoint"


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


def checkpoints_of(folders: Sequence[Path | None], every: str | None) -> list[Checkpoint | None]:
    """Where the state of each run is saved: beside its folder."""
    if every is None:
        return [None] * len(folders)
    from schedlab.engine.checkpoint import Checkpoint
    from schedlab.model.units import parse_duration

    seconds = parse_duration(every, where="--checkpoint-every")
    recipe = {"arguments": sys.argv[1:], "folder": str(Path.cwd())}
    if None in folders:
        raise InputError("needs a folder for the results", where="--checkpoint-every", hint="add --out DIR")
    return [Checkpoint(_beside(folder), seconds, recipe) for folder in folders if folder is not None]


def _beside(folder: Path) -> Path:
    return folder.with_name(folder.name + SUFFIX)


def _checkpoints(folder: Path) -> list[Path]:
    places = [folder if folder.name.endswith(SUFFIX) else _beside(folder)]
    if folder.is_dir():
        places += sorted(folder.glob(f"*{SUFFIX}"))
    return [place for place in places if (place / "checkpoint.json").is_file()]
