"""`schedlab web`: the pages, on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from schedlab.model.errors import InputError

SAFETY = "Who may do what"


def web(
    folder: Annotated[
        Path,
        typer.Argument(metavar="[FOLDER]", help="Logs and runs in it can be seen; what is made goes inside it."),
    ] = Path(),
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="0 takes one that is free.")] = 8765,
    host: Annotated[
        str,
        typer.Option("--host", metavar="ADDRESS", help="Another address than this machine's own asks for a token."),
    ] = "127.0.0.1",
    no_browser: Annotated[bool, typer.Option("--no-browser", metavar="", help="Open no browser.")] = False,
    allow: Annotated[
        list[str],
        typer.Option(
            "--allow",
            metavar="FILE.py|POLICY",
            help="Python files in the folder whose policies, estimates and observers may be used, and policies that "
            "start programs, with their arguments, such as [b]slurm-real('site/slurm.conf')[/b]; once for each.",
            rich_help_panel=SAFETY,
        ),
    ] = [],  # noqa: B006 - Typer copies it
    token: Annotated[
        bool,
        typer.Option(
            "--token",
            metavar="",
            help="Ask for a token on this machine, too: others may be logged in.",
            rich_help_panel=SAFETY,
        ),
    ] = False,
    largest_upload: Annotated[
        str,
        typer.Option("--largest-upload", metavar="SIZE", help="Of one file.", rich_help_panel=SAFETY),
    ] = "1 GiB",
    at_once: Annotated[
        int | None,
        typer.Option(
            "--at-once",
            min=1,
            metavar="N",
            help="Runs and studies that are worked on at the same time. [dim]\\[default: one a core][/dim]",
            show_default=False,
            rich_help_panel=SAFETY,
        ),
    ] = None,
) -> None:
    """Set up, watch, explore and compare runs in a browser.

    [b]schedlab web results[/b]

    [b]schedlab web --port 9000 --no-browser --allow mine.py[/b]
    """
    from schedlab.cli.output import say
    from schedlab.model.browsers import LOOPBACK
    from schedlab.model.units import parse_bytes
    from schedlab.web.serve import listen, open_browser, serve
    from schedlab.web.settings import Settings, allowed
    from schedlab.web.space import new_secret

    if not folder.is_dir():
        raise InputError("is not a folder", where=str(folder), hint="name the folder with your logs and runs")
    python, programs = allowed(allow, folder)
    settings = Settings(
        host=host,
        token=new_secret() if token or host not in LOOPBACK else "",
        largest_upload=parse_bytes(largest_upload, where="--largest-upload"),
        at_once=at_once or Settings().at_once,
        python=python,
        programs=programs,
    )
    sock, address = listen(settings, port)
    served = folder.resolve()

    def ready() -> None:
        say(f"{address} serves {served}; Ctrl-C ends it")
        if not no_browser:
            open_browser(address)

    serve(folder, settings, sock, ready)
