"""What the operating system says of a file or a disk, as an error that names it and says what to do about it."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from schedlab.model.confined import OutsideError
from schedlab.model.errors import DiskError

_FAILING_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS, errno.ESTALE)  # whatever is written
FORBIDDEN = (errno.EACCES, errno.EPERM, errno.EROFS)
_FAILING = "the disk, or the way to it, fails: look at it, or choose another one"
_REMEDIES = {
    errno.ENOSPC: "free some space, or write to another disk",
    errno.EDQUOT: "free some of your quota, or write to another disk",
    errno.EFBIG: "allow larger files (ulimit -f), or write to another disk",
    errno.ENAMETOOLONG: "choose a shorter name",
    errno.EMFILE: "allow more open files (ulimit -n)",
    errno.ENFILE: "too many files are open on this machine: wait, or close some programs",
    errno.ENOENT: "somebody has removed it meanwhile, or it cannot be made: choose another place",
    **dict.fromkeys(FORBIDDEN, "choose a folder that you may write to"),
}


def remedy(number: int) -> str:
    """What to do about an error of the system."""
    return _REMEDIES.get(number, _FAILING)


def said(error: BaseException) -> str:
    """What the system, or a library that asked it, says."""
    if isinstance(error, OSError) and error.errno:
        return os.strerror(error.errno)
    return " ".join(str(error).split())


def disk_error(message: str, path: Path | str, error: BaseException, *, hint: str = "") -> DiskError:
    """`message`, and what the system says."""
    number = (error.errno or 0) if isinstance(error, OSError) else 0
    return DiskError(f"{message}: {said(error)}", where=str(path), hint=hint or remedy(number), number=number)


def disk_fails(error: BaseException | None) -> bool:
    """Whether it is the disk's fault: what is written next will fare no better."""
    while error is not None:
        number = error.number if isinstance(error, DiskError) else error.errno if isinstance(error, OSError) else None
        if number in _FAILING_DISK:
            return True
        error = error.__cause__ or error.__context__
    return False


@contextmanager
def told(message: str, path: Path | str) -> Iterator[None]:
    """What is done in here to files of `path` may fail for the disk's sake."""
    try:
        yield
    except OutsideError:
        raise
    except OSError as error:
        raise disk_error(message, path, error) from error
