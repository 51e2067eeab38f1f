"""Where the commands print: tables and facts to standard output, everything else to standard error."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from schedlab.model.errors import InputError, InputErrors, SchedlabError

if TYPE_CHECKING:
    from rich.console import Console

# A table that goes into a file or a pipe is as wide as it needs to be.
UNLIMITED = 10_000


class InterruptedError(SchedlabError):
    """Ctrl-C or SIGTERM; the message says what is there and what is not."""

    exit_code = 130


@cache
def console() -> Console:
    from rich.console import Console

    return Console(highlight=False, width=None if sys.stdout.isatty() else UNLIMITED)


@cache
def messages() -> Console:
    from rich.console import Console

    return Console(stderr=True, highlight=False)


def say(text: str, style: str = "") -> None:
    """A line of text on standard output, as it is: no markup, no wrapping."""
    console().print(text, style=style or None, markup=False, soft_wrap=True)


def say_list(sentences: Sequence[str], more: str, style: str = "") -> None:
    """One below the other; of many the first, and where the others are: `and 3 more {more}`."""
    from schedlab.analysis.job_ends import MOST_SAID

    for sentence in sentences[:MOST_SAID]:
        say(f"- {sentence}", style)
    if len(sentences) > MOST_SAID:
        say(f"  and {len(sentences) - MOST_SAID:,} more {more}", "dim")


def warn(text: str) -> None:
    _message("warning", "yellow", text)


def print_error(error: SchedlabError) -> None:
    for one in error.errors if isinstance(error, InputErrors) else [error]:
        interrupted = isinstance(one, InterruptedError)
        _message("interrupted" if interrupted else "error", "yellow" if interrupted else "red", str(one))


def print_json(document: Any) -> None:
    sys.stdout.write(json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def print_sections(rows: Iterable[tuple[str, str, str]]) -> None:
    """Section, name and value; a section's name is printed once."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(style="cyan", no_wrap=True)
    table.add_column()
    above = ""
    for section, name, value in rows:
        if above and section != above:
            table.add_row()
        table.add_row(section if section != above else "", name, Text(value))
        above = section
    console().print(table)


def check_new_file(path: Path, force: bool) -> None:
    """Refuse to replace a file without being told to."""
    if path.exists() and not path.is_dir() and not force:
        raise InputError("is already there", where=str(path), hint="choose another name, or replace it with --force")


def _message(kind: str, colour: str, text: str) -> None:
    from rich.text import Text

    messages().print(Text.assemble((f"{kind}: ", f"bold {colour}"), text), soft_wrap=True)
