"""Power states of hosts: how fast they are, what they draw, which of them is sleep and how it is reached.

A host that is idle draws the idle watts of its state. With a load above 0 it draws epsilon + load x (all - epsilon)
watts, where the load is the share of its cores that compute (SimGrid's plugin host_energy). To switch off and on is to
compute one flop in a state that stands for it: at its speed, and with its watts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from schedlab.bridge.batsim.platform import Host, Platform
from schedlab.model.errors import InputError
from schedlab.model.mistakes import raise_first

COMPUTE, SLEEP, SWITCH = "compute", "sleep", "switch"


@dataclass(frozen=True, slots=True)
class Watts:
    idle: float = 0.0
    epsilon: float = 0.0
    full: float = 0.0

    def at(self, load: float) -> float:
        return self.epsilon + min(load, 1.0) * (self.full - self.epsilon) if load > 0 else self.idle


@dataclass(frozen=True, slots=True)
class Transition:
    """The states that stand for switching to a sleep state and back."""

    off: int
    on: int


@dataclass(frozen=True, slots=True)
class PowerStates:
    """Those of one host."""

    watts: tuple[Watts, ...]
    sleeps: Mapping[int, Transition] = field(default_factory=dict)
    kinds: tuple[str, ...] = ()  # of each state: compute, sleep or switch

    @classmethod
    def of(cls, host: Host) -> PowerStates:
        """As its properties have it; InputError says what is wrong with them."""
        count = len(host.speeds)
        sleeps = _sleeps(host.properties.get("sleep_pstates", ""), count, f"host '{host.name}'")
        kinds = [COMPUTE] * count
        for sleep, transition in sleeps.items():
            kinds[transition.off] = kinds[transition.on] = SWITCH
            kinds[sleep] = SLEEP
        for state, kind in enumerate(kinds):
            if kind != SLEEP and not host.speeds[state] > 0:
                hint = "only sleep states may have speed 0"
                raise InputError(f"host '{host.name}': its state {state} has no speed above 0", hint=hint)
        return cls(_watts(_wattage(host), count, f"host '{host.name}'"), sleeps, tuple(kinds))


def power_states(platform: Platform) -> list[PowerStates]:
    """Of each host of a platform, by its id."""
    found: list[PowerStates] = []
    mistakes: list[InputError] = []
    known: dict[tuple[object, ...], PowerStates] = {}  # most hosts are alike
    for host in platform.hosts:
        key = (host.speeds, host.properties.get("sleep_pstates"), _wattage(host))
        if key not in known:
            try:
                known[key] = PowerStates.of(host)
            except InputError as mistake:
                mistakes.append(mistake)
                continue
        found.append(known[key])
    raise_first(mistakes, "--energy")
    return found


def _wattage(host: Host) -> str | None:
    """Under its name, or under the one that it had in older versions of SimGrid, for which batsim-py looks."""
    return host.properties.get("wattage_per_state", host.properties.get("watt_per_state"))


def _watts(text: str | None, count: int, where: str) -> tuple[Watts, ...]:
    """`95.0:190.7, 95.0:120.0:171.0`: idle and all cores of each state, with or without epsilon between them."""
    if text is None:
        return (Watts(),) * count
    parts = text.split(",")
    if len(parts) != count:
        message = f"'wattage_per_state' has {len(parts)} parts for {count} states"
        raise InputError(message, where=where, hint="expected idle:all (or idle:epsilon:all) for each speed")
    found = []
    for part in parts:
        try:
            numbers = [float(number) for number in part.split(":")]
        except ValueError:
            numbers = []
        if len(numbers) not in (2, 3):
            raise InputError(f"'wattage_per_state': '{part.strip()}' is not idle:all or idle:epsilon:all", where=where)
        found.append(Watts(numbers[0], numbers[-2], numbers[-1]))
    return tuple(found)


def _sleeps(text: str, count: int, where: str) -> dict[int, Transition]:
    """`13:14:15, 16:14:15`: a sleep state, the one to switch off by, the one to switch on by."""
    found = {}
    for part in text.split(","):
        if not part.strip():
            continue
        numbers = [int(number) if number.strip().isdigit() else -1 for number in part.split(":")]
        if len(numbers) != 3 or not all(0 <= number < count for number in numbers):
            hint = f"expected sleep:off:on, three states from 0 to {count - 1}"
            raise InputError(f"'sleep_pstates': '{part.strip()}'", where=where, hint=hint)
        sleep, off, on = numbers
        found[sleep] = Transition(off, on)
    passed = {state for transition in found.values() for state in (transition.off, transition.on)}
    for sleep in found:
        if sleep in passed:
            raise InputError(f"'sleep_pstates': {sleep} is a sleep state and one to switch by", where=where)
    return found
