"""Slurm's own programs: an installed Slurm is found, or Debian's packages are fetched for the user, without root."""

from schedlab.model.finding import Finding
from schedlab.slurm.install.doctor import examine
from schedlab.slurm.install.packages import fetch_programs
from schedlab.slurm.install.programs import Programs, find_programs

__all__ = ["Finding", "Programs", "examine", "fetch_programs", "find_programs"]
