"""A site's slurm.conf, what is changed in it, and what emulation makes of it."""

from schedlab.slurm.settings.differences import Difference, differences_text
from schedlab.slurm.settings.edit import edited
from schedlab.slurm.settings.emulation import Emulation, emulated
from schedlab.slurm.settings.replaced import ACCOUNTING_PORT

__all__ = ["ACCOUNTING_PORT", "Difference", "Emulation", "differences_text", "edited", "emulated"]
