"""What goes wrong with a scheduler that runs beside us."""

from __future__ import annotations

from schedlab.model.errors import SchedlabError


class KubernetesError(SchedlabError):
    """The scheduler died, hung, or decided what cannot be."""
