"""A small file over HTTP, as bytes: all of it, or an error that names the address and the remedies."""

from __future__ import annotations

import http.client
import time
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from schedlab.model.version import VERSION
from schedlab.workload.archive.download import FetchError

PAUSES = (1.0, 3.0)  # seconds before the second and the third try
TIMEOUT = 30.0  # seconds without a byte


class _TryAgain(Exception):  # noqa: N818 - not an error yet
    """What went wrong may go right in a moment."""


def get(url: str, remedies: str) -> bytes:
    """The content of `url`; proxies are taken from the environment."""
    for pause in (*PAUSES, None):
        try:
            return _attempt(url, remedies)
        except _TryAgain as reason:
            if pause is None:
                raise FetchError(str(reason), where=url, hint=remedies) from reason.__cause__
            time.sleep(pause)
    raise AssertionError("the last try returns or raises")


def _attempt(url: str, remedies: str) -> bytes:
    host = urlsplit(url).hostname
    try:
        with urlopen(Request(url, headers={"User-Agent": f"schedlab/{VERSION}"}), timeout=TIMEOUT) as response:
            content: bytes = response.read()
            return content
    except HTTPError as error:
        words = f"the server answered {error.code} {error.reason}"
        if error.code == 429 or error.code >= 500:
            raise _TryAgain(words) from error
        raise FetchError(words, where=url, hint=remedies) from error
    except (ValueError, http.client.InvalidURL) as error:
        raise FetchError(f"is not an address: {error}", where=url) from error
    except URLError as error:
        raise _TryAgain(f"cannot reach {host}: {_reason(error)}") from error
    except (OSError, http.client.HTTPException) as error:  # IncompleteRead is one of them
        raise _TryAgain(f"the connection to {host} broke: {_reason(error)}") from error


def _reason(error: Exception) -> str:
    inner = getattr(error, "reason", error)
    return str(getattr(inner, "strerror", None) or inner)
