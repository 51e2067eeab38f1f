"""From a form to what is started: looked at, given a folder for its results, written as a command."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path, PurePosixPath
from typing import Any

from schedlab.files.whole_file import whole_file
from schedlab.model.confined import STARTS_PROGRAMS
from schedlab.model.errors import InputError
from schedlab.model.plugin_text import registered_name
from schedlab.web.aside import WHILE, ask
from schedlab.web.checks import check_setup, check_sweep
from schedlab.web.settings import Settings
from schedlab.web.setup import Setup, Sweep
from schedlab.web.space import Space
from schedlab.web.task import Task

LONGEST_STEM = 60  # characters


def asked_task(document: Any, space: Space, settings: Settings) -> Task:
    """As a helper finds it: the texts of the form, and the files that it names, are somebody's."""
    space.make()  # where it makes a folder for the results
    found = json.loads(ask("task", space, settings, WHILE, setup=document))
    program = bool(found["program"] and settings.programs)
    return Task(found["title"], tuple(found["arguments"]), found["out"], program=program)


def start_run(setup: Setup, space: Space, settings: Settings) -> Task:
    check_setup(setup, space, settings)
    source = setup.log or setup.model
    out = space.name(space.new_folder(setup.name or stem_of(source)))
    shown = " and ".join(setup.policies) if len(setup.policies) < 3 else f"{len(setup.policies)} policies"
    title = f"{shown} on {PurePosixPath(source).name}"
    return Task(title, tuple(setup.arguments(out)), out, program=_starts_programs(setup))


def start_study(sweep: Sweep, space: Space, settings: Settings) -> Task:
    """Its file is named after the study, and lies beside the folder of its results.

    One that starts programs has the rights of the server: nobody may write something else into its file.
    """
    check_sweep(sweep, space, settings)
    program = _starts_programs(sweep.setup)
    folder = space.new_folder(stem_of(sweep.name))
    file = space.unseen(f"{folder.name}.toml") if program else space.free(folder.name, ".toml")
    text = sweep.text(lambda name: _from(file, name, space))
    try:
        check_study(text, file)
    except InputError:
        folder.rmdir()
        raise
    with whole_file(file) as written:
        written.write(text.encode())
    out = space.name(folder)
    arguments = ("experiment", "run", space.name(file), "--out", out)
    return Task(sweep.name, arguments, out, program=program)


def again_study(name: str, space: Space) -> Task:
    """A study of one's own that is not finished: what is done is kept."""
    folder = space.own_path(name)
    if not (folder / "study.toml").is_file():
        raise InputError("is not the folder of a study", where=name)
    beside = folder.with_suffix(".toml")
    file = beside if beside.is_file() else folder / "study.toml"
    return Task(f"{folder.name}, taken up", ("experiment", "run", space.name(file), "--out", name), name)


def check_study(text: str, file: Path) -> None:
    """As `schedlab experiment run` reads it."""
    from schedlab.experiment.study import parse_study

    parse_study(text, str(file))


def stem_of(name: str) -> str:
    """A name for a folder, after a file, a model in words, or a title."""
    plain = PurePosixPath(name).name.partition("(")[0].partition(".")[0]
    stem = re.sub(r"[^\w+=@,-]+", "-", plain).strip("-_.")[:LONGEST_STEM]
    return stem or "run"


def _from(file: Path, name: str, space: Space) -> str:
    """A file of the served folder as it is named beside the study file."""
    there = space.folder / name
    return Path(os.path.relpath(there, file.parent)).as_posix() if name and there.is_file() else name


def _starts_programs(setup: Setup) -> bool:
    return any(registered_name(text.partition(":")[0]) in STARTS_PROGRAMS for text in setup.policies)
