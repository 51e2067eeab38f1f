"""How a job can leave the system, and why one was refused. The engine's codes are positions in these tuples."""

from __future__ import annotations

STATES = ("completed", "killed", "cancelled", "rejected", "held", "waiting")

REASONS = (
    "",
    "larger than the cluster",
    "unknown partition",
    "unknown resource",
    "rejected by the policy",
    "no node has the features",
)
