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
from schedlab.bridge.kubernetes.store import encode

# As etcd has it (--max-request-bytes), by which kube-apiserver stores objects; larger bodies are read, up to 3 MiB.
LARGEST_OBJECT = 1_572_864
DEEPEST = 100  # objects and lists in one another
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


def name_in(request: Request) -> str:
    body = content(request)
    metadata = body.get("metadata") if isinstance(body, dict) else None
    name = metadata.get("name") if isinstance(metadata, dict) else None
    if not isinstance(name, str) or not name:
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


def refuse_other_node(old: Object, new: Object) -> None:
    name = old["metadata"]["name"]
    if new["spec"].get("nodeName") != old["spec"].get("nodeName"):
        raise invalid("Pod", name, [("spec.nodeName", "Forbidden: pods are assigned to nodes by a binding")])


def refuse_dry_run(asked: Mapping[str, Any]) -> None:
    """In the query, or in the options of a deletion."""
    if asked.get("dryRun"):
        raise StatusError(400, "dryRun is not served here")


def options_of(body: Any) -> Object:
    """The options of a deletion; none are fine."""
    options = {} if body is None else body
    if isinstance(options, dict):
        refuse_dry_run(options)
    if not isinstance(options, dict) or not isinstance(options.get("preconditions") or {}, dict):
        raise StatusError(400, "the body of the request is not an object of kind DeleteOptions")
    grace = options.get("gracePeriodSeconds")
    if grace is not None and (isinstance(grace, bool) or not isinstance(grace, int) or grace < 0):
        raise StatusError(400, f"gracePeriodSeconds: Invalid value: {grace!r:.40}: expected a number of seconds")
    policy = options.get("propagationPolicy")
    if policy not in (None, *POLICIES):
        why = f'Unsupported value: {policy!r:.40}: supported values: "Background", "Foreground", "Orphan"'
        raise invalid("DeleteOptions", "", [("propagationPolicy", why)])
    return options
