"""Slurm's programs on this machine: where they are, what they need, and which ones are taken."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from schedlab.model.errors import InputError
from schedlab.slurm.install.index import version_key
from schedlab.slurm.install.libraries import missing_libraries
from schedlab.slurm.wire.release import RELEASES, release_of
from schedlab.workload.archive.fetch import cache_folder

VARIABLE = "SCHEDLAB_SLURM"
CLIENTS = ("sbatch", "squeue", "sprio", "sshare", "sdiag", "scontrol", "sacctmgr")
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}  # Debian's names for what the kernel says
SPOKEN = ", ".join(RELEASES)
_VERSION = re.compile(r"\b\d\d\.\d\d\.\d+\S*")
_PLUGIN_FOLDERS = ("lib/*/slurm-wlm", "lib/*/slurm", "lib64/slurm", "lib/slurm")
# The kinds of plug-ins whose name has an underscore: elsewhere the first one parts kind and name.
_LONG_KINDS = (
    *("accounting_storage", "acct_gather_energy", "acct_gather_filesystem", "acct_gather_interconnect"),
    *("acct_gather_profile", "burst_buffer", "cli_filter", "core_spec", "ext_sensors", "job_container", "job_submit"),
    *("jobacct_gather", "node_features", "rest_auth", "site_factor"),
)

Origin = Literal["installed", "cache", "SCHEDLAB_SLURM"]


@dataclass(frozen=True, slots=True)
class Programs:
    """One Slurm that can be run.

    `slurmctld` must be started with `slurmctld` as its name: `Popen(["slurmctld", …], executable=programs.slurmctld)`.
    Debian's file has another name, and under that one slurmctld forgets the generic resources.
    """

    slurmctld: Path
    plugin_folder: Path
    libraries: tuple[Path, ...]
    clients: Mapping[str, Path]
    version: str
    origin: Origin

    def environment(self) -> dict[str, str]:
        """The variables to set, on top of the others, for slurmctld and the clients."""
        folders = dict.fromkeys([*(path.parent for path in self.clients.values()), self.slurmctld.parent])
        return {
            "PATH": _before(folders, os.environ.get("PATH", os.defpath)),
            "LD_LIBRARY_PATH": _before(self.libraries, os.environ.get("LD_LIBRARY_PATH", "")),
        }

    def plugins(self) -> list[str]:
        """All plug-ins, by the names that slurm.conf uses: `select/cons_tres`."""
        files = (path.stem for path in self.plugin_folder.glob("*_*.so") if not path.name.startswith("lib"))
        return sorted(_plugin_name(file) for file in files)

    def has_plugin(self, kind: str, name: str) -> bool:
        return self._plugin_file(f"{kind}/{name}").is_file()

    def needs(self, plugin: str) -> list[str]:
        """The shared libraries that a plug-in (`select/cons_tres`) asks for and the machine does not have."""
        return missing_libraries(self._plugin_file(plugin), self.environment()["LD_LIBRARY_PATH"])

    def _plugin_file(self, plugin: str) -> Path:
        return self.plugin_folder / f"{plugin.replace('/', '_')}.so"


@dataclass(frozen=True, slots=True)
class Search:
    """What was taken, and why what else is on the machine was not."""

    programs: Programs | None
    passed_over: tuple[InputError, ...]


def find_programs() -> Programs | None:
    """Those that `$SCHEDLAB_SLURM` names; else an installed Slurm whose release we speak; else those in the cache."""
    return search().programs


def search() -> Search:
    wanted = os.environ.get(VARIABLE)
    if wanted:
        try:
            return Search(programs_in(Path(wanted), "SCHEDLAB_SLURM"), ())
        except InputError as error:
            hint = f"set {VARIABLE} to a folder with Slurm's programs, as dpkg -x makes one, or unset it"
            raise InputError(f"{VARIABLE}={wanted}: {error.message}", hint=hint) from error
    passed_over: list[InputError] = []
    for prefix in installed_prefixes():
        try:
            return Search(programs_in(prefix, "installed"), tuple(passed_over))
        except InputError as error:
            passed_over.append(error)
    return Search(cached_programs(), tuple(passed_over))


def programs_in(prefix: Path, origin: Origin) -> Programs:
    """The programs below a folder such as /usr, /opt/slurm or one made by dpkg -x."""
    roots = (prefix.absolute(), prefix.absolute() / "usr")
    files = (root / "sbin" / name for root in roots for name in ("slurmctld-wlm", "slurmctld"))
    slurmctld = next((path for path in files if path.is_file()), None)
    if slurmctld is None:
        raise InputError("there is no sbin/slurmctld and no usr/sbin/slurmctld", where=str(prefix))
    root = slurmctld.parent.parent
    plugins = next((path for path in _plugin_folders(root) if (path / "auth_none.so").is_file()), None)
    if plugins is None:
        raise InputError(f"has no folder of plug-ins with auth_none.so in {root}/lib or lib64", where=str(slurmctld))
    # A Slurm that was moved does not find its own library; what is installed knows where its other ones are.
    libraries = (plugins,) if origin == "installed" else (plugins, plugins.parent)
    clients = {name: root / "bin" / name for name in CLIENTS if (root / "bin" / name).is_file()}
    found = Programs(slurmctld.resolve(), plugins, libraries, clients, "", origin)
    version = _version(found)
    if not speaks(version):
        raise InputError(f"is Slurm {version}; releases that are spoken here: {SPOKEN}", where=str(slurmctld))
    return Programs(found.slurmctld, plugins, libraries, clients, version, origin)


def speaks(version: str) -> bool:
    """Whether the messages of this release can be read and written here."""
    try:
        release_of(version)
    except InputError:
        return False
    return True


def installed_prefixes() -> list[Path]:
    on_path = shutil.which("slurmctld")
    places = [Path(on_path)] if on_path else []
    places += [Path("/usr/sbin/slurmctld"), Path("/usr/sbin/slurmctld-wlm"), Path("/usr/local/sbin/slurmctld")]
    places += sorted(Path("/opt").glob("slurm*/sbin/slurmctld"), reverse=True)
    return list(dict.fromkeys(path.resolve().parent.parent for path in places if path.is_file()))


def cached_programs() -> Programs | None:
    """The newest Slurm in the cache that runs here."""
    folders = cached_folders()
    for folder in sorted(folders, key=lambda folder: version_key(folder.name), reverse=True):
        try:
            return programs_in(folder, "cache")
        except InputError:  # a cache made by another schedlab or on another machine: fetch again
            continue
    return None


def cached_folders() -> list[Path]:
    architecture = ARCHITECTURES.get(platform.machine(), "")
    return list(slurm_cache().glob(f"[0-9]*-{architecture}")) if architecture else []


def slurm_cache() -> Path:
    return cache_folder() / "slurm"


def start_slurmctld(programs: Programs, *arguments: str, preload: str = "") -> subprocess.CompletedProcess[str]:
    """What slurmctld answers to arguments after which it does not stay."""
    environment = os.environ | programs.environment() | ({"LD_PRELOAD": preload} if preload else {})
    command = ["slurmctld", *arguments]
    try:
        return subprocess.run(
            command, executable=programs.slurmctld, env=environment, capture_output=True, text=True, timeout=30
        )
    except PermissionError as error:
        hint = "a folder mounted with noexec cannot hold programs: set SCHEDLAB_CACHE to another one"
        raise InputError("may not be run", where=str(programs.slurmctld), hint=hint) from error
    except (OSError, subprocess.TimeoutExpired) as error:
        raise InputError(f"cannot be started: {error}", where=str(programs.slurmctld)) from error


def _version(programs: Programs) -> str:
    answer = start_slurmctld(programs, "-V")
    found = _VERSION.search(answer.stdout)
    if answer.returncode != 0 or found is None:
        words = (answer.stderr.strip() or answer.stdout.strip() or f"exit code {answer.returncode}").splitlines()[0]
        raise InputError(f"does not start: {words}", where=str(programs.slurmctld))
    return found[0]


def _plugin_folders(root: Path) -> Iterator[Path]:
    for pattern in _PLUGIN_FOLDERS:
        yield from sorted(root.glob(pattern))


def _plugin_name(file: str) -> str:
    kind = next((kind for kind in _LONG_KINDS if file.startswith(f"{kind}_")), file.split("_")[0])
    return f"{kind}/{file[len(kind) + 1 :]}"


def _before(folders: Mapping[Path, None] | tuple[Path, ...], rest: str) -> str:
    return os.pathsep.join([*map(str, folders), *([rest] if rest else [])])
