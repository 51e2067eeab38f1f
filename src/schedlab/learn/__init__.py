"""Schedulers that learn: an environment for Gymnasium, `schedlab/Scheduling-v0` in its registry (docs/learning.md)."""

try:
    import gymnasium
except ModuleNotFoundError as error:
    if error.name != "gymnasium":
        raise
    raise ImportError("schedlab.learn needs gymnasium; install it with: pip install 'schedlab[learn]'") from error

from schedlab.learn.env import SchedulingEnv

__all__ = ["SchedulingEnv"]

ID = "schedlab/Scheduling-v0"
if ID not in gymnasium.registry:
    gymnasium.register(ID, entry_point="schedlab.learn.env:SchedulingEnv")
