"""Whose behaviour this is: what `--version` says, and schedule.csv."""

from schedlab.model.version import VERSION

BATSIM_VERSION = f"4.2.1-schedlab-{VERSION}"
