"""A file of accounts, whichever it is: what `sacctmgr dump` wrote, or TOML."""

from __future__ import annotations

from pathlib import Path

from schedlab.files.bytestream import plain_name, text_of
from schedlab.model.errors import InputError
from schedlab.slurm.accounts.model import Accounts
from schedlab.slurm.accounts.read_dump import is_dump, read_dump
from schedlab.slurm.accounts.read_qos import read_qos
from schedlab.slurm.accounts.read_toml import read_toml


def read_accounts(path: str | Path, qos_path: str | Path | None = None) -> Accounts:
    """The accounts of a file; `qos_path` is a table of QOS that `sacctmgr show qos -P` wrote."""
    file = Path(path)
    qos = read_qos(Path(qos_path)) if qos_path is not None else ()
    is_toml = plain_name(file).endswith(".toml")
    if not is_toml and is_dump(text_of(file)):
        return read_dump(file, qos)
    try:
        return read_toml(file, qos)
    except InputError as error:
        if is_toml or "not TOML" not in error.message:
            raise
        hint = "give what `sacctmgr dump CLUSTER` wrote, or TOML as in docs/slurm-accounts.md"
        raise InputError("is neither a dump of sacctmgr nor TOML", where=str(file), hint=hint) from None
