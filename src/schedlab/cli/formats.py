"""`schedlab formats`: what files can be read and written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from schedlab.cli.options import Json

if TYPE_CHECKING:
    from schedlab.files.formats import Format


def formats(as_json: Json = False) -> None:
    """List the formats of logs, clusters and workflows that can be read and written.

    A file's format is told by its content and its name; [b]--reader NAME[/b] says it otherwise.
    """
    from schedlab.cli.output import console, print_json
    from schedlab.cluster.formats import FORMATS as CLUSTERS
    from schedlab.workflow.read import FORMATS as WORKFLOWS
    from schedlab.workload.formats import FORMATS as WORKLOADS

    kinds: dict[str, Sequence[Format[Any]]] = {"Jobs": WORKLOADS, "Clusters": CLUSTERS, "Workflows": WORKFLOWS}
    if as_json:
        print_json({kind.casefold(): [_row(known) for known in known_ones] for kind, known_ones in kinds.items()})
        return

    from rich.table import Table

    for kind, known_ones in kinds.items():
        table = Table(
            title=kind, title_justify="left", title_style="bold", box=None, pad_edge=False, padding=(0, 2, 0, 0)
        )
        for heading in ("name", "what it is", "read", "written to files ending in"):
            table.add_column(heading, header_style="dim", style="cyan" if heading == "name" else None, no_wrap=True)
        for known in known_ones:
            endings = ", ".join(known.endings) if known.writes else "-"
            table.add_row(known.name, known.what, "yes" if known.reads else "-", endings)
        console().print(table)
        console().print()


def _row(known: Format[Any]) -> dict[str, Any]:
    return {
        "name": known.name,
        "what": known.what,
        "reads": bool(known.reads),
        "writes": bool(known.writes),
        "endings": list(known.endings),
    }
