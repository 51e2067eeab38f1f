"""What can go wrong with a Slurm that runs beside us."""

from __future__ import annotations

from schedlab.model.errors import SchedlabError


class SlurmError(SchedlabError):
    """slurmctld refused, failed or died; the message has its own words."""
