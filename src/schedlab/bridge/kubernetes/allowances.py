"""What a namespace allows: how much its pods may ask for (ResourceQuota), how many of them may be evicted
(PodDisruptionBudget). Both count pods, as kube-apiserver's admission and the disruption controller do
(pkg/quota/v1/evaluator/core/pods.go and pkg/controller/disruption of k8s.io/kubernetes); what cannot be counted here is
refused when it is created."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from decimal import Decimal

from schedlab.bridge.kubernetes.kinds import BUDGETS, PODS, QUOTAS, Kind
from schedlab.bridge.kubernetes.selectors import Object, requirements_of
from schedlab.bridge.kubernetes.status import StatusError, shortened
from schedlab.bridge.kubernetes.store import DELETED, Change, Key, Store, Version
from schedlab.files.quantity import cpu_text, millis, parse_quantity

MOST = 100  # quotas and budgets of a namespace: each of its pods is counted by all of them
_COUNTS = ("pods", "count/pods")
_REQUESTS, _LIMITS = "requests.", "limits."
_PLAIN = ("cpu", "memory", "ephemeral-storage")
_ENDED = ("Succeeded", "Failed")


def mistakes(kind: Kind, spec: Object) -> Iterator[tuple[str, str]]:
    """What of a quota or a budget is wrong, or cannot be counted here."""
    if kind is QUOTAS:
        for field in ("scopes", "scopeSelector"):
            if spec.get(field):
                yield f"spec.{field}", "Forbidden: quotas count all pods of their namespace here; leave it out"
        for name, amount in (spec.get("hard") or {}).items():
            if not _countable(name):
                why = "Forbidden: only pods are counted here: pods, count/pods, cpu, memory, requests.*, limits.*"
                yield f"spec.hard[{shortened(name)}]", why
            elif (quantity := parse_quantity(amount)) is None or quantity < 0:
                yield f"spec.hard[{shortened(name)}]", "Invalid value: expected a quantity that is not negative"
        return
    least = spec.get("minAvailable")
    if "maxUnavailable" in spec or not isinstance(least, (int, type(None))):
        why = "Forbidden: it is counted by controllers, of which none runs here; give minAvailable as a number of pods"
        yield "spec.maxUnavailable" if "maxUnavailable" in spec else "spec.minAvailable", why
    elif least is not None and least < 0:
        yield "spec.minAvailable", f"Invalid value: {least}: must be greater than or equal to 0"
    try:
        requirements_of(spec.get("selector"))
    except StatusError as error:
        yield "spec.selector", f"Invalid value: {error.message}"


def _countable(name: str) -> bool:
    part = name.removeprefix(_REQUESTS).removeprefix(_LIMITS)
    return name in _COUNTS or name in _PLAIN or (part != name and (part in _PLAIN or name == _REQUESTS + part))


class Quota:
    """What the pods of a namespace have `used` of what `hard` names, in thousandths."""

    def __init__(self, found: Object) -> None:
        self._spec = found.get("spec") or {}
        self.hard = _millis(self._spec.get("hard"))
        self.used: Counter[str] = Counter()

    def count(self, pod: Object) -> dict[str, int]:
        ended = (pod.get("status") or {}).get("phase") in _ENDED
        asked = {} if ended else _asked(pod["spec"])
        counts = {"count/pods": 1000, "pods": 0 if ended else 1000}
        return {name: counts.get(name) or asked.get(name, 0) for name in self.hard}

    def status(self, found: Object) -> Object:
        return {
            "hard": dict(self._spec.get("hard") or {}),
            "used": {name: cpu_text(self.used[name]) for name in self.hard},
        }

    def check(self, name: str, pod: Object) -> None:
        """Refuses a pod that asks for more than is left, or does not say what it asks for of what is counted."""
        wanted = self.count(pod)
        silent = [
            f"{part} for: {container.get('name')}"
            for part in self.hard
            if part not in _COUNTS and part.removeprefix(_REQUESTS).removeprefix(_LIMITS) in ("cpu", "memory")
            for container in pod["spec"]["containers"]
            if part not in _asked({"containers": [container]})
        ]
        if silent:
            raise _forbidden(pod, f"failed quota: {name}: must specify {shortened('; '.join(silent))}")
        over = [one for one, amount in wanted.items() if amount and self.used[one] + amount > self.hard[one]]
        if over:
            told = (
                f"{word}: {','.join(f'{one}={cpu_text(amounts[one])}' for one in over)}"
                for word, amounts in (("requested", wanted), ("used", self.used), ("limited", self.hard))
            )
            raise _forbidden(pod, f"exceeded quota: {name}, {', '.join(told)}")


class Budget:
    """How many pods of a namespace it is about, and how many of these are ready."""

    def __init__(self, found: Object) -> None:
        spec = found.get("spec") or {}
        self._wanted = requirements_of(spec.get("selector"))
        self.desired = int(spec.get("minAvailable") or 0)
        self.about_unready = spec.get("unhealthyPodEvictionPolicy") != "AlwaysAllow"
        self.used: Counter[str] = Counter()

    def concerns(self, pod: Object) -> bool:
        return self._wanted is not None and self._wanted.fit(pod)

    def count(self, pod: Object) -> dict[str, int]:
        if not self.concerns(pod):
            return {}
        return {"expected": 1, "healthy": int(is_ready(pod) and "deletionTimestamp" not in pod["metadata"])}

    @property
    def allowed(self) -> int:
        return max(self.used["healthy"] - self.desired, 0) if self.used["expected"] else 0

    def status(self, found: Object) -> Object:
        why = ("True", "SufficientPods") if self.allowed else ("False", "InsufficientPods")
        return {
            "observedGeneration": found["metadata"].get("generation", 1),
            "disruptionsAllowed": self.allowed,
            "currentHealthy": self.used["healthy"],
            "desiredHealthy": self.desired,
            "expectedPods": self.used["expected"],
            "conditions": [{"type": "DisruptionAllowed", "status": why[0], "reason": why[1], "message": ""}],
        }


class Allowances:
    """All quotas and budgets of a store, with their statuses."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: dict[str, dict[tuple[Kind, str], Quota | Budget]] = {}  # by namespace
        for kind, made in ((QUOTAS, Quota), (BUDGETS, Budget)):
            store.listen(kind, self._listener(kind, made))
        store.listen(PODS, self._pod)

    def admit_pod(self, pod: Object) -> None:
        for (_, name), one in self._known.get(pod["metadata"]["namespace"], {}).items():
            if isinstance(one, Quota):
                one.check(name, pod)

    def check_number(self, namespace: str) -> None:
        if len(self._known.get(namespace, ())) >= MOST:
            message = f"a namespace has at most {MOST} ResourceQuotas and PodDisruptionBudgets here"
            raise StatusError(403, f"forbidden: {message}")

    def check_eviction(self, pod: Object) -> None:
        """Refuses an eviction that the budget of a pod does not allow."""
        known = self._known.get(pod["metadata"].get("namespace", ""), {})
        budgets = [(key[1], one) for key, one in known.items() if isinstance(one, Budget) and one.concerns(pod)]
        status = pod.get("status") or {}
        if not budgets or status.get("phase") in (*_ENDED, "Pending") or "deletionTimestamp" in pod["metadata"]:
            return
        if len(budgets) > 1:
            message = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
            raise StatusError(500, message)
        name, budget = budgets[0]
        enough = 0 < budget.desired <= budget.used["healthy"]
        if budget.allowed or (not is_ready(pod) and (enough or not budget.about_unready)):
            return
        needs = f"needs {budget.desired} healthy pods and has {budget.used['healthy']} currently"
        cause = {"reason": "DisruptionBudget", "message": f"The disruption budget {name} {needs}"}
        message = "Cannot evict pod as it would violate the pod's disruption budget."
        raise StatusError(429, message, details={"causes": [cause], "retryAfterSeconds": 10})

    def _listener(self, kind: Kind, made: Callable[[Object], Quota | Budget]) -> Callable[[Change], None]:
        def listen(change: Change) -> None:
            found = change.new.object
            namespace, name = found["metadata"]["namespace"], found["metadata"]["name"]
            known = self._known.setdefault(namespace, {})
            if change.what == DELETED:
                known.pop((kind, name), None)
                if not known:
                    del self._known[namespace]
                return
            if change.old is None or change.old.object.get("spec") != found.get("spec"):
                known[kind, name] = one = made(found)
                for key, version in self._store.collection(PODS).objects.items():
                    if key[0] == namespace:
                        one.used.update(one.count(version.object))
            self._tell(kind, (namespace, name), known[kind, name])

        return listen

    def _pod(self, change: Change) -> None:
        namespace = change.new.object["metadata"].get("namespace", "")
        for (kind, name), one in list(self._known.get(namespace, {}).items()):
            before = _counted(one, change.old)
            after = {} if change.what == DELETED else _counted(one, change.new)
            if before != after:
                one.used.subtract(before)
                one.used.update(after)
                self._tell(kind, (namespace, name), one)

    def _tell(self, kind: Kind, key: Key, one: Quota | Budget) -> None:
        found = self._store.get(kind, *key).object
        status = one.status(found)
        if found.get("status") != status:
            self._store.replace(kind, {**found, "status": status})


