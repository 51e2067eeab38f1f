"""Rows of the table of jobs by the ids of jobs."""

from __future__ import annotations

import numpy as np

from schedlab.analysis.workflow_kinds import Numbers


class JobRows:
    """Rows by the numbers in a column: ids, or sequences."""

    def __init__(self, ids: Numbers) -> None:
        self._order = np.argsort(ids, kind="stable")
        self._ids = ids[self._order]

    def of(self, ids: Numbers) -> Numbers:
        """-1 for those that there are none of."""
        if not len(self._ids):
            return np.full(len(ids), -1)
        place = np.minimum(np.searchsorted(self._ids, ids), len(self._ids) - 1)
        return np.where(self._ids[place] == ids, self._order[place], -1)
