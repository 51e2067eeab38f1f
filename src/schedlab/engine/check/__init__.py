"""The independent judge of a schedule: replays what a run says happened, with code of its own, not the engine's.

It reads the tables and asks of every job whether its times, its state, its reason and its nodes can be true, of every
node whether it was ever over-full or took a job while it was closed or set aside for others, of the machine whether its
budget was kept, of workflows whether their tasks kept their order, of reasons for waiting whether they cover the time
for which jobs waited and can be true, and of the timeline whether it tells the same story.
"""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

from schedlab.engine.check.budget import check_budget
from schedlab.engine.check.calendar import check_calendar, check_estimates
from schedlab.engine.check.closed import check_closed_nodes
from schedlab.engine.check.dependencies import check_dependencies
from schedlab.engine.check.factors import check_factors
from schedlab.engine.check.files import Files, UnreadableError, read_files
from schedlab.engine.check.holds import check_holds
from schedlab.engine.check.offences import Offence, Offences
from schedlab.engine.check.pieces import check_pieces
from schedlab.engine.check.places import check_places, check_room
from schedlab.engine.check.rates import check_rates
from schedlab.engine.check.read_record import records
from schedlab.engine.check.reasons import check_reasons
from schedlab.engine.check.speeds import check_speeds
from schedlab.engine.check.stays import stays_of
from schedlab.engine.check.submitted import check_submitted
from schedlab.engine.check.survey import survey
from schedlab.engine.check.timeline import check_timeline
from schedlab.engine.check.times import check_times
from schedlab.engine.check.waits import check_waits
from schedlab.engine.check.workflows import check_workflows
from schedlab.model.errors import InputError
from schedlab.model.run import Run

__all__ = ["Offence", "check"]

AT_ONCE = 50_000  # jobs


def check(run: Run | str | Path, *, at_once: int = AT_ONCE) -> list[Offence]:
    """What is impossible in a run (a folder, or a `Run`); an empty list if nothing is.

    A run that ended early is judged by what is there.

    At most 20 offences of each kind are listed; one more of that kind, without a job, says how many there were in all.
    About `at_once` jobs are looked at together, where each can be judged by its row and by who is there with it.
    """
    offences = Offences()
    with ExitStack() as opened:
        files = read_files(run, offences, opened)
        if files is None:
            return offences.listed()
        found = Offences()
        try:
            _judge(files, at_once if _by_rows(files) else None, found)
        except UnreadableError as error:
            offences.add("file", str(error))
            return offences.listed()
        except (KeyError, TypeError, ValueError) as error:
            where = str(run.path or "") if isinstance(run, Run) else str(run)
            raise InputError(f"cannot make sense of the run ({error!r})", where=where) from error
    offences.add_all(found)
    return offences.listed()


def _by_rows(files: Files) -> bool:
    """Whether no job's fate is told by anything but its row, and none depends on a job that may have left long ago."""
    config = files.config
    apart = (config.get("budget"), config.get("execution"), config.get("places"), config.get("reasons"))
    fraction = config.get("placement", {}).get("fraction")
    return not (files.rare or any(apart) or fraction is not None or "after" in files.jobs.schema.names)


def _judge(files: Files, at_once: int | None, offences: Offences) -> None:
    """Part by part, the last one first: who left later is there until he has come."""
    first_look = survey(files, at_once, offences)
    present = waiting = None
    parts = []
    for record, own in records(files, first_look):
        check_times(record, own)
        check_estimates(record, own)
        check_dependencies(record, own)
        check_rates(record, own)
        check_pieces(record, own)
        check_reasons(record, own)
        check_submitted(record, own)
        check_workflows(record, own)
        check_waits(record, own)
        stays = stays_of(record)
        check_holds(record, stays, own)
        places = check_places(record, stays, own)
        if places is not None:
            present = check_room(record, stays, places, present, own)
            check_closed_nodes(record, stays, places, own)
            check_calendar(record, stays, places, own)
            check_budget(record, stays, places, own)
            check_factors(record, stays, places, own)
            check_speeds(record, stays, places, own)
        if first_look.in_order:
            waiting = check_timeline(record, stays, places, waiting, own)
        parts.append(own)
    for own in reversed(parts):
        offences.add_all(own)
    if not first_look.in_order:
        offences.add("timeline", "its times do not increase")
