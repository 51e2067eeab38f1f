"""What can go wrong with a scheduler at the other end of a socket."""

from __future__ import annotations

from schedlab.model.errors import SchedlabError

LONGEST_QUOTE = 400  # characters of a message in an error


class BatsimError(SchedlabError):
    """The scheduler died, kept silent, or said what cannot be done; the error quotes it."""


def quoted(message: bytes | str) -> str:
    """A message as errors show it: in one line, and not longer than a person wants to read."""
    text = message.decode("utf-8", "replace") if isinstance(message, bytes) else message
    text = " ".join(text.split())
    if len(text) > LONGEST_QUOTE:
        half = LONGEST_QUOTE // 2
        text = f"{text[:half]} […] {text[-half:]}"
    return text
