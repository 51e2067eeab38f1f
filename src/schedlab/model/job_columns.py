"""Columns of jobs as callers in Python give them: of the right type and one length, or an error that names the column,
the row and the value."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.model.arguments import shown
from schedlab.model.errors import InputError

# Column, type, and the value that means "unknown" or "none".
JOB_COLUMNS: dict[str, tuple[Any, Any]] = {
    "id": (np.int64, -1),
    "submit": (np.float64, 0.0),
    "runtime": (np.float64, 0.0),
    "limit": (np.float64, 0.0),
    "count": (np.int64, 1),
    "request": (np.int32, 0),
    "user": (np.int32, -1),
    "group": (np.int32, -1),
    "queue": (np.int32, -1),
    "partition": (np.int32, -1),
    "executable": (np.int32, -1),
    "status": (np.int8, -1),
    "wait": (np.float64, np.nan),  # as recorded in the log
    "cancel": (np.float64, np.inf),  # when its user withdraws it if it still waits
}
# Columns whose numbers may have names (`Workload.labels`).
LABELLED = ("user", "group", "queue", "partition", "executable")

_SECONDS = "seconds: (times - times[0]) / np.timedelta64(1, 's')"
_REMEDIES = dict.fromkeys(LABELLED, "{0}=[0, 1, 0] with labels={{'{0}': ['anna', 'bob']}}; -1 is unknown") | {
    "request": "positions in the list of requests: request=[0, 1], requests=[Request(), Request({{'cores': 4}})]",
    "count": "chunks of each job, a core each unless its request says otherwise: count=[4, 16]",
}


def as_column(name: str, given: Any, dtype: Any) -> NDArray[Any]:
    """One value for each job. What would have to be changed to be of the type is refused."""
    try:
        values = np.asarray(given)
    except (ValueError, TypeError, OverflowError):  # lists of different lengths, objects that are no arrays
        values = np.empty(())
    if values.ndim != 1:
        hint = f"{name}=[…], a list or an array with one value for each job"
        raise InputError(f"{shown(given)} is no list of values", where=f"column {name}", hint=hint)
    if np.can_cast(values.dtype, dtype) or not len(values):
        return np.ascontiguousarray(values, dtype)
    if values.dtype.kind in "mM":
        raise InputError(f"{shown(values[0])}: a number is expected", where=f"column {name}, row 0", hint=_SECONDS)
    if values.dtype.kind in "biufO":
        try:
            with np.errstate(invalid="ignore"):
                found = np.ascontiguousarray(values, dtype)
            if np.array_equal(found, values) or np.issubdtype(dtype, np.floating):
                return found
        except (TypeError, ValueError, OverflowError):
            pass  # the row is told below
    row, value = next((row, one) for row, one in enumerate(values.tolist()) if not _is_right(one, dtype))
    expected = "a number"
    if not np.issubdtype(dtype, np.floating):
        limits = np.iinfo(dtype)
        expected = f"a whole number from {limits.min} to {limits.max}"
    hint = _REMEDIES.get(name, "").format(name)
    raise InputError(f"{shown(value)} is not {expected}", where=f"column {name}, row {row}", hint=hint)


def _is_right(value: object, dtype: Any) -> bool:
    try:
        with np.errstate(invalid="ignore"):
            made = np.array([value]).astype(dtype)[0]
        return not isinstance(value, str) and bool(made == value or made != made)
    except (TypeError, ValueError, OverflowError):
        return False


def as_tuple(name: str, given: Any, length: int, kind: Any) -> tuple[Any, ...]:
    """One object of that kind for each job."""
    if not isinstance(given, Iterable) or isinstance(given, str | bytes | Mapping):
        raise InputError(f"{name} is {shown(given)}, expected a list with one for each job")
    found = tuple(given)
    if len(found) != length:
        raise InputError(f"{name} are given for {len(found)} jobs, there are {length}")
    for row, one in enumerate(found):
        if not isinstance(one, kind):
            raise InputError(f"{shown(one)} is none of its values", where=f"column {name}, row {row}")
    return found


def lists_of(given: Any, name: str, kind: type, hint: str) -> list[list[Any]]:
    """For each job a list of such objects."""
    if not isinstance(given, Iterable) or isinstance(given, str | bytes | Mapping):
        raise InputError(f"{name} is {shown(given)}, expected a list for each job", hint=hint)
    found = []
    for row, some in enumerate(given):
        if not isinstance(some, Iterable) or isinstance(some, str | bytes | Mapping):
            raise InputError(f"{shown(some)} is no list", where=f"column {name}, row {row}", hint=hint)
        found.append(list(some))
        for one in found[-1]:
            if not isinstance(one, kind):
                raise InputError(f"{shown(one)} is no {kind.__name__}", where=f"column {name}, row {row}", hint=hint)
    return found


def refuse_unequal(columns: Mapping[str, NDArray[Any]]) -> None:
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        found = ", ".join(f"{name} has {length:,}" for name, length in lengths.items())
        raise InputError(f"the columns have different numbers of rows: {found}", hint="one value for each job in each")
