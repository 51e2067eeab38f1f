"""The real Slurm in simulated time: its own slurmctld behind the one protocol of deciders. docs/slurm.md tells how."""
