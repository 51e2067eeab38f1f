"""The three kinds of patches: JSON merge (RFC 7386), strategic merge (lists by keys), JSON patch (RFC 6902)."""

from __future__ import annotations

from typing import Any

import msgspec

from schedlab.bridge.kubernetes.selectors import Object
from schedlab.bridge.kubernetes.status import StatusError, shortened, too_large

encode, decode = msgspec.json.encode, msgspec.json.decode

JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_MERGE_PATCH = "application/strategic-merge-patch+json"
PATCHES = (JSON_PATCH, MERGE_PATCH, STRATEGIC_MERGE_PATCH)

# Lists that a strategic merge joins, and the field that tells their elements apart; all other lists are replaced.
_MERGE_KEYS = {
    "addresses": "type",
    "conditions": "type",
    "containerStatuses": "name",
    "containers": "name",
    "env": "name",
    "ephemeralContainers": "name",
    "hostAliases": "ip",
    "imagePullSecrets": "name",
    "initContainers": "name",
    "ownerReferences": "uid",
    "ports": "containerPort",
    "resourceClaims": "name",
    "schedulingGates": "name",
    "taints": "key",
    "topologySpreadConstraints": "topologyKey",
    "volumeDevices": "devicePath",
    "volumeMounts": "mountPath",
    "volumes": "name",
}
_JOINED = frozenset({"finalizers"})  # lists of plain values that are joined
# As kube-apiserver has them: maxJSONPatchOperations (pkg/endpoints/handlers/patch.go of k8s.io/apiserver),
# JSONPatchMaxCopyBytes (pkg/server/config.go).
MOST_OPERATIONS = 10_000
MOST_COPIED = 3 * 1024 * 1024
# Bounds of ours: all requests wait for the one that is being answered.
MOST_MOVED = 50_000_000
MOST_MERGED = 1_000_000  # elements of lists, each time that one is merged
_LONGEST_INDEX = 9  # digits


def apply_patch(content_type: str, found: Object, patch: Any) -> Object:
    """A patched copy."""
    if content_type == JSON_PATCH:
        return _whole(json_patch(found, patch))
    if not isinstance(patch, dict):
        raise StatusError(400, f"a patch of type {content_type} is an object, not {_called(patch)}")
    if content_type == MERGE_PATCH:
        return _whole(merge_patch(found, patch))
    if content_type == STRATEGIC_MERGE_PATCH:
        return _whole(strategic_merge(found, patch))
    raise StatusError(
        415, f"the body of the request was in an unknown format - accepted media types: {', '.join(PATCHES)}"
    )


def _whole(found: Any) -> Object:
    if not isinstance(found, dict):
        raise StatusError(422, f"after the patch the object is {_called(found)}")
    return found


def merge_patch(found: Any, patch: Any) -> Any:
    if not isinstance(patch, dict):
        return patch
    merged = dict(found) if isinstance(found, dict) else {}
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = merge_patch(merged.get(key), value)
    return merged


def strategic_merge(found: Object, patch: Object) -> Object:
    """Objects are merged, known lists of objects by their keys; `$patch` (replace or delete), `$retainKeys`
    and `$deleteFromPrimitiveList` say otherwise."""
    changed = {key: value for key, value in found.items() if key in patch}
    return _StrategicMerge().merge({**found, **_copied(changed)}, patch)


