"""A worker process: takes runs as lines of JSON, executes them, answers with lines of JSON.

It ends when nobody gives it work any more, also when the one who did is gone.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import json
import os
import signal
import sys
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import IO, Any

from schedlab.model.errors import SchedlabError

PR_SET_PDEATHSIG = 1


def main() -> None:
    answers = _own_output()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the coordinator, who lets us finish
    _die_with_parent()
    from schedlab.experiment.execute import execute
    from schedlab.experiment.inputs import Inputs
    from schedlab.experiment.plan import PlannedRun

    inputs = Inputs()
    for line in sys.stdin:
        task = json.loads(line)
        run = PlannedRun.from_dict(task["run"])
        answer = _answer(partial(execute, run, task["asked"], Path(task["folder"]), inputs))
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


def _answer(work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """The seconds it took, or what went wrong."""
    try:
        return {"seconds": work()["seconds"]["all"]}
    except SchedlabError as error:
        return {"error": str(error), "traceback": traceback.format_exc(), "full": _disk_is_full(error)}
    except OSError as error:
        return {"error": str(error), "traceback": traceback.format_exc(), "full": error.errno == errno.ENOSPC}
    except Exception as error:
        # A mistake in somebody's policy, or in ours: this run has failed, the next one may not.
        return {"error": f"{type(error).__name__}: {error}", "traceback": traceback.format_exc(), "full": False}


def _disk_is_full(error: BaseException) -> bool:
    causes: list[BaseException | None] = [error.__cause__, error.__context__]
    return any(isinstance(cause, OSError) and cause.errno == errno.ENOSPC for cause in causes)


def _own_output() -> IO[str]:
    """The pipe to the coordinator for answers alone; whatever else prints goes to standard error."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    return answers


def _die_with_parent() -> None:
    with contextlib.suppress(OSError, AttributeError):  # Linux can; elsewhere the closed pipe ends us after the run
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


if __name__ == "__main__":
    main()
