"""Simulated time: the engine, the writing and reading of runs, and the judge of finished schedules."""
