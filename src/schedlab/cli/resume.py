"""`schedlab resume`: take up runs that were interrupted."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
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
    assert description is not None
    out = _out(found[0].absolute(), Path(description["place"]), Path(recipe["out"]))
    try:
        os.chdir(recipe["folder"])
    except OSError as error:
        hint = "its files are named from there: put it back"
        message = f"the folder in which the run was begun cannot be entered: {error.strerror}"
        raise InputError(message, where=recipe["folder"], hint=hint) from None
    with suppress(ValueError):  # it is elsewhere
        out = out.relative_to(Path.cwd())
    sys.argv[1:] = recipe["arguments"]  # which later checkpoints remember
    app([*recipe["arguments"], "--go-on", str(out)])


def _out(now: Path, before: Path, out: Path) -> Path:
    """Where the runs are written whose checkpoint is now there: it has been before, and they were to be in `out`."""
    from schedlab.engine.checkpoint import SUFFIX, checkpoint_beside

    if before == checkpoint_beside(out):
        return now.with_name(now.name.removesuffix(SUFFIX))
    if now.name != before.name:
        hint = f"name it {before.name}, inside the folder of the runs"
        raise InputError(f"is the checkpoint of one of several runs, and was {before}", where=str(now), hint=hint)
    return now.parent


def _checkpoints(folder: Path) -> list[Path]:
    from schedlab.engine.checkpoint import SUFFIX, checkpoint_beside

    if not folder.name.endswith(SUFFIX) and (folder / "checkpoint.json").is_file():
        hint = f"rename it to {folder}{SUFFIX}: its run is then written to {folder}"
        raise InputError(f"is a checkpoint without {SUFFIX} in its name", where=str(folder), hint=hint)
    places = [folder if folder.name.endswith(SUFFIX) else checkpoint_beside(folder)]
    if folder.is_dir():
        places += sorted(folder.glob(f"*{SUFFIX}"))
    return [place for place in places if (place / "checkpoint.json").is_file()]
