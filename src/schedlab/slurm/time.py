"""How slurmctld's clock counts."""

SECOND = 1_000_000_000  # nanoseconds
