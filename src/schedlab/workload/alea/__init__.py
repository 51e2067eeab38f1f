"""Logs of the Alea simulators: SWF with more columns."""
