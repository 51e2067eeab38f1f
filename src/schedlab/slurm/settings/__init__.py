"""A site's slurm.conf, what is changed in it, and what emulation makes of it."""

from schedlab.slurm.settings.differences import Difference, differences_text
from schedlab.slurm.settings.emulation import Emulation, emulated
from schedlab.slurm.settings.entries import Settings
from schedlab.slurm.settings.facts import Facts
from schedlab.slurm.settings.nodes import NodeGres, NodeSpec
from schedlab.slurm.settings.read import read_settings
from schedlab.slurm.settings.replaced import ACCOUNTING_PORT

__all__ = [
    "ACCOUNTING_PORT",
    "Difference",
    "Emulation",
    "Facts",
    "NodeGres",
    "NodeSpec",
    "Settings",
    "differences_text",
    "emulated",
    "read_settings",
]