class _StrategicMerge:
    """`merged` are the elements of lists that were looked at: those of a list as often as it is named."""

    def __init__(self) -> None:
        self.merged = 0

    def merge(self, found: Any, patch: Object) -> Object:
        """In `found` itself, so that no part of it is copied for each element of the patch that concerns it."""
        directive = patch.get("$patch")
        if directive == "replace":
            return {key: value for key, value in patch.items() if key != "$patch"}
        if directive == "delete":
            return {}
        merged: Object = found if isinstance(found, dict) else {}
        if isinstance(retained := patch.get("$retainKeys"), list):
            names = {one for one in retained if isinstance(one, str)}
            merged = {key: value for key, value in merged.items() if key in names}
        for key, value in patch.items():
            if key.startswith("$deleteFromPrimitiveList/"):
                name = key.partition("/")[2]
                old = merged.get(name)
                self._count(old)
                gone = {_identity(one) for one in value if _is_plain(one)} if isinstance(value, list) else set()
                kept = old if isinstance(old, list) else []
                merged[name] = [one for one in kept if not _is_plain(one) or _identity(one) not in gone]
            elif key.startswith("$"):
                continue
            elif value is None:
                merged.pop(key, None)
            elif isinstance(value, dict):
                merged[key] = self.merge(merged.get(key), value)
            elif isinstance(value, list):
                merged[key] = self._lists(key, merged.get(key), value)
            else:
                merged[key] = value
        return merged

    def _lists(self, name: str, found: Any, patch: list[Any]) -> list[Any]:
        old = found if isinstance(found, list) else []
        self._count(old)
        if name in _JOINED:
            plain = {_identity(one): one for one in (*old, *patch) if _is_plain(one)}
            return [*plain.values(), *(one for one in (*old, *patch) if not _is_plain(one))]
        key = _MERGE_KEYS.get(name)
        if key is None or not all(isinstance(one, dict) for one in patch):
            return patch
        if any(one.get("$patch") == "replace" and key not in one for one in patch):
            return [one for one in patch if one.get("$patch") != "replace"]
        # What is taken out leaves a gap until the end, so that the places of the others stay.
        merged: list[Any] = list(old)
        places: dict[Any, int] = {}
        for place, one in enumerate(merged):
            if isinstance(one, dict) and _is_plain(one.get(key)):
                places.setdefault(_identity(one.get(key)), place)
        for one in patch:
            if not _is_plain(one.get(key, [])):
                message = f"an element of {name} in the patch has no {key}, by which such lists are merged"
                raise StatusError(400, message)
            known = _identity(one[key])
            found_at = places.get(known)
            if one.get("$patch") == "delete":
                if found_at is not None:
                    merged[places.pop(known)] = _GAP
            elif found_at is None:
                places[known] = len(merged)
                merged.append(self.merge({}, one))
            else:
                merged[found_at] = self.merge(merged[found_at], one)
        return [one for one in merged if one is not _GAP]

    def _count(self, found: Any) -> None:
        self.merged += len(found) if isinstance(found, list) else 0
        if self.merged > MOST_MERGED:
            raise too_large(f"the patch looks at more than {MOST_MERGED:,} elements of lists, again and again")


_GAP = object()


def _is_plain(value: Any) -> bool:
    return not isinstance(value, (dict, list))


def _identity(value: Any) -> Any:
    """By which plain values of JSON are told apart: 1 is neither 1.0 nor true."""
    return value if isinstance(value, str) else encode(value)


def json_patch(found: Any, patch: Any) -> Any:
    if not isinstance(patch, list):
        raise StatusError(400, f"a JSON patch is a list of operations, not {_called(patch)}")
    if len(patch) > MOST_OPERATIONS:
        message = f"The allowed maximum operations in a JSON patch is {MOST_OPERATIONS}, got {len(patch)}"
        raise too_large(message)
    patched = _JsonPatch(_copied(found))
    for number, operation in enumerate(patch):
        if not isinstance(operation, dict) or not isinstance(operation.get("path"), str):
            raise StatusError(400, f"operation {number} of the JSON patch is not an object with a path")
        try:
            patched.operate(operation)
        except (LookupError, TypeError, ValueError) as error:
            message = f"the server rejected our request due to an error in our request: operation {number}: {error}"
            raise StatusError(422, message) from error
    return patched.found


