"""Settings of made-up sites, in the words that real ones use."""

# What a university might have: included files, everything that touches machines, words of other releases.
SITE = """\
ClusterName=Bigfoot
SlurmctldHost=adm1(10.1.0.1)
SlurmctldHost=adm2
SlurmctldPort=6820-6830
SlurmctldParameters=enable_configless,cloud_dns,idle_on_node_suspend,node_reg_mem_percent=90,max_dbd_msg_action=exit
SlurmUser=slurm
AuthType=auth/munge
AuthAltTypes=auth/jwt
AuthAltParameters=jwt_key=/etc/jwt.key
AuthInfo=socket=/run/munge/munge.socket.2
ProctrackType=proctrack/cgroup
TaskPlugin=task/affinity,task/cgroup
TaskPluginParam=SlurmdOffSpec,autobind=cores
JobAcctGatherType=jobacct_gather/cgroup
JobAcctGatherParams=OverMemoryKill
JobContainerType=job_container/tmpfs
AcctGatherEnergyType=acct_gather_energy/ipmi
SwitchType=switch/hpe_slingshot
MpiDefault=pmix
LaunchParameters=use_interactive_step,enable_nss_slurm
Prolog=/etc/slurm/prolog.d/*
Epilog=/etc/slurm/epilog.d/*
PrologSlurmctld=/etc/slurm/prologslurmctld
PrologFlags=Alloc,Contain,X11,ForceRequeueOnFail
HealthCheckProgram=/usr/sbin/nhc
HealthCheckInterval=300
RebootProgram="/sbin/shutdown -r now"
SuspendProgram=/opt/off
ResumeProgram=/opt/on
SuspendTime=600
SuspendExcStates=MAINT
MailProg=/usr/local/bin/mail
PlugStackConfig=/etc/slurm/plugstack.conf
UsePAM=1
JobSubmitPlugins=lua,all_partitions
CliFilterPlugins=cli_filter/lua
BurstBufferType=burst_buffer/datawarp
NodeFeaturesPlugins=node_features/helpers
FederationParameters=fed_display
TreeWidth=65533
RoutePlugin=route/topology
FastSchedule=0
CacheGroups=0
CryptoType=crypto/munge
HashPlugin=hash/sha3
MaxBatchRequeue=7
KeepAliveTime=60
PreemptParameters=reorder_count=3,youngest_first,send_user_signal,reclaim_licenses
DefaultStorageType=mysql
SallocDefaultCommand="srun -n1 --pty bash"
AccountingStorageLoc=slurm_acct_db
AccountingStoreJobComment=yes
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=db1
AccountingStorageBackupHost=db2
AccountingStorageEnforce=associations,limits,qos,safe,wckeys
AccountingStorageTRES=gres/gpu,gres/gpu:a100,license/matlab
AccountingStoreFlags=job_script,job_env
JobCompType=jobcomp/elasticsearch
JobCompLoc=http://es:9200
StateSaveLocation=/var/spool/slurm
SlurmctldDebug=error
SlurmctldSyslogDebug=info
SlurmSchedLogFile=/var/log/sched.log
SlurmSchedLogLevel=1
DebugFlags=Backfill,ConMgr
LogTimeFormat=thread_id
Include conf.d/scheduling.conf
Include conf.d/machines.conf
"""
SCHEDULING = """\
SchedulerType=sched/backfill
SchedulerParameters=bf_window=10080,\\
bf_resolution=300,bf_max_job_test=5000,\\
bf_max_job_user=50,bf_continue,bf_topopt_enable,bf_interval=60 # a comment
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory,CR_ONE_TASK_PER_CORE,LL_SHARED_GRES
GresTypes=gpu,nvme
PriorityType=priority/multifactor
PriorityFlags=MAX_TRES,ACCRUE_ALWAYS,NO_FAIR_TREE
PriorityWeightAge=1000
PriorityWeightFairshare=100000
PriorityWeightTRES=CPU=1000,Mem=2000,GRES/gpu=3000
PriorityWeightPartition=5000
PriorityMaxAge=14-0
PriorityDecayHalfLife=14-0
PriorityCalcPeriod=10
PreemptType=preempt/qos
PreemptMode=REQUEUE
PreemptExemptTime=00:30:00
EnforcePartLimits=ALL
OverTimeLimit=5
CompleteWait=32
KillWait=60
MinJobAge=600
MaxJobCount=50000
MaxArraySize=20001
FirstJobId=1000000
JobRequeue=1
BatchStartTimeout=20
FairShareDampeningFactor=5
Licenses=matlab:50,ansys:20
DefMemPerCPU=1024
MaxMemPerNode=500000
TopologyPlugin=topology/tree
TopologyParam=TopoOptional
DependencyParameters=kill_invalid_depend
PrivateData=jobs,usage
ResvOverRun=10
RequeueExit=100-102
"""
MACHINES = """\
NodeName=DEFAULT CoresPerSocket=32 ThreadsPerCore=2 RealMemory=257000 State=UNKNOWN TmpDisk=900000
NodeName=c[001-020] Sockets=2 NodeAddr=10.2.0.[1-20] NodeHostname=host[001-020] Weight=10 Feature=amd,milan \\
  CoreSpecCount=2 MemSpecLimit=4096 CPUs=64
NodeName=g[01-04] Sockets=2 CoresPerSocket=16 ThreadsPerCore=1 Gres=gpu:a100:4,nvme:2T Weight=100 Features=gpu,a100 \\
  RestrictedCoresPerGPU=2
NodeName=v[1-2] Boards=2 SocketsPerBoard=2 CoresPerSocket=8 Gres=gpu:v100:2,gpu:t4:1 Port=6900 BcastAddr=v[1-2]-ib
NodeName=cloud[1-10] State=CLOUD CPUs=8 CoresPerSocket=4 ThreadsPerCore=1 RealMemory=30000 Weight=1000
NodeName=old1 Sockets=1 State=DOWN Reason="broken board \\# 2"
NodeSet=gpunodes Feature=gpu
NodeSet=cpu Nodes=c[001-020]
DownNodes=c020 State=DOWN Reason=psu
PartitionName=DEFAULT State=UP MaxTime=2-0 DefaultTime=60 PriorityTier=10 PriorityJobFactor=10 AllowGroups=ALL \\
  TRESBillingWeights="CPU=1.0,Mem=0.25G,GRES/gpu=16"
PartitionName=batch Nodes=cpu Default=YES AllowQos=normal,high MaxNodes=16 MaxCPUsPerSocket=30
PartitionName=gpu Nodes=gpunodes,v[1-2] QOS=part_gpu MaxCPUsPerNode=30 DefCpuPerGPU=8 DefMemPerGPU=32000
PartitionName=hidden Nodes=c[001-004] Hidden=YES AllowGroups=staff AllocNodes=login[1-2] AllowAccounts=physics
PartitionName=scavenge Nodes=ALL PriorityTier=1 PreemptMode=CANCEL GraceTime=120 OverTimeLimit=UNLIMITED
PartitionName=cloud Nodes=cloud[1-10] SuspendTime=300 PowerDownOnIdle=YES ExclusiveUser=YES LLN=YES
PartitionName=old Nodes=old1 Shared=EXCLUSIVE Priority=3 State=DRAIN DisableRootJobs=NO MinNodes=1
"""
GRES = """\
AutoDetect=nvml
NodeName=g[01-04] Name=gpu Type=a100 File=/dev/nvidia[0-1] Cores=0-15
NodeName=g[01-04] Name=gpu Type=a100 File=/dev/nvidia[2-3] Cores=16-31
NodeName=g[01-04] Name=nvme Count=2T Flags=CountOnly
NodeName=v[1-2] Name=gpu Type=v100 File=/dev/nvidia0,/dev/nvidia1
"""
TOPOLOGY = """\
SwitchName=s1 Nodes=c[001-020],gone[1-2]
SwitchName=s2 Nodes=g[01-04],v[1-2] LinkSpeed=900
SwitchName=s3 Nodes=cloud[1-10],old1
SwitchName=top Switches=s[1-3]
"""
ACCOUNTS = """\
cluster = "bigfoot"
[accounts.physics]
[users.alice]
accounts = ["physics"]
[qos.high]
priority = 10
[qos.part_gpu]
"""
# A small old one: whole nodes, in order, the keys of another age.
OLD = """\
ControlMachine=master
ControlAddr=192.168.0.1
BackupController=master2
ClusterName=old
CryptoType=crypto/openssl
SelectType=select/linear
SchedulerType=sched/builtin
FastSchedule=1
MpiDefault=openmpi
SlurmctldDebug=3
SchedulerPort=7321
SchedulerRootFilter=1
CheckpointType=checkpoint/none
AcctGatherInfinibandType=acct_gather_infiniband/none
SbcastParameters=Compression=lz4
NodeName=n[1-3] Procs=4 State=UP
PartitionName=all Nodes=n[1-3] Default=YES Shared=FORCE:2 Priority=5
FrontendName=login1
"""
