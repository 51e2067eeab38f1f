"""The cyclic model's parameters from a log."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.generate.base import ORIGIN
from schedlab.generate.cyclic.clock import DAY, SLOT, SLOTS, SlotClock, calendar
from schedlab.generate.cyclic.jobs import Resource, Work
from schedlab.generate.gaps import Gaps
from schedlab.model.errors import InputError
from schedlab.model.workload import Workload
from schedlab.workload.transform.machine import processors

FEWEST_JOBS = 100

Values = NDArray[np.float64]


def fitted(
    workload: Workload,
    gflops: Mapping[str, float],
    resources: Mapping[str, Resource] | None,
    cores_per_node: int,
) -> dict[str, Any]:
    """What `Cyclic` takes."""
    log = _read(workload)
    origin = workload.origin or ORIGIN
    since_midnight = log.submit + (origin - datetime.combine(origin.date(), time(), UTC)).total_seconds()
    first = math.floor(since_midnight[0] / DAY)
    submit, first_day = since_midnight - first * DAY, origin.date() + timedelta(days=first)
    half_hours, weekdays, months = _cycles(submit, np.datetime64(first_day, "D"))
    gaps = np.diff(SlotClock(half_hours, weekdays, months, first_day).even(submit))
    amounts = {name: _amounts(workload, name, log.request) for name in sorted(_names(workload, log.request))}
    power = log.count * sum(amounts[name] * rate for name, rate in gflops.items() if name in amounts)
    units = log.count * sum(amounts[name] for name in gflops if name in amounts)
    serial = units <= 1
    nodes = log.count
    if cores_per_node:
        nodes = np.ceil(log.count * amounts["cores"] / cores_per_node).astype(np.int64)
    if resources is None:
        resources = _resources(amounts, serial, gflops, cores_per_node)
    sizes, weights = np.unique(nodes[~serial] if not serial.all() else nodes, return_counts=True)
    return {
        "gaps": best_gaps(gaps[gaps > 0]),
        "together": min(0.999, float(np.mean(gaps <= 0))),
        "serial": float(serial.mean()),
        "nodes": dict(zip(sizes.tolist(), (weights / weights.sum()).tolist(), strict=True)),
        "resources": dict(resources),
        "work": _work(log.runtime, np.asarray(power, np.float64), workload.name),
        "half_hours": half_hours.tolist(),
        "weekdays": weekdays.tolist(),
        "months": months.tolist(),
        "processors": processors(workload) or 0,
    }


@dataclass(frozen=True)
class _Log:
    submit: Values
    runtime: Values
    count: NDArray[np.int64]
    request: NDArray[np.int32]


def _read(workload: Workload) -> _Log:
    parts = [(batch.submit, batch.runtime, batch.count, batch.request) for batch in workload.batches()]
    jobs = sum(len(part[0]) for part in parts)
    if jobs < FEWEST_JOBS:
        raise InputError(f"{jobs} jobs are too few for a fit", where=workload.name, hint=f"at least {FEWEST_JOBS}")
    log = _Log(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))
    if log.submit[0] == log.submit[-1]:
        raise InputError("all jobs were submitted at the same time", where=workload.name, hint="a fit needs gaps")
    return log


def _cycles(submit: Values, first_day: np.datetime64) -> tuple[Values, Values, Values]:
    """Jobs per half-hour of the log in each half-hour of the day, weekday and month; 1 is the average."""
    cells = np.floor_divide(submit, SLOT).astype(np.int64)
    jobs = calendar(first_day, cells)
    passed = calendar(first_day, np.arange(cells[0], cells[-1] + 1))
    weights = []
    for mine, all_of_them, length in zip(jobs, passed, (SLOTS, 7, 12), strict=True):
        seen = np.bincount(all_of_them, minlength=length)
        rate = np.bincount(mine, minlength=length) / np.maximum(seen, 1)
        # What the log does not reach counts as average.
        weight = np.where(seen > 0, rate / (len(mine) / len(all_of_them)), 1.0)
        weights.append(weight / weight.mean())
    return weights[0], weights[1], weights[2]


def best_gaps(gaps: Values) -> Gaps:
    """The most likely of four distributions: shapes by maximum likelihood, scales such that the mean is the gaps'."""
    mean, logarithms = float(gaps.mean()), np.log(gaps)
    sigma = max(1e-9, float(logarithms.std()))
    candidates: list[tuple[Gaps, Callable[[Values], Values]]] = []

    candidates.append((Gaps("poisson", mean=mean), lambda x: -x / mean - math.log(mean)))

    mu = math.log(mean) - sigma**2 / 2
    candidates.append(
        (
            Gaps("lognormal", mu=mu, sigma=sigma),
            lambda x: -(((np.log(x) - mu) / sigma) ** 2) / 2 - np.log(x * sigma) - math.log(2 * math.pi) / 2,
        )
    )

    shape = _weibull_shape(gaps)
    scale = mean / math.gamma(1 + 1 / shape)
    candidates.append(
        (
            Gaps("weibull", shape=shape, scale=scale),
            lambda x: math.log(shape / scale) + (shape - 1) * np.log(x / scale) - (x / scale) ** shape,
        )
    )

    # Minka's closed form is within 1.5 % of the most likely shape.
    spread = max(1e-9, math.log(mean) - float(logarithms.mean()))
    form = (3 - spread + math.sqrt((spread - 3) ** 2 + 24 * spread)) / (12 * spread)
    size = mean / form
    candidates.append(
        (
            Gaps("gamma", shape=form, scale=size),
            lambda x: (form - 1) * np.log(x / size) - x / size - math.log(size) - math.lgamma(form),
        )
    )
    return max(candidates, key=lambda candidate: float(candidate[1](gaps).mean()))[0]


