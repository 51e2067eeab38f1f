"""What a process may touch when the texts it works from are somebody else's.

`schedlab web` does what people type into forms. Whatever way a text takes through readers, plug-ins and files that name
other files, it ends at one of a few doors: a file is opened, code is imported, a program is started. Python tells
these (audit events), and here they are refused unless the bounds allow them, in words. It is no prison for code, which
is why code itself is let in only if whoever started the server named its file.

Files that libraries open by themselves Python does not see. For a whole process the kernel looks after them too, where
it can (Landlock), and its memory and time have limits.
"""

from __future__ import annotations

import json
import os
import resource
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from schedlab.model import landlock
from schedlab.model.errors import InputError

VARIABLE = "SCHEDLAB_CONFINED"  # the bounds of a whole process, and of those that it starts
STARTS_PROGRAMS = ("slurm-real", "batsim", "kubernetes")  # policies
WORKER = "schedlab.experiment.worker"

_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
# Which arguments of the event are paths, and which are open folders that they are relative to (-1: none).
_CHANGES = {
    "os.remove": ((0,), (1,)),
    "os.rmdir": ((0,), (1,)),
    "os.mkdir": ((0,), (2,)),
    "os.rename": ((0, 1), (2, 3)),
    "os.link": ((0, 1), (2, 3)),
    "os.symlink": ((1,), (2,)),
    "os.truncate": ((0,), ()),
}
_LISTS = frozenset({"os.listdir", "os.scandir"})
_PROGRAMS = frozenset({"os.system", "os.exec", "os.posix_spawn", "os.spawn", "pty.spawn"})
# What libraries read of the system.
_SYSTEM = (
    *("/usr/share", "/usr/lib", "/usr/local/share", "/lib", "/lib64", "/sys/devices/system/cpu", "/sys/fs/cgroup"),
    *("/etc/localtime", "/etc/timezone", "/etc/fonts", "/etc/mime.types", "/etc/os-release", "/etc/ld.so.cache"),
    *("/proc/meminfo", "/proc/cpuinfo", "/proc/stat", "/proc/sys", "/dev/null", "/dev/urandom", "/dev/tty"),
)


class OutsideError(InputError, PermissionError):
    """Of two kinds: people are told, and libraries that only look whether something is there go on without it."""


@dataclass(frozen=True, slots=True)
class Bounds:
    folder: str  # may be read, without
    hidden: str  # this part of it, of which nevertheless
    own: str  # this may be read and written
    code: tuple[str, ...] = ()  # Python files that may be imported
    programs: tuple[str, ...] = ()  # policies that start programs, as they were named at the start, arguments and all
    free: bool = False  # such a policy is at work, and its programs need files of the system
    memory: int = 0  # bytes that a process may have of its own; 0: as many as there are
    seconds: int = 0  # that it may compute; 0: as long as it takes
    locked: bool = False  # by the kernel already, as whatever it was started by


_everywhere: Bounds | None = None
_here: ContextVar[Bounds | None] = ContextVar("bounds", default=None)
_listening = False


def confine(bounds: Bounds) -> None:
    """This process, from now on; before it has threads, which the kernel would leave as they are."""
    global _everywhere
    limit(bounds)
    if not bounds.free and not bounds.locked:
        lock(bounds)
    _everywhere = bounds
    _listen()


