"""From a site's files to a slurmctld that runs: settings, accounts and users put into a folder of its own."""

from __future__ import annotations

import os
import pwd
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from schedlab.cluster.slurm.entries import Settings, items
from schedlab.cluster.slurm.nodes import NodeSpec
from schedlab.cluster.slurm.read import cluster_of, read_settings
from schedlab.model.cluster import Cluster
from schedlab.model.errors import InputError, InputErrors
from schedlab.model.mistakes import Mistakes
from schedlab.model.workload import Workload
from schedlab.slurm.accounts.from_jobs import accounts_of
from schedlab.slurm.accounts.model import Accounts
from schedlab.slurm.accounts.passwd import passwd_lines
from schedlab.slurm.accounts.read import read_accounts
from schedlab.slurm.accounts.state import write_state
from schedlab.slurm.controller import CONTROLLER_PORT, NODE_PORT, Controller, Outline
from schedlab.slurm.errors import SlurmError
from schedlab.slurm.install.programs import Programs, find_programs
from schedlab.slurm.jobs import Names
from schedlab.slurm.nodes import Nodes
from schedlab.slurm.settings.differences import differences_text
from schedlab.slurm.settings.edit import edited
from schedlab.slurm.settings.emulation import Emulation, emulated
from schedlab.slurm.wire.node import NodeFacts, NodeGres
from schedlab.slurm.wire.release import release_of
from schedlab.slurm.workplace import Workplace

EPOCH = 1_510_477_200  # when slurmctld starts if the log does not say when its second 0 was: a Sunday in 2017
NOWHERE = Path("/nonexistent")
_OVER = ("oversubscribe", "shared")
_SHARED = re.compile(r"GANG|SUSPEND|FORCE(?!:1$)|YES(?!:1$)", re.IGNORECASE)


@dataclass
class Setup:
    """Everything that is needed to start slurmctld for the jobs of a workload."""

    programs: Programs
    settings: Settings
    given_accounts: Accounts | None
    accounts: Accounts | None = None
    users: list[str] = field(default_factory=list)
    epoch: int = EPOCH
    remarks: list[str] = field(default_factory=list)  # what had to be added to the accounts

    @classmethod
    def read(cls, conf: str | Path, edits: Sequence[str], accounts: str | Path | None, qos: str | Path | None) -> Setup:
        settings = edited(read_settings(Path(conf)), edits)
        given = None if accounts is None else read_accounts(accounts, qos)
        if given is None and qos is not None:
            raise InputError("a table of QOS needs accounts too", where=str(qos), hint="give --accounts as well")
        programs = find_programs()
        if programs is None:
            raise InputError("there is no Slurm on this machine", hint="`schedlab slurm doctor` fetches one")
        _refuse_sharing(settings)
        found = cls(programs, settings, given)
        found.cluster()  # mistakes are to be known before the log is read
        return found

    @property
    def _has_accounting(self) -> bool:
        """Whether there are associations: the site has a database of them, or we were given some."""
        storage = self.settings.text("AccountingStorageType").casefold()
        return self.given_accounts is not None or storage.endswith("slurmdbd")

    def meet(self, names: Names, cluster: Cluster, workload: Workload) -> None:
        """The people of a workload, and the machine that the engine believes to have."""
        emulation = self._emulation(NOWHERE, accounting=self._has_accounting)
        if strange := sorted(set(cluster.node_names()) - {node.name for node in emulation.nodes}):
            hint = f"give {self.settings.path} as the cluster"
            some = ", ".join(strange[:5])
            raise InputError(f"the cluster {cluster.name} has nodes that the slurm.conf does not: {some}", hint=hint)
        if self._has_accounting:
            known, name = self.given_accounts, emulation.cluster_name
            qos = [*names.qos, *_qos_of_partitions(self.settings)]
            self.accounts, self.remarks = (
                (accounts_of(names.accounts, qos, name), [])
                if known is None
                else known.for_cluster(name).with_users(names.accounts, qos)
            )
        self.users = sorted({*names.accounts, *(self.accounts.users if self.accounts else ())})
        if workload.origin is not None:
            self.epoch = int(workload.origin.timestamp())

    def start(self, tick: float = 0.0, cpu: float = 0.0) -> Controller:
        """A slurmctld in a new folder, that is ready for jobs."""
        place = Workplace()
        try:
            emulation = self._emulation(place.folder, accounting=self.accounts is not None)
            conf = emulation.write(place.etc)
            text, uids = passwd_lines(self.users, (_me(), os.getuid()))
            people = place.etc / "passwd"
            people.write_text(text)
            release = release_of(self.programs.version)
            if self.accounts is not None:
                tres = emulation.tres
                write_state(place.state, self.accounts, uids, release=release.name, tres=tres, when=self.epoch)
            outline = Outline(self.programs, release, conf, people, uids, self.epoch, tick, cpu)
            return Controller(place, outline, Nodes(release, [_facts(node) for node in emulation.nodes]))
        except OSError as error:
            said = f"slurmctld cannot be set up: {error.strerror or error}; {place.described()}"
            place.close()
            raise SlurmError(said) from error
        except BaseException:
            place.close()
            raise

    def cluster(self) -> Cluster:
        """The machine, as the settings have it after all changes; its cores are what Slurm calls CPUs."""
        emulation = self._emulation(NOWHERE, accounting=self._has_accounting)
        return cluster_of(emulation.settings, Mistakes(), cpus=True)

    def differences(self) -> list[str]:
        """What is not as at the site and can change the result, in lines."""
        emulation = self._emulation(NOWHERE, accounting=self._has_accounting)
        return [*differences_text(emulation.telling), *self._about_accounts(), *self.remarks]

    def replaced(self) -> int:
        """How many other settings are not as at the site."""
        emulation = self._emulation(NOWHERE, accounting=self._has_accounting)
        return len(emulation.differences) - len(emulation.telling)

    def _about_accounts(self) -> list[str]:
        """What holds where nobody says who belongs to which account."""
        if self.given_accounts is not None:
            return []
        if not self._has_accounting:
            return ["no accounts: Slurm knows no fair-share, no QOS and no limits of users and accounts"]
        return [
            "no accounts given: equal shares for every account and user of the log, and no limits "
            "(--accounts FILE, as sacctmgr dump writes it, has those of the site)"
        ]

    def described(self) -> str:
        return f"Slurm {self.programs.version}"

    @property
    def notes(self) -> dict[str, bytes]:
        """Files that say with which settings it ran."""
        emulation = self._emulation(NOWHERE, accounting=self.accounts is not None)
        texts = dict(emulation.files)
        said = [*differences_text(emulation.differences), *self._about_accounts(), *self.remarks]
        texts["differences.txt"] = "\n".join(said) + "\n"
        return {name: text.encode() for name, text in texts.items()}

    def _emulation(self, folder: Path, *, accounting: bool) -> Emulation:
        return emulated(
            self.settings,
            folder=folder,
            controller_port=CONTROLLER_PORT,
            node_port=NODE_PORT,
            user=_me(),
            plugin_folder=self.programs.plugin_folder,
            has_plugin=self._has_plugin,
            accounting=accounting,
        )

    def _has_plugin(self, text: str) -> bool:
        kind, _, name = text.partition("/")
        return self.programs.has_plugin(kind, name)