def _weibull_shape(gaps: Values) -> float:
    """By bisection of the likelihood equation, which has one root."""
    logarithms = np.log(gaps / gaps.max())
    low, high = 0.05, 20.0
    for _ in range(60):
        shape = math.sqrt(low * high)
        powers = np.exp(shape * logarithms)
        slope = float(powers @ logarithms / powers.sum() - 1 / shape - logarithms.mean())
        low, high = (shape, high) if slope < 0 else (low, shape)
    return math.sqrt(low * high)


def _names(workload: Workload, request: NDArray[np.int32]) -> set[str]:
    return {name for number in np.unique(request) for name in workload.requests[number].chunk}


def _amounts(workload: Workload, name: str, request: NDArray[np.int32]) -> NDArray[np.int64]:
    return np.array([one.chunk.get(name, 0) for one in workload.requests], np.int64)[request]


def _resources(
    amounts: Mapping[str, NDArray[np.int64]], serial: NDArray[np.bool_], gflops: Mapping[str, float], cores: int
) -> dict[str, Resource]:
    """The amounts that the log's chunks have, from least to most; at most a hundred different ones of each."""
    found = {}
    for name, values in amounts.items():
        some = values[values > 0]
        parallel = values if serial.all() else values[~serial]
        low, high = int(some.min()), int(some.max())
        found[name] = Resource(
            low=low,
            high=high,
            step=max(1, -(-(high - low) // 99)),
            share=float(np.mean(parallel > 0)) if name != "cores" else 1.0,
            gflops=float(gflops.get(name, 0.0)),
        )
    if cores:
        found["cores"] = replace(found["cores"], low=1, high=cores, step=1)
    return found


def _work(runtime: Values, power: Values, where: str) -> Work:
    """Least squares of the logarithms of work and power."""
    done = (runtime > 0) & (power > 0)
    if not done.any():
        raise InputError("no job has done any work", where=where, hint="runtimes and cores have to be above 0")
    x, y = np.log(power[done]), np.log(runtime[done] * power[done])
    spread = float(x.var())
    slope = float(np.mean((x - x.mean()) * (y - y.mean()))) / spread if spread > 1e-12 else 0.0
    mu = float(y.mean() - slope * x.mean())
    sigma = float((y - mu - slope * x).std())
    return Work(mu=mu, sigma=sigma, slope=slope, longest=float(runtime.max()))
