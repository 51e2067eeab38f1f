"""Batsim workloads as Batkube has them: a job is one pod, which asks for what its profile says.

`cpu` is a quantity of cores (`"1.5"`, `3.516`, `"500m"`; 1 if it is not said), `memory` one of bytes, `scheduler` the
name of who is to place it; `res` has no meaning. `pod`, which is ours, is merged into the pod as it is.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from schedlab.files.bytestream import ByteStream
from schedlab.files.quantity import millis, parse_quantity, whole
from schedlab.model.errors import InputError, InputErrors
from schedlab.model.request import Request
from schedlab.model.workload import JobBatch, Workload
from schedlab.workload.batsim.read import read_batsim
from schedlab.workload.options import ReadOptions

READ = ("cpu", "memory", "scheduler", "pod")
DEFAULT_SCHEDULER = "default-scheduler"


def read_batkube(path: Path, options: ReadOptions) -> Workload:
    """The jobs, with exact shares of cores (`cpu_milli`); what else their pods want travels with them."""
    from schedlab.files.json_text import json_of

    workload = read_batsim(path, options)
    document = json_of(b"".join(ByteStream(path)).decode("utf-8-sig"), str(path))
    wanted = {str(job.get("id")): str(job.get("profile")) for job in document["jobs"] if isinstance(job, dict)}
    used = set(wanted.values())
    mistakes: list[InputError] = []
    profiles = {
        name: _pod(spec, f"{path}, profile '{name}'", mistakes)
        for name, spec in document["profiles"].items()
        if isinstance(spec, dict) and name in used
    }
    if mistakes:
        raise InputErrors(mistakes)
    requests = list(dict.fromkeys((tuple(chunk.items()) for chunk, _ in profiles.values())))
    places = {request: place for place, request in enumerate(requests)}
    columns, attachments, request = [], [], []
    for batch in workload.batches():
        for row, number in enumerate(batch.id.tolist()):
            name = batch.names[row] if batch.names else str(number)
            chunk, pod = profiles[wanted[name]]
            request.append(places[tuple(chunk.items())])
            attachments.append({"pod": pod} if pod else None)
        columns.append(batch)
    joined = JobBatch.joined(columns)
    given: dict[str, Any] = joined.columns() | {"request": request, "count": [1] * len(joined)}
    made = Workload.of(
        name=workload.name,
        labels=workload.labels,
        requests=[Request(dict(chunk)) for chunk in requests],
        names=joined.names,
        attachments=attachments if any(attachments) else None,
        **given,
    )
    made.report, made.header, made.content_hash = workload.report, workload.header, workload.content_hash
    made.report.filled.pop("cores of a host: rounded up to whole ones", None)
    for told in ("memory of the profile", *(f"field '{field}' of the profile" for field in READ)):
        made.report.unkept.pop(told, None)
    return made


def _pod(spec: dict[str, Any], where: str, mistakes: list[InputError]) -> tuple[dict[str, int], dict[str, Any]]:
    """What a pod of this profile asks for, and what is merged into it."""
    chunk = {"cpu_milli": 1000}
    for key, name, counted in (("cpu", "cpu_milli", millis), ("memory", "memory", whole)):
        if key not in spec:
            continue
        quantity = parse_quantity(spec[key])
        if quantity is None or quantity < 0:
            hint = "a number, perhaps with a unit: 1.5, 500m, 750Mi"
            mistakes.append(
                InputError(f"'{key}' is {spec[key]!r:.60}, which is not a quantity", where=where, hint=hint)
            )
        else:
            chunk[name] = counted(quantity)
    pod = spec.get("pod", {})
    if not isinstance(pod, dict):
        mistakes.append(InputError(f"'pod' is {pod!r:.60}, expected an object", where=where))
        pod = {}
    scheduler = spec.get("scheduler", "default")
    if not isinstance(scheduler, str):
        mistakes.append(InputError(f"'scheduler' is {scheduler!r:.60}, expected a name", where=where))
    elif scheduler not in ("default", DEFAULT_SCHEDULER, ""):
        pod = {**pod, "spec": {**pod.get("spec", {}), "schedulerName": scheduler}}
    return chunk, pod
