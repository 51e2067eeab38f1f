"""A slurm.conf as it is emulated, without a folder and without a Slurm."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from schedlab.cluster.slurm.entries import Settings
from schedlab.slurm.settings.emulation import Emulation, emulated


def emulation_of(
    settings: Settings, *, accounting: bool = True, has_plugin: Callable[[str], bool] = lambda name: True
) -> Emulation:
    return emulated(
        settings,
        folder=Path("/run/here"),
        controller_port=7001,
        node_port=7002,
        user="me",
        plugin_folder=Path("/usr/lib/slurm"),
        has_plugin=has_plugin,
        accounting=accounting,
    )
