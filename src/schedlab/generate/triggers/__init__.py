"""Jobs that are put into a workload at chosen times."""
