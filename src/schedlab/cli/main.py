"""`schedlab`: the commands, and what becomes of their errors."""

from __future__ import annotations

import functools
import importlib
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_command, get_group

from schedlab.cli import signals
from schedlab.cli.once import OnceCommand
from schedlab.model.disk import disk_error, disk_fails
from schedlab.model.errors import SchedlabError
from schedlab.model.version import VERSION

TYPER_WAS_INTERRUPTED = 130  # the exit code that it makes of a KeyboardInterrupt
# What there is, as --help shows it. Each has a module of its name here, and in it a function or a group of that name.
COMMANDS = {
    "Simulate and compare": (
        *("run", "compare", "plot", "explore", "web", "why", "check", "resume", "export", "serve-policy", "batsim"),
        *("experiment", "slurm", "kube", "bridge"),
    ),
    "Jobs and machines": ("inspect", "convert", "transform", "fetch", "fit", "generate", "workflow"),
    "What there is, and what could be yours": ("policies", "formats", "new"),
}
PANELS = {name: panel for panel, names in COMMANDS.items() for name in names}
SETTINGS: dict[str, dict[str, Any]] = {
    "batsim": {  # its options are Batsim's: read by itself, --help included
        "add_help_option": False,
        "context_settings": {"ignore_unknown_options": True, "help_option_names": []},
    }
}


class Commands(TyperGroup):
    """A command is imported and built when it is called: it need not wait for the others."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(PANELS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name in PANELS:
            return command(cmd_name)
        self.commands.update({name: command(name) for name in PANELS})  # one of which may have been meant
        return None


@functools.cache
def command(name: str) -> Any:
    """As Click knows it."""
    word = name.replace("-", "_")
    found = getattr(importlib.import_module(f"schedlab.cli.{word}"), word)
    if isinstance(found, typer.Typer):
        built: Any = get_group(found)
    else:
        alone = typer.Typer(add_completion=False)
        alone.command(**{"cls": OnceCommand, **SETTINGS.get(name, {})})(found)
        built = get_command(alone)
    built.name, built.rich_help_panel = name, PANELS[name]
    return built


app = typer.Typer(
    name="schedlab",
    cls=Commands,
    help="A laboratory for cluster scheduling: replay real job logs under any scheduler, and compare what happens.",
    epilog="Start with:  schedlab run LOG.swf.gz --policy easy --policy fcfs --out results",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"schedlab {VERSION}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", metavar="", help="Print the version and stop.", callback=_print_version, is_eager=True
        ),
    ] = False,
) -> None:
    pass


def main() -> None:
    from schedlab.cli.output import InterruptedError, print_error

    signals.listen()
    try:
        try:
            app()
        except InterruptedError:
            raise
        except BaseException as end:
            of_typer = isinstance(end, SystemExit) and end.code == TYPER_WAS_INTERRUPTED and signals.asked() is not None
            if of_typer or signals.caused(end):
                raise InterruptedError("a file that was being written is not there; others are whole") from None
            raise
    except InterruptedError as error:
        print_error(error)
        sys.exit(signals.exit_code())
    except SchedlabError as error:
        print_error(error)
        sys.exit(error.exit_code)
    except OSError as error:
        if not disk_fails(error):
            raise
        print_error(disk_error("cannot be read or written", error.filename or "a file", error))
        sys.exit(2)
    finally:
        signals.ignore()
