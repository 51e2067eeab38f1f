"""The keys of slurm.conf that Slurm 22.05 knows, as its manual spells them, and what kind of value each has."""

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
_SCHEDULER_PARAMETERS = """
    allow_zero_lic assoc_limit_continue assoc_limit_stop batch_sched_delay bb_array_stage_cnt bf_busy_nodes bf_continue
    bf_hetjob_immediate bf_hetjob_prio bf_interval bf_job_part_count_reserve bf_licenses bf_max_job_array_resv
    bf_max_job_assoc bf_max_job_part bf_max_job_start bf_max_job_test bf_max_job_user bf_max_job_user_part bf_max_time
    bf_min_age_reserve bf_min_prio_reserve bf_node_space_size bf_one_resv_per_job bf_resolution
    bf_running_job_reserve bf_window bf_window_linear bf_yield_interval bf_yield_sleep build_queue_timeout
    correspond_after_task_cnt default_queue_depth defer delay_boot disable_hetero_steps disable_hetjob_steps
    disable_job_shrink enable_hetero_steps enable_hetjob_steps enable_user_top ignore_numa ignore_prefer_validation
    interval max_array_tasks max_job_bf max_rpc_cnt max_rpc_count max_sched_time max_script_size max_switch_wait
    no_backup_scheduling no_env_cache nohold_on_prolog_fail pack_serial_at_end partition_job_depth permit_job_expansion
    preempt_reorder_count preempt_strict_order preempt_youngest_first reduce_completing_frag requeue_setup_env_fail
    salloc_wait_nodes sbatch_wait_nodes sched_interval sched_max_job_start sched_min_interval spec_cores_first
    step_retry_count step_retry_time whole_hetjob whole_pack
"""
_SELECT_PARAMETERS = """
    CR_Socket CR_Socket_Memory CR_Core CR_Core_Memory CR_Memory CR_CPU CR_CPU_Memory other_cons_res other_cons_tres
    CR_ALLOCATE_FULL_SOCKET CR_ONE_TASK_PER_CORE CR_CORE_DEFAULT_DIST_BLOCK CR_LLN CR_PACK_NODES
"""
_DEBUG_FLAGS = """
    Accrue Agent Backfill BackfillMap BurstBuffer cgroup CPU_Bind Data DB_Archive DB_Assoc DB_TRES DB_Event DB_Job
    DB_QOS DB_Query DB_Reservation DB_Resource DB_Step DB_Usage DB_WCKey Dependency Elasticsearch Energy ExtSensors
    Federation FrontEnd Gang Gres Hetjob Interconnect JobAccountGather JAG JobContainer License MPI Network Net
    NetworkRaw NetRaw NO_CONF_HASH NodeFeatures Priority Profile Protocol Reservation Route Script SelectType Steps
    Switch Task TraceJobs Trigger Triggers CpuFrequency Power PowerSave TimeCray WorkQueue WorkQ
"""


def _by_lower_case(*tables: str) -> dict[str, str]:
    return {name.casefold(): name for table in tables for name in table.split()}


# By the name in lower case, the name as it is written.
GENERAL = _by_lower_case(_NUMBERS, _SWITCHES, _TEXTS)
NODE = _by_lower_case(_NODE_NUMBERS, _NODE_TEXTS)
PARTITION = _by_lower_case(_PARTITION_NUMBERS, _PARTITION_SWITCHES, _PARTITION_TEXTS)
NODE_SET = _by_lower_case("NodeSet Feature Nodes")
DOWN_NODES = _by_lower_case("DownNodes Reason State")

# By what a line begins with; "" is a line about the whole cluster.
FIELDS = {"": GENERAL, "nodename": NODE, "partitionname": PARTITION, "nodeset": NODE_SET, "downnodes": DOWN_NODES}
_NUMBER_FIELDS = {
    "": _by_lower_case(_NUMBERS),
    "nodename": _by_lower_case(_NODE_NUMBERS),
    "partitionname": _by_lower_case(_PARTITION_NUMBERS),
}
_SWITCH_FIELDS = {"": _by_lower_case(_SWITCHES), "partitionname": _by_lower_case(_PARTITION_SWITCHES)}

# What lists may hold: other items are ignored without a word, or make slurmctld refuse the file.
LIST_ITEMS = {
    "schedulerparameters": _by_lower_case(_SCHEDULER_PARAMETERS),
    "selecttypeparameters": _by_lower_case(_SELECT_PARAMETERS),
    "debugflags": _by_lower_case(_DEBUG_FLAGS),
    "preemptmode": _by_lower_case("gang within off cluster cancel requeue on suspend"),
    "accountingstorageenforce": _by_lower_case("associations limits safe wckeys qos all nojobs nosteps"),
}


def expected(kind: str, key: str) -> str:
    """What the value of a field has to be; "" if it can be any text."""
    if key in _NUMBER_FIELDS.get(kind, {}):
        return "a whole number"
    return "YES or NO" if key in _SWITCH_FIELDS.get(kind, {}) else ""
