"""Get a file over HTTP into a partial file that a later try goes on with."""

from __future__ import annotations

import http.client
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from schedlab.files.bytestream import Progress
from schedlab.model.errors import InputError
from schedlab.model.version import VERSION

if TYPE_CHECKING:
    from http.client import HTTPResponse

PAUSES = (1.0, 3.0)  # seconds before the second and the third try
TIMEOUT = 30.0  # seconds without a byte
PIECE = 1 << 16
_RANGE = re.compile(r"bytes (\d+)-\d+/(\d+)")


class FetchError(InputError):
    """A file could not be had."""

    exit_code = 1


class _TryAgain(Exception):  # noqa: N818 - not an error yet
    """What went wrong may go right in a moment."""


def download(url: str, part: Path, progress: Progress | None = None) -> None:
    """All bytes of `url` are in `part` afterwards; those that were there already are not asked for again."""
    for pause in (*PAUSES, None):
        try:
            _attempt(url, part, progress)
            return
        except _TryAgain as reason:
            if pause is None:
                raise _failed(url, part, str(reason)) from reason.__cause__
            time.sleep(pause)


def _attempt(url: str, part: Path, progress: Progress | None) -> None:
    have = part.stat().st_size if part.exists() else 0
    headers = {"User-Agent": f"schedlab/{VERSION}"} | ({"Range": f"bytes={have}-"} if have else {})
    try:
        with urlopen(Request(url, headers=headers), timeout=TIMEOUT) as response:
            _receive(response, part, have, progress)
    except HTTPError as error:
        _refused(error, url, part)
    except (ValueError, http.client.InvalidURL) as error:
        raise FetchError(f"is not an address: {error}", where=url) from error
    except URLError as error:
        raise _TryAgain(f"cannot reach {urlsplit(url).hostname}: {_reason(error)}") from error
    except (OSError, http.client.HTTPException) as error:
        raise _TryAgain(f"the connection to {urlsplit(url).hostname} broke: {_reason(error)}") from error


def _receive(response: HTTPResponse, part: Path, have: int, progress: Progress | None) -> None:
    extent = _extent(response, have)
    if extent is None:
        part.unlink()
        raise _TryAgain("the server sent another part of the file than it was asked for")
    done, total = extent
    with _writing(part):
        # A server that does not know ranges sends everything: begin anew.
        file = part.open("ab" if done else "wb")
    with file:
        while piece := response.read(PIECE):
            with _writing(part):
                file.write(piece)
                file.flush()
            done += len(piece)
            if progress is not None:
                progress(done, total)
    if done < total:
        raise _TryAgain(f"the connection broke after {done:,} of {total:,} bytes")


@contextmanager
def _writing(part: Path) -> Iterator[None]:
    """Trouble with the disk is not trouble with the network: no second try."""
    try:
        yield
    except OSError as error:
        raise FetchError(f"cannot be written: {error.strerror or error}", where=str(part)) from error


def _extent(response: HTTPResponse, have: int) -> tuple[int, int] | None:
    """Where what comes begins, and how long the whole file is (0: the server does not say); None: not as asked."""
    if response.status == 206:
        found = _RANGE.fullmatch(response.headers.get("Content-Range", "").strip())
        return (have, int(found[2])) if found and int(found[1]) == have else None
    length = response.headers.get("Content-Length", "")
    return 0, int(length) if length.isdigit() else 0


def _refused(error: HTTPError, url: str, part: Path) -> None:
    if error.code == 416:  # more bytes here than there: a file that has changed
        part.unlink(missing_ok=True)
        raise _TryAgain("the server does not have the part of the file that is missing") from error
    if error.code == 429 or error.code >= 500:
        raise _TryAgain(f"the server answered {error.code} {error.reason}") from error
    hint = "the archive may have moved it: see its page" if error.code in (404, 410) else ""
    raise FetchError(f"the server answered {error.code} {error.reason}", where=url, hint=hint) from error


def _failed(url: str, part: Path, reason: str) -> FetchError:
    target = part.with_suffix("")
    kept = "; what has come is kept, and the next try goes on from there" if part.exists() else ""
    hint = f"try again later, or download {url} by hand into {target.parent}: the log is then used from there"
    return FetchError(f"{reason}{kept}", hint=hint)


def _reason(error: Exception) -> str:
    inner = getattr(error, "reason", error)
    return str(getattr(inner, "strerror", None) or inner)
