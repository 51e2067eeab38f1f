"""How objects leave: finalizers, the contents of namespaces, and what they own.

What follows from a deletion is done later, in pieces (`settle`), as the controllers of a cluster would do it: the
garbage collector and the namespace controller (pkg/controller/garbagecollector and pkg/controller/namespace of
k8s.io/kubernetes). Their semantics are told in https://kubernetes.io/docs/concepts/architecture/garbage-collection and
…/concepts/overview/working-with-objects/finalizers.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator

from schedlab.bridge.kubernetes.kinds import KINDS, NAMESPACES, Kind
from schedlab.bridge.kubernetes.selectors import Object
from schedlab.bridge.kubernetes.status import StatusError, invalid
from schedlab.bridge.kubernetes.store import Change, Key, Store, Version, timestamp

ORPHAN, FOREGROUND = "orphan", "foregroundDeletion"  # finalizers of the garbage collector
POLICIES = ("Background", "Foreground", "Orphan")
IMMORTAL = ("default", "kube-public", "kube-system")
TERMINATING = "Terminating"
_PIECE = 200  # objects between which others have their turn

Reference = tuple[Kind, Key]


def marked(store: Store, kind: Kind, old: Object, finalizers: list[str], grace: int = 0) -> Version:
    """An object that is to go in `grace` seconds, or when its finalizers have gone, and is still there."""
    metadata = dict(old["metadata"])
    if "generation" in metadata and "deletionTimestamp" not in metadata:
        metadata["generation"] += 1
    metadata["deletionTimestamp"] = timestamp(store.clock() + grace)
    metadata["deletionGracePeriodSeconds"] = grace
    if finalizers or "finalizers" in metadata:
        metadata["finalizers"] = finalizers
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
    return marked(store, kind, old.object, finalizers)


def finalizers_of(options: Object, metadata: Object, owns: bool) -> list[str]:
    """Those of an object that is deleted: the options, or else itself, say what becomes of what it owns."""
    found = list(metadata.get("finalizers") or ())
    others = [one for one in found if one not in (ORPHAN, FOREGROUND)]
    policy = options.get("propagationPolicy")
    if options.get("orphanDependents") is not None:
        policy = "Orphan" if options["orphanDependents"] else "Background"
    if policy is None:
        policy = "Orphan" if ORPHAN in found else "Foreground" if FOREGROUND in found else "Background"
    wanted = {"Orphan": [ORPHAN], "Foreground": [FOREGROUND], "Background": []}[policy]
    return others + (wanted if owns else [])


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


def _takes_along(found: Object) -> bool:
    """Whether it is going, and what it owns goes first."""
    metadata = found["metadata"]
    return "deletionTimestamp" in metadata and FOREGROUND in (metadata.get("finalizers") or ())


def check_namespace(store: Store, kind: Kind, namespace: str, name: str) -> None:
    """Nothing new in a namespace that goes."""
    found = store.find(NAMESPACES, "", namespace)
    if found is not None and "deletionTimestamp" in found["metadata"]:
        why = f"unable to create new content in namespace {namespace} because it is being terminated"
        cause = {"reason": "NamespaceTerminating", "message": f"namespace {namespace} is being terminated"}
        details = {"name": name, "kind": kind.plural, "causes": [{**cause, "field": "metadata.namespace"}]}
        raise StatusError(403, f'{kind.qualified} "{name}" is forbidden: {why}', details=details)


class Lifecycle:
    """`remove` is called for what is to go in consequence: as if somebody had deleted it. `lasts` says whether an
    object, by its kind and name, never goes."""

    def __init__(
        self,
        store: Store,
        remove: Callable[[Kind, str, str, Object], object],
        lasts: Callable[[Kind, str], bool] = lambda kind, name: False,
    ) -> None:
        self._store, self._remove, self._lasts = store, remove, lasts
        self._kinds = {(kind.group_version, kind.name): kind for kind in KINDS if not kind.stored_as[0]}
        self._owned: dict[str, set[Reference]] = {}  # by the uid of an owner
        # What is left in namespaces that go; None: nobody has looked yet.
        self._leaving: dict[str, set[Reference] | None] = {}
        self._looked_at: set[str] = set()  # uids of owners that are going to be
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

    def wait(self, kind: Kind, found: Version) -> None:
        """An object has been marked: what it waits for is begun."""
        metadata = found.object["metadata"]
        finalizers = metadata.get("finalizers") or ()
        if kind is NAMESPACES:
            self._leaving[metadata["name"]] = None
            self._begin(self._empty(metadata["name"]))
        if ORPHAN in finalizers:
            self._begin(self._orphan(kind, found.object))
        if FOREGROUND in finalizers:
            self._look_at(kind, found.object)

    def released(self, kind: Kind, found: Version) -> Version:
        """An object goes if it is marked, and waits for nothing any more."""
        metadata = found.object["metadata"]
        if metadata.get("finalizers") or metadata.get("deletionGracePeriodSeconds", 1) != 0:
            return found
        if kind is NAMESPACES and metadata["name"] in self._leaving:
            return found
        return finish(self._store, kind, metadata.get("namespace", ""), metadata["name"])

    def _begin(self, work: Iterator[None]) -> None:
        self._work.append(work)
        self.later()

    def _look_at(self, kind: Kind, owner: Object) -> None:
        """Whether what it owns has gone; once, however much of it goes until then."""
        if owner["metadata"]["uid"] not in self._looked_at:
            self._looked_at.add(owner["metadata"]["uid"])
            self._begin(self._foreground(kind, owner))

    # Who owns whom.

    def _listener(self, kind: Kind) -> Callable[[Change], None]:
        def listen(change: Change) -> None:
            old, new = change.old, change.new.object
            metadata = new["metadata"]
            gone = change.what == "DELETED"
            before = old.object["metadata"].get("ownerReferences") if old is not None else None
            if (before or metadata.get("ownerReferences")) and not self._lasts(kind, metadata["name"]):
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
            if owner is not None and _takes_along(owner[1].object):
                self._look_at(owner[0], owner[1].object)
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

    def _staying(self, found: Object) -> list[Object]:
        """Its references to owners that are there, and do not take along what they own."""
        metadata = found["metadata"]
        owners = ((one, self._owner(one, metadata.get("namespace", ""))) for one in metadata["ownerReferences"])
        return [one for one, owner in owners if owner is not None and not _takes_along(owner[1].object)]

    def _left_to(self, kind: Kind, found: Object, owners: list[Object]) -> None:
        self._store.replace(kind, {**found, "metadata": {**found["metadata"], "ownerReferences": owners}})

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
            if others := self._staying(found):
                self._left_to(kind, found, others)
            else:
                self._remove(kind, found["metadata"].get("namespace", ""), found["metadata"]["name"], {})

    def _orphan(self, kind: Kind, owner: Object) -> Iterator[None]:
        """What it owns is nobody's from now on."""
        uid = owner["metadata"]["uid"]
        for one in self._in_pieces(self._owned.get(uid, set())):
            if one is None:
                yield
                continue
            other, found = one
            self._left_to(other, found, [one for one in found["metadata"]["ownerReferences"] if one["uid"] != uid])
        self._release(kind, owner, ORPHAN)

    def _foreground(self, kind: Kind, owner: Object) -> Iterator[None]:
        """What it owns, and no other owner keeps, goes first; those that block it are waited for, unless they wait for
        it themselves."""
        uid = owner["metadata"]["uid"]
        self._looked_at.discard(uid)
        blocked = False
        above: set[str] | None = None
        for one in self._in_pieces(self._owned.get(uid, set())):
            if one is None:
                yield
                continue
            other, found = one
            metadata = found["metadata"]
            if "deletionTimestamp" not in metadata:
                if others := self._staying(found):
                    self._left_to(other, found, others)
                    continue
                policy = {"propagationPolicy": "Foreground"} if self.owns(found) else {}
                where = (metadata.get("namespace", ""), metadata["name"])
                self._remove(other, *where, policy)
                if self._store.find(other, *where) is None:
                    continue
            elif _takes_along(found):
                above = self._above(owner) if above is None else above
                if metadata["uid"] in above:
                    continue
            blocked |= any(one["uid"] == uid and one.get("blockOwnerDeletion") for one in metadata["ownerReferences"])
        if not blocked:
            self._release(kind, owner, FOREGROUND)

    def _above(self, found: Object) -> set[str]:
        """Who waits for it, with all who wait for them."""
        known = {found["metadata"]["uid"]}
        todo = [found]
        while todo:
            metadata = todo.pop()["metadata"]
            for one in metadata.get("ownerReferences") or ():
                owner = self._owner(one, metadata.get("namespace", ""))
                if owner is not None and one["uid"] not in known and _takes_along(owner[1].object):
                    known.add(one["uid"])
                    todo.append(owner[1].object)
        return known

    def _release(self, kind: Kind, owner: Object, finalizer: str) -> None:
        namespace, name = owner["metadata"].get("namespace", ""), owner["metadata"]["name"]
        found = self._store.find(kind, namespace, name)
        if found is None or found["metadata"]["uid"] != owner["metadata"]["uid"]:
            return
        others = [one for one in found["metadata"].get("finalizers") or () if one != finalizer]
        self.released(
            kind, self._store.replace(kind, {**found, "metadata": {**found["metadata"], "finalizers": others}})
        )

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
