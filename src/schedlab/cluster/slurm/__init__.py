"""slurm.conf, gres.conf and topology.conf."""
