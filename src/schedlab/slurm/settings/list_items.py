"""What lists of slurm.conf may hold in Slurm 22.05: other items are ignored without a word, or refused."""

from __future__ import annotations

from schedlab.cluster.slurm.keys import by_lower_case

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


LIST_ITEMS = {
    "schedulerparameters": by_lower_case(_SCHEDULER_PARAMETERS),
    "selecttypeparameters": by_lower_case(_SELECT_PARAMETERS),
    "debugflags": by_lower_case(_DEBUG_FLAGS),
    "preemptmode": by_lower_case("gang within off cluster cancel requeue on suspend"),
    "accountingstorageenforce": by_lower_case("associations limits safe wckeys qos all nojobs nosteps"),
}
