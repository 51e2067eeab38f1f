"""The findings of a doctor, for people or as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

import typer

from schedlab.model.finding import Finding


def print_findings(findings: Sequence[Finding], *, as_json: bool) -> None:
    """Ends with code 1 if something is wrong."""
    from rich.text import Text

    from schedlab.cli.output import console, print_json

    if as_json:
        print_json([asdict(finding) for finding in findings])
    else:
        for finding in findings:
            mark, style = ("ok", "green") if finding.ok else ("--", "red")
            line = Text.assemble((f"{mark}  ", style), (finding.what, "bold"), f": {finding.detail}")
            console().print(line, soft_wrap=True)
            if finding.cure:
                console().print(Text(f"    cure: {finding.cure}"), soft_wrap=True)
    if not all(finding.ok for finding in findings):
        raise typer.Exit(1)