def _counted(one: Quota | Budget, version: Version | None) -> dict[str, int]:
    return {} if version is None else one.count(version.object)


def is_ready(pod: Object) -> bool:
    conditions = (pod.get("status") or {}).get("conditions") or ()
    return any(one.get("type") == "Ready" and one.get("status") == "True" for one in conditions)


def _asked(spec: Object) -> dict[str, int]:
    """What a pod asks for, as quotas name it: of its containers together, or of one that runs before them."""
    found: dict[str, int] = {}
    for part, prefix in (("requests", _REQUESTS), ("limits", _LIMITS)):
        together: Counter[str] = Counter()
        for container in spec.get("containers") or ():
            together.update(_millis((container.get("resources") or {}).get(part)))
        for container in spec.get("initContainers") or ():
            always = container.get("restartPolicy") == "Always"
            for name, amount in _millis((container.get("resources") or {}).get(part)).items():
                together[name] = together[name] + amount if always else max(together[name], amount)
        found |= {prefix + name: amount for name, amount in together.items()}
        if part == "requests":
            found |= {name: together[name] for name in _PLAIN if name in together}
    return found


def _millis(amounts: Object | None) -> dict[str, int]:
    return {name: millis(parse_quantity(amount) or Decimal(0)) for name, amount in (amounts or {}).items()}


def _forbidden(pod: Object, why: str) -> StatusError:
    name = pod["metadata"]["name"]
    return StatusError(403, f'pods "{name}" is forbidden: {why}', details={"name": name, "kind": "pods"})
