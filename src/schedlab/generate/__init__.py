"""Workloads that nobody submitted: models fitted to a log or taken from the literature, and the jobs they draw."""
