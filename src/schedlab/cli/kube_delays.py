"""`schedlab kube delays`: what pods of a real cluster needed, for simulations."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from schedlab.cli.options import Json


def delays(
    tables: Annotated[
        list[Path],
        typer.Argument(
            metavar="TABLE...",
            help="pods.csv of [b]schedlab kube submit[/b], or tables of Batkube's, compressed or not.",
            show_default=False,
        ),
    ],
    workload: Annotated[
        Path | None,
        typer.Option(
            "--workload",
            "-j",
            metavar="JSON",
            help="The Batsim workload behind Batkube's tables: says how long each profile sleeps.",
            show_default=False,
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Measure start-up delays: prints the observer [b]startup(…)[/b] with quantiles of what pods needed.

    [b]schedlab kube delays real/pods.csv[/b]
    """
    from schedlab.bridge.kubernetes.measured import measured, sleeping_times
    from schedlab.cli.output import print_json, say
    from schedlab.files.bytestream import check_there

    check_there([*tables, *([workload] if workload is not None else [])])
    found = measured(tables, None if workload is None else sleeping_times(workload))
    if as_json:
        print_json(found)
    else:
        told = ", ".join(f"{name}={values}" for name, values in found.items())
        say(f"startup({told}, cached=True)")
