"""Modules of Go: which module a package belongs to, and a module of our own that builds it.

A module that names others by folders in its own repository, as Kubernetes does with its staging modules, cannot be
built by `go install module@version`: what it replaces does not count in other modules. So the replacements are said
again, with the released versions of those modules.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from schedlab.bridge.kubernetes.golang.toolchain import Go
from schedlab.model.errors import InputError

KUBERNETES = "k8s.io/kubernetes"
_KUBERNETES_VERSION = re.compile(r"v1\.(\d++\.\d++.*)")


@dataclass(frozen=True, slots=True)
class Module:
    """A released module and the package of it that is wanted."""

    path: str
    version: str
    package: str
    file: dict[str, Any]  # its go.mod, as `go mod edit -json` has it

    def text(self) -> str:
        """The go.mod of a module that builds it."""
        lines = ["module schedlab.build/scheduler", ""]
        lines += [f"go {self.file.get('Go') or '1.25.0'}", ""]
        lines += [f"godebug {one['Key']}={one['Value']}" for one in self.file.get("Godebug") or ()]
        lines += ["", f"require {self.path} {self.version}", ""]
        for one in self.file.get("Replace") or ():
            lines.append(self._replacement(one["Old"], one["New"]))
        return "\n".join(lines) + "\n"

    def _replacement(self, old: dict[str, str], new: dict[str, str]) -> str:
        target = f"{new['Path']} {new.get('Version', '')}"
        if not new.get("Version"):  # a folder of its repository
            released = _KUBERNETES_VERSION.fullmatch(self.version)
            if self.path != KUBERNETES or released is None:
                hint = "fetch its sources, and give the folder of the scheduler's main package"
                where = f"{self.path}@{self.version}"
                raise InputError(f"replaces {old['Path']} by its folder {new['Path']}", where=where, hint=hint)
            target = f"{old['Path']} v0.{released[1]}"
        return f"replace {old['Path']} {old.get('Version', '')} => {target}"


def find_module(go: Go, text: str, folder: Path) -> Module:
    """`package@version`: the module is the longest beginning of the package that the proxy knows."""
    package, _, version = text.partition("@")
    if not version or not re.fullmatch(r"[\w.~/-]+", package):
        hint = f"for example {KUBERNETES}/cmd/kube-scheduler@v1.35.8"
        raise InputError(f"{text!r} is neither a folder nor a package with a version", hint=hint)
    parts = package.split("/")
    words = ""
    for length in range(len(parts), 0, -1):
        path = "/".join(parts[:length])
        answer = go.run(["mod", "download", "-json", f"{path}@{version}"], folder)
        try:
            told = msgspec.json.decode(answer.stdout or "{}", type=dict[str, Any])
        except msgspec.DecodeError:
            told = {}
        if answer.returncode == 0 and "GoMod" in told:
            edited = go.run(["mod", "edit", "-json", told["GoMod"]], folder)
            return Module(path, told["Version"], package, msgspec.json.decode(edited.stdout, type=dict[str, Any]))
        words = words or str(told.get("Error") or answer.stderr).strip()
    hint = f"look at the spelling and the version; modules are asked for at GOPROXY={go.proxy}"
    raise InputError(f"no such module can be had: {words}", where=text, hint=hint)
