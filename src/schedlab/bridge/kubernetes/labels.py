"""What may be the key or the value of a label, or the name of an object: the rules of k8s.io/apimachinery.

Lengths are looked at first, so that no expression sees a long text.
"""

from __future__ import annotations

import re
from functools import lru_cache

LONGEST_NAME, LONGEST_LABEL = 253, 63

_LABEL = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_.-]*[A-Za-z0-9])?")
_PIECE = re.compile(r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?")  # of a subdomain, between two dots
_ALPHABET = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"
)
_SUBDOMAIN = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
    "end with an alphanumeric character"
)


def key_mistake(key: str) -> str:
    """What is wrong with the key of a label; nothing if it is right."""
    longest = LONGEST_NAME + 1 + LONGEST_LABEL
    return _key_mistake(key) if len(key) <= longest else f"must be no more than {longest} bytes"


@lru_cache(maxsize=1024)
def _key_mistake(key: str) -> str:
    prefix, slash, name = key.rpartition("/")
    if slash and (mistake := subdomain_mistake(prefix)):
        return f"prefix part {mistake}"
    if not name:
        return "name part must be non-empty"
    if len(name) > LONGEST_LABEL:
        return f"name part must be no more than {LONGEST_LABEL} bytes"
    return "" if _LABEL.fullmatch(name) else f"name part {_ALPHABET}"


def value_mistake(value: str) -> str:
    if len(value) > LONGEST_LABEL:
        return f"must be no more than {LONGEST_LABEL} bytes"
    return "" if not value or _LABEL.fullmatch(value) else f"a valid label {_ALPHABET}"


def subdomain_mistake(text: str) -> str:
    if not text:
        return "must be non-empty"
    if len(text) > LONGEST_NAME:
        return f"must be no more than {LONGEST_NAME} bytes"
    return "" if all(map(_PIECE.fullmatch, text.split("."))) else _SUBDOMAIN
