"""A cap on what the whole system draws, around a policy."""

from __future__ import annotations

from typing import Any

from schedlab.engine.decider import Combined
from schedlab.execution.power import Power
from schedlab.model.errors import InputError


class PowerCap(Combined):
    """Another policy under a cap of `watts`; the other arguments are those of the power model.

    The same as that policy with the observer `power(…, cap=watts)`.
    """

    name = "power-cap"

    def __init__(self, watts: float, policy: str = "easy", **power: Any) -> None:
        if not watts > 0:
            raise InputError(f"power-cap: watts cannot be {watts!r}", hint="give watts, above 0")
        super().__init__(policy, [Power(**power, cap=watts)])
