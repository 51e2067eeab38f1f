"""A site's settings turned into those of an emulated slurmctld 22.05: the files, the nodes, and what is different."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from schedlab.cluster.slurm.hosts import host_names
from schedlab.cluster.slurm.lines import Mistakes
from schedlab.files.whole_file import whole_file
from schedlab.model.errors import InputErrors
from schedlab.slurm.settings.differences import Difference
from schedlab.slurm.settings.entries import Settings
from schedlab.slurm.settings.facts import Facts, facts_of
from schedlab.slurm.settings.general import emulated_general
from schedlab.slurm.settings.gres import gres_conf, with_gres
from schedlab.slurm.settings.nodes import NodeSpec, node_specs
from schedlab.slurm.settings.plugins import missing_plugins
from schedlab.slurm.settings.releases import in_words_of_this_release
from schedlab.slurm.settings.replaced import ROUTINE
from schedlab.slurm.settings.rewritten import lines_of, rewritten
from schedlab.slurm.settings.topology import topology_conf


@dataclass(frozen=True, slots=True)
class Emulation:
    """The texts of the files by name, what is not as at the site, and what slurmctld's surroundings have to know."""

    files: dict[str, str]
    differences: tuple[Difference, ...]
    nodes: tuple[NodeSpec, ...]
    facts: Facts

    def write(self, folder: Path) -> Path:
        """Write the files into a folder that is there; returns the path of slurm.conf."""
        for name, text in self.files.items():
            with whole_file(folder / name) as file:
                file.write(text.encode())
        return folder / "slurm.conf"


def emulated(
    settings: Settings,
    *,
    folder: Path,
    controller_port: int,
    node_port: int,
    user: str,
    plugin_folder: Path,
    has_plugin: Callable[[str], bool],
    accounting: bool,
) -> Emulation:
    """Settings for a slurmctld that keeps its files in `folder`; `accounting`: there is a file of associations.

    `has_plugin` says whether the Slurm at hand has a plug-in such as `select/cons_tres`.
    """
    differences: list[Difference] = []
    known = replace(settings, entries=tuple(in_words_of_this_release(settings.entries, differences)))
    missing = missing_plugins(known, has_plugin)
    if missing:
        raise InputErrors(missing)

    run = {
        "folder": str(folder),
        "controller_port": str(controller_port),
        "node_port": str(node_port),
        "user": user,
        "plugin_folder": str(plugin_folder),
    }
    values = {entry.subject.key: entry.subject for entry in known.entries if not entry.kind}
    general = emulated_general(values, run, accounting=accounting, has_plugin=has_plugin, differences=differences)
    lines = [rewritten(entry, accounting=accounting, differences=differences) for entry in known.entries if entry.kind]
    lines.sort(key=lambda entry: entry.kind == "downnodes")  # readers may want to know the nodes first
    final = replace(known, entries=(*general, *lines))

    mistakes = Mistakes()
    specs, counted = node_specs(known.entries, mistakes)
    nodes = with_gres(specs, counted, settings.gres, mistakes, differences)
    names = {
        name
        for entry in lines
        if entry.kind == "nodename" and not entry.is_default
        for name in host_names(entry.subject.text)
    }
    files = {
        "slurm.conf": f"# From {settings.path.name}, for emulation.\n{lines_of(final.entries)}",
        "gres.conf": gres_conf(nodes),
        "topology.conf": topology_conf(settings.topology, names, mistakes, differences),
    }
    mistakes.raise_all()
    return Emulation(
        files={name: text for name, text in files.items() if text},
        differences=tuple(sorted(differences, key=lambda difference: difference.why in ROUTINE)),
        nodes=tuple(nodes),
        facts=facts_of(final),
    )
