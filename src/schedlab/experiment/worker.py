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
from functools import partial
from pathlib import Path
from typing import IO

from schedlab.experiment.answer import answer

PR_SET_PDEATHSIG = 1


def main() -> None:
    answers = _own_output()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the coordinator, who lets us finish
    die_with_parent()
    from schedlab.experiment.execute import execute
    from schedlab.experiment.inputs import Inputs
    from schedlab.experiment.plan import PlannedRun

    inputs = Inputs()
    for line in sys.stdin:
        task = json.loads(line)
        run = PlannedRun.from_dict(task["run"])
        said = answer(partial(execute, run, task["asked"], Path(task["folder"]), inputs))
        answers.write(json.dumps(said) + "\n")
        answers.flush()


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
