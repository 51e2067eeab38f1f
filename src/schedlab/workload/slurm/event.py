"""One line of an event file of the Slurm simulator: `-dt 49 -e submit_batch_job | -sim-walltime 1201 -n 1 … x.job`."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from schedlab.files.slurm_values import shown
from schedlab.workload.slurm.dependency import Dependency
from schedlab.workload.slurm.order import array_size, begin_after, dependency, time_limit
from schedlab.workload.slurm.sbatch import Asked, passed_on, split_options

SUBMISSION = "submit_batch_job"
LONGEST = 1e12  # seconds

_WORD = re.compile(r"""(?:[^\s"']|"[^"]*"|'[^']*')+""")
_QUOTED = re.compile(r""""([^"]*)"|'([^']*)'""")
_NUMBER = re.compile(r"-?[0-9]{1,18}(?:\.[0-9]*)?(?:[eE][+-]?[0-9]{1,3})?")
_JOB_NAME = re.compile(r"jobid_([0-9]{1,18})")
_ONE_DASH = ("sim-walltime", "cancel-in", "jid")


@dataclass(slots=True)
class Event:
    """A submission of one job, or of an array of them."""

    submit: float
    runtime: float | None  # None: into its limit
    limit: float | None  # None: it has none
    cancel_in: float
    job: int | None  # its number, of jobid_1001
    name: str  # one that is not such a number
    dependency: Dependency
    tasks: int  # of its array; 0: it is none
    values: dict[str, str]
    unused: dict[str, str]  # options that only Slurm itself understands
    asked: Asked
    assumed: list[str]
    for_slurm: list[str]  # what was made simpler, though Slurm is told as it is written


def parse_event(line: str, ask: Callable[[Mapping[str, str]], Asked]) -> Event | str:
    """The submission on a line, or the kind of another event. A ValueError says what is wrong."""
    head, bar, tail = line.partition("|")
    pairs = head.split()
    said = dict(zip(pairs[::2], pairs[1::2], strict=False))
    if not bar or len(pairs) % 2 or "-e" not in said:
        raise ValueError(f"the event is {shown(head.strip())}, expected -dt SECONDS -e {SUBMISSION} | …")
    if said["-e"] != SUBMISSION:
        return said["-e"]
    submit = _time("-dt", said.get("-dt", ""))
    values, unused = split_options(_words(tail), _ONE_DASH)
    assumed: list[str] = []
    for_slurm = [f"option {shown(option)[1:-1]}: not used" for option in unused]
    asked = ask(values)
    runtime = values.get("sim-walltime", "-1")
    job, name = _identity(values)
    return Event(
        submit=submit + (begin_after(values["begin"], assumed) if "begin" in values else 0.0),
        runtime=None if _is_minus_one(runtime) else _time("-sim-walltime", runtime, " or -1"),
        limit=time_limit(values["time"]) if "time" in values else None,
        cancel_in=_time("-cancel-in", values["cancel-in"]) if "cancel-in" in values else math.inf,
        job=job,
        name=name,
        dependency=dependency(values["dependency"], for_slurm) if "dependency" in values else Dependency(),
        tasks=array_size(values["array"], for_slurm) if "array" in values else 0,
        values=values,
        unused=passed_on(unused),
        asked=asked,
        assumed=assumed,
        for_slurm=[*asked.assumed, *for_slurm],
    )


def _words(text: str) -> list[str]:
    """As a shell would split them, but for backslashes."""
    if '"' not in text and "'" not in text:
        return text.split()
    if _WORD.sub("", text).strip():
        raise ValueError("a quotation mark is not closed")
    return [_QUOTED.sub(lambda quoted: quoted[1] or quoted[2] or "", word) for word in _WORD.findall(text)]


def _time(option: str, text: str, otherwise: str = "") -> float:
    found = float(text) if _NUMBER.fullmatch(text) else -1.0
    if not 0 <= found <= LONGEST:
        raise ValueError(f"{option} is {shown(text)}, expected seconds from 0 to {LONGEST:.0e}{otherwise}")
    return found


def _is_minus_one(text: str) -> bool:
    return _NUMBER.fullmatch(text) is not None and float(text) == -1


def _identity(values: Mapping[str, str]) -> tuple[int | None, str]:
    """The number of a job, or else its name."""
    name = values.get("job-name", "")
    numbered = _JOB_NAME.fullmatch(f"jobid_{values['jid']}" if "jid" in values else name)
    if "jid" in values and numbered is None:
        raise ValueError(f"-jid is {shown(values['jid'])}, expected the number of a job")
    return (int(numbered[1]) if numbered else None), ("" if _JOB_NAME.fullmatch(name) else name)
