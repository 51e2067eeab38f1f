"""Importing somebody's file or module, with errors that name their line."""

from __future__ import annotations

import importlib
import linecache
import sys
from contextlib import suppress
from pathlib import Path
from traceback import walk_tb
from types import ModuleType

from schedlab.model.confined import check_code
from schedlab.model.errors import InputError
from schedlab.model.suggest import closest

# A file is imported once, and again when it has changed: file -> (time of the change, size), module.
_IMPORTED: dict[Path, tuple[tuple[int, int], ModuleType]] = {}


def import_file(place: str, kind: str = "") -> ModuleType:
    """The module of a file, under a name of its own. Its folder is on the path while it is imported.

    `kind` of plug-in, of which `schedlab new` would write one if there is no such file.
    """
    path = Path(place).expanduser()
    if path.suffix != ".py":
        raise InputError("is not a Python file", where=place, hint=f"its name has to end in .py: {path.name}.py:Name")
    check_code(path, place)
    try:
        status = path.stat()
        source = path.read_bytes()
    except (OSError, ValueError) as error:  # ValueError: a zero byte in the name
        raise _unreadable(path, error, kind) from None
    path = path.resolve()
    state = status.st_mtime_ns, status.st_size
    known = _IMPORTED.get(path)
    if known is None or known[0] != state:
        known = _IMPORTED[path] = state, _run(path, source)
    return known[1]


def import_module(place: str, where: str) -> ModuleType:
    """An importable module, `package.module`."""
    check_code(None, where)
    try:
        return importlib.import_module(place)
    except (Exception, SystemExit) as error:
        if isinstance(error, ModuleNotFoundError) and error.name and f"{place}.".startswith(f"{error.name}."):
            hint = f"is it installed here? A file is named with its ending: {place.replace('.', '/')}.py:Name"
            raise InputError(f"there is no module '{error.name}'", where=where, hint=hint) from None
        raise blame(error) from error


def blame(error: BaseException, file: str = "") -> InputError:
    """An error of somebody's code as one of ours, at the line of `file` that it comes from (or where it was raised)."""
    frames = [(frame.f_code.co_filename, line) for frame, line in walk_tb(error.__traceback__)]
    frames = [frame for frame in frames if frame[0] == file] or frames
    name, line = frames[-1] if frames else (file, 0)
    text = linecache.getline(name, line).strip()
    message = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return InputError(
        f"{message}\n    {text}" if text else message,
        where=f"{name}, line {line}" if line else name,
        hint=_remedy(error),
    )


def _run(path: Path, source: bytes) -> ModuleType:
    import hashlib

    linecache.checkcache(str(path))
    try:
        code = compile(source, str(path), "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:  # ValueError: a zero byte in the file
        raise _not_python(path, error) from None
    name = f"_schedlab_{path.stem}_{hashlib.sha256(str(path).encode()).hexdigest()[:12]}"
    module = ModuleType(name)
    module.__file__ = str(path)
    before = sys.modules.get(name)
    sys.modules[name] = module  # dataclasses and pickle look for it there
    folder = str(path.parent)
    sys.path.insert(0, folder)
    try:
        exec(code, module.__dict__)
    except BaseException as error:
        del sys.modules[name]
        if before is not None:
            sys.modules[name] = before
        if isinstance(error, Exception | SystemExit):
            raise blame(error, str(path)) from error
        raise
    finally:
        with suppress(ValueError):  # the file may have removed it itself
            sys.path.remove(folder)
    return module


def _not_python(path: Path, error: SyntaxError | ValueError) -> InputError:
    if not isinstance(error, SyntaxError) or not error.lineno:
        return InputError(f"is not Python: {error}", where=str(path), hint="is it the right file?")
    text = (error.text or "").rstrip()
    indent = len(text) - len(text.lstrip())
    caret = " " * max((error.offset or 1) - 1 - indent, 0) + "^"
    shown = f"\n    {text.strip()}\n    {caret}" if text.strip() else ""
    return InputError(f"{error.msg}{shown}", where=f"{path}, line {error.lineno}", hint="correct the line")


def _unreadable(path: Path, error: OSError | ValueError, kind: str) -> InputError:
    if isinstance(error, PermissionError):
        return InputError("permission denied", where=str(path), hint=f"chmod u+r {path.name}, or ask its owner")
    if isinstance(error, IsADirectoryError):
        return InputError("is a directory, not a file", where=str(path), hint="name a file in it")
    if not path.parent.is_dir():
        return InputError("no such file", where=str(path), hint=f"there is no folder {path.parent} either")
    near = closest(path.name, [entry.name for entry in path.parent.glob("*.py")])
    start = f"'schedlab new {kind} {path}' writes a file to start from" if kind else "check the path"
    hint = f"did you mean {path.parent / near}?" if near else start
    return InputError("no such file", where=str(path), hint=hint)


def _remedy(error: BaseException) -> str:
    if isinstance(error, ModuleNotFoundError) and error.name:
        return f"install {error.name}, or put {error.name}.py beside the file"
    return "correct the code there"
