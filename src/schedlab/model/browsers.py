"""Whom a server on this machine answers: what every one looks at, since pages of other sites can make a browser ask.

A page can send requests to any address that the browser reaches, this machine included; and a name of somebody else's
can be made to lead here (DNS rebinding), so that his page and the server seem to be one site.
"""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Collection
from functools import cache

_HOST = re.compile(r"(?:\[([^]]*)\]|([^:\[\]]*))(?::[0-9]{0,5})?")
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


def is_served(host: str, served: str, names: Collection[str] = ()) -> bool:
    """Whether the header Host is an address of the server that listens at `served`, or one of further `names`."""
    name = host_name(host)
    return name in LOOPBACK or name == served.lower() or name in names or _is_own(name, served)


def is_foreign(host: str, origin: str | None, site: str | None) -> bool:
    """Browsers say from which page a request comes (Origin, Sec-Fetch-Site); programs that are none say nothing."""
    other = origin is not None and origin not in (f"http://{host}", f"https://{host}")
    return other or site not in (None, "same-origin", "none")


def host_name(host: str) -> str:
    """Without the port and the brackets of IPv6; what has another form is left as it is, and is no name."""
    found = _HOST.fullmatch(host)
    return (found[1] or found[2] if found else host).lower()


def _is_own(name: str, served: str) -> bool:
    """A numeric address cannot be somebody else's name for this machine; of names, its own are good."""
    if served in LOOPBACK:
        return False
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return name in _own_names()
    return True


@cache
def _own_names() -> frozenset[str]:
    return frozenset({socket.gethostname().lower(), socket.getfqdn().lower()})