class _JsonPatch:
    """A document that operations change in place, within bounds.

    `copied` are the bytes that copies have added: evanphx/json-patch, by which kube-apiserver patches, counts them
    (`AccumulatedCopySizeLimit`). `moved` are the elements of lists that made way for others.
    """

    def __init__(self, found: Any) -> None:
        self.found = found
        self.copied = self.moved = 0

    def operate(self, operation: Object) -> None:
        what, path = operation.get("op"), _pointer(operation["path"])
        if what in ("add", "replace", "test") and "value" not in operation:
            raise ValueError(f"{what} needs a value")
        if what in ("move", "copy") and not isinstance(operation.get("from"), str):
            raise ValueError(f"{what} needs a path to come from")
        match what:
            case "add":
                self._add(path, operation["value"])
            case "remove":
                self._remove(path)
            case "replace":
                self._replace(path, operation["value"])
            case "test":
                if not same(self._look(path), operation["value"]):
                    raise ValueError(f"testing value {shortened(operation['path'])} failed")
            case "move":
                if len(source := _pointer(operation["from"])) < len(path) and path[: len(source)] == source:
                    raise ValueError(f"{shortened(operation['from'])} cannot be moved into itself")
                self._add(path, self._remove(source))
            case "copy":
                self._add(path, self._copy(_pointer(operation["from"])))
            case _:
                raise ValueError(f"Unexpected kind: {shortened(str(what))}")

    def _look(self, path: list[str]) -> Any:
        found = self.found
        for part in path:
            found = found[_index(found, part)] if isinstance(found, list) else _mapping(found, part)[part]
        return found

    def _copy(self, path: list[str]) -> Any:
        data = encode(self._look(path))
        self.copied += len(data)
        if self.copied > MOST_COPIED:
            raise ValueError(
                f"Unable to complete the copy, the accumulated size increase of copy is {self.copied}, "
                f"exceeding the limit {MOST_COPIED}"
            )
        return decode(data)

    def _add(self, path: list[str], value: Any) -> None:
        if not path:
            self.found = value
            return
        inside, part = self._look(path[:-1]), path[-1]
        if not isinstance(inside, list):
            _mapping(inside, part)[part] = value
            return
        place = len(inside) if part == "-" else _index(inside, part)
        if place > len(inside):
            raise IndexError(f"index {place} is after the end of the list")
        self._move(len(inside) - place)
        inside.insert(place, value)

    def _replace(self, path: list[str], value: Any) -> None:
        self._look(path)
        if not path:
            self.found = value
            return
        inside, part = self._look(path[:-1]), path[-1]
        if isinstance(inside, list):
            inside[_index(inside, part)] = value
        else:
            inside[part] = value

    def _remove(self, path: list[str]) -> Any:
        if not path:
            raise ValueError("the whole object cannot be removed")
        inside, part = self._look(path[:-1]), path[-1]
        if not isinstance(inside, list):
            return _mapping(inside, part).pop(part)
        place = _index(inside, part)
        self._move(len(inside) - place)
        return inside.pop(place)

    def _move(self, elements: int) -> None:
        self.moved += elements
        if self.moved > MOST_MOVED:
            raise too_large(f"the operations of the patch move more than {MOST_MOVED:,} elements of lists")


def _pointer(text: str) -> list[str]:
    if text and not text.startswith("/"):
        raise ValueError(f"the path {shortened(text)!r} does not begin with a slash")
    return [part.replace("~1", "/").replace("~0", "~") for part in text.split("/")[1:]]


def _index(found: list[Any], part: str) -> int:
    if not part.isascii() or not part.isdigit() or len(part) > _LONGEST_INDEX or (part[0] == "0" and part != "0"):
        raise ValueError(f"{shortened(part)!r} is not a place in a list")
    return int(part)


def _mapping(found: Any, part: str) -> dict[str, Any]:
    if not isinstance(found, dict):
        raise TypeError(f"there is no {shortened(part)!r} in {_called(found)}")
    return found


def same(one: Any, other: Any) -> bool:
    """As texts of JSON are the same: 1 is neither 1.0 nor true."""
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return len(one) == len(other) and all(key in other and same(value, other[key]) for key, value in one.items())
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


def _copied(found: Any) -> Any:
    """What may be changed in place."""
    return decode(encode(found))


def _called(found: Any) -> str:
    names = {dict: "an object", list: "a list", str: "a text", bool: "a truth value", type(None): "null"}
    return names.get(type(found), "a number")
