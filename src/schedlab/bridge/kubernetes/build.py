"""Schedulers written in Go, built with the simulated clock: once, into the user's cache."""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from schedlab.bridge.kubernetes.golang.modules import KUBERNETES, find_module
from schedlab.bridge.kubernetes.golang.overlay import fingerprint, write_overlay
from schedlab.bridge.kubernetes.golang.toolchain import Go, find_fitting_go
from schedlab.model.errors import InputError
from schedlab.model.stopping import undisturbed
from schedlab.workload.archive.fetch import cache_folder

Progress = Callable[[str], None]

RELEASE = "v1.35.8"  # the first line of releases without chance among nodes that are equally good
SCHEDULER = f"{KUBERNETES}/cmd/kube-scheduler"
ROOM = 4e9  # bytes that a build wants, with Go's own cache
_WORDS = 12  # lines of Go's that an error shows
_EVERY = 100  # packages between two lines of progress
_VERSION_AT = "k8s.io/component-base/version"


@dataclass(frozen=True, slots=True)
class Target:
    """What is built: a folder with a main package, or a package of a released module."""

    name: str
    key: str  # the name in the cache
    package: str
    folder: Path | None = None  # None: a released package
    version: str = ""


def target_of(text: str) -> Target:
    """`DIR`, or `package@version`."""
    folder = Path(text)
    if folder.is_dir():
        if not any(folder.glob("*.go")):
            hint = "give the folder with the main package, such as cmd/scheduler"
            raise InputError("has no Go files", where=text, hint=hint)
        whole = folder.resolve()
        return Target(whole.name, f"{_plain(whole.name)}-{_digest(whole)}", ".", whole)
    package, _, version = text.partition("@")
    return Target(text, f"{_plain(package)}-{_plain(version)}", text, None, version)


def kube_scheduler(release: str = RELEASE) -> Target:
    return target_of(f"{SCHEDULER}@{release}")


def built_path(target: Target, go_version: str) -> Path:
    """Where it is once it is built. Another Go or another clock is another file."""
    return schedulers_folder() / f"{target.key}-{go_version}-{fingerprint()}"


def schedulers_folder() -> Path:
    return cache_folder() / "kubernetes"


def build(target: Target, progress: Progress | None = None, out: Path | None = None) -> Path:
    """Build it unless that has been done, and return the program."""
    say = progress or (lambda _: None)
    go = find_fitting_go()
    path = out or built_path(target, go.version)
    if path.is_file() and out is None:
        return path
    _check_room(path.parent)
    with _alone(path, say):
        if path.is_file() and out is None:
            return path  # somebody else was faster
        with TemporaryDirectory(prefix="schedlab-build-") as made:
            _build(go, target, Path(made), path, say)
    return path


def _build(go: Go, target: Target, made: Path, path: Path, say: Progress) -> None:
    overlay = write_overlay(go.root, go.version, made / "overlay")
    flags = ["-trimpath", "-overlay", str(overlay)]
    folder, package = target.folder, target.package
    if folder is None or _module_of(folder) is None:
        wanted = target.name if folder is None else f"{SCHEDULER}@{RELEASE}"
        say(f"asking {go.proxy.partition(',')[0]} for {wanted}")
        module = find_module(go, wanted, made)
        sources, folder = folder, made / "module"
        if sources is None:
            folder.mkdir()
            package = module.package
        else:
            shutil.copytree(sources, folder)
        (folder / "go.mod").write_text(module.text(), encoding="utf-8")
        flags += ["-mod=mod", "-ldflags", _named(module.version if module.path == KUBERNETES else "")]
    total = _packages(go, folder, package, flags, target)
    say(f"building {target.name} with {go.version}: {total:,} packages, several minutes the first time")
    program = made / "program"
    _compile(go, ["build", "-v", *flags, "-o", str(program), package], folder, total, target, say)
    with undisturbed():
        partly = path.with_name(f".{path.name}.part")
        shutil.copy2(program, partly)
        partly.rename(path)


