"""Runs that are broken off and taken up again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import schedlab as sl
from schedlab.engine import simulate as engine
from schedlab.engine.checkpoint import Checkpoint


class BrokenOffError(Exception):
    pass


class Fragile(Checkpoint):
    """Saves at every opportunity; the run breaks off after so many of them."""

    def __init__(self, folder: Path, saves: int) -> None:
        super().__init__(folder, every=0)
        self._left = saves

    def save(self, *args: Any, **more: Any) -> None:
        super().save(*args, **more)
        self._left -= 1
        if self._left == 0:
            raise BrokenOffError


def run_until_broken(scenario: sl.Scenario) -> sl.Run | None:
    """The run; None if it was broken off."""
    simulation = engine.Simulation(scenario)
    simulation.core.set_ticks(1, 0.0)
    try:
        return simulation.run()
    except BrokenOffError:
        return None
    except sl.PolicyError as error:
        assert isinstance(error.__cause__, BrokenOffError)
        return None
