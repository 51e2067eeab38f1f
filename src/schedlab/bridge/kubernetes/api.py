"""The API server as a function: a request in, an answer or a watch out, one at a time and without input or output.

What a transport has to do with an answer is `http.py`; where clients' decisions go is `Listener`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from schedlab.bridge.kubernetes import discovery, lists
from schedlab.bridge.kubernetes.admission import addressed, admit, check_shape
from schedlab.bridge.kubernetes.checks import (
    check_uid,
    content,
    decoded,
    media_type,
    name_in,
    names_version,
    options_of,
    refuse_dry_run,
    refuse_other_node,
)
from schedlab.bridge.kubernetes.event_forms import from_new, to_new
from schedlab.bridge.kubernetes.kinds import KINDS, NEW_EVENTS, NODES, PODS, Kind
from schedlab.bridge.kubernetes.messages import Request, Response, failure
from schedlab.bridge.kubernetes.patches import PATCHES, apply_patch
from schedlab.bridge.kubernetes.selectors import Object, selector
from schedlab.bridge.kubernetes.status import StatusError, conflict, invalid, success
from schedlab.bridge.kubernetes.store import Store, Version, Watch, encode

_KINDS = {(kind.group_version, kind.plural): kind for kind in KINDS}


@dataclass(frozen=True, slots=True)
class Place:
    """What a path leads to: a kind or one object of it, or a part of one."""

    kind: Kind
    namespace: str = ""
    name: str = ""
    part: str = ""


class Listener:
    """Who runs the cluster: hears what clients did to pods. The methods do nothing here."""

    def created(self, pod: Object) -> None:
        """A client, not the owner of the store, brought a pod."""

    def bound(self, pod: Object) -> None:
        """A scheduler has chosen a node for it: `spec.nodeName`."""

    def status_changed(self, pod: Object) -> None:
        """A scheduler said why a pod waits, or where it will make room for it (`status.nominatedNodeName`)."""

    def deleting(self, pod: Object) -> None:
        """A pod that is on a node is to end: whoever runs it takes it out of the store then."""

    def deleted(self, pod: Object) -> None:
        """A pod that was on no node is gone."""

    def refused(self, request: Request, error: StatusError) -> None:
        """A binding that cannot be."""


class Api:
    """The resources, verbs, watches and patches of the Kubernetes API that schedulers, kubectl and clients use."""

    def __init__(self, store: Store, listener: Listener | None = None) -> None:
        self.store = store
        self.listener = Listener() if listener is None else listener

    def handle(self, request: Request) -> Response | Watch:
        """Never raises: what is wrong with a request is told in its answer."""
        try:
            return self._handle(request)
        except StatusError as error:
            return failure(error)
        except RecursionError:
            return failure(StatusError(400, "the body of the request is nested too deeply"))

    def _handle(self, request: Request) -> Response | Watch:
        place = self._place(request)
        if isinstance(place, Response):
            return place
        if place.part and not (place.name and place.part in (*place.kind.subresources, "")):
            raise StatusError(404, "the server could not find the requested resource")
        match request.method:
            case "GET" | "HEAD":
                return self._read(place, request)
            case "POST":
                return self._create(place, request)
            case "PUT" | "PATCH" if place.name and place.part in ("", "status"):
                return self._update(place, request)
            case "DELETE" if not place.part:
                return self._delete(place, request)
        raise StatusError(405, f"the server does not allow the method {request.method} on the requested resource")

    def _place(self, request: Request) -> Place | Response:
        path = unquote(request.path) if "%" in request.path else request.path
        parts = path.strip("/").split("/")
        if parts[0] == "api" and len(parts) > 2:
            group_version, rest = parts[1], parts[2:]
        elif parts[0] == "apis" and len(parts) > 3:
            group_version, rest = f"{parts[1]}/{parts[2]}", parts[3:]
        else:
            if request.method not in ("GET", "HEAD"):
                raise StatusError(
                    405, f"the server does not allow the method {request.method} on the requested resource"
                )
            return discovery.answer(path)
        namespace = ""
        if rest[0] == "namespaces" and len(rest) > 2 and rest[2] not in ("status", "finalize"):
            namespace, rest = rest[1], rest[2:]
        if rest == ["bindings"] and namespace and request.method == "POST":  # an older way to bind a pod
            return Place(PODS, namespace, name_in(request), "binding")
        kind = _KINDS.get((group_version, rest[0]))
        if kind is None or len(rest) > 3 or (namespace and not kind.namespaced):
            raise StatusError(404, "the server could not find the requested resource")
        name, part = (*rest[1:], "", "")[:2]
        if name and kind.namespaced and not namespace:
            raise StatusError(404, f"{kind.qualified} {name!r} has to be asked for in its namespace")
        return Place(kind, namespace, name, part)

    # Reading.

    def _read(self, place: Place, request: Request) -> Response | Watch:
        form = lists.Form.asked(
            place.kind, self.store.clock, request.headers.get("accept", ""), request.query.get("includeObject", "")
        )
        if place.name:
            found = self.store.get(place.kind, place.namespace, place.name)
            return Response(200, form.one(found))
        query = request.query
        labels = query.get("labelSelector", "")
        chosen = selector(place.kind, place.namespace, query.get("fieldSelector", ""), labels)
        if query.get("watch") in ("1", "true"):
            return self._watch(place.kind, chosen, form, query)
        return Response(200, lists.listed(self.store, place.kind, chosen, form, query))

    def _watch(self, kind: Kind, chosen: Any, form: lists.Form, query: Mapping[str, str]) -> Watch:
        since = lists.number(query, "resourceVersion")
        initial = query.get("sendInitialEvents") in ("1", "true")
        watch = Watch(kind, chosen, form.one, query.get("allowWatchBookmarks") in ("1", "true"))
        watch.timeout = float(lists.number(query, "timeoutSeconds") or 0)
        self.store.watch(watch, since or None, initial)
        return watch

    # Changing.

    def _create(self, place: Place, request: Request) -> Response:
        body = content(request)
        if place.part == "binding":
            try:
                return self._bind(place, body)
            except StatusError as error:
                self.listener.refused(request, error)
                raise
        if place.part == "eviction":
            return self._evict(place, body)
        if place.name:
            raise StatusError(405, "the server does not allow this method on the requested resource")
        if place.kind.namespaced and not place.namespace:
            raise StatusError(405, f"{place.kind.qualified} are created in a namespace")
        refuse_dry_run(request)
        found = admit(self.store, place.kind, place.namespace, body)
        made = self.store.create(place.kind, from_new(found) if place.kind is NEW_EVENTS else found)
        if place.kind is PODS:
            self.listener.created(made.object)
        return Response(201, _shown(place.kind, made))

    def _bind(self, place: Place, body: Any) -> Response:
        target = body.get("target") if isinstance(body, dict) else None
        node = target.get("name") if isinstance(target, dict) else None
        if not isinstance(node, str) or not node:
            raise invalid("Binding", place.name, [("target.name", "Required value")])
        pod = self.store.get(PODS, place.namespace, place.name).object
        metadata = body.get("metadata")
        metadata = metadata if isinstance(metadata, dict) else {}
        check_uid(PODS, pod, metadata.get("uid"))
        if assigned := pod["spec"].get("nodeName"):
            raise conflict("pods/binding", place.name, f'pod {place.name} is already assigned to node "{assigned}"')
        if "deletionTimestamp" in pod["metadata"]:
            raise conflict(
                "pods/binding", place.name, f"pod {place.name} is being deleted, cannot be assigned to a host"
            )
        if self.store.find(NODES, "", node) is None:
            raise StatusError(
                404,
                f'nodes "{node}" not found: pod {place.name} cannot be bound to it',
                details={"name": node, "kind": "nodes"},
            )
        scheduled = {"type": "PodScheduled", "status": "True", "lastTransitionTime": self.store.timestamp()}
        status = pod.get("status") or {}
        others = [one for one in status.get("conditions") or [] if one.get("type") != "PodScheduled"]
        bound = self.store.replace(
            PODS,
            {
                **pod,
                "spec": {**pod["spec"], "nodeName": node},
                "status": {**status, "conditions": [*others, scheduled]},
            },
        )
        self.listener.bound(bound.object)
        return Response(201, encode(success(201)))

    def _evict(self, place: Place, body: Any) -> Response:
        options = body.get("deleteOptions") if isinstance(body, dict) else None
        self._remove(place.kind, place.namespace, place.name, options_of(options))
        return Response(201, encode(success(201)))

    def _update(self, place: Place, request: Request) -> Response:
        refuse_dry_run(request)
        old = self.store.get(place.kind, place.namespace, place.name).object
        media = media_type(request)
        patching = request.method == "PATCH"
        if patching and media not in PATCHES:
            message = (
                f"the body of the request was in an unknown format - accepted media types include: {', '.join(PATCHES)}"
            )
            raise StatusError(415, message)
        body = decoded(request.body) if patching else content(request)
        if place.kind is NEW_EVENTS and isinstance(body, dict):
            body = from_new(body)
        kind = self.store.collection(place.kind).kind
        new = apply_patch(media, old, body) if patching else body
        new = addressed(kind, place.namespace, new)
        metadata = new["metadata"]
        if metadata.get("name", place.name) != place.name:
            message = f"the name of the object ({metadata['name']}) does not match the name on the URL ({place.name})"
            raise StatusError(400, message)
        check_uid(kind, old, metadata.get("uid"))
        expected = "" if patching and not names_version(body) else str(metadata.get("resourceVersion") or "")
        if place.part == "status":
            new = {**old, "status": new.get("status")}
        elif "status" in kind.subresources:
            new = {**new, "status": old["status"]} if "status" in old else _without(new, "status")
        new = {**new, "metadata": {**metadata, "name": place.name}} if place.part != "status" else new
        check_shape(kind, new)
        if kind is PODS:
            refuse_other_node(old, new)
        made = self.store.replace(kind, new, expected)
        if kind is PODS and place.part == "status":
            self.listener.status_changed(made.object)
        return Response(200, _shown(place.kind, made))

    def _delete(self, place: Place, request: Request) -> Response:
        refuse_dry_run(request)
        options = options_of(content(request) if request.body else None)
        if "gracePeriodSeconds" in request.query:
            options = {**options, "gracePeriodSeconds": lists.number(request.query, "gracePeriodSeconds")}
        if place.name:
            gone = self._remove(place.kind, place.namespace, place.name, options)
            if place.kind is PODS:
                return Response(200, gone.json)
            details = {"name": place.name, "kind": place.kind.plural, "uid": gone.object["metadata"]["uid"]}
            return Response(200, encode(success(200, details)))
        query = request.query
        chosen = selector(place.kind, place.namespace, query.get("fieldSelector", ""), query.get("labelSelector", ""))
        found = self.store.list(place.kind, chosen)
        for (namespace, name), _ in found:
            self._remove(place.kind, namespace, name, options)
        return Response(200, lists.Form(place.kind, self.store.clock).many(found, self.store.version, {}))

    def _remove(self, kind: Kind, namespace: str, name: str, options: Object) -> Version:
        """Pods on nodes have time to end, unless the grace period is 0; everything else goes at once."""
        old = self.store.get(kind, namespace, name)
        wanted = options.get("preconditions") or {}
        check_uid(kind, old.object, wanted.get("uid"))
        if wanted.get("resourceVersion", str(old.number)) != str(old.number):
            raise conflict(kind.qualified, name, "the ResourceVersion in the precondition is not that of the object")
        if kind is not PODS:
            return self.store.delete(kind, namespace, name)
        grace = options.get("gracePeriodSeconds")
        if grace is None:
            grace = old.object["spec"].get("terminationGracePeriodSeconds", 30)
        phase = (old.object.get("status") or {}).get("phase")
        if not grace or not old.object["spec"].get("nodeName") or phase in ("Succeeded", "Failed"):
            gone = self.store.delete(kind, namespace, name)
            self.listener.deleted(gone.object)
            return gone
        if "deletionTimestamp" in old.object["metadata"]:
            return old
        marked = {
            **old.object["metadata"],
            "deletionTimestamp": self.store.timestamp(),
            "deletionGracePeriodSeconds": grace,
        }
        ending = self.store.replace(kind, {**old.object, "metadata": marked})
        self.listener.deleting(ending.object)
        return ending


def _without(found: Object, key: str) -> Object:
    return {name: value for name, value in found.items() if name != key}


def _shown(kind: Kind, found: Version) -> bytes:
    return encode(to_new(found.object)) if kind is NEW_EVENTS else found.json
