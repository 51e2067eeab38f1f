"""Lists of objects: in which form, how many at once, and as of which version."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from schedlab.bridge.kubernetes.checks import LONGEST_NUMBER, number
from schedlab.bridge.kubernetes.event_forms import to_new
from schedlab.bridge.kubernetes.kinds import NEW_EVENTS, Kind
from schedlab.bridge.kubernetes.printed import table
from schedlab.bridge.kubernetes.selectors import Object, Selector
from schedlab.bridge.kubernetes.status import StatusError, invalid, shortened
from schedlab.bridge.kubernetes.store import Key, Store, Version, encode


@dataclass(frozen=True, slots=True)
class Form:
    """As what objects of a kind are sent: themselves, or a table for people."""

    kind: Kind
    clock: Callable[[], float]  # for the ages in a table
    as_table: bool = False
    whole: bool = False  # a table with the objects themselves

    @classmethod
    def asked(cls, kind: Kind, clock: Callable[[], float], accept: str, include: str) -> Form:
        """By the header Accept: the first of its forms that is known here."""
        for wanted in accept.lower().split(","):
            media, *options = (part.strip() for part in wanted.split(";"))
            named = dict(option.partition("=")[::2] for option in options)
            if media == "application/json" and named.get("as") == "table":
                return cls(kind, clock, True, include == "Object")
            if media in ("application/json", "application/*", "*/*", "") and "as" not in named:
                return cls(kind, clock)
        raise StatusError(406, "only the following media types are accepted: application/json")

    def __call__(self, version: Version) -> bytes:
        if self.as_table:
            return self._table([version.object], {"resourceVersion": str(version.number)})
        return encode(to_new(version.object)) if self.kind is NEW_EVENTS else version.json

    def many(self, found: Sequence[tuple[Key, Version]], version: int, metadata: Object) -> bytes:
        metadata = {"resourceVersion": str(version), **metadata}
        if self.as_table:
            return self._table([one.object for _, one in found], metadata)
        head = {"kind": f"{self.kind.name}List", "apiVersion": self.kind.group_version, "metadata": metadata}
        items = b",".join([self(one) for _, one in found])
        return b'%b,"items":[%b]}' % (encode(head)[:-1], items)

    def _table(self, found: Sequence[Object], metadata: Object) -> bytes:
        return encode(table(self.kind, found, metadata, self.clock(), self.whole))


def check_query(query: Mapping[str, str]) -> None:
    """What cannot be asked for together, as ValidateListOptions of k8s.io/apimachinery has it."""
    watches, match = is_set(query, "watch"), query.get("resourceVersionMatch", "")
    initial, version = bool(query.get("sendInitialEvents")), query.get("resourceVersion", "")
    wrong: list[tuple[str, str]] = []
    if match not in ("", "NotOlderThan", *(() if watches else ("Exact",))):
        wrong.append(("resourceVersionMatch", f'Unsupported value: "{shortened(match)}"'))
    if match and query.get("continue"):
        why = "Forbidden: resourceVersionMatch is forbidden when continue is provided"
        wrong.append(("resourceVersionMatch", why))
    if watches and bool(match) is not initial:
        why = (
            "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"
            if initial
            else "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"
        )
        wrong.append(("resourceVersionMatch", f"Forbidden: {why}"))
    if not watches and initial:
        wrong.append(("sendInitialEvents", "Forbidden: sendInitialEvents is forbidden for list"))
    if not watches and match and not version:
        why = "Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided"
        wrong.append(("resourceVersionMatch", why))
    if match == "Exact" and version == "0":
        why = 'Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"'
        wrong.append(("resourceVersionMatch", why))
    if wrong:
        raise invalid("ListOptions", "", wrong)
    if query.get("continue") and version not in ("", "0"):
        raise StatusError(400, "specifying resource version is not allowed when using continue")


def is_set(query: Mapping[str, str], name: str) -> bool:
    return query.get(name) in ("1", "true")


def listed(store: Store, kind: Kind, chosen: Selector | None, form: Form, query: Mapping[str, str]) -> bytes:
    """Objects by namespace and name. With `limit`, some of them and a mark where to go on, as of the same version."""
    limit, wanted = number(query, "limit") or 0, number(query, "resourceVersion")
    begin: Key = ("", "")
    version: int | None = None
    if mark := query.get("continue", ""):
        version, begin = _marked(mark)
    elif query.get("resourceVersionMatch") == "Exact":
        version = wanted
    elif wanted == 0:
        limit = 0  # kube-apiserver, too, answers such lists whole, from memory
    if max(version or 0, wanted or 0) > store.version:
        details = {"causes": [{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}]}
        message = f"Too large resource version: {max(version or 0, wanted or 0)}, current: {store.version}"
        raise StatusError(504, message, details={**details, "retryAfterSeconds": 1})
    found = store.list(kind, chosen, version)
    as_of = store.version if version is None else version
    if begin != ("", ""):
        found = [one for one in found if one[0] > begin]
    metadata: Object = {}
    if limit and len(found) > limit:
        metadata = {"continue": _mark(as_of, found[limit - 1][0]), "remainingItemCount": len(found) - limit}
        found = found[:limit]
    return form.many(found, as_of, metadata)


def _mark(version: int, last: Key) -> str:
    return base64.urlsafe_b64encode(encode((version, *last))).decode()


def _marked(mark: str) -> tuple[int, Key]:
    try:
        version, namespace, name = msgspec.json.decode(base64.urlsafe_b64decode(mark), type=tuple[int, str, str])
    except (ValueError, msgspec.DecodeError):
        raise StatusError(400, "continue key is not valid") from None
    if version >= 10**LONGEST_NUMBER:
        raise StatusError(400, "continue key is not valid")
    return version, (namespace, name)
