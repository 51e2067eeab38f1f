"""Debian's index of packages: the newest version of a few packages, and where their files are."""

from __future__ import annotations

import lzma
import re
from collections.abc import Sequence
from dataclasses import dataclass

from schedlab.model.errors import InputError

_FIELD = re.compile(rb"^(Version|Filename|Size|SHA256): *(\S+)$", re.MULTILINE)
_VERSION = re.compile(r"[0-9A-Za-z.+~:-]+")
_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Package:
    name: str
    version: str
    path: str  # below the mirror
    size: int
    sha256: str


def read_index(compressed: bytes, names: Sequence[str], where: str) -> list[Package]:
    """All of these packages, the newest of each, in the order of the names; none if one of them is missing."""
    try:
        text = b"\n" + lzma.decompress(compressed)
    except lzma.LZMAError as error:
        raise InputError(f"is not an index of packages compressed with xz: {error}", where=where) from error
    newest = [max(found, key=_key) for name in names if (found := _packages(text, name, where))]
    return newest if len(newest) == len(names) else []


def version_key(version: str) -> tuple[object, ...]:
    """Orders versions as Debian does: epoch, upstream version, revision; a tilde comes before the end."""
    epoch, _, rest = version.rpartition(":")
    upstream, _, revision = rest.rpartition("-") if "-" in rest else (rest, "", "0")
    return (int(epoch) if epoch.isdigit() else 0, _parts(upstream), _parts(revision))


def _packages(text: bytes, name: str, where: str) -> list[Package]:
    """The stanzas of one package. The index has 50 MB: to look for the name is fast, to read every line is not."""
    found = []
    mark = b"\nPackage: " + name.encode() + b"\n"
    begin = text.find(mark)
    while begin >= 0:
        end = text.find(b"\n\n", begin + 1)
        stanza = text[begin:end] if end >= 0 else text[begin:]
        found.append(_package(name, {key.decode(): value.decode() for key, value in _FIELD.findall(stanza)}, where))
        begin = text.find(mark, begin + 1)
    return found


def _package(name: str, fields: dict[str, str], where: str) -> Package:
    version, path, size, sha256 = (fields.get(key, "") for key in ("Version", "Filename", "Size", "SHA256"))
    if not (_VERSION.fullmatch(version) and path and size.isdigit() and _SHA256.fullmatch(sha256)):
        raise InputError(f"package {name}: expected Version, Filename, Size and SHA256, found {fields}", where=where)
    return Package(name, version, path, int(size), sha256)


def _key(package: Package) -> tuple[object, ...]:
    return version_key(package.version)


def _parts(text: str) -> tuple[tuple[tuple[int, ...], int], ...]:
    """Words and numbers in turn; the last, empty, pair is the end that a tilde comes before and all else after."""
    return tuple((_word(word), int(number or 0)) for word, number in re.findall(r"(\D*)(\d*)", text))


def _word(word: str) -> tuple[int, ...]:
    order = (-1 if letter == "~" else ord(letter) + (0 if letter.isalpha() else 256) for letter in word)
    return (*order, 0)
