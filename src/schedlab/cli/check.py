"""`schedlab check`: is this schedule feasible?"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from schedlab.cli.options import Json

if TYPE_CHECKING:
    from schedlab.engine.check import Offence

SHOWN = 10


def check(
    runs: Annotated[list[str], typer.Argument(metavar="RUN", help="Run folders.", show_default=False)],
    as_json: Json = False,
) -> None:
    """Judge finished schedules: no job too early, no node over-full, no dependency broken.

    The judge has its own simple code, independent of the engine. The exit code is 1 if it objects to anything.

    [b]schedlab check results/easy[/b]
    """
    from schedlab.cli.output import print_json, say

    verdicts = _judged(runs)
    if as_json:
        print_json({run: [asdict(offence) for offence in offences] for run, offences in verdicts.items()})
    else:
        for run, offences in verdicts.items():
            say(f"{run}: {'feasible' if not offences else _count(len(offences))}", "green" if not offences else "red")
            names = _names(run, offences[:SHOWN]) if offences else {}
            for offence in offences[:SHOWN]:
                say(f"  {offence.described(names)}")
            if len(offences) > SHOWN:
                say(f"  … and {len(offences) - SHOWN:,} more")
    if any(verdicts.values()):
        raise typer.Exit(1)


def _judged(runs: list[str]) -> dict[str, list[Offence]]:
    """The offences of each run; what is no run is told of all of them at once."""
    from schedlab.engine.check import check as judge
    from schedlab.model.errors import InputError, InputErrors

    verdicts: dict[str, list[Offence]] = {}
    mistakes: list[InputError] = []
    for run in runs:
        try:
            verdicts[run] = judge(run)
        except InputError as error:
            mistakes.append(error)
    if mistakes:
        raise mistakes[0] if len(mistakes) == 1 else InputErrors(mistakes)
    return verdicts


def _names(run: str, offences: list[Offence]) -> dict[int, str]:
    """The ids of their jobs as the log writes them, where it has others than numbers."""
    from schedlab.engine.store import read_run
    from schedlab.model.errors import InputError

    wanted = {offence.job for offence in offences}
    found: dict[int, str] = {}
    try:
        for batch in read_run(run).tables.batches(("job", "name"), "jobs"):
            pairs = zip(batch["job"].tolist(), batch["name"].tolist(), strict=True)
            found |= {job: str(name) for job, name in pairs if job in wanted}
    except (InputError, OSError, KeyError):  # ids are numbers; or one of the offences is that they cannot be read
        return {}
    return found


def _count(number: int) -> str:
    return f"not feasible: {number:,} offence{'s' if number > 1 else ''}"
