"""`schedlab new`: a file to start from, and its test."""

from __future__ import annotations

import re
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

TEMPLATES = Path(__file__).parent / "templates"
# The templates are called mine.py and test_mine.py in their own text.
_MINE = re.compile(r"(?<![A-Za-z0-9])mine(?![A-Za-z0-9])")


class NewKind(StrEnum):
    policy = "policy"
    order = "order"
    placement = "placement"
    estimator = "estimator"
    observer = "observer"
    metric = "metric"
    model = "model"
    reader = "reader"
    pattern = "pattern"


def new(
    kind: Annotated[NewKind, typer.Argument(metavar="KIND", help="What to write.", show_default=False)],
    file: Annotated[Path, typer.Argument(metavar="FILE.py", help="The file to write.", show_default=False)],
    force: Annotated[bool, typer.Option("--force", "-f", metavar="", help="Replace files that are there.")] = False,
) -> None:
    """Write a commented file to start from, which works as it is, and a test beside it.

    [b]schedlab new policy mine.py[/b]

    [b]schedlab new metric tail.py[/b]
    """
    from schedlab.cli.output import say

    test = file.parent / f"test_{file.name}"
    _check(file, test, force)
    code = _written(f"{kind}.py", file)
    _write({file: code, test: _written(f"test_{kind}.py", file)})
    say(f"{file}: {_first_line(code)}")
    say(f"{test}: its test, for pytest")
    say("\ntry")
    for line in [*_commands(code), f"pytest {test}"]:
        say(f"  {line.replace(file.name, str(file)) if line.startswith('schedlab') else line}", "cyan")


def _check(file: Path, test: Path, force: bool) -> None:
    from schedlab.model.errors import InputError

    where = str(file)
    if file.suffix != ".py" or not file.stem.isidentifier():
        hint = "for example mine.py: letters, digits and _, so that the test can import it"
        raise InputError("is not a name for a Python module", where=where, hint=hint)
    if not file.parent.is_dir():
        raise InputError("there is no such folder", where=str(file.parent), hint=f"mkdir -p {file.parent}")
    there = [path for path in (file, test) if path.exists()]
    if there and not force:
        hint = "choose another name, or replace it with --force"
        raise InputError("is already there", where=str(there[0]), hint=hint)


def _written(template: str, file: Path) -> str:
    return _MINE.sub(file.stem, (TEMPLATES / template).read_text(encoding="utf-8"))


def _write(files: dict[Path, str]) -> None:
    from schedlab.files.whole_file import whole_files

    with whole_files(*files) as partials:
        for partial, text in zip(partials, files.values(), strict=True):
            partial.write_text(text, encoding="utf-8")


def _first_line(code: str) -> str:
    return code.partition("\n")[0].strip('"')


def _commands(code: str) -> list[str]:
    """The commands in the documentation of a template."""
    import ast

    text = ast.get_docstring(ast.parse(code)) or ""
    return [line for line in text.splitlines() if line.startswith("schedlab ")]
