"""Looks at requests before anything is changed: their bodies, and what they presuppose."""

from __future__ import annotations

from typing import Any

import msgspec

from schedlab.bridge.kubernetes.kinds import Kind
from schedlab.bridge.kubernetes.messages import Request
from schedlab.bridge.kubernetes.selectors import Object
from schedlab.bridge.kubernetes.status import StatusError, conflict, invalid

_JSON = ("", "application/json", "*/*")


def content(request: Request) -> Any:
    """The body of a request, which is JSON."""
    media = media_type(request)
    if media not in _JSON:
        message = f"the body of the request was in an unknown format ({media}) - accepted media types: application/json"
        if media.endswith("protobuf"):
            message += "; a kube-scheduler speaks JSON with clientConnection.contentType: application/json"
        raise StatusError(415, message)
    return decoded(request.body)


def decoded(body: bytes) -> Any:
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise StatusError(400, f"couldn't decode the body of the request: {error}") from None


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


def refuse_dry_run(request: Request) -> None:
    if request.query.get("dryRun"):
        raise StatusError(400, "dryRun is not served here")


def options_of(body: Any) -> Object:
    """The options of a deletion; none are fine."""
    options = {} if body is None else body
    if not isinstance(options, dict) or not isinstance(options.get("preconditions") or {}, dict):
        raise StatusError(400, "the body of the request is not an object of kind DeleteOptions")
    grace = options.get("gracePeriodSeconds")
    if grace is not None and (isinstance(grace, bool) or not isinstance(grace, int) or grace < 0):
        raise StatusError(400, f"gracePeriodSeconds: Invalid value: {grace!r:.40}: expected a number of seconds")
    return options