def _module_of(folder: Path) -> Path | None:
    """Where the sources say which modules they need; those that do not are built with our Kubernetes."""
    return next((place for place in (folder, *folder.parents) if (place / "go.mod").is_file()), None)


def _digest(folder: Path) -> str:
    """Of all sources that may have a part in it."""
    root = _module_of(folder) or folder
    digest = hashlib.sha256(str(folder.relative_to(root)).encode())
    for path in sorted(path for path in root.rglob("*") if path.suffix in (".go", ".mod", ".sum") and path.is_file()):
        digest.update(f"{path.relative_to(root)}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def _named(version: str) -> str:
    """So that `--version` tells what was built."""
    if not version:
        return ""
    major, minor = version.lstrip("v").split(".")[:2]
    values = {"gitVersion": version, "gitMajor": major, "gitMinor": minor}
    return " ".join(f"-X {_VERSION_AT}.{name}={value}" for name, value in values.items())


def _packages(go: Go, folder: Path, package: str, flags: list[str], target: Target) -> int:
    """How many it needs; itself, which comes last, has to be a program."""
    of_modules = [flag for flag in flags if flag.startswith("-mod=")]
    answer = go.run(["list", *of_modules, "-deps", "-f", "{{.Name}}", package], folder)
    if answer.returncode != 0:
        raise _failed(go, target, answer.stderr.splitlines())
    names = answer.stdout.split()
    if names[-1:] != ["main"]:
        hint = "give the folder or the package of its main function"
        raise InputError("is not a program: its package is not main", where=target.name, hint=hint)
    return len(names)


def _compile(go: Go, command: list[str], folder: Path, total: int, target: Target, say: Progress) -> None:
    """Go names each package that it compiles; those in its cache it does not."""
    words: deque[str] = deque(maxlen=_WORDS)
    done = 0
    process = subprocess.Popen(
        [str(go.program), *command],
        cwd=folder,
        env=go.environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stderr is not None
        for line in process.stderr:
            if re.fullmatch(r"[\w.~/-]+", line.strip()):
                done += 1
                if done % _EVERY == 0:
                    say(f"{done:,} of at most {total:,} packages")
            else:
                words.append(line.rstrip())
    except BaseException:
        process.kill()
        raise
    finally:
        code = process.wait()
    if code != 0:
        raise _failed(go, target, list(words))


def _failed(go: Go, target: Target, words: list[str]) -> InputError:
    told = "\n    ".join(words[-_WORDS:]) or "it says nothing"
    text = " ".join(words)
    hint = "see to what Go says there"
    if "no space left" in text:
        hint = f"free {ROOM / 1e9:.0f} GB in your cache and in Go's (go env GOCACHE)"
    elif any(mark in text for mark in ("dial tcp", "no such host", "Forbidden", "connection refused", "i/o timeout")):
        hint = f"modules come from GOPROXY={go.proxy}: see that it can be reached, or name another one there"
    return InputError(f"Go cannot build it:\n    {told}", where=target.name, hint=hint)


def _check_room(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        hint = "say where it may be kept with the environment variable SCHEDLAB_CACHE"
        raise InputError(f"cannot be made: {error.strerror}", where=str(folder), hint=hint) from error
    if not os.access(folder, os.W_OK):
        hint = "say where it may be kept with the environment variable SCHEDLAB_CACHE"
        raise InputError("cannot be written to", where=str(folder), hint=hint)
    free = shutil.disk_usage(folder).free
    if free < ROOM:
        hint = f"free {ROOM / 1e9:.0f} GB there, or name another folder with SCHEDLAB_CACHE"
        raise InputError(f"has only {free / 1e9:.1f} GB left for a build", where=str(folder), hint=hint)


@contextmanager
def _alone(path: Path, say: Progress) -> Iterator[None]:
    """Let one process at a time build; the next one finds it done."""
    with path.with_name(f".{path.name}.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("somebody else is building it: waiting")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _plain(text: str) -> str:
    return re.sub(r"[^\w.-]+", "-", text.removeprefix("k8s.io/"))
