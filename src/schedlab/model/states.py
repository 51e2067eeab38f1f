"""How a job can leave the system, and why one was refused, or killed although its run time fits its limit.

The engine's codes are positions in these tuples.
"""

from __future__ import annotations

STATES = ("completed", "killed", "cancelled", "rejected", "held", "waiting", "running", "suspended")

# It was killed although its run time fits its limit: checkpoints, rates or restarts made it slower.
SLOWED = "slowed down until its limit"

BY_POLICY = "rejected by the policy"  # while it waited; all others are known when it is submitted
OVER_BUDGET = "over the machine's budget all alone"

REASONS = (
    "",
    "larger than the cluster",
    "unknown partition",
    "unknown resource",
    BY_POLICY,
    "no node has the features",
    OVER_BUDGET,
    SLOWED,
)

# How a stretch of a job's life ended, and what a node can be.
PIECE_ENDS = ("completed", "killed", "requeued", "suspended", "reshaped", "slowed", "unfinished")
NODE_STATES = ("up", "down", "off", "booting", "maintenance", "drained")

# Codes of whether a job was backfilled, in columns of tables; a policy in Python need not say.
NO, YES, UNSAID = 0, 1, 2
