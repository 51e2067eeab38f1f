"""Slurm's own programs for tests: those on the machine, else Debian's, fetched once into the user's cache."""

import pytest

from schedlab.model.errors import InputError
from schedlab.slurm.install import Programs, fetch_programs, find_programs


def slurm_programs() -> Programs:
    """Skips the test, with the reason, where there are none and none can be had; a wrong $SCHEDLAB_SLURM fails it."""
    found = find_programs()
    if found is not None:
        return found
    try:
        return fetch_programs()
    except InputError as error:
        pytest.skip(f"needs Slurm's programs: {error}")
