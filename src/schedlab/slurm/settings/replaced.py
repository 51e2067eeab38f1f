"""What emulation needs to be otherwise than at a site: the one table of it, with the reasons."""

from __future__ import annotations

from dataclasses import dataclass

ACCOUNTING_PORT = 1  # of the slurmdbd that is not there: its associations come from a file

_RUN = "hosts, ports, user and files of this run"
_MESSAGES = "messages stay on this machine"
_NODES = "nothing is really run on the nodes"
_ANSWER = "the emulated nodes always answer"
ACCOUNTS_FILE = "accounts come from a file; there is no database"
LOG = "the log is evidence"


@dataclass(frozen=True, slots=True)
class Replacement:
    """What a key becomes (with places for this run's own values), and what holds where a site does not set it."""

    value: str
    default: str
    why: str


def _run(value: str) -> Replacement:
    return Replacement(value, "", _RUN)


REPLACED = {
    "SlurmctldHost": _run("localhost(127.0.0.1)"),
    "SlurmctldPort": _run("{controller_port}"),
    "SlurmdPort": _run("{node_port}"),
    "SlurmUser": _run("{user}"),
    "SlurmdUser": _run("{user}"),
    "PluginDir": _run("{plugin_folder}"),
    "StateSaveLocation": _run("{folder}/state"),
    "SlurmctldPidFile": _run("{folder}/slurmctld.pid"),
    "SlurmdPidFile": _run("{folder}/slurmd.%n.pid"),
    "SlurmdSpoolDir": _run("{folder}/spool/%n"),
    "SlurmctldLogFile": _run("{folder}/log/slurmctld.log"),
    "SlurmdLogFile": _run("{folder}/log/slurmd.%n.log"),
    "JobCompType": _run("jobcomp/filetxt"),
    "JobCompLoc": _run("{folder}/log/jobcomp.log"),
    "MailProg": _run("/bin/true"),
    "AuthType": Replacement("auth/none", "auth/munge", _MESSAGES),
    "CredType": Replacement("cred/none", "cred/munge", _MESSAGES),
    "CommunicationParameters": Replacement("NoAddrCache,NoCtldInAddrAny,NoInAddrAny", "", _MESSAGES),
    "ProctrackType": Replacement("proctrack/pgid", "proctrack/cgroup", _NODES),
    "TaskPlugin": Replacement("task/none", "task/none", _NODES),
    "JobAcctGatherType": Replacement("jobacct_gather/none", "jobacct_gather/none", _NODES),
    "SwitchType": Replacement("switch/none", "switch/none", _NODES),
    "MpiDefault": Replacement("none", "none", _NODES),
    "SlurmdParameters": Replacement("config_overrides", "", "nodes are what slurm.conf says they are"),
    "SlurmctldTimeout": Replacement("0", "120", "there is no backup controller"),
    "SlurmdTimeout": Replacement("0", "300", _ANSWER),
    "ReturnToService": Replacement("0", "0", "a node that is down stays down until it is repaired"),
    "InactiveLimit": Replacement("0", "0", "no job waits for somebody at a terminal"),
}

_LEFT_OUT = {
    _RUN: """
        ControlMachine ControlAddr BackupController BackupAddr SlurmctldAddr SrunPortRange JobCompHost JobCompParams
        JobCompPass JobCompPort JobCompUser MailDomain SlurmdDebug SlurmctldSyslogDebug SlurmdSyslogDebug
        SlurmSchedLogFile SlurmSchedLogLevel LogTimeFormat ReconfigFlags AccountingStorageBackupHost
        AccountingStorageExternalHost AccountingStorageLoc AccountingStorageParameters AccountingStoragePass
        AccountingStorageUser AccountingStoreFlags AccountingStoreJobComment
    """,
    _MESSAGES: "AuthAltTypes AuthAltParameters AuthInfo CryptoType JobCredentialPrivateKey "
    "JobCredentialPublicCertificate KeepAliveTime",
    _NODES: """
        JobAcctGatherFrequency JobAcctGatherParams AcctGatherEnergyType AcctGatherNodeFreq AcctGatherProfileType
        AcctGatherInterconnectType AcctGatherInfinibandType AcctGatherFilesystemType JobContainerType
        SwitchParameters MpiParams LaunchType LaunchParameters TaskPluginParam CoreSpecPlugin ExtSensorsType
        ExtSensorsFreq UsePAM X11Parameters PlugStackConfig InteractiveStepOptions SallocDefaultCommand
        BcastExclude BcastParameters SbcastParameters UnkillableStepProgram UnkillableStepTimeout
    """,
    "programs of the site are not run: what they take of the time of jobs is missing": """
        Prolog Epilog PrologSlurmctld EpilogSlurmctld PrologFlags PrologEpilogTimeout PrEpPlugins PrEpParameters
        TaskProlog TaskEpilog SrunProlog SrunEpilog ResvProlog ResvEpilog HealthCheckProgram HealthCheckInterval
        HealthCheckNodeState RebootProgram SlurmctldPrimaryOnProg SlurmctldPrimaryOffProg SlurmctldPlugstack
    """,
    "power saving is not emulated: nodes are always on": """
        SuspendProgram ResumeProgram ResumeFailProgram SuspendTime SuspendRate ResumeRate SuspendExcNodes
        SuspendExcParts PowerParameters PowerPlugin
    """,
    "programs that change jobs on the client are not run": "CliFilterPlugins",
    "burst buffers are not emulated: jobs do not wait for them": "BurstBufferType BurstBufferParameters",
    "features of nodes stay as slurm.conf says; jobs cannot change them": "NodeFeaturesPlugins",
    "one cluster is emulated": "FederationParameters",
    "one process plays all nodes": "TreeWidth RoutePlugin",
    "no node is added while it runs": "MaxNodeCount",
    "workload keys are not emulated": "TrackWCKey",
}
LEFT_OUT = {name: why for why, names in _LEFT_OUT.items() for name in names.split()}

# Reasons that change no result: where it runs, and how it is talked to.
ROUTINE = frozenset(
    (*(row.why for row in REPLACED.values()), ACCOUNTS_FILE, LOG, LEFT_OUT["TreeWidth"], LEFT_OUT["MaxNodeCount"])
)

# Set by emulation, and by whether there are accounts.
ACCOUNTING_KEYS = ("AccountingStorageType", "AccountingStorageHost", "AccountingStoragePort")

NODE_FIELDS = dict.fromkeys(("nodeaddr", "nodehostname", "port", "bcastaddr"), _RUN)
_ALWAYS_ON = LEFT_OUT["SuspendProgram"]
PARTITION_FIELDS = {
    "allowgroups": "who is in which group is not known here: everybody is let in",
    "allocnodes": "jobs are submitted from this machine",
    **dict.fromkeys(("suspendtime", "suspendtimeout", "resumetimeout"), _ALWAYS_ON),
}
_BY_KIND = {"nodename": NODE_FIELDS, "partitionname": PARTITION_FIELDS}


def why_replaced(kind: str, key: str) -> str | None:
    """Why a field is not the user's to set; None if it is."""
    if kind:
        return _BY_KIND.get(kind, {}).get(key)
    if key in (name.casefold() for name in ACCOUNTING_KEYS):
        return _RUN
    by_key = {name.casefold(): row.why for name, row in REPLACED.items()}
    return (by_key | {name.casefold(): why for name, why in LEFT_OUT.items()}).get(key)
