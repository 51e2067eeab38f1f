"""How a job can leave the system, why one was refused, killed or put back into the queue, and why one waits.

The engine's codes are positions in these tuples.
"""

from __future__ import annotations

STATES = ("completed", "killed", "cancelled", "rejected", "held", "waiting", "running", "suspended")

# It was killed although its run time fits its limit: checkpoints, rates or restarts made it slower.
SLOWED = "slowed down until its limit"

BY_POLICY = "rejected by the policy"  # while it waited; all others are known when it is submitted
OVER_BUDGET = "over the machine's budget all alone"

# Why a decision killed it, or put it back into the queue. One that the engine kills at its limit has no reason.
BY_DECISION, PREEMPTED, NODE_FAILURE, MAINTENANCE = "by a decision", "preempted", "node failure", "maintenance"
TIME_LIMIT = "time limit"
NEVER_STARTED = "never started"  # before the words of a scheduler elsewhere for a job that it gives up in the end
NEVER_SATISFIED = "dependency never satisfied"  # what a held job waited for cannot happen any more
KILLED_BECAUSE = (SLOWED, BY_DECISION, PREEMPTED, NODE_FAILURE, MAINTENANCE, TIME_LIMIT)

WITHDRAWN = "withdrawn"  # by a decision, while it waited or was held

REASONS = (
    "",
    "larger than the cluster",
    "unknown partition",
    "unknown resource",
    BY_POLICY,
    "no node has the features",
    OVER_BUDGET,
    *KILLED_BECAUSE,
    NEVER_SATISFIED,
    WITHDRAWN,
)

# Why a job waits (docs/semantics.md defines each).
NOT_ENOUGH_FREE, WOULD_DELAY, BEHIND, DEPENDENCY = "not enough free", "would delay job", "behind job", "dependency"
NOT_STARTED, OWN_WORDS, GATE, HELD = "not started by the policy", "own words", "gate", "held"
WAIT_REASONS = (
    NOT_ENOUGH_FREE,
    WOULD_DELAY,
    BEHIND,
    DEPENDENCY,
    HELD,
    "limit",
    "partition or features",
    "closed nodes",
    "budget",
    "calendar",
    GATE,
    NOT_STARTED,
    OWN_WORDS,
)

# How a stretch of a job's life ended, and what a node can be.
# ("slowed", at another rate on the same nodes: only in runs of format 1, which had no table of rates.)
PIECE_ENDS = ("completed", "killed", "requeued", "suspended", "reshaped", "unfinished", "slowed")
NODE_STATES = ("up", "down", "off", "booting", "maintenance", "drained")

# Codes of whether a job was backfilled, in columns of tables; a policy in Python need not say.
NO, YES, UNSAID = 0, 1, 2
