"""Workflows: read from files, submitted as jobs, scheduled inside an allocation."""
