"""The keys that Slurm's configuration files know, in lower case."""

from __future__ import annotations

_NODE = """
    nodename nodehostname nodeaddr bcastaddr boards corespeccount corespersocket cpubind cpus cpuspeclist feature
    gres memspeclimit port realmemory reason restrictedcorespergpu sockets state threadspercore tmpdisk topology
    weight cpuspersocket extra instanceid instancetype parameters
"""
_PARTITION = """
    partitionname allocnodes allowaccounts allowgroups allowqos alternate cpubind default defaulttime defcpupergpu
    defmempercpu defmempergpu defmempernode denyaccounts denyqos disablerootjobs exclusivetopo exclusiveuser
    gracetime hidden lln maxcpuspernode maxcpuspersocket maxmempercpu maxmempernode maxnodes maxtime minnodes nodes
    oversubscribe overtimelimit powerdownonidle preemptmode priority priorityjobfactor prioritytier qos reqresv
    resumetimeout rootonly selecttypeparameters shared state suspendtime suspendtimeout topology tresbillingweights
    jobdefaults
"""
_GENERAL = """
    accountingstoragebackuphost accountingstorageenforce accountingstorageexternalhost accountingstoragehost
    accountingstorageloc accountingstorageparameters accountingstoragepass accountingstorageport
    accountingstoragetres accountingstoragetype accountingstorageuser accountingstoreflags accountingstorejobcomment
    acctgatherenergytype acctgatherfilesystemtype acctgatherinfinibandtype acctgatherinterconnecttype
    acctgathernodefreq acctgatherprofiletype allowspecresourcesusage authalttypes authaltparameters authinfo
    authtype backupaddr backupcontroller batchstarttimeout bcastexclude bcastparameters burstbuffertype
    certmgrparameters certmgrtype clifilterplugins clustername commandfile communicationparameters completewait
    controladdr controlmachine corefileplugin cpufreqdef cpufreqgovernors credtype cryptotype datareadertype
    debugflags defaultstoragehost defaultstorageloc defaultstoragepass defaultstorageport defaultstoragetype
    defaultstorageuser dependencyparameters disablerootjobs downnodes eiotimeout epilog epilogmsgtime
    epilogslurmctld epilogtimeout extsensorsfreq extsensorstype federationparameters firstjobid frontendaddr
    frontendname frontendnodename getenvtimeout grestypes groupupdateforce groupupdatetime gpufreqdef hashplugin
    healthcheckinterval healthchecknodestate healthcheckprogram httpparserparameters httpparsertype inactivelimit
    interactivestepoptions jobacctgatherfrequency jobacctgatherparams jobacctgathertype jobcompenforce jobcomphost
    jobcomploc jobcompparams jobcomppass jobcompport jobcomppassscript jobcomptype jobcompuser jobcontainertype
    jobcredentialprivatekey jobcredentialpubliccertificate jobfileappend jobrequeue jobsubmitplugins keepalivetime
    killonbadexit killwait launchparameters launchtype licenses logtimeformat maildomain mailprog maxarraysize
    maxbatchrequeue maxdbdmsgs maxjobcount maxjobid maxnodecount maxstepcount maxtaskspernode mcsparameters
    mcsplugin messagetimeout metricstype minjobage mpidefault mpiparams namespacetype nodefeaturesplugins nodename
    nodeset partitionname plugindir plugstackconfig powerparameters powerplugin prepparameters prepplugins
    privatedata proctracktype prolog prologepilogtimeout prologflags prologslurmctld prologtimeout
    propagateprioprocess propagateresourcelimits propagateresourcelimitsexcept rebootprogram reconfigflags
    requeueexit requeueexithold resumefailprogram resumeprogram resumerate resumetimeout returntoservice routeplugin
    sackdsock salocdefaultcommand sbcastparameters scronparameters slurmctldaddr slurmctlddebug slurmctldhost
    slurmctldlogfile slurmctldparameters slurmctldpidfile slurmctldplugstack slurmctldport slurmctldprimaryoffprog
    slurmctldprimaryonprog slurmctldsyslogdebug slurmctldtimeout slurmddebug slurmdlogfile slurmdparameters
    slurmdpidfile slurmdport slurmdspooldir slurmdsyslogdebug slurmdtimeout slurmduser slurmschedlogfile
    slurmschedloglevel slurmuser srunepilog srunportrange srunprolog statesavelocation stepmgr suspendexcnodes
    suspendexcparts suspendexcstates suspendprogram suspendrate suspendtime suspendtimeout switchparameters
    switchtype taskepilog taskplugin taskpluginparam taskprolog tcptimeout timeslice tlsparameters tlstype tmpfs
    topologyparam topologyplugin trackwckey treewidth unkillablestepprogram unkillablesteptimeout urlparsertype
    usepam usespecresources vsizefactor waittime x11parameters cachegroups checkpointtype jobcheckpointdir
"""
NODE_KEYS = frozenset(_NODE.split())
PARTITION_KEYS = frozenset(_PARTITION.split())
GENERAL_KEYS = frozenset(_GENERAL.split())

# They say how to schedule, not what there is: what such keys begin with.
SCHEDULING = (
    *("sched", "priority", "preempt", "fairshare", "selecttype", "enforcepartlimits", "overtimelimit", "defmem"),
    *("maxmem", "resvover", "fastschedule", "defcpupergpu", "jobdefaults"),
)
