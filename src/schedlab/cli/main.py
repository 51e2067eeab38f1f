"""`schedlab`: the commands, and what becomes of their errors."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Annotated

import typer

from schedlab.cli import signals
from schedlab.cli.batsim import batsim
from schedlab.cli.bridge import bridge
from schedlab.cli.check import check
from schedlab.cli.compare import compare
from schedlab.cli.convert import convert
from schedlab.cli.experiment import experiment
from schedlab.cli.explore import explore
from schedlab.cli.export import export
from schedlab.cli.fetch import fetch
from schedlab.cli.fit import fit
from schedlab.cli.formats import formats
from schedlab.cli.generate import generate
from schedlab.cli.inspect import inspect
from schedlab.cli.kube import kube
from schedlab.cli.new import new
from schedlab.cli.once import OnceCommand
from schedlab.cli.plot import plot
from schedlab.cli.policies import policies
from schedlab.cli.resume import resume
from schedlab.cli.run import run
from schedlab.cli.serve_policy import serve_policy
from schedlab.cli.slurm import slurm
from schedlab.cli.transform import transform
from schedlab.cli.web import web
from schedlab.cli.why import why
from schedlab.cli.workflow import workflow
from schedlab.model.errors import SchedlabError
from schedlab.model.version import VERSION

app = typer.Typer(
    name="schedlab",
    help="A laboratory for cluster scheduling: replay real job logs under any scheduler, and compare what happens.",
    epilog="Start with:  schedlab run LOG.swf.gz --policy easy --policy fcfs --out results",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
TYPER_WAS_INTERRUPTED = 130  # the exit code that it makes of a KeyboardInterrupt
RUNS, JOBS, OWN = "Simulate and compare", "Jobs and machines", "What there is, and what could be yours"
COMMANDS: dict[str, tuple[Callable[..., None], ...]] = {
    RUNS: (run, compare, plot, explore, web, why, check, resume, export, serve_policy),
    JOBS: (inspect, convert, transform, fetch, fit, generate),
    OWN: (policies, formats, new),
}
for _panel, _commands in COMMANDS.items():
    for _command in _commands:
        app.command(cls=OnceCommand, rich_help_panel=_panel)(_command)
app.command(  # its options are Batsim's: read by itself, --help included
    rich_help_panel=RUNS,
    add_help_option=False,
    context_settings={"ignore_unknown_options": True, "help_option_names": []},
)(batsim)
app.add_typer(experiment, rich_help_panel=RUNS)
app.add_typer(slurm, rich_help_panel=RUNS)
app.add_typer(kube, rich_help_panel=RUNS)
app.add_typer(bridge, rich_help_panel=RUNS)
app.add_typer(workflow, rich_help_panel=JOBS)


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
    finally:
        signals.ignore()
