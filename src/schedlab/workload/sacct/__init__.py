"""Dumps of Slurm's accounting, `sacct -P`."""
