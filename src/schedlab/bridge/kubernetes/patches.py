"""The three kinds of patches: JSON merge (RFC 7386), strategic merge (lists by keys), JSON patch (RFC 6902)."""

from __future__ import annotations

from typing import Any

from schedlab.bridge.kubernetes.selectors import Object
from schedlab.bridge.kubernetes.status import StatusError

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


def strategic_merge(found: Any, patch: Object) -> Object:
    """Objects are merged, known lists of objects by their keys; `$patch` (replace or delete), `$retainKeys`
    and `$deleteFromPrimitiveList` say otherwise."""
    directive = patch.get("$patch")
    if directive == "replace":
        return {key: value for key, value in patch.items() if key != "$patch"}
    if directive == "delete":
        return {}
    merged = dict(found) if isinstance(found, dict) else {}
    if isinstance(kept := patch.get("$retainKeys"), list):
        merged = {key: value for key, value in merged.items() if key in kept}
    for key, value in patch.items():
        if key.startswith("$deleteFromPrimitiveList/"):
            name = key.partition("/")[2]
            gone = value if isinstance(value, list) else []
            merged[name] = [one for one in merged.get(name) or [] if one not in gone]
        elif key.startswith("$"):
            continue
        elif value is None:
            merged.pop(key, None)
        elif isinstance(value, dict):
            merged[key] = strategic_merge(merged.get(key), value)
        elif isinstance(value, list):
            merged[key] = _merge_lists(key, merged.get(key), value)
        else:
            merged[key] = value
    return merged


def _merge_lists(name: str, found: Any, patch: list[Any]) -> list[Any]:
    old = found if isinstance(found, list) else []
    if name in _JOINED:
        return [*old, *(one for one in patch if one not in old)]
    key = _MERGE_KEYS.get(name)
    if key is None or not all(isinstance(one, dict) for one in patch):
        return patch
    if any(one.get("$patch") == "replace" and key not in one for one in patch):
        return [one for one in patch if one.get("$patch") != "replace"]
    merged = list(old)
    for one in patch:
        if key not in one:
            raise StatusError(400, f"an element of {name} in the patch has no {key}, by which such lists are merged")
        place = next(
            (i for i, other in enumerate(merged) if isinstance(other, dict) and other.get(key) == one[key]), None
        )
        if one.get("$patch") == "delete":
            if place is not None:
                del merged[place]
        elif place is None:
            merged.append(strategic_merge({}, one))
        else:
            merged[place] = strategic_merge(merged[place], one)
    return merged


def json_patch(found: Any, patch: Any) -> Any:
    if not isinstance(patch, list):
        raise StatusError(400, f"a JSON patch is a list of operations, not {_called(patch)}")
    for number, operation in enumerate(patch):
        if not isinstance(operation, dict) or not isinstance(operation.get("path"), str):
            raise StatusError(400, f"operation {number} of the JSON patch is not an object with a path")
        try:
            found = _operate(found, operation)
        except (LookupError, TypeError, ValueError) as error:
            message = f"the server rejected our request due to an error in our request: operation {number}: {error}"
            raise StatusError(422, message) from error
    return found


def _operate(found: Any, operation: Object) -> Any:
    what, path = operation.get("op"), _pointer(operation["path"])
    if what in ("add", "replace", "test") and "value" not in operation:
        raise ValueError(f"{what} needs a value")
    if what in ("move", "copy") and not isinstance(operation.get("from"), str):
        raise ValueError(f"{what} needs a path to come from")
    match what:
        case "add":
            return _set(found, path, operation["value"], insert=True)
        case "remove":
            return _remove(found, path)
        case "replace":
            _look(found, path)
            return _set(found, path, operation["value"], insert=False)
        case "test":
            if _look(found, path) != operation["value"]:
                raise ValueError(f"testing value {operation['path']} failed")
            return found
        case "move":
            source = _pointer(operation["from"])
            return _set(_remove(found, source), path, _look(found, source), insert=True)
        case "copy":
            return _set(found, path, _look(found, _pointer(operation["from"])), insert=True)
    raise ValueError(f"Unexpected kind: {what}")


def _pointer(text: str) -> list[str]:
    if text and not text.startswith("/"):
        raise ValueError(f"the path {text!r} does not begin with a slash")
    return [part.replace("~1", "/").replace("~0", "~") for part in text.split("/")[1:]]


def _look(found: Any, path: list[str]) -> Any:
    for part in path:
        found = found[_index(found, part)] if isinstance(found, list) else _mapping(found, part)[part]
    return found


def _index(found: list[Any], part: str) -> int:
    if not part.isascii() or not part.isdigit():
        raise ValueError(f"{part!r} is not a place in a list")
    return int(part)


def _mapping(found: Any, part: str) -> dict[str, Any]:
    if not isinstance(found, dict):
        raise TypeError(f"there is no {part!r} in {_called(found)}")
    return found


def _set(found: Any, path: list[str], value: Any, insert: bool) -> Any:
    """A copy with a value at a place."""
    if not path:
        return value
    part, rest = path[0], path[1:]
    if isinstance(found, list):
        place = len(found) if part == "-" and not rest else _index(found, part)
        copy = list(found)
        if rest or not insert:
            copy[place] = _set(copy[place], rest, value, insert)
        elif place > len(copy):
            raise IndexError(f"index {place} is after the end of the list")
        else:
            copy.insert(place, value)
        return copy
    inner = dict(_mapping(found, part))
    inner[part] = _set(inner[part], rest, value, insert) if rest else value
    return inner


def _remove(found: Any, path: list[str]) -> Any:
    if not path:
        raise ValueError("the whole object cannot be removed")
    part, rest = path[0], path[1:]
    copy: Any
    if isinstance(found, list):
        copy, place = list(found), _index(found, part)
        if rest:
            copy[place] = _remove(copy[place], rest)
        else:
            del copy[place]
        return copy
    copy = dict(_mapping(found, part))
    if rest:
        copy[part] = _remove(copy[part], rest)
    else:
        del copy[part]
    return copy


def _called(found: Any) -> str:
    names = {dict: "an object", list: "a list", str: "a text", bool: "a truth value", type(None): "null"}
    return names.get(type(found), "a number")
