"""What a worker answers: how long a run took, or what went wrong with it."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Any

from schedlab.model.disk import disk_error, disk_fails
from schedlab.model.errors import InputError, SchedlabError
from schedlab.model.little_memory import LittleMemoryError


def answer(work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """The seconds that the work took, and a note; or the error, its traceback, and whether others would fare alike."""
    try:
        done = work()
        return {"seconds": done["seconds"]["all"], "note": done["note"]}
    except LittleMemoryError as error:
        return {"error": str(error), "memory": True}
    except SchedlabError as error:
        # What a user got wrong is said in the error; where in our code it was noticed is of no use to anybody.
        trace = "" if isinstance(error, InputError) else traceback.format_exc()
        return {"error": str(error), "traceback": trace, "disk": disk_fails(error)}
    except Exception as error:
        # A mistake in somebody's policy, or in ours: this run has failed, the next one may not.
        said = f"{type(error).__name__}: {error}"
        if disk_fails(error) and isinstance(error, OSError):
            said = str(disk_error("cannot be written or read", error.filename or "a file", error))
        return {"error": said, "traceback": traceback.format_exc(), "disk": disk_fails(error)}
