"""The keys of slurm.conf that Slurm 22.05 knows, as its manual spells them, and those of other releases."""

from __future__ import annotations

RELEASE = "22.05"

_NUMBERS = """
    AccountingStoragePort AcctGatherNodeFreq BatchStartTimeout CompleteWait DefCPUPerGPU DefMemPerCPU
    DefMemPerGPU DefMemPerNode EioTimeout EpilogMsgTime ExtSensorsFreq FairShareDampeningFactor FastSchedule
    FirstJobId GetEnvTimeout GroupUpdateForce GroupUpdateTime HealthCheckInterval InactiveLimit JobCompPort
    JobFileAppend JobRequeue KeepAliveTime KillOnBadExit KillWait MaxArraySize MaxDBDMsgs MaxJobCount
    MaxJobId MaxMemPerCPU MaxMemPerNode MaxNodeCount MaxStepCount MaxTasksPerNode MessageTimeout MinJobAge
    OverTimeLimit PriorityWeightAge PriorityWeightAssoc PriorityWeightFairshare PriorityWeightJobSize
    PriorityWeightPartition PriorityWeightQOS PrologEpilogTimeout PropagatePrioProcess ResumeRate
    ResumeTimeout ResvOverRun ReturnToService SchedulerTimeSlice SlurmctldTimeout SlurmdPort SlurmdTimeout
    SlurmSchedLogLevel SuspendRate SuspendTimeout TCPTimeout TreeWidth UnkillableStepTimeout VSizeFactor
    WaitTime
"""
_SWITCHES = "AccountingStoreJobComment AllowSpecResourcesUsage DisableRootJobs PriorityFavorSmall TrackWCKey UsePAM"
_TEXTS = """
    AccountingStorageBackupHost AccountingStorageEnforce AccountingStorageExternalHost AccountingStorageHost
    AccountingStorageLoc AccountingStorageParameters AccountingStoragePass AccountingStorageTRES
    AccountingStorageType AccountingStorageUser AccountingStoreFlags AcctGatherEnergyType
    AcctGatherFilesystemType AcctGatherInfinibandType AcctGatherInterconnectType AcctGatherProfileType
    AuthAltParameters AuthAltTypes AuthInfo AuthType BackupAddr BackupController BcastExclude
    BcastParameters BurstBufferParameters BurstBufferType CliFilterPlugins ClusterName
    CommunicationParameters ControlAddr ControlMachine CoreSpecPlugin CpuFreqDef CpuFreqGovernors CredType
    CryptoType DebugFlags DependencyParameters EnforcePartLimits Epilog EpilogSlurmctld
    ExtSensorsType FederationParameters GpuFreqDef GresTypes HealthCheckNodeState
    HealthCheckProgram InteractiveStepOptions JobAcctGatherFrequency JobAcctGatherParams JobAcctGatherType
    JobCompHost JobCompLoc JobCompParams JobCompPass JobCompType JobCompUser JobContainerType
    JobCredentialPrivateKey JobCredentialPublicCertificate JobSubmitPlugins LaunchParameters LaunchType
    Licenses LogTimeFormat MailDomain MailProg MCSParameters MCSPlugin MpiDefault MpiParams
    NodeFeaturesPlugins PluginDir PlugStackConfig PowerParameters PowerPlugin
    PreemptExemptTime PreemptMode PreemptType PrEpParameters PrEpPlugins PriorityCalcPeriod
    PriorityDecayHalfLife PriorityFlags PriorityMaxAge PriorityParameters PrioritySiteFactorParameters
    PrioritySiteFactorPlugin PriorityType PriorityUsageResetPeriod PriorityWeightTRES PrivateData
    ProctrackType Prolog PrologFlags PrologSlurmctld PropagateResourceLimits PropagateResourceLimitsExcept
    RebootProgram ReconfigFlags RequeueExit RequeueExitHold ResumeFailProgram ResumeProgram ResvEpilog
    ResvProlog RoutePlugin SallocDefaultCommand SbcastParameters SchedulerAuth SchedulerParameters
    SchedulerType ScronParameters SelectType SelectTypeParameters SlurmctldAddr SlurmctldDebug SlurmctldHost
    SlurmctldLogFile SlurmctldParameters SlurmctldPidFile SlurmctldPlugstack SlurmctldPort
    SlurmctldPrimaryOffProg SlurmctldPrimaryOnProg SlurmctldSyslogDebug SlurmdDebug SlurmdLogFile
    SlurmdParameters SlurmdPidFile SlurmdSpoolDir SlurmdSyslogDebug SlurmdUser SlurmSchedLogFile SlurmUser
    SrunEpilog SrunPortRange SrunProlog StateSaveLocation SuspendExcNodes SuspendExcParts SuspendProgram
    SuspendTime SwitchParameters SwitchType TaskEpilog TaskPlugin TaskPluginParam TaskProlog TmpFS
    TopologyParam TopologyPlugin UnkillableStepProgram X11Parameters
"""
_NODE_NUMBERS = """
    Boards CoreSpecCount CoresPerSocket CPUs MemSpecLimit Procs RealMemory Sockets SocketsPerBoard
    ThreadsPerCore TmpDisk Weight
"""
_NODE_TEXTS = """
    NodeName BcastAddr CpuBind CPUSpecList Feature Features Gres NodeAddr NodeHostname Port Reason State TRESWeights
"""
_PARTITION_NUMBERS = """
    DefCPUPerGPU DefMemPerCPU DefMemPerGPU DefMemPerNode GraceTime MaxCPUsPerNode MaxMemPerCPU MaxMemPerNode
    MaxNodes MinNodes Priority PriorityJobFactor PriorityTier ResumeTimeout SuspendTimeout
"""
_PARTITION_SWITCHES = "Default DisableRootJobs ExclusiveUser Hidden LLN ReqResv RootOnly"
_PARTITION_TEXTS = """
    PartitionName AllocNodes AllowAccounts AllowGroups AllowQos Alternate CpuBind DefaultTime DenyAccounts DenyQos
    MaxTime Nodes OverSubscribe OverTimeLimit PreemptMode QOS SelectTypeParameters Shared State SuspendTime
    TRESBillingWeights
"""
_OLD_KEYS = """
    cachegroups checkpointtype chosloc defaultstoragehost defaultstorageloc defaultstoragepass defaultstorageport
    defaultstoragetype defaultstorageuser dynallocport fastschedule jobcheckpointdir layouts memlimitenforce
    msgaggregationparams schedulerauth schedulerport schedulerrootfilter slurmdplugstack
"""
_NEW_KEYS = """
    certgenparameters certgentype certmgrparameters certmgrtype clifilterparameters dataparserparameters epilogtimeout
    gresconf hashplugin healthchecktimeout httpparsertype jobcomppassscript licenseparameters maxbatchrequeue
    metricsauthusers metricsparameters metricstype namespacetype preemptparameters prologtimeout
    slurmctldhttpauthparameters slurmdhttpauthparameters suspendexcstates tlsparameters tlstype urlparsertype
"""
_NEW_NODE = "RestrictedCoresPerGPU Topology Parameters GresConf Extra InstanceId InstanceType"
_NEW_PARTITION = "MaxCPUsPerSocket PowerDownOnIdle ExclusiveTopo Topology Exclusive JobDefaults"


