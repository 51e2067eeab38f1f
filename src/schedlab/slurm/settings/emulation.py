"""A site's settings turned into those of an emulated slurmctld 22.05: the files, the nodes, and what is different."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from schedlab.cluster.slurm.entries import Settings, items
from schedlab.cluster.slurm.nodes import NodeSpec, read_nodes
from schedlab.files.whole_file import whole_file
from schedlab.model.errors import InputError, InputErrors
from schedlab.model.mistakes import Mistakes
from schedlab.slurm.settings.differences import Difference
from schedlab.slurm.settings.general import emulated_general
from schedlab.slurm.settings.gres import gres_differences, gres_entries
from schedlab.slurm.settings.plugins import missing_plugins
from schedlab.slurm.settings.releases import in_words_of_this_release
from schedlab.slurm.settings.replaced import ROUTINE
from schedlab.slurm.settings.rewritten import lines_of, rewritten
from schedlab.slurm.settings.topology import topology_entries


@dataclass(frozen=True, slots=True)
class Emulation:
    """The settings of an emulated slurmctld, what of them is not as at the site, and the nodes that register."""

    settings: Settings
    differences: tuple[Difference, ...]
    nodes: tuple[NodeSpec, ...]

    @property
    def files(self) -> dict[str, str]:
        """Their texts by name."""
        head = f"# From {self.settings.path.name}, for emulation.\n"
        texts = {
            "slurm.conf": f"{head}{lines_of(self.settings.entries)}",
            "gres.conf": lines_of(self.settings.gres),
            "topology.conf": lines_of(self.settings.topology),
        }
        return {name: text for name, text in texts.items() if text}

    @property
    def telling(self) -> list[Difference]:
        """Those that can change what Slurm does; the others are hosts, ports, files and the like."""
        return [difference for difference in self.differences if difference.why not in ROUTINE]

    @property
    def cluster_name(self) -> str:
        return self.settings.text("ClusterName").casefold()

    @property
    def tres(self) -> tuple[str, ...]:
        """Of AccountingStorageTRES: what is counted beyond what always is."""
        return tuple(dict.fromkeys(item.casefold() for item in items(self.settings.text("AccountingStorageTRES"))))

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
    if not any(not entry.is_default for entry in settings.of("partitionname")):
        hint = "a line such as PartitionName=normal Nodes=ALL Default=YES"
        raise InputError("describes no partition", where=str(settings.path), hint=hint)
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
    values = {entry.subject.key: entry.subject for entry in known.of("")}
    general = emulated_general(values, run, accounting=accounting, has_plugin=has_plugin, differences=differences)
    lines = [rewritten(entry, accounting=accounting, differences=differences) for entry in known.entries if entry.kind]
    lines.sort(key=lambda entry: entry.kind == "downnodes")  # readers may want to know the nodes first

    mistakes = Mistakes()
    specs = read_nodes(known, [], mistakes)
    nodes = [node for node in specs.values() if node.state != "FUTURE"]  # others do not exist yet
    differences += gres_differences(settings, nodes)
    final = replace(
        known,
        entries=(*general, *lines),
        gres=tuple(gres_entries(nodes)),
        topology=tuple(topology_entries(settings.topology, specs.keys(), differences, mistakes)),
    )
    mistakes.raise_all()
    ordered = sorted(differences, key=lambda difference: difference.why in ROUTINE)
    return Emulation(final, tuple(ordered), tuple(nodes))
