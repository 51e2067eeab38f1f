"""Accounts in a TOML file, for those who have no dump. See docs/slurm-accounts.md.

All mistakes of a file are reported at once, each with its line.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from schedlab.files.bytestream import text_of
from schedlab.model.suggest import did_you_mean
from schedlab.model.toml_lines import TomlMistakes, load_toml
from schedlab.slurm.accounts.model import (
    NORMAL,
    ROOT,
    Account,
    Accounts,
    Association,
    Limits,
    Member,
    Qos,
    settings,
)

_KEYS = ("cluster", "root", "accounts", "users", "qos")
_UNNAMED_CLUSTER = "cluster"
Place = tuple[str | int, ...]


def read_toml(path: Path, qos: Sequence[Qos] = ()) -> Accounts:
    """What the file says; `qos` are those defined elsewhere, of which the file can define some anew."""
    return parse_toml(text_of(path), str(path), qos)


def parse_toml(text: str, file: str, qos: Sequence[Qos] = ()) -> Accounts:
    data, mistakes = load_toml(text, file)
    accounts = _Reading(data, mistakes).accounts(qos)
    mistakes.raise_all()
    return accounts


class _Reading:
    """Turns the tables of a file into accounts, noting what is wrong."""

    def __init__(self, data: Mapping[str, Any], mistakes: TomlMistakes) -> None:
        self.data, self.mistakes = data, mistakes
        self.qos_names: set[str] = set()
        self.account_names = {name.lower() for name in self._table((), data).get("accounts", ())} | {ROOT}

    def accounts(self, given: Sequence[Qos]) -> Accounts:
        self._check_keys((), self.data, _KEYS)
        qos = {item.name: item for item in (given or (NORMAL,))}
        self.qos_names = set(qos) | {name.lower() for name, _ in self._tables("qos")}
        for name, table in self._tables("qos"):
            qos[name.lower()] = self._qos(name, table)
        root = Association(**self._settings(("root",), self._table(("root",), self.data.get("root", {})), Association))
        accounts = tuple(self._account(name, table) for name, table in self._tables("accounts"))
        self._check_tree(accounts)
        members: list[Member] = []
        defaults: dict[str, str] = {}
        for name, table in self._tables("users"):
            found = self._members(name, table)
            members += found
            defaults[name] = self._default(name, table, found)
        cluster = self.data.get("cluster", _UNNAMED_CLUSTER)
        if not isinstance(cluster, str) or not cluster:
            self.mistakes.add(("cluster",), "cluster: expected a name")
        return Accounts(
            cluster=str(cluster),
            root=root if root.qos else replace(root, qos=tuple(qos)),
            accounts=accounts,
            members=tuple(members),
            default_accounts=defaults,
            qos=tuple(qos.values()),
        )

    def _table(self, path: Place, given: Any) -> Mapping[str, Any]:
        if isinstance(given, dict):
            return given
        self.mistakes.add(path, f"{path[-1]}: expected a table")
        return {}

    def _tables(self, key: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
        for name, table in self._table((key,), self.data.get(key, {})).items():
            if isinstance(table, dict):
                yield name, table
            else:
                self.mistakes.add((key, name), f"{name}: expected a table", f"such as [{key}.{name}]")

    def _check_keys(self, path: Place, table: Mapping[str, Any], known: Sequence[str]) -> None:
        where = f"[{'.'.join(map(str, path))}]" if path else "the file"
        self.mistakes.check_keys(path, table, known, f"{where} has {', '.join(known)}" if len(known) < 10 else "")

    def _settings(
        self, path: Place, table: Mapping[str, Any], kind: type[Limits], others: Sequence[str] = ()
    ) -> dict[str, Any]:
        """The settings of a table; `others` are keys that mean something else."""
        readers = settings(kind)
        self._check_keys(path, table, (*others, *readers))
        found = {}
        for key, value in table.items():
            if key not in readers or key in others:
                continue
            try:
                found[key] = readers[key](_text(value))
            except ValueError as error:
                self.mistakes.add((*path, key), f"{key} = {value!r}: expected {error}")
        for key in ("qos", "preempt", "default_qos"):
            names = found.get(key, ())
            for name in (names,) if isinstance(names, str) else names:
                if name.lstrip("+-") not in self.qos_names:
                    hint = did_you_mean(name, self.qos_names, f"define it: [qos.{name.lstrip('+-')}]")
                    self.mistakes.add((*path, key), f"{key}: there is no QOS '{name}'", hint)
        return found

    def _qos(self, name: str, table: Mapping[str, Any]) -> Qos:
        return Qos(name=name.lower(), **self._settings(("qos", name), table, Qos))

    def _account(self, name: str, table: Mapping[str, Any]) -> Account:
        path = ("accounts", name)
        if name.lower() == ROOT:
            self.mistakes.add(path, "root is above all accounts", "its shares and limits are in [root]")
        parent = self._account_name((*path, "parent"), table.get("parent", ROOT))
        return Account(name=name.lower(), parent=parent, **self._settings(path, table, Association, ("parent",)))

    def _account_name(self, path: Place, value: Any) -> str:
        if isinstance(value, str) and value.lower() in self.account_names:
            return value.lower()
        listing = f"define it: [accounts.{value}]" if isinstance(value, str) else ""
        self.mistakes.add(path, f"there is no account {value!r}", did_you_mean(str(value), self.account_names, listing))
        return ROOT

    def _check_tree(self, accounts: Sequence[Account]) -> None:
        parents = {account.name: account.parent for account in accounts}
        for name, table in self._tables("accounts"):
            above, seen = parents.get(name.lower(), ROOT), {name.lower()}
            while above != ROOT and above not in seen:
                seen.add(above)
                above = parents[above]
            if above != ROOT and "parent" in table:
                self.mistakes.add(("accounts", name, "parent"), f"account '{name}' is above itself")

    def _members(self, name: str, table: Mapping[str, Any]) -> list[Member]:
        path = ("users", name)
        own = self._settings(path, table, Association, ("accounts", "default", "associations"))
        listed = table.get("accounts", [])
        if not isinstance(listed, list):
            self.mistakes.add((*path, "accounts"), "accounts: expected a list", 'such as ["physics"]')
            listed = []
        found = {}
        for account in listed:
            account_name = self._account_name((*path, "accounts"), account)
            found[account_name, ""] = Member(user=name, account=account_name, **own)
        special = table.get("associations", [])
        if not isinstance(special, list):
            self.mistakes.add((*path, "associations"), f"expected tables [[users.{name}.associations]]")
            special = []
        for number, given in enumerate(special):
            place = (*path, "associations", number)
            part = self._table(place, given)
            more = self._settings(place, part, Association, ("account", "partition"))
            account_name = self._account_name((*place, "account"), part.get("account"))
            partition = str(part.get("partition", ""))
            member = Member(user=name, account=account_name, partition=partition, **{**own, **more})
            found[account_name, partition] = member
        if not found:
            self.mistakes.add(path, f"user '{name}' is in no account", 'accounts = ["…"]')
        return list(found.values())

    def _default(self, name: str, table: Mapping[str, Any], members: Sequence[Member]) -> str:
        names = [member.account for member in members]
        default = table.get("default", names[0] if names else ROOT)
        if names and str(default).lower() not in names:
            self.mistakes.add(("users", name, "default"), f"default: user '{name}' is not in account {default!r}")
        return str(default).lower()


def _text(value: Any) -> str:
    """A value as sacctmgr would have it."""
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return ",".join(value)
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    raise ValueError("a number, a text or a list of texts")
