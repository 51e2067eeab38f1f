"""The header of an SWF log: `; Label: value` lines."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

# Labels are capitalised words ("MaxProcs"). Anything else continues the line above, even "see: http://…".
_LABELLED = re.compile(r";\s*([A-Z]\w*)\s*:(?!//)\s*(.*)")
_WHOLE = re.compile(r"\s*(\d{1,18})(?!\d)")

# Submit times from here on (2001) are not offsets from the start of the log but absolute Unix times.
ABSOLUTE = 1e9


def parse_header(lines: Iterable[str]) -> dict[str, str]:
    """Values by label. A label that occurs again (Queue, Partition, Note…) adds a line to its value."""
    header: dict[str, str] = {}
    label = ""
    for line in lines:
        labelled = _LABELLED.match(line)
        if labelled:
            label, value = labelled.groups()
        else:
            value = line.lstrip(";").strip()
            if not value:
                label = ""  # an empty line ends a value
                continue
            if not label:
                label = "Note"
        header[label] = f"{header[label]}\n{value.rstrip()}" if label in header else value.rstrip()
    return header


def header_number(header: dict[str, str], label: str) -> int | None:
    """The whole number at the beginning of a value ("338 (batch partition; 512 total)"), if there is one above 0."""
    found = _WHOLE.match(header.get(label, ""))
    return int(found[1]) or None if found else None


def machine_size(header: dict[str, str]) -> tuple[int, str] | None:
    """How many processors the machine has, and the label that says it; None if the header does not tell."""
    for label in ("MaxProcs", "MaxNodes"):
        if size := header_number(header, label):
            return size, label
    return None


def origin(header: dict[str, str], first_submit: float) -> datetime | None:
    """UTC time of second 0: the header's UnixStartTime, or 1970 where submit times are absolute."""
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    if first_submit >= ABSOLUTE:
        return epoch
    start = header_number(header, "UnixStartTime")
    try:
        return epoch + timedelta(seconds=start) if start else None
    except OverflowError:
        return None
