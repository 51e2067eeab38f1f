"""What a worker answers: how long a run took, or what went wrong with it."""

from __future__ import annotations

import errno
import traceback
from collections.abc import Callable
from typing import Any

from schedlab.model.errors import InputError, SchedlabError


def answer(work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """The seconds that the work took, and a note; or the error, its traceback, and whether the disk is full."""
    try:
        done = work()
        return {"seconds": done["seconds"]["all"], "note": done["note"]}
    except SchedlabError as error:
        # What a user got wrong is said in the error; where in our code it was noticed is of no use to anybody.
        trace = "" if isinstance(error, InputError) else traceback.format_exc()
        return {"error": str(error), "traceback": trace, "full": _disk_is_full(error)}
    except OSError as error:
        return {"error": str(error), "traceback": traceback.format_exc(), "full": error.errno == errno.ENOSPC}
    except Exception as error:
        # A mistake in somebody's policy, or in ours: this run has failed, the next one may not.
        return {"error": f"{type(error).__name__}: {error}", "traceback": traceback.format_exc(), "full": False}


def _disk_is_full(error: BaseException) -> bool:
    causes: list[BaseException | None] = [error.__cause__, error.__context__]
    return any(isinstance(cause, OSError) and cause.errno == errno.ENOSPC for cause in causes)
