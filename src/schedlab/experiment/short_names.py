"""Files in the values of parameters, and what results call them: nobody else has the folders of this machine."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

_WITH_FILES = ("model", "policy", "observe", "estimate")
# `/lab/mine.py` of `/lab/mine.py:Cap(watts=9)` and of `easy:order=/lab/mine.py:area`, not `/b/c` of `(a)/b/c`.
_FILE = re.compile(
    r"""(?:^|(?<=['":,(=])|(?<=\ \+\ ))(?:/[^'":,()=]*/[^'":,()=/]+|[^\s'":,()=]+/[^\s'":,()=/]+\.py(?=:))"""
)


def files_in(name: str, text: str) -> list[str]:
    """In the text of a value of this parameter."""
    if _is_file(name, text):
        return [text]
    return _FILE.findall(text) if name in _WITH_FILES else []


def _is_file(name: str, text: str) -> bool:
    return "/" in text and (name in ("log", "cluster") or (name == "model" and "(" not in text))


def short_names(paths: Iterable[str]) -> dict[str, str]:
    """Each path without its folders; files of one name keep as many as tell them apart."""
    alike: dict[str, list[tuple[str, ...]]] = {}
    parts = {path: Path(path).parts for path in paths}
    for own in dict.fromkeys(parts.values()):
        alike.setdefault(own[-1], []).append(own)
    return {path: str(Path(*_tail(own, alike[own[-1]]))) for path, own in parts.items()}


def _tail(own: tuple[str, ...], alike: list[tuple[str, ...]]) -> tuple[str, ...]:
    tails = (own[-length:] for length in range(1, len(own)))
    return next((tail for tail in tails if sum(each[-len(tail) :] == tail for each in alike) == 1), own)


def with_names(name: str, text: str, names: Mapping[str, str]) -> str:
    """The text with these names instead of the paths."""
    if _is_file(name, text):
        return names.get(text, Path(text).name)
    return _FILE.sub(lambda found: names.get(found[0], Path(found[0]).name), text) if name in _WITH_FILES else text