def limit(bounds: Bounds) -> None:
    """Memory is what is written to: address space that libraries reserve costs nothing."""
    limits = ((resource.RLIMIT_DATA, bounds.memory), (resource.RLIMIT_CPU, bounds.seconds))
    for which, most in limits:
        hard = resource.getrlimit(which)[1]
        if most and (hard == resource.RLIM_INFINITY or most < hard):
            resource.setrlimit(which, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with suppress(OSError):  # if the machine has no memory left, this ends, not what started it
        Path("/proc/self/oom_score_adj").write_text("500")


def lock(bounds: Bounds) -> bool:
    """By the kernel: hierarchies are allowed, so each entry of the folder is, except where the spaces are. What comes
    into the folder later is not seen, nor is the list of its entries."""
    seen = []
    with suppress(OSError), os.scandir(bounds.folder) as entries:
        seen = [each.path for each in entries if not (each.name.startswith(".") or each.is_symlink())]
    shared = [path for path in seen if os.path.realpath(path) != bounds.hidden]
    read = (*shared, *_libraries_read(), "/proc")
    return landlock.restrict(read=read, write=(bounds.own, *_libraries_write()), execute=_python())


def confine_as_told() -> None:
    """As the process that started this one says."""
    if text := os.environ.get(VARIABLE):
        found = json.loads(text)
        bounds = Bounds(**{**found, **{name: tuple(found[name]) for name in ("code", "programs")}})
        confine(bounds)
        os.environ[VARIABLE] = as_text(replace(bounds, locked=not bounds.free))


def as_text(bounds: Bounds) -> str:
    """For the environment."""
    return json.dumps(asdict(bounds))


@contextmanager
def confined(bounds: Bounds | None) -> Iterator[None]:
    """What is done in here, also by threads that inherit the context; with None without bounds."""
    _listen()
    before = _here.set(bounds)
    try:
        yield
    finally:
        _here.reset(before)


def check_code(path: Path | None, where: str) -> None:
    """Before a file is imported; None is a module by its name."""
    bounds = _bounds()
    if bounds is not None and (path is None or str(path.resolve()) not in bounds.code):
        hint = "whoever starts the server can name files of Python: schedlab web --allow FILE.py"
        raise InputError("is code, and was not named when the server was started", where=where, hint=hint)


def check_program(policy: str) -> None:
    """Before a policy is used that starts programs or connects to some: its arguments can be commands."""
    bounds = _bounds()
    if bounds is not None and policy.partition("(")[0] in STARTS_PROGRAMS and policy not in bounds.programs:
        hint = f"whoever starts the server can name it, with its arguments: schedlab web --allow {shlex.quote(policy)}"
        raise InputError("starts programs, which this server was not told to do", where=f"policy '{policy}'", hint=hint)


def _bounds() -> Bounds | None:
    return _here.get() or _everywhere


def _listen() -> None:
    global _listening
    if not _listening:
        _listening = True
        sys.addaudithook(_heard)


def _heard(event: str, arguments: tuple[Any, ...]) -> None:
    bounds = _bounds()
    if bounds is None or bounds.free:
        return
    if event == "os.mkdir" and os.path.realpath(os.fsdecode(arguments[0])) == bounds.hidden:
        return  # where the first space is made
    if event == "open":
        path, _, flags = arguments
        if not isinstance(path, int):
            _check(bounds, path, writes=bool(flags & _WRITES))
    elif event in _LISTS:
        if arguments[0] is not None and not isinstance(arguments[0], int):
            _check(bounds, arguments[0], writes=False)
    elif event in _CHANGES:
        paths, folders = _CHANGES[event]
        if all(arguments[at] == -1 for at in folders):  # an open folder was checked when it was opened
            for at in paths:
                if not isinstance(arguments[at], int):
                    _check(bounds, arguments[at], writes=True)
    elif event == "subprocess.Popen":
        _check_program(arguments[0], arguments[1])
    elif event in _PROGRAMS:
        raise _refused(str(arguments[0]), "would start a program")
    elif event == "socket.connect":
        raise _refused(str(arguments[1]), "would be connected to")


def _check(bounds: Bounds, name: str | bytes | os.PathLike[str], *, writes: bool) -> None:
    path = os.path.realpath(os.fsdecode(name))
    if _within(path, bounds.own):
        return
    if not _within(path, bounds.hidden):
        if writes and (_within(path, *_libraries_write()) or _compiled(path)):
            return
        if not writes and (_is_shared(path, bounds.folder) or _within(path, *_libraries_read())):
            return
    raise _refused(os.fsdecode(name), "may not be written" if writes else "lies outside the folder that is served")


def _is_shared(path: str, folder: str) -> bool:
    """In the folder, and not hidden there."""
    return _within(path, folder) and "/." not in path[len(folder) :]


def _compiled(path: str) -> bool:
    """What Python keeps of the sources of libraries."""
    return "/__pycache__" in path and _within(path, *_libraries_read())


def _check_program(executable: Any, arguments: Any) -> None:
    own = isinstance(arguments, list | tuple) and [str(each) for each in arguments[1:3]] == ["-m", WORKER]
    if os.fsdecode(executable) != sys.executable or not own:
        raise _refused(os.fsdecode(executable), "would start a program")


def _refused(where: str, problem: str) -> OutsideError:
    return OutsideError(problem, where=where, hint="this server does not do that for people who use its pages")


def _within(path: str, *folders: str) -> bool:
    return any(path == folder or path.startswith(f"{folder}/") for folder in folders)


@cache
def _libraries_read() -> tuple[str, ...]:
    python = [sys.prefix, sys.base_prefix, sys.exec_prefix, *filter(os.path.isabs, sys.path)]
    own = str(Path(__file__).parents[1])
    return (*(os.path.realpath(path) for path in python), own, *_SYSTEM, f"/proc/{os.getpid()}", *_libraries_write())


@cache
def _python() -> tuple[str, ...]:
    """What is needed to start it: workers of a study are processes of their own."""
    loaders = [path for folder in ("/lib", "/lib64") for path in Path(folder).glob("ld-*.so*")]
    return (os.path.realpath(sys.executable), *(os.path.realpath(path) for path in loaders))


@cache
def _libraries_write() -> tuple[str, ...]:
    """Caches of matplotlib and fontconfig."""
    home = Path.home()
    caches = [Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache") / name for name in ("matplotlib", "fontconfig")]
    config = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config") / "matplotlib"
    return (*map(os.path.realpath, (*caches, config)), "/dev/null", "/dev/tty")
