"""The API server as a function: a request in, an answer or a watch out, one at a time and without input or output.

What a transport has to do with an answer is `http.py`; where clients' decisions go is `Listener`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from schedlab.bridge.kubernetes import discovery, lists
from schedlab.bridge.kubernetes.admission import addressed, admit, check_shape, check_update, updated_pod
from schedlab.bridge.kubernetes.allowances import Allowances
from schedlab.bridge.kubernetes.checks import (
    check_change,
    check_preconditions,
    check_uid,
    content,
    decoded,
    media_type,
    name_in,
    name_of,
    names_version,
    number,
    options_of,
    weigh,
)
from schedlab.bridge.kubernetes.event_forms import from_new, to_new
from schedlab.bridge.kubernetes.evictions import Evictions, disrupted
from schedlab.bridge.kubernetes.kinds import (
    BUDGETS,
    CONTROLLED,
    KINDS,
    NAMESPACES,
    NEW_EVENTS,
    NODES,
    PODS,
    QUOTAS,
    Kind,
)
from schedlab.bridge.kubernetes.lifecycle import IMMORTAL, Lifecycle, finalizers_of, finish, kept_marks, marked
from schedlab.bridge.kubernetes.messages import Request, Response, failure, warning
from schedlab.bridge.kubernetes.patches import PATCHES, apply_patch, same
from schedlab.bridge.kubernetes.selectors import Object, selector
from schedlab.bridge.kubernetes.shapes import check_types
from schedlab.bridge.kubernetes.status import StatusError, conflict, invalid, shortened, success
from schedlab.bridge.kubernetes.store import Store, Version, Watch, encode

_OF_THE_SIMULATION = "what nodes there are, and what they have, is said by the simulation: --cluster"
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

    own: frozenset[Kind] = frozenset()  # kinds of which clients can neither make nor delete objects

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
        own = self.listener.own
        self.lifecycle = Lifecycle(
            store, self._remove, lambda kind, name: kind in own or (kind is NAMESPACES and name in IMMORTAL)
        )
        self.allowances = Allowances(store)
        self.evictions = Evictions(store, self._remove)
        self._later: Callable[[], object] | None = None

    @property
    def later(self) -> Callable[[], object] | None:
        """Asks for `settle`, when there is something to settle; without it, everything is settled at once."""
        return self._later

    @later.setter
    def later(self, later: Callable[[], object]) -> None:
        self._later = self.lifecycle.later = later

    def settle(self) -> bool:
        """Does a piece of what follows from changes; whether there is more."""
        return self.lifecycle.settle()

    def handle(self, request: Request) -> Response | Watch:
        """Never raises: what is wrong with a request is told in its answer."""
        try:
            answer = self._handle(request)
            while self._later is None and self.settle():
                pass
            return answer
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
            return Response(200, form(found))
        query = request.query
        lists.check_query(query)
        labels = query.get("labelSelector", "")
        chosen = selector(place.kind, place.namespace, query.get("fieldSelector", ""), labels)
        if lists.is_set(query, "watch"):
            return self._watch(place.kind, chosen, form, query)
        return Response(200, lists.listed(self.store, place.kind, chosen, form, query))

    def _watch(self, kind: Kind, chosen: Any, form: lists.Form, query: Mapping[str, str]) -> Watch:
        since = number(query, "resourceVersion")
        initial = lists.is_set(query, "sendInitialEvents")
        watch = Watch(kind, chosen, form, lists.is_set(query, "allowWatchBookmarks"))
        watch.timeout = float(number(query, "timeoutSeconds") or 0)
        self.store.watch(watch, since or None, initial)
        return watch

    # Changing.

    def _create(self, place: Place, request: Request) -> Response:
        check_change(request.query)
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
        if place.kind in self.listener.own:
            raise StatusError(403, f"{place.kind.qualified} is forbidden: {_OF_THE_SIMULATION}")
        weight = weigh(body, request.body)
        found = admit(self.store, place.kind, place.namespace, body)
        if place.kind is PODS:
            self.allowances.admit_pod(found)
        elif place.kind in (QUOTAS, BUDGETS):
            self.allowances.check_number(place.namespace)
        made = self.store.create(place.kind, from_new(found) if place.kind is NEW_EVENTS else found, weight)
        if place.kind is PODS:
            self.listener.created(made.object)
        return Response(201, _shown(place.kind, made), headers=self._warnings(place.kind, made.object, request.query))

    def _warnings(self, kind: Kind, found: Object, query: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
        """What a client should know of an object that was accepted; kubectl prints it."""
        words = _unchecked(query)
        if kind is PODS and self.listener.own:
            words.append("the pods that run here are those of the simulation's jobs: this one will never run")
        if kind in CONTROLLED:
            words.append(f"no controller runs here: the {kind.name} is stored, and nothing is made of it")
        if missing := self.lifecycle.missing(found):
            owners = shortened(", ".join(missing))
            words.append(f"a cluster would collect this object, whose owner is not there: {owners}")
        return _headers(words)

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
        pod = self.store.get(PODS, place.namespace, place.name).object
        if not isinstance(body, dict) or name_of(body) not in ("", place.name):
            raise StatusError(400, "name in URL does not match name in Eviction object")
        options = options_of(body.get("deleteOptions"))
        check_preconditions(PODS, self.store.get(PODS, place.namespace, place.name), options)
        self.allowances.check_eviction(pod)
        why = "Eviction API: evicting"
        self.store.replace(PODS, disrupted(pod, "EvictionByEvictionAPI", why, self.store.timestamp()))
        self._remove(place.kind, place.namespace, place.name, {**options, "preconditions": None})
        return Response(201, encode(success(201)))

    def _update(self, place: Place, request: Request) -> Response:
        check_change(request.query)
        before = self.store.get(place.kind, place.namespace, place.name)
        old = before.object
        media = media_type(request)
        patching = request.method == "PATCH"
        if patching and media not in PATCHES:
            message = (
                f"the body of the request was in an unknown format - accepted media types include: {', '.join(PATCHES)}"
            )
            if media.startswith("application/apply-patch"):
                message += "; server-side apply is not served here: kubectl apply without --server-side"
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
        check_types(kind, new)
        if place.part != "status":  # of which the rest has been looked at
            check_shape(kind, new)
        if place.part == "status" and kind in self.listener.own:
            raise StatusError(403, f'{kind.qualified} "{place.name}" is forbidden: {_OF_THE_SIMULATION}')
        if place.part != "status":
            new = updated_pod(old, new) if kind is PODS else new
            new = {**new, "metadata": self._next_metadata(kind, old, new)}
            check_update(self.store, kind, old, new)
        weight = weigh(new, encode(new) if patching else request.body)
        if expected in ("", "0", str(before.number)) and _changes_nothing(old, new):
            return Response(200, _shown(place.kind, before), headers=_headers(_unchecked(request.query)))
        made = self.store.replace(kind, new, expected, weight)
        made = self.lifecycle.released(kind, made)
        if kind is PODS and place.part == "status":
            self.listener.status_changed(made.object)
        return Response(200, _shown(place.kind, made), headers=_headers(_unchecked(request.query)))

    def _next_metadata(self, kind: Kind, old: Object, new: Object) -> Object:
        metadata = {**kept_marks(old, new["metadata"]), "name": old["metadata"]["name"]}
        if (generation := old["metadata"].get("generation")) is not None:
            metadata["generation"] = generation + (new.get("spec") != old.get("spec"))
        return metadata

    def _delete(self, place: Place, request: Request) -> Response:
        check_change(request.query)
        options = options_of(content(request) if request.body else None, request.query)
        if place.kind in self.listener.own:
            raise StatusError(403, f"{place.kind.qualified} is forbidden: {_OF_THE_SIMULATION}")
        if place.kind is NAMESPACES and not place.name:
            raise StatusError(405, "the server does not allow this method on the requested resource")
        if place.name:
            gone = self._remove(place.kind, place.namespace, place.name, options)
            there = self.store.find(place.kind, place.namespace, place.name)
            if place.kind is PODS or there is not None:
                return Response(200, _shown(place.kind, gone))
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
        check_preconditions(kind, old, options)
        if kind is NAMESPACES and name in IMMORTAL:
            message = f'namespaces "{name}" is forbidden: this namespace may not be deleted'
            raise StatusError(403, message, details={"name": name, "kind": "namespaces"})
        metadata = old.object["metadata"]
        if "deletionTimestamp" in metadata and (kind is not PODS or options.get("gracePeriodSeconds") != 0):
            return old
        finalizers = finalizers_of(options, metadata, self.lifecycle.owns(old.object))
        grace = self._grace(old.object, options) if kind is PODS else 0
        if grace or ((finalizers or kind is NAMESPACES) and "deletionTimestamp" not in metadata):
            ending = marked(self.store, kind, old.object, finalizers, grace)
            self.lifecycle.wait(kind, ending)
            if kind is PODS:
                self.listener.deleting(ending.object)
            return ending
        gone = (finish if finalizers else Store.delete)(self.store, kind, namespace, name)
        if kind is PODS:
            self.listener.deleted(gone.object)
        return gone

    @staticmethod
    def _grace(pod: Object, options: Object) -> int:
        """Seconds; pods on nodes have time to end."""
        phase = (pod.get("status") or {}).get("phase")
        if not pod["spec"].get("nodeName") or phase in ("Succeeded", "Failed"):
            return 0
        grace = options.get("gracePeriodSeconds")
        grace = int(pod["spec"].get("terminationGracePeriodSeconds") or 0) if grace is None else int(grace)
        return grace if grace >= 0 else 1


def _unchecked(query: Mapping[str, str]) -> list[str]:
    if query.get("fieldValidation", "Ignore") in ("", "Ignore"):
        return []
    return ["fieldValidation: fields are compared with no schema here; those that nothing knows are kept as they are"]


def _headers(warnings: list[str]) -> tuple[tuple[str, str], ...]:
    return tuple(("Warning", warning(text)) for text in warnings)


def _changes_nothing(old: Object, new: Object) -> bool:
    kept = {name: old["metadata"][name] for name in ("uid", "creationTimestamp", "resourceVersion")}
    return same({**new, "metadata": {**new["metadata"], **kept}}, old)


def _without(found: Object, key: str) -> Object:
    return {name: value for name, value in found.items() if name != key}


def _shown(kind: Kind, found: Version) -> bytes:
    return encode(to_new(found.object)) if kind is NEW_EVENTS else found.json
