"""Unpacks the programs of a Debian package: an `ar` archive with a compressed `tar` inside; no dpkg, no root."""

from __future__ import annotations

import io
import lzma
import tarfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from schedlab.model.errors import InputError

_MAGIC = b"!<arch>\n"
_HEADER = 60
_WANTED = ("usr/bin/", "usr/sbin/", "usr/lib/")


def unpack(deb: bytes, folder: Path, where: str) -> None:
    """Programs, libraries and the licence are written below the folder; manuals, services and settings are not.

    Only plain files are taken: a package without links cannot write outside the folder.
    """
    data = next((content for name, content in _members(deb, where) if name.startswith("data.tar")), None)
    if data is None:
        raise InputError("is not a Debian package: it has no data.tar", where=where)
    try:
        with tarfile.open(fileobj=io.BytesIO(data)) as tar:
            for member in tar:
                path = PurePosixPath(member.name)
                if member.isfile() and _wanted(path, where):
                    _write(tar, member, folder / path)
    except (tarfile.TarError, lzma.LZMAError, zlib.error, EOFError) as error:
        raise InputError(f"its data.tar cannot be read: {error}", where=where) from error


def _members(deb: bytes, where: str) -> Iterator[tuple[str, bytes]]:
    if not deb.startswith(_MAGIC):
        raise InputError("is not a Debian package: it does not begin as an ar archive", where=where)
    at = len(_MAGIC)
    while at + _HEADER <= len(deb):
        name, size = deb[at : at + 16].decode("ascii", "replace"), deb[at + 48 : at + 58].strip()
        if deb[at + 58 : at + _HEADER] != b"`\n" or not size.isdigit():
            raise InputError(f"is not a Debian package: byte {at} is not the head of a member", where=where)
        begin, end = at + _HEADER, at + _HEADER + int(size)
        if end > len(deb):
            raise InputError(f"is not whole: it breaks off after {len(deb)} bytes", where=where)
        yield name.strip().rstrip("/"), deb[begin:end]
        at = end + end % 2


def _wanted(path: PurePosixPath, where: str) -> bool:
    if path.is_absolute() or ".." in path.parts:
        raise InputError(f"has a file outside of its folder: {path}", where=where)
    return str(path).startswith(_WANTED) or path.name == "copyright"


def _write(tar: tarfile.TarFile, member: tarfile.TarInfo, target: Path) -> None:
    content = tar.extractfile(member)
    assert content is not None  # a plain file has one
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(content.read())
    target.chmod(0o755 if member.mode & 0o100 else 0o644)
