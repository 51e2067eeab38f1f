"""Modules of JavaScript as one script, for a page that has to work from a disk, where browsers do not import files.

They are written for it: `import { a, b } from "./other.js";` on lines of their own, and `export` in front of functions,
classes and constants. Each becomes a function that returns what it exports, after those that it imports.
"""

from __future__ import annotations

import re
from importlib.resources import files

_IMPORT = re.compile(r'^import \{([^}]*)\} from "\./([a-z_]+)\.js";$', re.MULTILINE)
_EXPORT = re.compile(r"^export ((?:async )?(?:function\*?|class|const) ([A-Za-z_$][\w$]*))", re.MULTILINE)


def static(name: str) -> str:
    """A file beside the modules."""
    return files("schedlab.web").joinpath("static", name).read_text(encoding="utf-8")


def bundle(entry: str) -> str:
    """The module `entry` and all that it needs."""
    found: dict[str, str] = {}
    _add(entry, found, {})
    return '"use strict";\n' + "".join(found.values())


def _add(name: str, found: dict[str, str], exports: dict[str, list[str]]) -> None:
    if name in found:
        return
    text = static(f"{name}.js")
    for match in _IMPORT.finditer(text):
        _add(match[2], found, exports)
        missing = {wanted.strip() for wanted in match[1].split(",")} - set(exports[match[2]])
        if missing:
            raise ValueError(f"{name}.js imports {', '.join(sorted(missing))}, which {match[2]}.js does not export")
    exports[name] = [match[2] for match in _EXPORT.finditer(text)]
    exported = ", ".join(exports[name])
    body = _EXPORT.sub(r"\1", _IMPORT.sub(lambda match: f"const {{{match[1]}}} = ${match[2]};", text))
    found[name] = f"const ${name} = (() => {{\n{body}\nreturn {{ {exported} }};\n}})();\n"