def _refuse_sharing(settings: Settings) -> None:
    """The engine has no CPU that two jobs share."""
    lines = [entry.fields for entry in settings.of("partitionname")]
    values = [
        settings.general("PreemptMode"),
        *(fields.get(key) for fields in lines for key in ("preemptmode", *_OVER)),
    ]
    wrong = [value for value in values if value is not None and _SHARED.search(value.text)]
    if wrong:
        hint = "leave it out: --set PreemptMode=REQUEUE, --set PartitionName=NAME:OverSubscribe=NO"
        raise InputErrors(
            [
                InputError(
                    f"{value.key}={value.text}: CPUs that jobs share cannot be told here", where=value.place, hint=hint
                )
                for value in wrong
            ]
        )


def _qos_of_partitions(settings: Settings) -> list[str]:
    """slurmctld does not start if a partition names a QOS that does not exist."""
    lines = [entry.fields for entry in settings.of("partitionname")]
    named = [fields[key].text for fields in lines for key in ("qos", "allowqos", "denyqos") if key in fields]
    return [name for text in named for name in items(text) if name.casefold() != "all"]


def _me() -> str:
    """Who runs this; in a container that may be a number without a name."""
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return "schedlab"


def _facts(node: NodeSpec) -> NodeFacts:
    """What a node says of itself, in the words of messages."""
    # GPUs of several types are told apart by their devices, though here is none.
    gres = tuple(NodeGres(g.name, g.count, g.type, g.cores, g.has_file or bool(g.type)) for g in node.gres)
    return NodeFacts(
        name=node.name,
        sockets=node.sockets,
        cores=node.cores_per_socket,
        threads=node.threads,
        memory=1 if node.memory is None else node.memory,
        cpus=node.cpus,
        boards=node.boards,
        tmp_disk=node.tmp_disk,
        cpu_spec_list=node.cpu_spec_list or _last_cores(node),
        gres=gres,
    )


def _last_cores(node: NodeSpec) -> str:
    """The CPUs that a node keeps for its system if it is only told how many cores."""
    kept = node.core_spec_count * node.threads
    return f"{node.cpus - kept}-{node.cpus - 1}" if kept else ""
