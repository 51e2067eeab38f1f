"""Metrics that somebody else wrote: functions of a run that give a number, or several by name."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from schedlab.model.errors import InputError

if TYPE_CHECKING:
    from schedlab.model.plugins import Plugin
    from schedlab.model.run import Run


def measure(run: Run, metrics: Sequence[Plugin]) -> dict[str, tuple[float | None, Plugin]]:
    """Name -> the number and who computed it. A single number is called as the function is."""
    found: dict[str, tuple[float | None, Plugin]] = {}
    for plugin in metrics:
        with plugin.blamed():
            result = plugin.make()(run)
        named = result if isinstance(result, Mapping) else {plugin.target.__name__: result}
        for name, value in named.items():
            if name in found:
                hint = "give one of them another name"
                raise InputError(f"{found[name][1]} gives '{name}' too", where=f"metric '{plugin}'", hint=hint)
            found[str(name)] = _number(value, str(name), plugin), plugin
    return found


def _number(value: Any, name: str, plugin: Plugin) -> float | None:
    """None where it is undefined; so are NaN and what is infinite, which JSON does not know."""
    if value is None:
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        message = f"{name} is {value!r:.60}, expected a number"
        raise InputError(message, where=f"metric '{plugin}'", hint="return a float, or a dict of floats") from None
    return number if math.isfinite(number) else None
