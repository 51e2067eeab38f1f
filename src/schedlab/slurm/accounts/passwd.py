"""The file of users that slurmctld is shown, in the format of /etc/passwd."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable

from schedlab.files.slurm_values import shown
from schedlab.model.errors import InputError, InputErrors
from schedlab.slurm.accounts.model import ROOT

FIRST_UID = 100_000
# A line that begins with + or - means another service, and one that begins with # is a comment.
_NAME = re.compile(r"[^\s:,/+#\x00-\x1f\x7f-][^\s:,/\x00-\x1f\x7f]{0,255}")


def passwd_lines(users: Iterable[str], current: tuple[str, int] | None = None) -> tuple[str, dict[str, int]]:
    """The file, and the number of each user in it: from 100000 upwards in the order of names.

    root has 0, and `current`, who runs the program (name and number), keeps the number it has.
    """
    uids = {ROOT: 0}
    if current is not None:
        uids.setdefault(*current)
    others = sorted(set(users) - set(uids))
    expected = "expected a name without blanks, colons, commas and slashes that does not begin with +, - or #"
    wrong = [name for name in others if not _NAME.fullmatch(name)]
    if wrong:
        hint = "rename the user in the jobs and in the accounts"
        raise InputErrors([InputError(f"user {shown(name)}: {expected}", hint=hint) for name in wrong])
    taken = set(uids.values())
    numbers = (number for number in itertools.count(FIRST_UID) if number not in taken)
    uids |= dict(zip(others, numbers, strict=False))
    return "".join(f"{name}:x:{uid}:{uid}::/:/bin/sh\n" for name, uid in uids.items()), uids
