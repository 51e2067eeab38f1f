"""How objects leave: finalizers, the contents of namespaces, and what they own.

What follows from a deletion is done later, in pieces (`settle`), as the controllers of a cluster would do it: the
garbage collector and the namespace controller (pkg/controller/garbagecollector and pkg/controller/namespace of
k8s.io/kubernetes). Their semantics are told in https://kubernetes.io/docs/concepts/architecture/garbage-collection and
…/concepts/overview/working-with-objects/finalizers.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

from schedlab.bridge.kubernetes.kinds import KINDS, NAMESPACES, Kind
from schedlab.bridge.kubernetes.selectors import Object
from schedlab.bridge.kubernetes.status import StatusError, invalid
from schedlab.bridge.kubernetes.store import Change, Key, Store, Version

ORPHAN, FOREGROUND = "orphan", "foregroundDeletion"  # finalizers of the garbage collector
POLICIES = ("Background", "Foreground", "Orphan")
IMMORTAL = ("default", "kube-public", "kube-system")
TERMINATING = "Terminating"
_PIECE = 200  # objects between which others have their turn

Reference = tuple[Kind, Key]


def marked(store: Store, kind: Kind, old: Object, finalizers: list[str], **more: Any) -> Version:
    """An object that is going to be deleted, but is still there."""
    metadata = {**old["metadata"], "deletionTimestamp": store.timestamp(), **more}
    metadata.setdefault("deletionGracePeriodSeconds", 0)
    if finalizers:
        metadata["finalizers"] = finalizers
    if "generation" in metadata:
        metadata["generation"] += 1
    changed = {**old, "metadata": metadata}
    if kind is NAMESPACES:
        changed["status"] = {**(old.get("status") or {}), "phase": TERMINATING}
    return store.replace(kind, changed)


def finish(store: Store, kind: Kind, namespace: str, name: str) -> Version:
    """Takes an object away whose time is over; it stays, marked, while it has finalizers."""
    old = store.get(kind, namespace, name)
    metadata = old.object["metadata"]
    finalizers = metadata.get("finalizers") or []
    if not finalizers:
        return store.delete(kind, namespace, name)
    if metadata.get("deletionGracePeriodSeconds") == 0:
        return old
    return marked(store, kind, old.object, finalizers, deletionGracePeriodSeconds=0)


def kept_marks(old: Object, metadata: Object) -> Object:
    """The metadata of an update, in which nobody takes back a deletion or adds a reason to wait to it."""
    before = old["metadata"]
    marks = {name: before[name] for name in ("deletionTimestamp", "deletionGracePeriodSeconds") if name in before}
    found = {name: value for name, value in metadata.items() if not name.startswith("deletion")} | marks
    if marks and (added := set(found.get("finalizers") or ()) - set(before.get("finalizers") or ())):
        names = ", ".join(f'"{name}"' for name in sorted(added))
        why = "Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers "
        raise invalid(old["kind"], before["name"], [("metadata.finalizers", why + f"[]string{{{names}}}")])
    return found


def check_namespace(store: Store, kind: Kind, namespace: str, name: str) -> None:
    """Nothing new in a namespace that goes."""
    found = store.find(NAMESPACES, "", namespace)
    if found is not None and "deletionTimestamp" in found["metadata"]:
        why = f"unable to create new content in namespace {namespace} because it is being terminated"
        cause = {"reason": "NamespaceTerminating", "message": f"namespace {namespace} is being terminated"}
        details = {"name": name, "kind": kind.plural, "causes": [{**cause, "field": "metadata.namespace"}]}
        raise StatusError(403, f'{kind.qualified} "{name}" is forbidden: {why}', details=details)


class Lifecycle:
    """`remove` is called for what is to go in consequence: as if somebody had deleted it."""

    def __init__(self, store: Store, remove: Callable[[Kind, str, str, Object], object]) -> None:
        self._store, self._remove = store, remove
        self._kinds = {(kind.group_version, kind.name): kind for kind in KINDS if not kind.stored_as[0]}
        self._owned: dict[str, set[Reference]] = {}  # by the uid of an owner
        self._leaving: dict[str, set[Reference]] = {}  # what is left in namespaces that go
        self._work: deque[Iterator[None]] = deque()
        self.later: Callable[[], object] = lambda: None  # asks for `settle` to be called
        for collection in store.collections():
            for key, version in collection.objects.items():
                self._own(collection.kind, key, None, version.object)
            store.listen(collection.kind, self._listener(collection.kind))

    @property
    def busy(self) -> bool:
        return bool(self._work)

    def settle(self) -> bool:
        """Does a piece of what is to be done; whether there is more."""
        if self._work:
            try:
                next(self._work[0])
            except StopIteration:
                self._work.popleft()
        return bool(self._work)

    def owns(self, found: Object) -> bool:
        return bool(self._owned.get(found["metadata"]["uid"]))

    def missing(self, found: Object) -> list[str]:
        """Owners that an object names and that are not there."""
        namespace = found["metadata"].get("namespace", "")
        owners = found["metadata"].get("ownerReferences") or []
        return [f"{one['kind']} {one['name']}" for one in owners if not self._lives(one, namespace)]

    def wait(self, kind: Kind, found: Version, policy: str) -> None:
        """An object has been marked: what it waits for is begun."""
        metadata = found.object["metadata"]
        if kind is NAMESPACES:
            self._begin(self._empty(metadata["name"]))
        elif policy == "Orphan":
            self._begin(self._orphan(kind, found.object))
        elif policy == "Foreground":
            self._begin(self._foreground(kind, found.object))

    def _begin(self, work: Iterator[None]) -> None:
        self._work.append(work)
        self.later()

    # Who owns whom.

    def _listener(self, kind: Kind) -> Callable[[Change], None]:
        def listen(change: Change) -> None:
            old, new = change.old, change.new.object
            metadata = new["metadata"]
            gone = change.what == "DELETED"
            before = old.object["metadata"].get("ownerReferences") if old is not None else None
            if before or metadata.get("ownerReferences"):
                key = (metadata.get("namespace", ""), metadata["name"])
                self._own(kind, key, old.object if old is not None else None, None if gone else new)
            if gone:
                self._gone(kind, new)

        return listen

    def _own(self, kind: Kind, key: Key, old: Object | None, new: Object | None) -> None:
        before, after = (
            {one["uid"] for one in found["metadata"].get("ownerReferences") or ()} if found is not None else set()
            for found in (old, new)
        )
        for uid in before - after:
            owned = self._owned.get(uid, set())
            owned.discard((kind, key))
            if not owned:
                self._owned.pop(uid, None)
        for uid in after - before:
            self._owned.setdefault(uid, set()).add((kind, key))

    def _gone(self, kind: Kind, found: Object) -> None:
        metadata = found["metadata"]
        if metadata["uid"] in self._owned:
            self._begin(self._background(metadata["uid"]))
        for one in metadata.get("ownerReferences") or ():
            owner = self._owner(one, metadata.get("namespace", ""))
            if owner is not None and FOREGROUND in (owner[1].object["metadata"].get("finalizers") or ()):
                self._begin(self._foreground(owner[0], owner[1].object))
        left = self._leaving.get(metadata.get("namespace", ""))
        if left is not None:
            left.discard((kind, (metadata["namespace"], metadata["name"])))
            if not left:
                self._begin(self._empty(metadata["namespace"]))

    def _owner(self, reference: Object, namespace: str) -> tuple[Kind, Version] | None:
        kind = self._kinds.get((reference["apiVersion"], reference["kind"]))
        if kind is None:
            return None
        key = (namespace if kind.namespaced else "", reference["name"])
        found = self._store.collection(kind).objects.get(key)
        return (kind, found) if found is not None and found.object["metadata"]["uid"] == reference["uid"] else None

    def _lives(self, reference: Object, namespace: str) -> bool:
        return self._owner(reference, namespace) is not None

    def _found(self, reference: Reference) -> Object | None:
        kind, (namespace, name) = reference
        return self._store.find(kind, namespace, name)

    def _in_pieces(self, references: set[Reference]) -> Iterator[tuple[Kind, Object] | None]:
        """Those that are there, in order; nothing where others are to have their turn."""
        for number, one in enumerate(sorted(references, key=lambda one: (one[0].qualified, one[1])), start=1):
            if (found := self._found(one)) is not None:
                yield one[0], found
            if number % _PIECE == 0:
                yield None

    # What is done.

    def _background(self, uid: str) -> Iterator[None]:
        """The owner has gone: what nobody else owns goes, too."""
        for one in self._in_pieces(self._owned.get(uid, set())):
            if one is None:
                yield
                continue
            kind, found = one
            namespace = found["metadata"].get("namespace", "")
            living = [one for one in found["metadata"]["ownerReferences"] if self._lives(one, namespace)]
            if living:
                self._store.replace(kind, {**found, "metadata": {**found["metadata"], "ownerReferences": living}})
            else:
                self._remove(kind, namespace, found["metadata"]["name"], {})

    def _orphan(self, kind: Kind, owner: Object) -> Iterator[None]:
        """What it owns is nobody's from now on."""
        uid = owner["metadata"]["uid"]
        for one in self._in_pieces(self._owned.get(uid, set())):
            if one is None:
                yield
                continue
            other, found = one
            others = [one for one in found["metadata"]["ownerReferences"] if one["uid"] != uid]
            self._store.replace(other, {**found, "metadata": {**found["metadata"], "ownerReferences": others}})
        self._release(kind, owner, ORPHAN)

    def _foreground(self, kind: Kind, owner: Object) -> Iterator[None]:
        """What it owns goes first; those that block it are waited for."""
        uid = owner["metadata"]["uid"]
        blocked = False
        for one in self._in_pieces(self._owned.get(uid, set())):
            if one is None:
                yield
                continue
            other, found = one
            metadata = found["metadata"]
            if "deletionTimestamp" not in metadata:
                policy = "Foreground" if self.owns(found) else "Background"
                where = (metadata.get("namespace", ""), metadata["name"])
                self._remove(other, *where, {"propagationPolicy": policy})
                if self._store.find(other, *where) is None:
                    continue
            blocked |= any(one["uid"] == uid and one.get("blockOwnerDeletion") for one in metadata["ownerReferences"])
        if not blocked:
            self._release(kind, owner, FOREGROUND)

    def _release(self, kind: Kind, owner: Object, finalizer: str) -> None:
        namespace, name = owner["metadata"].get("namespace", ""), owner["metadata"]["name"]
        found = self._store.find(kind, namespace, name)
        if found is None or found["metadata"]["uid"] != owner["metadata"]["uid"]:
            return
        others = [one for one in found["metadata"].get("finalizers") or () if one != finalizer]
        released = {**found, "metadata": {**found["metadata"], "finalizers": others}}
        self._store.replace(kind, released)
        if not others and not found["metadata"].get("deletionGracePeriodSeconds"):
            finish(self._store, kind, namespace, name)

    def _empty(self, namespace: str) -> Iterator[None]:
        """All that is in a namespace goes, and then itself."""
        left = {
            (collection.kind, key)
            for collection in self._store.collections()
            if collection.kind.namespaced
            for key in collection.objects
            if key[0] == namespace
        }
        self._leaving[namespace] = left
        for one in self._in_pieces(set(left)):
            if one is None:
                yield
                continue
            kind, found = one
            if "deletionTimestamp" not in found["metadata"]:
                self._remove(kind, namespace, found["metadata"]["name"], {})
        if not left:
            del self._leaving[namespace]
            if self._store.find(NAMESPACES, "", namespace) is not None:
                finish(self._store, NAMESPACES, "", namespace)
