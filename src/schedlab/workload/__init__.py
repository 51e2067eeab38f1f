"""Readers of workloads: files in, jobs in submit order out."""
