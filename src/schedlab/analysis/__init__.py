"""Numbers about finished runs: distributions, classes of jobs, comparisons. Reads tables, never the engine."""
