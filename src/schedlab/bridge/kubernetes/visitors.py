"""Which requests are looked at: those that do not come from a page of somebody else in a browser of this machine."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from schedlab.bridge.kubernetes.status import StatusError, shortened
from schedlab.model.browsers import LOOPBACK, is_foreign, is_served

_LONGEST_HOST = 300


class Visitors:
    """Of a server that listens at an address, which clients may know by further names."""

    def __init__(self, address: str = "127.0.0.1", names: Collection[str] = ()) -> None:
        self._address, self._names = address, frozenset(name.lower() for name in names)
        self._known = ""  # the host that was asked for last
        if address not in LOOPBACK:
            self._serves("x.invalid")  # asks the system for this machine's names, which may take a while, now

    def check(self, host: str, headers: Mapping[str, str]) -> StatusError | None:
        if host != self._known:
            if len(host) > _LONGEST_HOST or not self._serves(host):
                message = f"'{shortened(host)}' is not an address of this server (--listen, --also-known-as)"
                return StatusError(421, message, reason="Misdirected")
            self._known = host
        origin, site = headers.get("origin"), headers.get("sec-fetch-site")
        if (origin is not None or site is not None) and is_foreign(host, origin, site):
            return StatusError(403, "forbidden: requests from pages of other sites are not answered")
        return None

    def _serves(self, host: str) -> bool:
        return is_served(host, self._address, self._names)
