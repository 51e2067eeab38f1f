"""Patches and selectors as simply as they can be written, to compare the server's with: RFC 6902 and 7386, and what
selectors mean. Nothing here is fast, or bounded.

Where kube-apiserver is not the RFC: values are the same if their texts are (1 is neither 1.0 nor true), and the whole
document cannot be removed.
"""

from __future__ import annotations

import copy
import json
from typing import Any


class CannotPatchError(Exception):
    pass


def json_patch(found: Any, patch: list[dict[str, Any]]) -> Any:
    for operation in patch:
        found = operated(copy.deepcopy(found), copy.deepcopy(operation))
    return found


def operated(found: Any, operation: dict[str, Any]) -> Any:
    path = keys(operation["path"])
    match operation["op"]:
        case "add":
            return added(found, path, operation["value"])
        case "remove":
            return removed(found, path)
        case "replace":
            value_at(found, path)
            return operation["value"] if not path else added(removed(found, path), path, operation["value"])
        case "test":
            if text(value_at(found, path)) != text(operation["value"]):
                raise CannotPatchError("test")
            return found
        case "copy":
            return added(found, path, copy.deepcopy(value_at(found, keys(operation["from"]))))
        case "move":
            source = keys(operation["from"])
            if path[: len(source)] == source and len(path) > len(source):
                raise CannotPatchError("into itself")
            value = copy.deepcopy(value_at(found, source))
            return added(removed(found, source), path, value)
    raise CannotPatchError("op")


def keys(pointer: str) -> list[str]:
    if pointer and not pointer.startswith("/"):
        raise CannotPatchError("pointer")
    return [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]


def place(found: list[Any], key: str) -> int:
    if key not in [str(number) for number in range(len(found) + 1)]:
        raise CannotPatchError("index")
    return int(key)


def value_at(found: Any, path: list[str]) -> Any:
    for key in path:
        if isinstance(found, dict) and key in found:
            found = found[key]
        elif isinstance(found, list) and place(found, key) < len(found):
            found = found[place(found, key)]
        else:
            raise CannotPatchError("path")
    return found


def added(found: Any, path: list[str], value: Any) -> Any:
    if not path:
        return value
    inside = value_at(found, path[:-1])
    if isinstance(inside, dict):
        inside[path[-1]] = value
    elif isinstance(inside, list):
        inside.insert(len(inside) if path[-1] == "-" else place(inside, path[-1]), value)
    else:
        raise CannotPatchError("path")
    return found


def removed(found: Any, path: list[str]) -> Any:
    value_at(found, path)
    if not path:
        raise CannotPatchError("all")
    inside = value_at(found, path[:-1])
    del inside[path[-1] if isinstance(inside, dict) else int(path[-1])]
    return found


def text(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def merge_patch(found: Any, patch: Any) -> Any:
    """As RFC 7386 has it, word for word."""
    if not isinstance(patch, dict):
        return patch
    if not isinstance(found, dict):
        found = {}
    for name, value in patch.items():
        if value is None:
            found.pop(name, None)
        else:
            found[name] = merge_patch(found.get(name), value)
    return found


Term = tuple[str, str, list[str]]  # of a label selector: key, sign, values


def fits(labels: dict[str, str], terms: list[Term]) -> bool:
    return all(fits_one(labels, *term) for term in terms)


def fits_one(labels: dict[str, str], key: str, sign: str, values: list[str]) -> bool:
    if sign == "!":
        return key not in labels
    if sign in ("notin", "!="):
        return key not in labels or labels[key] not in values
    if key not in labels:
        return False
    if sign == "":
        return True
    if sign in (">", "<"):
        try:
            number = int(labels[key])
        except ValueError:
            return False
        return number > int(values[0]) if sign == ">" else number < int(values[0])
    return labels[key] in values


def field(found: Any, path: str) -> str:
    for key in path.split("."):
        found = found.get(key, "") if isinstance(found, dict) else ""
    if isinstance(found, bool):
        return "true" if found else "false"
    return str(found)
