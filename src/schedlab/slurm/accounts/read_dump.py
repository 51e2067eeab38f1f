"""The file that `sacctmgr dump` writes: one line for each account and user, below the line of its parent."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from schedlab.files.bytestream import text_of
from schedlab.files.slurm_values import shown
from schedlab.model.mistakes import Mistakes
from schedlab.model.suggest import did_you_mean
from schedlab.slurm.accounts.model import NORMAL, ROOT, Account, Accounts, Association, Member, Qos, settings, words

_LINE = re.compile(r"\s*([A-Za-z]+)\s*-\s+(.*?)\s*")
_KEY = re.compile(r"\s*([A-Za-z]+)\s*([+-]?)=")
_WORDS, _READERS = words(Association), settings(Association)
_QOS_WORDS, _QOS_READERS = words(Qos), settings(Qos)
# Limits on one resource, as they were named before resources had limits in common.
_OLD_WORDS = {
    "grpcpus": ("grp_tres", "cpu"),
    "grpcpumins": ("grp_tres_mins", "cpu"),
    "grpcpurunmins": ("grp_tres_run_mins", "cpu"),
    "grpnodes": ("grp_tres", "node"),
    "grpmemory": ("grp_tres", "mem"),
    "maxcpus": ("max_tres", "cpu"),
    "maxcpusperjob": ("max_tres", "cpu"),
    "maxcpumins": ("max_tres_mins", "cpu"),
    "maxcpuminsperjob": ("max_tres_mins", "cpu"),
    "maxcpurunmins": ("max_tres_run_mins", "cpu"),
    "maxnodes": ("max_tres", "node"),
    "maxnodesperjob": ("max_tres", "node"),
}
_OF_USERS = ("defaultaccount", "partition")
# What scheduling does not depend on.
_NOT_USED = (
    *("adminlevel", "coordinator", "classification", "defaultwckey", "wckeys"),
    *("description", "organization", "comment"),
)
_KNOWN = (*_WORDS, *_QOS_WORDS, *_OLD_WORDS, *_OF_USERS, *_NOT_USED)
# Types of resources have a colon too (gres/gpu:v100=4), so only one in front of a known word ends such a value.
_END_OF_TRES = re.compile(rf":(?=\s*(?:{'|'.join(_KNOWN)})\s*[+-]?=)", re.IGNORECASE)
_ENDS = {quote: re.compile(rf"{quote}\s*(?=:|$|#)") for quote in "'\""}

_OBJECTS = {
    "qos": "qos",
    "cluster": "cluster",
    "machine": "cluster",
    "parent": "parent",
    "account": "account",
    "project": "account",
    "user": "user",
}


@dataclass(slots=True)
class _Line:
    number: int
    kind: str  # qos, cluster, parent, account or user
    name: str
    options: dict[str, str]  # by the word in lower case


def is_dump(text: str) -> bool:
    return re.search(r"^[ \t]*+(cluster|machine)[ \t]*-\s", text, re.IGNORECASE | re.MULTILINE) is not None


def read_dump(path: Path, qos: Sequence[Qos] = ()) -> Accounts:
    """What the file says. Dumps before Slurm 25.05 only name QOS: `qos` defines them, others have no limits."""
    reading = _Reading(str(path))
    for line in _lines(text_of(path), str(path), reading.mistakes):
        reading.take(line)
    return reading.accounts(qos)


class _Reading:
    """Takes the lines one after the other, noting what is wrong."""

    def __init__(self, file: str) -> None:
        self.file, self.mistakes = file, Mistakes()
        self.cluster, self.parent = "", ROOT
        self.root = Association()
        self.qos: dict[str, Qos] = {}
        self.accounts_found: dict[str, Account] = {}
        self.members: dict[tuple[str, str, str], Member] = {}
        self.defaults: dict[str, str] = {}

    def take(self, line: _Line) -> None:
        known = line.name == ROOT or line.name in self.accounts_found
        if line.kind == "qos":
            if line.name in self.qos:
                self.wrong(line, f"QOS '{line.name}' appears twice")
            self.qos[line.name] = Qos(name=line.name, **self._settings(line))
        elif line.kind == "cluster":
            if self.cluster:
                self.wrong(line, "a second cluster", "give a file of one cluster: sacctmgr dump CLUSTER")
            self.cluster, self.root = line.name, Association(**self._settings(line))
        elif line.kind == "parent":
            if not known:
                hint = did_you_mean(line.name, self.accounts_found, "an account has to be above those in it")
                self.wrong(line, f"parent '{line.name}' is no account of the lines before", hint)
            self.parent = line.name
        elif line.kind == "account":
            if known:
                self.wrong(line, f"account '{line.name}' appears twice")
            account = Account(name=line.name, parent=self.parent, **self._settings(line))
            self.accounts_found.setdefault(line.name, account)
        else:
            self._take_user(line)

    def _take_user(self, line: _Line) -> None:
        partition = line.options.get("partition", "")
        member = Member(user=line.name, account=self.parent, partition=partition, **self._settings(line))
        if self.members.setdefault((line.name, self.parent, partition), member) is not member:
            self.wrong(line, f"user '{line.name}' appears twice in account '{self.parent}'")
        if default := line.options.get("defaultaccount", "").lower():
            self.defaults.setdefault(line.name, default)

    def _settings(self, line: _Line) -> dict[str, Any]:
        names, readers = (_QOS_WORDS, _QOS_READERS) if line.kind == "qos" else (_WORDS, _READERS)
        found: dict[str, Any] = {}
        for word, text in line.options.items():
            old = _OLD_WORDS.get(word)
            name = old[0] if old else names.get(word)
            if name is None:
                if word not in _NOT_USED and not (line.kind == "user" and word in _OF_USERS):
                    self.wrong(line, f"{shown(word)} is not known", did_you_mean(word, _KNOWN))
                continue
            try:
                value = readers[name](f"{old[1]}={text}" if old else text)
            except ValueError as error:
                self.wrong(line, f"{word}={shown(text)}: expected {error}")
                continue
            found[name] = {**found.get(name, {}), **value} if isinstance(value, dict) else value
        return found

    def wrong(self, line: _Line, message: str, hint: str = "") -> None:
        self.mistakes.at(self.file, line.number, message, hint)

    def accounts(self, qos: Sequence[Qos]) -> Accounts:
        if not self.cluster:
            self.mistakes.at(self.file, 1, "no line `Cluster - 'NAME'`", "write the file with `sacctmgr dump CLUSTER`")
        self.mistakes.raise_all()
        places = (self.root, *self.accounts_found.values(), *self.members.values())
        defined = {**self.qos, **{item.name: item for item in qos}} or {NORMAL.name: NORMAL}
        named = [name.lstrip("+-") for place in places for name in (*place.qos, place.default_qos) if name]
        named += [name for item in defined.values() for name in item.preempt]
        member_of = {(user, account) for user, account, _ in self.members}
        return Accounts(
            cluster=self.cluster,
            root=self.root if self.root.qos else replace(self.root, qos=(NORMAL.name,)),  # as slurmdbd does
            accounts=tuple(self.accounts_found.values()),
            members=tuple(self.members.values()),
            default_accounts={user: name for user, name in self.defaults.items() if (user, name) in member_of},
            qos=(*defined.values(), *(Qos(name=name) for name in dict.fromkeys(named) if name not in defined)),
        )


def _lines(text: str, file: str, mistakes: Mistakes) -> Iterator[_Line]:
    begun = ""
    for number, raw in enumerate(text.splitlines(), 1):
        line = begun + raw.strip()
        begun = ""
        if line.endswith("\\"):
            begun = line[:-1]
            continue
        if not line or line.startswith("#"):
            continue
        match = _LINE.fullmatch(line)
        kind = _OBJECTS.get(match[1].lower()) if match else None
        if match is None or kind is None:
            expected = "expected QOS, Cluster, Parent, Account or User, then ` - 'NAME'`"
            mistakes.at(file, number, f"{shown(line)}: {expected}")
            continue
        try:
            name, options = _options(match[2])
        except ValueError as error:
            mistakes.at(file, number, f"{shown(match[2])}: expected {error}")
            continue
        yield _Line(number, kind, name if kind == "user" else name.lower(), options)


def _options(text: str) -> tuple[str, dict[str, str]]:
    """The name in front, and the options behind it."""
    name, position = _value(text, 0, is_tres=False)
    if not name:
        raise ValueError("a name")
    options: dict[str, str] = {}
    while position < len(text) and text[position] == ":":
        key = _KEY.match(text, position + 1)
        if key is None:
            raise ValueError("Option=value behind each colon")
        word, sign = key[1].lower(), key[2]
        value, position = _value(text, key.end(), is_tres="tres" in word)
        if value:
            options[word] = ",".join(f"{sign}{part}" for part in value.split(",")) if sign else value
    if text[position:].strip() and not text[position:].lstrip().startswith("#"):
        raise ValueError("a colon between options")
    return name, options


def _value(text: str, start: int, *, is_tres: bool) -> tuple[str, int]:
    """A value with or without quotation marks, and where it ends."""
    if quoted := _ENDS.get(text[start : start + 1]):
        end = quoted.search(text, start + 1)
        if end is None:
            raise ValueError("a second quotation mark")
        return text[start + 1 : end.start()].strip(), end.end()
    if is_tres:
        found = _END_OF_TRES.search(text, start)
        stop = found.start() if found else len(text)
    else:
        stop = text.find(":", start)
        stop = len(text) if stop < 0 else stop
    return text[start:stop].strip(), stop
