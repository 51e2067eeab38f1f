"""Figures and pages to keep, made by the commands that make them everywhere else."""

from __future__ import annotations

from collections.abc import Sequence

from schedlab.model.errors import SchedlabError
from schedlab.model.units import format_bytes
from schedlab.web.aside import MOST_OF_BLOCK, command, place_for
from schedlab.web.child import message
from schedlab.web.errors import RefusedError
from schedlab.web.settings import Settings
from schedlab.web.space import Space

ENDINGS = ("png", "svg", "pdf")
OF_SPECIAL_RUNS = ("dag", "workflows", "applications", "baseline", "performance", "users")
PATIENCE = 300.0  # seconds


def figure_kinds() -> list[dict[str, str]]:
    """Those of `schedlab plot --list` that can be drawn of any run."""
    from schedlab.plot.catalogue import KINDS

    return [
        {"name": kind.name, "summary": kind.description}
        for kind in KINDS.values()
        if not (kind.of_study or kind.of_heatmap) and kind.name not in OF_SPECIAL_RUNS
    ]


def made(arguments: Sequence[str], ending: str, space: Space, settings: Settings) -> bytes:
    """The file that `schedlab ARGUMENTS --out FILE` makes."""
    with place_for(space) as place:
        target = place / f"made.{ending}"
        done = command([*arguments, "--out", str(target)], space, settings, patience=PATIENCE)
        if not target.is_file():
            text, hint = message(done.stderr.decode(errors="replace"), done.returncode)
            raise RefusedError(text, status=422, hint=hint) if text else SchedlabError("nothing was made")
        if (size := target.stat().st_size) > MOST_OF_BLOCK:
            hint = "make it with the command, in the folder"
            raise RefusedError(f"is too large for a page: {format_bytes(size)}", status=422, hint=hint)
        return target.read_bytes()
