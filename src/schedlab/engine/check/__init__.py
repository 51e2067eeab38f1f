"""The independent judge of a schedule: replays what a run says happened, with code of its own, not the engine's.

It reads the tables and asks of every job whether its times, its state, its reason and its nodes can be true, of every
node whether it was ever over-full or took a job while it was closed or set aside for others, of the machine whether its
budget was kept, of workflows whether their tasks kept their order, of reasons for waiting whether they cover the time
for which jobs waited and can be true, and of the timeline whether it tells the same story.
"""

from __future__ import annotations

from pathlib import Path

from schedlab.engine.check.budget import check_budget
from schedlab.engine.check.calendar import check_calendar, check_estimates
from schedlab.engine.check.closed import check_closed_nodes
from schedlab.engine.check.dependencies import check_dependencies
from schedlab.engine.check.factors import check_factors
from schedlab.engine.check.holds import check_holds
from schedlab.engine.check.offences import Offence, Offences
from schedlab.engine.check.pieces import check_pieces
from schedlab.engine.check.places import check_places
from schedlab.engine.check.rates import check_rates
from schedlab.engine.check.read_record import read_record
from schedlab.engine.check.reasons import check_reasons
from schedlab.engine.check.speeds import check_speeds
from schedlab.engine.check.stays import stays_of
from schedlab.engine.check.submitted import check_submitted
from schedlab.engine.check.timeline import check_timeline
from schedlab.engine.check.times import check_identity, check_times
from schedlab.engine.check.waits import check_waits
from schedlab.engine.check.workflows import check_workflows
from schedlab.model.run import Run

__all__ = ["Offence", "check"]


def check(run: Run | str | Path) -> list[Offence]:
    """What is impossible in a run (a folder, or a `Run`); an empty list if nothing is.

    A run that ended early is judged by what is there.

    At most 20 offences of each kind are listed; one more of that kind, without a job, says how many there were in all.
    """
    offences = Offences()
    record = read_record(run, offences)
    if record is not None:
        check_identity(record, offences)
        check_times(record, offences)
        check_estimates(record, offences)
        check_dependencies(record, offences)
        check_rates(record, offences)
        check_pieces(record, offences)
        check_reasons(record, offences)
        check_submitted(record, offences)
        check_workflows(record, offences)
        check_waits(record, offences)
        stays = stays_of(record)
        check_holds(record, stays, offences)
        places = check_places(record, stays, offences)
        if places is not None:
            check_closed_nodes(record, stays, places, offences)
            check_calendar(record, stays, places, offences)
            check_budget(record, stays, places, offences)
            check_factors(record, stays, places, offences)
            check_speeds(record, stays, places, offences)
        check_timeline(record, stays, places, offences)
    return offences.listed()
