"""A worker process: takes runs as lines of JSON, executes them, answers with lines of JSON.

It ends when nobody gives it work any more, also when the one who did is gone.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import signal
import sys
from functools import cache, partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from schedlab.experiment.answer import answer
from schedlab.model.little_memory import be_careful

if TYPE_CHECKING:
    from schedlab.experiment.inputs import Inputs

PR_SET_PDEATHSIG = 1


def main() -> None:
    answers = _own_output()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the coordinator, who lets us finish
    die_with_parent()
    be_careful()
    for line in sys.stdin:
        said = answer(partial(_executed, json.loads(line)))
        answers.write(json.dumps(said) + "\n")
        answers.flush()


def _executed(task: dict[str, Any]) -> dict[str, Any]:
    from schedlab.experiment.execute import execute
    from schedlab.experiment.plan import PlannedRun

    return execute(PlannedRun.from_dict(task["run"]), task["asked"], Path(task["folder"]), _inputs())


@cache
def _inputs() -> Inputs:
    from schedlab.experiment.inputs import Inputs

    return Inputs()


def _own_output() -> IO[str]:
    """The pipe to the coordinator for answers alone; whatever else prints goes to standard error."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    return answers


def die_with_parent() -> None:
    """Nobody would ask for the results of one whose parent is gone."""
    with contextlib.suppress(OSError, AttributeError):  # Linux can; elsewhere the closed pipe ends us after the run
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


if __name__ == "__main__":
    main()
