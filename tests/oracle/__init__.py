"""A small, slow simulator of docs/semantics.md, written apart from the engine: the judge of its schedules.

Nothing is indexed or kept between passes: free resources, queue order, shadow times and windows are worked out from the
list of running jobs each time somebody asks.
"""

from tests.oracle.jobs import Act, Change, Job, Policy, Result, Window
from tests.oracle.machine import Cap
from tests.oracle.simulator import simulate

__all__ = ["Act", "Cap", "Change", "Job", "Policy", "Result", "Window", "simulate"]