def by_lower_case(*tables: str) -> dict[str, str]:
    """By the name in lower case, the name as it is written."""
    return {name.casefold(): name for table in tables for name in table.split()}


# By what a line begins with; "" is a line about the whole cluster.
FIELDS = {
    "": by_lower_case(_NUMBERS, _SWITCHES, _TEXTS),
    "nodename": by_lower_case(_NODE_NUMBERS, _NODE_TEXTS),
    "partitionname": by_lower_case(_PARTITION_NUMBERS, _PARTITION_SWITCHES, _PARTITION_TEXTS),
    "nodeset": by_lower_case("NodeSet Feature Nodes"),
    "downnodes": by_lower_case("DownNodes Reason State"),
    "frontendname": by_lower_case("FrontendName FrontendAddr Port Reason State AllowGroups AllowUsers"),
}
# Of the whole cluster: what 22.05 takes and passes over is in both tables.
OLD = by_lower_case(_OLD_KEYS)
OTHER_RELEASES = {
    "": OLD | by_lower_case(_NEW_KEYS),
    "nodename": by_lower_case(_NEW_NODE),
    "partitionname": by_lower_case(_NEW_PARTITION),
}
KNOWN = {kind: fields | OTHER_RELEASES.get(kind, {}) for kind, fields in FIELDS.items()}
_NUMBER_FIELDS = {
    "": by_lower_case(_NUMBERS),
    "nodename": by_lower_case(_NODE_NUMBERS),
    "partitionname": by_lower_case(_PARTITION_NUMBERS),
}
_SWITCH_FIELDS = {"": by_lower_case(_SWITCHES), "partitionname": by_lower_case(_PARTITION_SWITCHES)}

# They say how to schedule, not what there is: what such keys begin with.
SCHEDULING = (
    *("sched", "priority", "preempt", "fairshare", "selecttype", "enforcepartlimits", "overtimelimit", "defmem"),
    *("maxmem", "resvover", "fastschedule", "defcpupergpu", "jobdefaults"),
)


def expected(kind: str, key: str) -> str:
    """What the value of a field has to be; "" if it can be any text."""
    if key in _NUMBER_FIELDS.get(kind, {}):
        return "a whole number"
    return "YES or NO" if key in _SWITCH_FIELDS.get(kind, {}) else ""
