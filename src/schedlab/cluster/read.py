"""A cluster from what a user writes: `120x2`, `pool:100`, or the path of a file."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from schedlab.model.arguments import as_path
from schedlab.model.cluster import Cluster
from schedlab.model.errors import InputError
from schedlab.model.nodeset import MOST_NODES
from schedlab.model.suggest import closest
from schedlab.model.units import LARGEST_AMOUNT

if TYPE_CHECKING:
    from schedlab.files.formats import Format

FORMS = (
    "write NxC (120x2: 120 nodes of 2 cores), pool:P (pool:100: 100 cores, nodes do not matter), or name a file: "
    ".toml, slurm.conf, or a platform of another simulator"
)

_UNIFORM = re.compile(r"([+-]?[0-9]+)\s*[xX×]\s*([+-]?[0-9]+)")
_POOL = re.compile(r"pool\s*:\s*([+-]?[0-9]+)", re.IGNORECASE)


def read_cluster(text: str | os.PathLike[str]) -> Cluster:
    """The cluster that `text` describes: `NxC`, `pool:P`, or the path of a TOML file (docs/cluster.md)."""
    if isinstance(text, str):
        written = text.strip()
        where = f"cluster '{written if len(written) <= 80 else written[:77] + '…'}'"
        if match := _UNIFORM.fullmatch(written):
            nodes = _whole(match.group(1), "node", MOST_NODES, where)
            return Cluster.uniform(nodes, _whole(match.group(2), "core", LARGEST_AMOUNT // nodes, where))
        if match := _POOL.fullmatch(written):
            return Cluster.of_cores(_whole(match.group(1), "core", LARGEST_AMOUNT, where))
        if not _names_a_file(written):
            raise InputError("this is not a cluster", where=where, hint=_guess(written))
        text = written
    return _read_file(Path(text) if isinstance(text, str) else as_path(text, "a cluster", FORMS))


def _whole(digits: str, noun: str, most: int, where: str) -> int:
    number = int(digits) if len(digits) <= 20 else most + 1
    if digits.startswith("-") or number == 0:
        raise InputError(f"{digits} {noun}s cannot run anything; expected at least 1", where=where, hint=FORMS)
    if number > most:
        raise InputError(f"{digits[:40]} {noun}s are too many; expected at most {most:,}", where=where, hint=FORMS)
    return number


def _names_a_file(text: str) -> bool:
    if not text:
        return False
    # A dot followed by letters is a suffix; 0.5 or 3.x2 is a number that went wrong.
    return os.sep in text or re.search(r"\.[A-Za-z]\w*$", text) is not None or _kind(Path(text)) != "missing"


def _kind(path: Path) -> str:
    """`missing`, `directory` or `file`; whatever else the operating system finds wrong with a path makes it missing."""
    try:
        return "directory" if path.is_dir() else "file" if path.exists() else "missing"
    except OSError:
        return "missing"


def _guess(text: str) -> str:
    """The remedy for something that is neither a shorthand nor a file."""
    guess = ""
    if re.fullmatch(r"[0-9]+", text):
        guess = f"did you mean 'pool:{text}' or '{text}x1'? "
    elif pair := re.fullmatch(r"([1-9][0-9]*+)(?:\s*+[^0-9\s.]++\s*+|\s++)([1-9][0-9]*)", text):
        guess = f"did you mean '{pair[1]}x{pair[2]}'? "
    elif (word := re.fullmatch(r"([A-Za-z]++)\s*+(?:[:=]\s*+)?([1-9][0-9]*)", text)) and closest(word[1], ["pool"]):
        guess = f"did you mean 'pool:{word[2]}'? "
    return guess + FORMS


def _read_file(path: Path) -> Cluster:
    kind = _kind(path)
    if kind == "directory":
        files = sorted(path.glob("*.toml"))
        hint = f"did you mean '{files[0]}'?" if files else "give the path of the .toml file itself"
        raise InputError("this is a directory; expected a cluster file", where=str(path), hint=hint)
    if kind == "missing":
        raise InputError("there is no such file", where=str(path), hint=_near(path) or FORMS)
    found = recognised_cluster(path)
    if found is None:
        from schedlab.cluster.formats import FORMATS

        known = "; ".join(f"{known.name}: {known.what}" for known in FORMATS)
        if path.name.endswith(("gres.conf", "topology.conf")):
            known = "it is read together with the slurm.conf beside it: name that one"
        raise InputError("is not a description of a cluster that is known here", where=str(path), hint=known)
    return found.reader()(path)


def recognised_cluster(path: Path) -> Format[Cluster] | None:
    """The format of a file that describes a cluster; None for any other."""
    from schedlab.cluster.formats import FORMATS
    from schedlab.files.formats import recognise

    return recognise(path, FORMATS)


def _near(path: Path) -> str:
    """A file beside the missing one whose name is nearly the same."""
    try:
        files = {file.stem: file for file in sorted(path.parent.iterdir()) if file.suffix.casefold() == ".toml"}
    except OSError:
        return f"the directory '{path.parent}' does not exist either" if _kind(path.parent) == "missing" else ""
    stem = closest(path.stem, files)
    return f"did you mean '{files[stem]}'?" if stem else ""
