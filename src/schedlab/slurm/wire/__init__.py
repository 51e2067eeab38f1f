"""Slurm's messages, packed and unpacked: what nodes, users and administrators tell slurmctld and hear from it.

`release.py` says which releases are spoken. Another release is another package of tables, like `release_22_05`.
"""
