"""Fetches Debian's packages of Slurm into the user's cache: whole and checked, or not at all."""

from __future__ import annotations

import fcntl
import hashlib
import os
import platform
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from schedlab.model.errors import InputError
from schedlab.slurm.install.deb import unpack
from schedlab.slurm.install.download import get
from schedlab.slurm.install.index import Package, read_index, version_key
from schedlab.slurm.install.programs import (
    ARCHITECTURES,
    SPOKEN,
    VARIABLE,
    Programs,
    cached_programs,
    programs_in,
    slurm_cache,
    speaks,
)
from schedlab.workload.archive.download import FetchError

# What slurmctld and the plug-ins for emulation need beyond these is the C library. The packages name more
# (munge, lua, hwloc, …): only plug-ins that emulation does not use load it.
PACKAGES = ("slurmctld", "slurm-client", "slurm-wlm-basic-plugins")
SUITE = "bookworm"
GLIBC = (2, 34)  # what these packages are built for
MIRROR = "https://deb.debian.org/debian"  # what is fetched is run: https, so that nobody on the way changes it
MIRROR_VARIABLE = "SCHEDLAB_DEBIAN_MIRROR"
REMEDIES = (
    f"on Debian 12, as root: apt-get install {' '.join(PACKAGES)}; "
    f"or unpack these packages elsewhere with dpkg -x and name the folder in {VARIABLE}; "
    f"or name another mirror in {MIRROR_VARIABLE} (https_proxy is heeded)"
)

Progress = Callable[[str], None]


def fetch_programs(progress: Progress | None = None) -> Programs:
    """Slurm's programs in the cache; they are fetched if they are not there. `progress` is told each step."""
    say = progress or (lambda _: None)
    architecture = debian_architecture()
    require_glibc()
    cache = slurm_cache()
    try:
        cache.mkdir(parents=True, exist_ok=True)
        with _alone(cache):
            return cached_programs() or _fetch(cache, architecture, say)
    except OSError as error:
        raise FetchError(
            f"cannot be written: {error.strerror or error}",
            where=str(cache),
            hint="say where programs may be kept with the environment variable SCHEDLAB_CACHE",
        ) from error


def debian_architecture() -> str:
    architecture = ARCHITECTURES.get(platform.machine(), "")
    if sys.platform != "linux" or not architecture:
        raise InputError(
            f"Debian's packages of Slurm cannot run on {platform.system()} on {platform.machine()}",
            hint=f"use Linux on {' or '.join(ARCHITECTURES)}, or set {VARIABLE} to a Slurm built for this machine",
        )
    return architecture


def require_glibc() -> None:
    found = _glibc()
    if found < GLIBC:
        has = f"has glibc {found[0]}.{found[1]}" if found else "has no glibc"
        raise InputError(
            f"Debian's packages of Slurm need glibc {GLIBC[0]}.{GLIBC[1]} or newer; this machine {has}",
            hint=f"use a container of Debian 12, or set {VARIABLE} to a Slurm built for this machine",
        )


def _glibc() -> tuple[int, ...]:
    try:
        words = (os.confstr("CS_GNU_LIBC_VERSION") or "").split()  # "glibc 2.36"
    except ValueError:  # another C library does not know the question
        return ()
    numbers = words[-1].split(".") if words else []
    return tuple(int(number) for number in numbers[:2] if number.isdigit())


@contextmanager
def _alone(cache: Path) -> Iterator[None]:
    """Let one process at a time fetch; the next one finds it done."""
    with (cache / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _fetch(cache: Path, architecture: str, say: Progress) -> Programs:
    mirror, packages = _newest(architecture, say)
    version = packages[0].version
    folder, unpacking = cache / f"{version}-{architecture}", cache / ".unpacking"
    shutil.rmtree(unpacking, ignore_errors=True)  # of one that was killed
    try:
        for package in packages:
            url = f"{mirror}/{package.path}"
            say(f"fetching {package.name} {version} ({package.size / 1e6:.1f} MB)")
            unpack(_checked(get(url, REMEDIES), package, url), unpacking, where=url)
        say("trying slurmctld")
        programs_in(unpacking, "cache")
        shutil.rmtree(folder, ignore_errors=True)  # it was there, but did not run
        unpacking.rename(folder)
    finally:
        shutil.rmtree(unpacking, ignore_errors=True)
    return programs_in(folder, "cache")


def _newest(architecture: str, say: Progress) -> tuple[str, list[Package]]:
    """The mirror and the packages of the newest version: of the last point release, or a security update since."""
    main = (os.environ.get(MIRROR_VARIABLE) or MIRROR).rstrip("/")
    found = [(main, _packages(main, SUITE, architecture, say))]
    security = f"{main}-security"
    try:
        found.append((security, _packages(security, f"{SUITE}-security", architecture, say)))
    except InputError as error:  # not all mirrors have them
        say(f"no security updates: {error.message}")
    mirror, packages = max(found, key=lambda pair: version_key(pair[1][0].version))
    return mirror, packages


def _packages(mirror: str, suite: str, architecture: str, say: Progress) -> list[Package]:
    url = f"{mirror}/dists/{suite}/main/binary-{architecture}/Packages.xz"
    say(f"reading {url}")
    packages = read_index(get(url, REMEDIES), PACKAGES, where=url)
    versions = sorted({package.version for package in packages})
    if len(versions) != 1 or not speaks(versions[0]):
        has = f"it has version {' and '.join(versions)}" if versions else "it does not have all of them"
        raise FetchError(f"expected {', '.join(PACKAGES)} of release {SPOKEN}; {has}", where=url, hint=REMEDIES)
    return packages


def _checked(content: bytes, package: Package, url: str) -> bytes:
    found = hashlib.sha256(content).hexdigest()
    if found != package.sha256:
        raise FetchError(
            f"the download has a wrong checksum: expected {package.sha256}, found {found}; it is not used",
            where=url,
            hint=f"try again; if that does not help, name another mirror in {MIRROR_VARIABLE}",
        )
    return content
