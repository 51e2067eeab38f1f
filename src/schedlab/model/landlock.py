"""Landlock: a process gives up files and connections for good, for itself and all that it starts, and the kernel sees
to it, whichever library opens them.

What is allowed is named by hierarchies; everything else is refused. Rights that an older kernel does not know are not
asked for (https://docs.kernel.org/userspace-api/landlock.html).
"""

from __future__ import annotations

import ctypes
import os
import stat
import sys
from collections.abc import Iterable
from contextlib import suppress
from functools import cache

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # numbers of system calls, the same on every machine
_VERSION, _PATH_BENEATH, _NO_NEW_PRIVS = 1, 1, 38

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
TRUNCATE, IOCTL_DEV = 1 << 14, 1 << 15
_OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV  # others are rights of folders
# How many rights a kernel knows, by its version of the interface: making and removing of each kind of file; moving
# files between folders (2), truncating (3), commands to devices (5).
_KNOWN = {1: 13, 2: 14, 3: 15, 4: 15}
READ = READ_FILE | READ_DIR
CONNECTIONS, SCOPES = 0b11, 0b11  # TCP: to bind, to connect (4); abstract sockets and signals to others (6)


class _Ruleset(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in ("files", "connections", "scoped")]


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = [("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32)]


@cache
def version() -> int:
    """Of the kernel's interface; 0 where it has none."""
    if sys.platform != "linux":
        return 0
    with suppress(OSError, AttributeError):
        return _call(_CREATE_RULESET, None, ctypes.c_size_t(0), _VERSION)
    return 0


def restrict(
    *, read: Iterable[str], write: Iterable[str], execute: Iterable[str] = (), connections: bool = False
) -> bool:
    """This thread, and what it starts from now on. False where the kernel cannot. What is not there is left out."""
    if not version():
        return False
    known = (1 << _KNOWN.get(version(), 16)) - 1
    scoped = 0 if connections else SCOPES
    wanted = _Ruleset(known, 0 if connections or version() < 4 else CONNECTIONS, scoped if version() >= 6 else 0)
    size = 24 if version() >= 6 else 16 if version() >= 4 else 8
    rules = _call(_CREATE_RULESET, ctypes.byref(wanted), ctypes.c_size_t(size), 0)
    try:
        for paths, rights in ((read, READ), (write, known & ~EXECUTE), (execute, EXECUTE | READ_FILE)):
            for path in paths:
                with suppress(OSError):
                    _allow(rules, path, rights & known)
        _check(_libc().prctl(_NO_NEW_PRIVS, 1, 0, 0, 0))
        _call(_RESTRICT_SELF, rules, 0)
    finally:
        os.close(rules)
    return True


def _allow(rules: int, path: str, rights: int) -> None:
    there = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        if not stat.S_ISDIR(os.fstat(there).st_mode):
            rights &= _OF_FILES
        _call(_ADD_RULE, rules, _PATH_BENEATH, ctypes.byref(_Beneath(rights, there)), 0)
    finally:
        os.close(there)


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _call(number: int, *arguments: object) -> int:
    return _check(_libc().syscall(number, *arguments))


def _check(result: int) -> int:
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    return result
