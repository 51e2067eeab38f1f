"""The objects of a cluster, their versions, and who watches them.

Objects are plain dictionaries as JSON has them, and are never changed in place: a change is a new dictionary that
shares what stayed the same. Everything here happens in one thread, that of whoever owns the store, and without input or
output: a server gives out what watches have, when it likes to.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import lru_cache
from math import inf
from typing import NamedTuple

import msgspec

from schedlab.bridge.kubernetes.kinds import EVENTS, KINDS, NAMESPACES, Kind
from schedlab.bridge.kubernetes.selectors import Object, Selector
from schedlab.bridge.kubernetes.status import StatusError, conflict, not_found

encode = msgspec.json.encode
Key = tuple[str, str]  # namespace, name

ADDED, MODIFIED, DELETED = "ADDED", "MODIFIED", "DELETED"
INITIAL_EVENTS_END = "k8s.io/initial-events-end"
HISTORY = 100_000  # changes of a kind that can be asked for again
EVENTS_ARE_KEPT = 3600.0  # seconds, as kube-apiserver has it
USUAL_WEIGHT = 8192  # of an object, at least: about the bytes that it takes
MOST_REMEMBERED = 1024**3  # weight of the changes of a kind that can be asked for again
QUOTA = 2 * 1024**3  # weight of what clients may have stored; etcd's --quota-backend-bytes has the same number
MOST_EVENTS = 100_000  # where there is a quota
_LAST_SECOND = 253_402_300_799  # of the year 9999


class Version:
    """An object as it was from a resourceVersion on."""

    __slots__ = ("_json", "number", "object", "weight")

    def __init__(self, number: int, found: Object, weight: int) -> None:
        self.number, self.object, self.weight = number, found, weight
        self._json = b""

    @property
    def json(self) -> bytes:
        """Made once, for whoever wants it: many events are never read."""
        if not self._json:
            self._json = encode(self.object)
        return self._json


class Change(NamedTuple):
    """What happened to one object. The new one of a deletion is what was deleted, with the version of the deletion."""

    what: str
    old: Version | None
    new: Version


class Watch:
    """Changes of a kind that somebody wants to know of, as frames that are due.

    `notify` is called whenever there is a new frame; who serves the watch takes them with `frames`.
    """

    def __init__(self, kind: Kind, chosen: Selector | None, form: Callable[[Version], bytes], bookmarks: bool) -> None:
        self.kind, self.bookmarks, self.form = kind, bookmarks, form
        self.chosen = chosen
        self.notify: Callable[[Watch], None] | None = None
        self.timeout = 0.0  # seconds after which it is to be ended; 0: none
        self.ended = False  # no further frames will come: the answer is complete
        self.unread = 0  # bytes that are due; what is still the store's own is none
        self._due: deque[bytes | tuple[str, Version]] = deque()

    def frames(self, most: float = inf) -> list[bytes]:
        """The frames that are due, in order, until they are so many bytes; each is one line of JSON."""
        found: list[bytes] = []
        size = 0
        while self._due and size < most:
            one = self._due.popleft()
            if isinstance(one, bytes):
                self.unread -= len(one)
            else:
                one = _frame(one[0], self.form(one[1]))
            found.append(one)
            size += len(one)
        return found

    def next_frame(self) -> bytes | None:
        """Only the first one that is due."""
        return next(iter(self.frames(1)), None)

    @property
    def due(self) -> int:
        return len(self._due)

    def tell(self, change: Change, made: dict[object, bytes] | None = None) -> None:
        """A change, if it concerns an object that this watch is about, as it looks through its selector. `made` are
        frames that other watches have of it: all that tell the same have the same bytes. Without, it has been, and is
        written when it is read."""
        what, old, new = change
        if self.chosen is not None:
            was = old is not None and self.chosen(old.object)
            if what == DELETED:
                if not was:
                    return
            elif self.chosen(new.object):
                what = MODIFIED if was else ADDED
            elif was:
                what = DELETED
            else:
                return
        if made is None:
            self._put((what, new))
            return
        frame = made.get((what, self.form))
        if frame is None:
            frame = made[what, self.form] = _frame(what, self.form(new))
        self._put(frame)

    def initial(self, version: Version) -> None:
        self._put((ADDED, version))

    def bookmark(self, version: int, initial_events_end: bool = False) -> None:
        """Up to this version everything has been told."""
        metadata: Object = {"resourceVersion": str(version), "creationTimestamp": None}
        if initial_events_end:
            metadata["annotations"] = {INITIAL_EVENTS_END: "true"}
        found = {"kind": self.kind.name, "apiVersion": self.kind.group_version, "metadata": metadata}
        self._send("BOOKMARK", encode(found))

    def fail(self, error: StatusError) -> None:
        """The last frame: why there will be no more."""
        self.ended = True
        self._send("ERROR", encode(error.body()))

    def _send(self, what: str, found: bytes) -> None:
        self._put(_frame(what, found))

    def _put(self, frame: bytes | tuple[str, Version]) -> None:
        self._due.append(frame)
        if isinstance(frame, bytes):
            self.unread += len(frame)
        if self.notify is not None:
            self.notify(self)


def _frame(what: str, found: bytes) -> bytes:
    return b'{"type":"%b","object":%b}\n' % (what.encode(), found)


class Collection:
    """All objects of a kind."""

    def __init__(self, kind: Kind) -> None:
        self.kind = kind
        self.objects: dict[Key, Version] = {}
        self.order: list[Key] = []  # of the objects; empty: not known
        self.history: deque[Change] = deque()
        self.forgotten = 0  # the newest version whose change is no longer in the history
        self.remembered = 0  # weight of what is in the history
        self.watches: list[Watch] = []
        self.listeners: list[Callable[[Change], None]] = []


class Store:
    """Collections with one count of versions. `clock` says the time, seconds since 1970: creations are dated by it.

    `quota` bounds the weight of all objects, where clients may store what they like.
    """

    def __init__(
        self, clock: Callable[[], float] = time.time, history: int = HISTORY, quota: int | None = None
    ) -> None:
        self.clock, self.version = clock, 1
        self.weight = 0
        self._most, self._quota = history, quota
        self._uids = 0
        self._collections = {
            (kind.group_version, kind.plural): Collection(kind) for kind in KINDS if not kind.stored_as[0]
        }
        for name in ("default", "kube-node-lease", "kube-public", "kube-system"):
            metadata = {"name": name, "labels": {"kubernetes.io/metadata.name": name}}
            self.create(NAMESPACES, {"metadata": metadata, "spec": {"finalizers": []}, "status": {"phase": "Active"}})

    def collection(self, kind: Kind) -> Collection:
        return self._collections[kind.stored_as if kind.stored_as[0] else (kind.group_version, kind.plural)]

    def collections(self) -> Iterator[Collection]:
        return iter(self._collections.values())

    def listen(self, kind: Kind, listener: Callable[[Change], None]) -> None:
        """Calls it with each change of the kind, after watches know of it."""
        self.collection(kind).listeners.append(listener)

    # Reading.

    def get(self, kind: Kind, namespace: str, name: str) -> Version:
        found = self.collection(kind).objects.get((namespace, name))
        if found is None:
            raise not_found(kind.qualified, name)
        return found

    def find(self, kind: Kind, namespace: str, name: str) -> Object | None:
        found = self.collection(kind).objects.get((namespace, name))
        return None if found is None else found.object

    def list(self, kind: Kind, chosen: Selector | None = None, version: int | None = None) -> list[tuple[Key, Version]]:
        """The chosen objects by namespace and name, now or as they were at a version."""
        collection = self.collection(kind)
        objects = collection.objects if version is None else self._objects_at(kind, version)
        if version is not None:
            keys = sorted(objects)
        else:
            keys = collection.order = collection.order or sorted(objects)
        if chosen is None:
            return [(key, objects[key]) for key in keys]
        return [(key, objects[key]) for key in keys if chosen(objects[key].object)]

    def _objects_at(self, kind: Kind, version: int) -> dict[Key, Version]:
        """What there was then: what there is now, with later changes undone."""
        found = self.collection(kind)
        if version < found.forgotten:
            raise expired(version, found.forgotten)
        objects = dict(found.objects)
        for change in reversed(found.history):
            if change.new.number <= version:
                break
            key = key_of(change.new.object)
            if change.old is None:
                objects.pop(key, None)
            else:
                objects[key] = change.old
        return objects

    # Changing.

    def create(self, kind: Kind, found: Object, weight: int = 0) -> Version:
        """A new object; gets its uid, version and date. `weight`: about how many bytes a client's object takes."""
        collection = self.collection(kind)
        key = key_of(found)
        if key in collection.objects:
            details = {"name": key[1], "kind": kind.plural}
            message = f'{kind.qualified} "{key[1]}" already exists'
            raise StatusError(409, message, reason="AlreadyExists", details=details)
        self._uids += 1
        metadata = {
            **found["metadata"],
            "uid": f"00000000-0000-4000-8000-{self._uids:012x}",
            "creationTimestamp": self.timestamp(),
        }
        stored = collection.kind
        if stored is EVENTS:
            self._forget_events(collection)
        dressed = {"kind": stored.name, "apiVersion": stored.group_version, **found, "metadata": metadata}
        weight = max(weight, USUAL_WEIGHT) if weight else 0
        self._check_quota(weight)
        return self._put(collection, key, ADDED, None, dressed, weight)

    def replace(self, kind: Kind, found: Object, expected: str = "", weight: int = 0) -> Version:
        """An object instead of the one of its name. `expected`: its version, if the change is for that one only.
        `weight`: that of the old one, if it is not said."""
        collection = self.collection(kind)
        namespace, name = key = key_of(found)
        old = self.get(kind, namespace, name)
        if expected not in ("", "0", str(old.number)):
            why = "the object has been modified; please apply your changes to the latest version and try again"
            raise conflict(kind.qualified, name, why)
        kept = {field: old.object["metadata"][field] for field in ("uid", "creationTimestamp")}
        dressed = {**found, "metadata": {**found["metadata"], **kept}}
        weight = max(weight, USUAL_WEIGHT) if weight else old.weight
        self._check_quota(weight - old.weight)
        return self._put(collection, key, MODIFIED, old, dressed, weight)

    def delete(self, kind: Kind, namespace: str, name: str) -> Version:
        collection = self.collection(kind)
        old = self.get(kind, namespace, name)
        del collection.objects[namespace, name]
        last = {**old.object, "metadata": dict(old.object["metadata"])}
        return self._put(collection, (namespace, name), DELETED, old, last, old.weight)

    def _check_quota(self, weight: int) -> None:
        if self._quota is not None and weight > 0 and self.weight + weight > self._quota:
            raise StatusError(500, "etcdserver: mvcc: database space exceeded")

    def _put(
        self, collection: Collection, key: Key, what: str, old: Version | None, found: Object, weight: int
    ) -> Version:
        """`found` and its metadata are new dictionaries, which nobody else has."""
        self.version += 1
        found["metadata"]["resourceVersion"] = str(self.version)
        new = Version(self.version, found, weight)
        if what != MODIFIED:
            collection.order = []
        self.weight += (0 if what == DELETED else weight) - (0 if old is None else old.weight)
        if what != DELETED:
            collection.objects[key] = new
        change = Change(what, old, new)
        self._remember(collection, change)
        made: dict[object, bytes] = {}
        for watch in collection.watches:
            watch.tell(change, made)
        for listener in collection.listeners:
            listener(change)
        return new

    def _remember(self, collection: Collection, change: Change) -> None:
        collection.history.append(change)
        collection.remembered += change.new.weight or USUAL_WEIGHT
        while len(collection.history) > self._most or collection.remembered > MOST_REMEMBERED:
            forgotten = collection.history.popleft().new
            collection.forgotten = forgotten.number
            collection.remembered -= forgotten.weight or USUAL_WEIGHT

    def _forget_events(self, collection: Collection) -> None:
        """Events go after an hour: they are in the order of their creation."""
        oldest = timestamp(self.clock() - EVENTS_ARE_KEPT)
        while collection.objects:
            (namespace, name), first = next(iter(collection.objects.items()))
            few = self._quota is None or len(collection.objects) < MOST_EVENTS
            if few and first.object["metadata"]["creationTimestamp"] >= oldest:
                return
            self.delete(collection.kind, namespace, name)

    # Watching.

    def watch(self, watch: Watch, since: int | None, initial_events: bool) -> None:
        """Tells the watch what happened since a version (None: begins with what there is), and from now on."""
        collection = self.collection(watch.kind)
        if since is None or initial_events:
            for _, version in self.list(watch.kind, watch.chosen):
                watch.initial(version)
            if initial_events:
                watch.bookmark(self.version, initial_events_end=True)
        elif since < collection.forgotten:
            watch.fail(expired(since, collection.forgotten))
            return
        else:
            for change in collection.history:
                if change.new.number > since:
                    watch.tell(change)
        collection.watches.append(watch)

    def unwatch(self, watch: Watch) -> None:
        watch.ended = True
        watches = self.collection(watch.kind).watches
        if watch in watches:
            watches.remove(watch)

    def timestamp(self) -> str:
        return timestamp(self.clock())


def key_of(found: Object) -> Key:
    metadata = found["metadata"]
    return metadata.get("namespace", ""), metadata["name"]


def expired(version: int, oldest: int) -> StatusError:
    return StatusError(410, f"too old resource version: {version} ({oldest})")


def timestamp(seconds: float) -> str:
    """As Kubernetes writes times: whole seconds of UTC."""
    return _written(int(min(seconds, _LAST_SECOND)))


@lru_cache(maxsize=16)  # much happens within a second
def _written(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
