"""The schedule as a Pajé trace (PREFIX_schedule.trace), for ViTE and its like: which job each host has, and when."""

from __future__ import annotations

import colorsys
from collections.abc import Iterable, Sequence
from typing import TextIO

COLOURS = 64

# The events of the format that the trace uses: name, and its fields. Their numbers count from 1.
_EVENTS = (
    ("DefineContainerType", ("Type string", "Alias string", "Name string")),
    ("CreateContainer", ("Time date", "Type string", "Alias string", "Name string", "Container string")),
    ("DestroyContainer", ("Time date", "Name string", "Type string")),
    ("DefineStateType", ("Alias string", "Type string", "Name string")),
    ("DefineEntityValue", ("Alias string", "Type string", "Name string", "Color color")),
    ("SetState", ("Time date", "Type string", "Container string", "Value string")),
    ("DefineEventType", ("Type string", "Alias string", "Name string")),
    ("NewEvent", ("Time date", "Type string", "Container string", "Value string")),
    ("DefineVariableType", ("Type string", "Alias string", "Name string", "Color string")),
    ("SetVariable", ("Time date", "Type string", "Container string", "Value double")),
)
_NUMBER = {name: number for number, (name, _) in enumerate(_EVENTS, 1)}
_SET, _KILL, _VALUE = _NUMBER["SetState"], _NUMBER["NewEvent"], _NUMBER["DefineEntityValue"]


class Trace:
    """A trace that is being written. Hosts are numbered as the protocol has them."""

    def __init__(self, file: TextIO, names: Sequence[str]) -> None:
        self._file, self._hosts = file, len(names)
        self._colours = _colours()
        self._jobs = 0  # that have a value of their own
        self._write_head(names)

    def started(self, time: float, job: str, hosts: Iterable[int], *, again: bool = False) -> None:
        """`again`: not for the first time."""
        if not again:
            colour = self._colours[self._jobs % COLOURS]
            self._file.write(f'{_VALUE} j{job} machine_state "{job}" {colour}\n')
            self._jobs += 1
        self._set(time, hosts, f"j{job}")

    def idle(self, time: float, hosts: Iterable[int]) -> None:
        self._set(time, hosts, "w")

    def killed(self, time: float, job: str, hosts: Iterable[int]) -> None:
        """By its walltime or by the scheduler."""
        lines = [f'{_KILL} {time:f} km m{host} "{job}"\n' for host in hosts]
        self._file.write(f'{_KILL} {time:f} kk k "{job}"\n{"".join(lines)}')

    def finish(self, time: float) -> None:
        gone = _NUMBER["DestroyContainer"]
        self._file.write("\n# End of events, containers destruction\n")
        self._file.writelines(f"{gone} {time:f} m{host} machine_ct\n" for host in range(self._hosts))
        self._file.write(f"{gone} {time:f} root root_ct\n")

    def _set(self, time: float, hosts: Iterable[int], value: str) -> None:
        before, after = f"{_SET} {time:f} machine_state m", f" {value}\n"
        if numbers := list(map(str, hosts)):
            self._file.write(f"{before}{(after + before).join(numbers)}{after}")

    def _write_head(self, names: Sequence[str]) -> None:
        write, number = self._file.write, _NUMBER
        for name, fields in _EVENTS:
            write(f"%EventDef Paje{name} {number[name]}\n")
            write("".join(f"% {field}\n" for field in fields) + "%EndEventDef\n\n")
        kind, event, create = number["DefineContainerType"], number["DefineEventType"], number["CreateContainer"]
        write(f'# Container types creation\n{kind} 0 root_ct "Machines"\n{kind} root_ct machine_ct "Machine"\n')
        write(f'{kind} 0 scheduler_ct "Scheduler"\n{kind} scheduler_ct killer_ct "Killer"\n\n')
        write(f'# Event types creation\n{event} killer_ct kk "Job kill"\n{event} machine_ct km "Job kill"\n\n')
        variable = number["DefineVariableType"]
        write(f'# Variable types creation\n{variable} scheduler_ct vu_vt "Utilization" "0.0 0.5 0.0"\n\n')
        write(f'# Containers creation\n{create} 0.000000 root_ct root "Machines" 0\n')
        write("".join(f'{create} 0.000000 machine_ct m{host} "{name}" root\n' for host, name in enumerate(names)))
        write(f'{create} 0.000000 scheduler_ct sc "Scheduler" 0\n{create} 0.000000 killer_ct k "Killer" sc\n\n')
        write(f'# States creation\n{number["DefineStateType"]} machine_state machine_ct "Machine state"\n\n')
        write("# Creation of the different values the machine state can be\n")
        write(f'{_VALUE} w machine_state "Waiting" "0.0 0.0 0.0"\n{_VALUE} l machine_state "Launching" "0.3 0.3 0.3"\n')
        write("\n# Begin of events\n")
        self.idle(0.0, range(len(names)))


def _colours() -> list[str]:
    """Bright colours, neighbours far from each other on the wheel."""
    hues = (place * 27 % COLOURS / COLOURS for place in range(COLOURS))
    return ['"{:f} {:f} {:f}"'.format(*colorsys.hsv_to_rgb(hue, 1.0, 1.0)) for hue in hues]
