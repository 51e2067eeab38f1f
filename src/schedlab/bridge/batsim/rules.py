"""Which of Batsim's options hold in a run; its schedulers are told of them when the simulation begins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from schedlab.model.errors import InputError
from schedlab.model.suggest import did_you_mean


@dataclass(frozen=True, slots=True)
class Rules:
    """As Batsim 4's command line has them, with its defaults."""

    dynamic: bool = False  # schedulers may register jobs and profiles
    acknowledge: bool = False  # JOB_SUBMITTED answers each job that a scheduler has registered
    reuse_profiles: bool = False  # profiles stay known when the last job that has them is gone
    forward_profiles: bool = False  # JOB_SUBMITTED has the profile, too
    compute_sharing: bool = False  # a compute host may have several jobs at a time
    storage_sharing: bool = True
    energy: bool = False  # hosts have power states, and what they draw is added up
    forward_unknown_events: bool = False  # external events of unknown types are passed on
    scheduler_config: str = ""  # a text for the scheduler

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Rules:
        """Those that are given by name; an `InputError` names what is none."""
        known = {each.name: each.default for each in fields(cls)}
        for name, value in given.items():
            if name not in known:
                hint = did_you_mean(name, known, f"there are {', '.join(known)}")
                raise InputError(f"there is no option '{name}'", where="batsim", hint=hint)
            if type(value) is not type(known[name]):
                raise InputError(f"{name} cannot be {value!r}", where="batsim", hint=f"such as {known[name]!r}")
        return cls(**given)

    def told(self) -> dict[str, Any]:
        """`config` of SIMULATION_BEGINS. There is no Redis here; schedulers look whether there is."""
        return {
            "redis-enabled": False,
            "redis-hostname": "127.0.0.1",
            "redis-port": 6379,
            "redis-prefix": "default",
            "profiles-forwarded-on-submission": self.forward_profiles,
            "dynamic-jobs-enabled": self.dynamic,
            "dynamic-jobs-acknowledged": self.acknowledge,
            "profile-reuse-enabled": self.dynamic and self.reuse_profiles,
            "sched-config": self.scheduler_config,
            "forward-unknown-events": self.forward_unknown_events,
        }
