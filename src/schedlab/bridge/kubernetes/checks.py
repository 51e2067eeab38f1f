"""Looks at requests before anything is changed: their bodies, and what they presuppose."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from schedlab.bridge.kubernetes.kinds import Kind
from schedlab.bridge.kubernetes.lifecycle import POLICIES
from schedlab.bridge.kubernetes.messages import Request
from schedlab.bridge.kubernetes.selectors import Object
from schedlab.bridge.kubernetes.status import StatusError, conflict, invalid, shortened
from schedlab.bridge.kubernetes.store import Version, encode

# As etcd has it (--max-request-bytes), by which kube-apiserver stores objects; larger bodies are read, up to 3 MiB.
LARGEST_OBJECT = 1_572_864
DEEPEST = 100  # objects and lists in one another
LONGEST_NUMBER = 18  # digits, in a query
_LONGEST_MANAGER = 128  # FieldManagerMaxLength in pkg/apis/meta/v1/validation of k8s.io/apimachinery
_ADDED = 64 * 1024  # bytes that admission adds to an object, at most


def content(request: Request) -> Any:
    """The body of a request, which is JSON; as for kube-apiserver, if nothing is said of it, too."""
    media = media_type(request)
    if media not in ("", "application/json"):
        message = (
            f"the body of the request was in an unknown format ({shortened(media)}) - accepted media types include: "
            "application/json"
        )
        if media.endswith("protobuf"):
            message += "; a kube-scheduler speaks JSON with clientConnection.contentType: application/json"
        raise StatusError(415, message)
    return decoded(request.body)


def decoded(body: bytes) -> Any:
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise StatusError(400, f"couldn't decode the body of the request: {error}") from None


def weigh(found: Any, data: bytes) -> int:
    """About how many bytes an object takes; refuses one that is too large to be kept. `data` is it as JSON, or what
    was sent of it."""
    if len(data) > LARGEST_OBJECT - _ADDED and len(encode(found)) > LARGEST_OBJECT:
        raise StatusError(413, "etcdserver: request is too large")
    lists, objects = data.count(b"["), data.count(b"{")
    if lists + objects > DEEPEST and _is_deep(found):
        raise StatusError(400, f"the object is nested too deeply: more than {DEEPEST} objects and lists in one another")
    return 2 * len(data) + 60 * data.count(b",") + 80 * lists + 240 * objects


def _is_deep(found: Any) -> bool:
    level = [found]
    for _ in range(DEEPEST):
        if not level:
            return False
        level = [
            inner
            for one in level
            for inner in (one.values() if isinstance(one, dict) else one)
            if isinstance(inner, (dict, list))
        ]
    return bool(level)


def media_type(request: Request) -> str:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def name_of(body: Any) -> str:
    metadata = body.get("metadata") if isinstance(body, dict) else None
    name = metadata.get("name") if isinstance(metadata, dict) else None
    return name if isinstance(name, str) else ""


def name_in(request: Request) -> str:
    if not (name := name_of(content(request))):
        raise invalid("Binding", "", [("metadata.name", "Required value")])
    return name


def names_version(patch: Any) -> bool:
    metadata = patch.get("metadata") if isinstance(patch, dict) else None
    return isinstance(metadata, dict) and "resourceVersion" in metadata


def check_uid(kind: Kind, found: Object, wanted: Any) -> None:
    uid = found["metadata"]["uid"]
    if wanted not in (None, "", uid):
        name = found["metadata"]["name"]
        raise conflict(
            kind.qualified, name, f"Precondition failed: UID in precondition: {wanted}, UID in object meta: {uid}"
        )


def check_preconditions(kind: Kind, found: Version, options: Object) -> None:
    wanted = options.get("preconditions") or {}
    check_uid(kind, found.object, wanted.get("uid"))
    if wanted.get("resourceVersion", str(found.number)) != str(found.number):
        why = "the ResourceVersion in the precondition is not that of the object"
        raise conflict(kind.qualified, found.object["metadata"]["name"], why)


def check_change(query: Mapping[str, str]) -> None:
    """The parameters of a request that changes something."""
    if not query:
        return
    refuse_dry_run(query)
    if len(query.get("fieldManager", "")) > _LONGEST_MANAGER:
        raise invalid("Options", "", [("fieldManager", f"Too long: may not be more than {_LONGEST_MANAGER} bytes")])
    if (wanted := query.get("fieldValidation", "")) not in ("", "Ignore", "Warn", "Strict"):
        why = f'Unsupported value: "{shortened(wanted)}": supported values: "", "Ignore", "Strict", "Warn"'
        raise invalid("Options", "", [("fieldValidation", why)])


def refuse_dry_run(asked: Mapping[str, Any]) -> None:
    """In the query, or in the options of a deletion."""
    if asked.get("dryRun"):
        raise StatusError(400, "dryRun is not served here: nothing was changed; kubectl has --dry-run=client")


def options_of(body: Any, query: Mapping[str, str] | None = None) -> Object:
    """The options of a deletion, in its body or, where there is none, in its query; none are fine."""
    options = _in_query(query or {}) if body is None else body
    if isinstance(options, dict):
        refuse_dry_run(options)
    if not isinstance(options, dict) or not isinstance(options.get("preconditions") or {}, dict):
        raise StatusError(400, "the body of the request is not an object of kind DeleteOptions")
    grace = options.get("gracePeriodSeconds")
    if grace is not None and (isinstance(grace, bool) or not isinstance(grace, int) or not 0 <= grace < 2**63):
        raise StatusError(400, f"gracePeriodSeconds: Invalid value: {grace!r:.40}: expected a number of seconds")
    policy = options.get("propagationPolicy")
    if policy not in (None, *POLICIES):
        why = f'Unsupported value: {policy!r:.40}: supported values: "Background", "Foreground", "Orphan"'
        raise invalid("DeleteOptions", "", [("propagationPolicy", why)])
    orphan = options.get("orphanDependents")
    if not isinstance(orphan, (bool, type(None))):
        raise StatusError(400, f"orphanDependents: Invalid value: {orphan!r:.40}: expected true or false")
    if policy is not None and orphan is not None:
        why = "Invalid value: orphanDependents and deletionPropagation cannot be both set"
        raise invalid("DeleteOptions", "", [("propagationPolicy", why)])
    return options


def _in_query(query: Mapping[str, str]) -> Object:
    found: Object = {name: query[name] for name in ("propagationPolicy", "orphanDependents") if query.get(name)}
    if (orphan := found.get("orphanDependents")) is not None:
        found["orphanDependents"] = {"true": True, "1": True, "false": False, "0": False}.get(orphan, orphan)
    if (grace := number(query, "gracePeriodSeconds")) is not None:
        found["gracePeriodSeconds"] = grace
    return found


def number(query: Mapping[str, str], name: str) -> int | None:
    """A parameter that is a whole number; None if it is not there."""
    text = query.get(name, "")
    if not text:
        return None
    if not text.isascii() or not text.isdigit() or len(text) > LONGEST_NUMBER:
        raise StatusError(400, f"{name}: Invalid value: {text[:40]!r}: expected a number")
    return int(text)
