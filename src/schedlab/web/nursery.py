"""Where helpers come from: a process that has imported what they need and has read nothing of anybody's. Each helper is
a fork of it that confines itself before it reads its first byte.

    python -m schedlab.web.nursery FD       # for each descriptor of a socket that comes through FD, a helper
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import signal
import socket
import sys
import traceback
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import Any, NoReturn

from schedlab.model.confined import Bounds, confine
from schedlab.model.errors import SchedlabError
from schedlab.web.answers import ANSWERS, Stays
from schedlab.web.aside import BYTES, REFUSED, VALUE, receive, send
from schedlab.web.errors import FULL, LONGEST, document, status_of
from schedlab.web.settings import Settings
from schedlab.web.space import Space

_PARENT_DEATH_SIGNAL = 1
MOST_ORDER = 8 << 20  # bytes


def main(control: socket.socket) -> None:
    """Until the server ends, and everything that was forked with it."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for name in ("polars", "pandas"):  # what would be imported later, by each helper anew; Arrow asks for the second
        with suppress(ImportError):
            import_module(name)
    gc.collect()
    gc.freeze()
    while True:
        _, found, _, _ = socket.recv_fds(control, 1, 1)
        if not found:
            return
        if os.fork() == 0:
            control.close()
            _help(socket.socket(fileno=found[0]))
        os.close(found[0])


def _help(talk: socket.socket) -> NoReturn:
    try:
        ctypes.CDLL(None).prctl(_PARENT_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        with suppress(OSError):
            socket.send_fds(talk, [b"."], [os.pidfd_open(os.getpid())])
        order = json.loads(receive(talk, MOST_ORDER)[1])
        given: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in order["bounds"].items()
        }
        bounds = Bounds(**given)
        os.chdir(bounds.folder)
        confine(bounds)
        python = tuple(Path(path) for path in bounds.code)
        settings = Settings(python=python, programs=bounds.programs, memory=bounds.memory)
        space = Space(Path(bounds.folder), order["space"])
        stays = _answered(talk, lambda: ANSWERS[order["what"]](space, settings, **order["arguments"]))
        if isinstance(stays, Stays):
            _stay(talk, stays)
    except (OSError, EOFError):  # nobody waits for it any more
        pass
    finally:
        os._exit(0)


def _stay(talk: socket.socket, stays: Stays) -> None:
    """Until nobody asks any more."""
    while True:
        _, found, _, _ = socket.recv_fds(talk, 1, 1)
        if not found:
            return
        Thread(target=_once, args=(socket.socket(fileno=found[0]), stays), daemon=True).start()


def _once(talk: socket.socket, stays: Stays) -> None:
    with talk, suppress(OSError, EOFError):
        arguments = json.loads(receive(talk, MOST_ORDER)[1])
        _answered(talk, lambda: stays.answer(**arguments))


def _answered(talk: socket.socket, make: Any) -> Any:
    try:
        made = make()
        told = made.first() if isinstance(made, Stays) else made
        if isinstance(told, bytes):
            kind, content = BYTES, told
        else:
            text = json.dumps(told, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=float)
            kind, content = VALUE, text.encode("utf-8", "surrogatepass")
    except (MemoryError, RecursionError) as error:
        what = "more memory than it may have" if isinstance(error, MemoryError) else "to be read in too many levels"
        made, kind, content = None, REFUSED, _refusal(422, f"cannot be read: it needs {what}", "")
    except SchedlabError as error:
        told = document(error)
        made, kind, content = None, REFUSED, _refusal(status_of(error), told["error"], told["hint"])
    except OSError as error:
        status, told = (507, FULL[error.errno]) if error.errno in FULL else (400, str(error.strerror or error))
        where = f"{Path(os.fsdecode(error.filename)).name}: " if error.filename else ""
        made, kind, content = None, REFUSED, _refusal(status, f"{where}{told}", "")
    except Exception as error:
        traceback.print_exception(error)
        hint = "this is a mistake in schedlab; the terminal of the server says more"
        made, kind, content = None, REFUSED, _refusal(500, f"{type(error).__name__}: {error}"[:LONGEST], hint)
    send(talk, kind, content)
    return made


def _refusal(status: int, error: str, hint: str) -> bytes:
    """Files are called as the page calls them."""
    inside = error.replace(f"{Path.cwd()}/", "")
    return json.dumps({"status": status, "error": inside, "hint": hint}).encode()


if __name__ == "__main__":
    main(socket.socket(fileno=int(sys.argv[1])))
