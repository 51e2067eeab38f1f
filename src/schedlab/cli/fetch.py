"""`schedlab fetch`: logs of the Parallel Workloads Archive by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from schedlab.cli.progress import Bar
    from schedlab.files.bytestream import Progress


def fetch(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME…", help="Logs, as [b]KTH-SP2[/b] or by file name.", show_default=False),
    ] = None,
    listing: Annotated[
        bool, typer.Option("--list", "-l", metavar="", help="Show what there is, and what has been fetched.")
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", "-f", metavar="", help="Download again what is there already.")
    ] = False,
) -> None:
    """Download logs of the Parallel Workloads Archive, with their checksums verified, and print where they are.

    They are kept in ~/.cache/schedlab/logs (or below $SCHEDLAB_CACHE): a second call needs no network.

    [b]schedlab fetch KTH-SP2[/b]

    [b]schedlab run $(schedlab fetch KTH-SP2) --policy easy[/b]
    """
    from schedlab.cli.output import InterruptedError, messages, say
    from schedlab.cli.progress import Bar, watched
    from schedlab.model.errors import InputError
    from schedlab.workload.archive.catalogue import CITATION, find_log
    from schedlab.workload.archive.fetch import cached_path
    from schedlab.workload.archive.fetch import fetch as fetch_log

    if listing:
        _print_list()
        return
    if not names:
        raise InputError("which log?", hint="schedlab fetch KTH-SP2; schedlab fetch --list shows all")
    logs = [find_log(name) for name in names]
    for log in logs:
        try:
            with Bar(f"fetching {log.name}", 1000) as bar:
                path = fetch_log(log.name, progress=_shown_by(bar) if watched(quiet=False) else None, force=force)
        except KeyboardInterrupt:
            part = cached_path(log).with_name(f"{log.file}.part")
            kept = "what has come is kept: the same command goes on from there" if part.exists() else "nothing came yet"
            raise InterruptedError(f"{log.name} is not complete; {kept}") from None
        say(str(path))
        # Beside the path, not in its way: `schedlab run $(schedlab fetch …)`.
        messages().print(f"{log.name}: {log.thanks}", style="dim", markup=False, soft_wrap=True)
    messages().print(CITATION, style="dim", markup=False, soft_wrap=True)


def _shown_by(bar: Bar) -> Progress:
    return lambda done, size: bar.show(1000 * done // size if size else 0, f"{done / 1e6:,.1f} MB")


def _print_list() -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    from schedlab.cli.output import console
    from schedlab.workload.archive.catalogue import LOGS
    from schedlab.workload.archive.fetch import cached_path

    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("name", style="cyan", no_wrap=True)
    table.add_column("jobs", justify="right")
    table.add_column("processors", justify="right")
    table.add_column("file", no_wrap=True)
    table.add_column("fetched")
    for log in LOGS:
        numbers = (f"{number:,}" if number else "?" for number in (log.jobs, log.processors))
        table.add_row(log.name, *numbers, log.file, "yes" if cached_path(log).exists() else "")
    console().print(table)
