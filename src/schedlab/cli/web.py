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
        typer.Option("--host", metavar="ADDRESS", help="Who can reach it: this machine alone, or others too."),
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
            "--token/--no-token",
            metavar="",
            help="Let in whoever has the address with the token; without it, everybody on this machine.",
            rich_help_panel=SAFETY,
        ),
    ] = True,
    largest_upload: Annotated[
        str,
        typer.Option("--largest-upload", metavar="SIZE", help="Of one file.", rich_help_panel=SAFETY),
    ] = "1 GiB",
    largest_space: Annotated[
        str,
        typer.Option("--largest-space", metavar="SIZE", help="Of all files of one person.", rich_help_panel=SAFETY),
    ] = "50 GiB",
    memory: Annotated[
        str,
        typer.Option(
            "--memory",
            metavar="SIZE",
            help="Of one process that works for somebody. [dim]\\[default: an eighth of the machine's][/dim]",
            show_default=False,
            rich_help_panel=SAFETY,
        ),
    ] = "",
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
    from schedlab.cli.output import say, warn
    from schedlab.model import landlock
    from schedlab.model.browsers import LOOPBACK
    from schedlab.model.units import parse_bytes
    from schedlab.web.serve import listen, open_browser, serve
    from schedlab.web.settings import Settings, allowed, usual_memory
    from schedlab.web.space import new_secret

    if not folder.is_dir():
        raise InputError("is not a folder", where=str(folder), hint="name the folder with your logs and runs")
    if not token and host not in LOOPBACK:
        hint = "leave it out: the address that is printed ends in the token"
        raise InputError("is for this machine alone", where="--no-token", hint=hint)
    python, programs = allowed(allow, folder)
    settings = Settings(
        host=host,
        token=new_secret() if token else "",
        largest_upload=parse_bytes(largest_upload, where="--largest-upload"),
        largest_space=parse_bytes(largest_space, where="--largest-space"),
        at_once=at_once or Settings().at_once,
        memory=parse_bytes(memory, where="--memory") if memory else usual_memory(),
        python=python,
        programs=programs,
    )
    sock, address = listen(settings, port)
    served = folder.resolve()

    if not token:
        warn("without a token everybody on this machine can read this folder and start runs in it")
    if not landlock.version():
        warn("this kernel has no Landlock: files that libraries open by themselves (Parquet) are not kept inside")

    def ready() -> None:
        say(f"{address} serves {served}; Ctrl-C ends it")
        if not no_browser:
            open_browser(address, served)

    serve(folder, settings, sock, ready)
