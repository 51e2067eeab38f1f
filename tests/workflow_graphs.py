"""Small workflows that several tests have."""

from schedlab.model.workflow import Task, Workflow

# A of 10 s, then B and C side by side, then D: 10 + 20 + 10 = 40 s, at most 2 + 3 = 5 cores, 75 core-seconds.
DIAMOND = Workflow.of(
    "diamond",
    [
        Task("A", 1, 10, 20),
        Task("B", 2, 20, 30, ("A",)),
        Task("C", 3, 5, 10, ("A",)),
        Task("D", 1, 10, 15, ("B", "C")),
    ],
)
# A -> B -> C is a chain of one parent and one child each; D stands alone; E waits for both.
BRANCHES = Workflow.of(
    "branches",
    [
        Task("A", 2, 5, 6),
        Task("B", 1, 10, 12, ("A",)),
        Task("C", 4, 1, 2, ("B",)),
        Task("D", 1, 3, 4),
        Task("E", 1, 1, 1, ("C", "D")),
    ],
)
# B is killed at its limit; C would follow.
FAILING = Workflow.of("failing", [Task("A", 1, 5, 5), Task("B", 1, 10, 4, ("A",)), Task("C", 1, 2, 2, ("B",))])
