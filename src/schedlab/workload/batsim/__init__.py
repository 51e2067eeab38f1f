"""Batsim workloads."""
