"""The resources that Slurm tracks, with the numbers that it knows them by."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from typing import Any

from schedlab.model.errors import InputError
from schedlab.slurm.accounts.model import Accounts, Limits, Tres
from schedlab.slurm.accounts.values import STATIC_TRES, tres_name

_FIRST_OF_SITE = 1001  # below it are Slurm's own


class Resources:
    """Slurm's own resources, those of AccountingStorageTRES, and those that some limit is about."""

    def __init__(self, extra: Iterable[str], accounts: Accounts) -> None:
        self.ids = {name: number for number, name in enumerate(STATIC_TRES, 1)}
        for name in (*map(_checked, extra), *sorted(_limited(accounts))):
            if name.startswith("gres/") and ":" in name:
                self._add(name.partition(":")[0])  # Slurm wants the kind beside a type of it
            self._add(name)

    def text(self, tres: Tres) -> str | None:
        """Amounts as the files have them, by number; None if there are none."""
        numbered = sorted((self.ids[name], amount) for name, amount in tres.items())
        return ",".join(f"{number}={amount}" for number, amount in numbered) or None

    def records(self) -> list[dict[str, Any]]:
        """slurmctld counts the amounts of its nodes itself."""
        found = []
        for full, number in self.ids.items():
            kind, _, name = full.partition("/")
            found.append({"id": number, "type": kind, "name": name or None})
        return found

    def _add(self, name: str) -> None:
        self.ids.setdefault(name, _FIRST_OF_SITE + len(self.ids) - len(STATIC_TRES))


def _checked(name: str) -> str:
    try:
        return tres_name(name)
    except ValueError as error:
        raise InputError(f"AccountingStorageTRES: {name!r}: expected {error}") from None


def _limited(accounts: Accounts) -> set[str]:
    holders: tuple[Limits, ...] = (accounts.root, *accounts.accounts, *accounts.members, *accounts.qos)
    return {
        name
        for holder in holders
        for item in fields(holder)
        if isinstance(limit := getattr(holder, item.name), dict)
        for name in limit
    }
