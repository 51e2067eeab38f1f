"""Kinds of files: how to tell them, who reads them, who writes them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, Generic, TypeVar

from schedlab.files.bytestream import first_text, plain_name
from schedlab.model.errors import InputError
from schedlab.model.suggest import did_you_mean

T = TypeVar("T")  # what is in the file


@dataclass(frozen=True, slots=True)
class Format(Generic[T]):
    """A kind of file. Functions are named `module.function` within `package`, and loaded when they are needed."""

    name: str
    what: str
    package: str
    reads: str = ""
    writes: str = ""
    recognises: str = ""  # a function of the first text of a file and its plain name
    endings: tuple[str, ...] = ()  # of the names of files to write
    takes: tuple[str, Callable[[str], Any]] | None = None  # what `name:text` gives the reader: keyword, and its type
    given: str | None = None  # that text

    def reader(self) -> Callable[..., T]:
        read: Callable[..., T] = self._function(self.reads)
        if self.takes is None or self.given is None:
            return read
        keyword, kind = self.takes
        try:
            return partial(read, **{keyword: kind(self.given)})
        except ValueError:
            raise InputError(f"'{self.given}' is not a {keyword}", where=f"reader '{self.name}:{self.given}'") from None

    def write(self, path: Path, content: T) -> list[str]:
        """Returns sentences about what the format cannot hold."""
        lost: list[str] = self._function(self.writes)(path, content)
        return lost

    def fits(self, start: str, name: str) -> bool:
        return bool(self.recognises and self._function(self.recognises)(start, name))

    def _function(self, name: str) -> Any:
        module, _, function = name.partition(".")
        return getattr(import_module(f"{self.package}.{module}"), function)


def recognise(path: Path, formats: Sequence[Format[T]]) -> Format[T] | None:
    """What kind of file this is, by its name and its first lines; the first of `formats` that it fits."""
    start, name = first_text(path), plain_name(path)
    return next((known for known in formats if known.fits(start, name)), None)


def named(name: str, formats: Sequence[Format[T]]) -> Format[T]:
    """The format of that name; `table:mapping.toml` is the format table with that argument."""
    word, colon, text = name.partition(":")
    for known in formats:
        if known.name == word and (not colon or known.takes):
            return replace(known, given=text) if colon else known
    names = [known.name for known in formats]
    raise InputError(f"there is no format '{name}'", hint=did_you_mean(name, names, ", ".join(names)))


def to_write(path: Path, formats: Sequence[Format[T]]) -> Format[T] | None:
    """The format that the ending of a name asks for; the longest ending wins."""
    name = plain_name(path)
    fitting = [(len(end), known) for known in formats if known.writes for end in known.endings if name.endswith(end)]
    return max(fitting, key=lambda one: one[0])[1] if fitting else None
