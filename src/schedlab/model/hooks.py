"""The methods of an observer (`schedlab.Observer`), by which a class is known as one."""

HOOKS = (
    *("begin", "submitted", "before", "after", "started", "stopped", "ended", "node_changed", "allows"),
    *("more_may_come", "finish", "per_job", "calendar", "budget"),
)
