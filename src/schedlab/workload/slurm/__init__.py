"""Event files of the Slurm simulators: sbatch lines with run times."""
