"""What a doctor looks at: each thing with what was found and what cures it."""

from __future__ import annotations

from dataclasses import dataclass

from schedlab.model.errors import InputError, SchedlabError


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at; `cure` is empty if nothing is wrong."""

    ok: bool
    what: str
    detail: str
    cure: str = ""


def failed(what: str, error: SchedlabError) -> Finding:
    """What an error says, as a finding."""
    if isinstance(error, InputError):
        place = f"{error.where}: " if error.where else ""
        return Finding(False, what, f"{place}{error.message}", error.hint)
    return Finding(False, what, str(error))
