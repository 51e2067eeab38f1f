"""Accounts for those who give no file: everybody who has jobs, with equal shares."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from schedlab.slurm.accounts.model import Accounts


def accounts_of(users: Mapping[str, Sequence[str]], qos: Iterable[str], cluster: str) -> Accounts:
    """Each account under root with one share, each user in every account that it used, by default in the first.

    A user without any account is in the account "default".
    """
    return Accounts(cluster=cluster).with_users(users, qos)[0]
