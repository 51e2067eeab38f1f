"""The tables of a run, declared once. A new one is declared here, has a struct in native/tables.hpp (or is written by
Python), and is filled by somebody; everything else follows. docs/runs.md shows each (`python -m tests.pages`)."""

from __future__ import annotations

from schedlab.model.predecessors import CONDITIONS
from schedlab.model.states import NODE_STATES, PIECE_ENDS, REASONS, STATES, WAIT_REASONS
from schedlab.model.table import Column, Table

FORMAT = 2  # of run folders; grows when older versions of schedlab could not read them, or would misunderstand them
READABLE = (1, FORMAT)

_AS_IN_THE_LOG = "as in the log; null if unknown"
_HAD = "as in jobs.parquet: what it had then"

JOBS = Table(
    "jobs",
    "a job of the workload, in the order in which they left the system",
    (
        Column("job", "int64", "the id in the log", encoding="delta", source="id"),
        Column("name", "string", "the id as written; only where ids are not numbers", optional=True),
        Column("sequence", "int64", "position in the workload after reading and sorting: 0, 1, 2, …", encoding="delta"),
        Column("user", "int32", _AS_IN_THE_LOG, nullable=True, encoding="dictionary"),
        Column("group", "int32", _AS_IN_THE_LOG, nullable=True, encoding="dictionary"),
        Column("queue", "int32", _AS_IN_THE_LOG, nullable=True, encoding="dictionary"),
        Column("partition", "int32", _AS_IN_THE_LOG, nullable=True, encoding="dictionary"),
        Column(
            "application",
            "int32",
            "its place in the heatmap (`labels` of run.json); only in runs with a heatmap, null if it has none",
            nullable=True,
            encoding="dictionary",
            optional=True,
        ),
        Column("submit", "double", "when it was submitted", encoding="split"),
        Column(
            "eligible",
            "double",
            "when it could be considered: submitted, and what it waited for had happened; null if never",
            nullable=True,
            encoding="split",
        ),
        Column(
            "start",
            "double",
            "of its last attempt, if it was requeued; null if it never started, or waits again",
            nullable=True,
            encoding="split",
        ),
        Column("end", "double", "when it left the system, in whatever state", encoding="split"),
        Column(
            "state",
            "words",
            "`completed`, `killed`, `cancelled`, `rejected`, `held`, `waiting`, `running`, `suspended` "
            "([semantics](semantics.md); the last two: [below](#runs-that-ended-early))",
            encoding="dictionary",
            words=STATES,
        ),
        Column(
            "reason",
            "words",
            "why it was rejected; or why it was killed: `preempted`, `node failure`, `maintenance`, `time limit` (said "
            "by who decides elsewhere, as Slurm does), `by a decision` (without a word), `slowed down until its limit` "
            "(although its run time fits it). Null otherwise, also where the engine killed it at its limit. Which "
            "resource was short: `rejections` of [the summary](#the-summary), or "
            "`schedlab.analysis.rejections.why_rejected(run, job)`",
            nullable=True,
            encoding="dictionary",
            words=REASONS,
        ),
        Column("cores", "int64", "in all", encoding="dictionary"),
        Column("count", "int64", "chunks", encoding="dictionary"),
        Column(
            "request", "int32", "position in `requests` of run.json: what one chunk asks for", encoding="dictionary"
        ),
        Column("runtime", "double", "how long it would run, from the log", encoding="split"),
        Column("limit", "double", "how long it may run", encoding="dictionary"),
        Column(
            "estimate",
            "double",
            "how long the scheduler believed it would run, when it was submitted",
            encoding="dictionary",
        ),
        Column(
            "nodes",
            "nodes",
            "where it ran: `n[001-003,007]`, with the chunks on each node if not 1: `n[001-002]*2,n003`; null on a "
            "pool, and if it never started",
            nullable=True,
            encoding="dictionary",
        ),
        Column(
            "backfilled",
            "bool",
            "whether it started before a job that was ahead of it; null if the policy, one in Python, does not say",
            nullable=True,
        ),
        Column(
            "priority",
            "double",
            "its key in the queue's order when it started; null if it never did",
            nullable=True,
            encoding="split",
        ),
        Column(
            "after",
            "int64",
            "only in runs of format 1, with `--dependencies follow`: its predecessor, which had to have ended",
            nullable=True,
            optional=True,
        ),
        Column("think", "double", "in the same: how long it waited after that", encoding="split", optional=True),
    ),
    always=True,
)

TIMELINE = Table(
    "timeline",
    "the system after an instant at which something changed",
    (
        Column("time", "double", "seconds", encoding="split"),
        *(
            Column(
                name,
                "int32",
                "jobs; one that was requeued is queued until it starts again, one that is suspended is neither",
                encoding="delta",
            )
            for name in ("running", "queued")
        ),
        *(
            Column(name, "int64", meaning, encoding="delta")
            for name, meaning in (
                (
                    "used_{}",
                    "how much of each resource of the cluster jobs have (`used_gpus`, `used_licences`, …), in its own "
                    "unit: bytes of memory, thousandths for `gpu_milli`",
                ),
                ("queued_{}", "how much of it waiting jobs ask for"),
            )
        ),
    ),
    always=True,
)

PIECES = Table(
    "pieces",
    "a stay on nodes of a job that did not simply run from start to end",
    (
        Column("job", "int64", "as in jobs.parquet", encoding="delta", source="id"),
        Column("sequence", "int64", "as in jobs.parquet", encoding="delta"),
        Column("begin", "double", "the job had the same nodes all the time between"),
        Column("end", "double", "the job had the same nodes all the time between", encoding="split"),
        Column("how", "words", "how the stay ended, see below", words=PIECE_ENDS),
        Column(
            "reason",
            "words",
            "why a decision ended it (`killed`, `requeued`, `completed`), in the words of jobs.parquet; null otherwise",
            nullable=True,
            encoding="dictionary",
            words=REASONS,
        ),
        Column("cores", "int64", _HAD, encoding="dictionary"),
        Column("count", "int64", _HAD, encoding="dictionary"),
        Column("request", "int32", _HAD, encoding="dictionary"),
        Column("work", "double", "seconds of work that were left to do at the beginning"),
        Column(
            "done",
            "double",
            "seconds of it that were done: the integral of its [rate](#ratesparquet). So `work` − `done` were left",
            before=lambda column: column("rate") * (column("end") - column("begin")),
        ),
        Column(
            "whole",
            "double",
            "seconds of work of the whole job on these nodes: its run time, unless an "
            "[execution model](semantics.md#execution-models) says otherwise; null in runs of format 1",
            nullable=True,
        ),
        Column(
            "rate", "double", "only in runs of format 1, where a piece ended (`slowed`) when it changed", optional=True
        ),
        Column(
            "expected_end",
            "double",
            "when the scheduler believed it would end, when it took these nodes; later corrections do not change it",
        ),
        Column("nodes", "nodes", _HAD, nullable=True, encoding="dictionary"),
    ),
)

RATES = Table(
    "rates",
    "a change of the rate at which a job works",
    (
        Column("job", "int64", "as in jobs.parquet", encoding="delta", source="id"),
        Column("sequence", "int64", "as in jobs.parquet", encoding="delta"),
        Column("piece", "int32", "in which of the job's pieces, counted from 0", encoding="dictionary"),
        Column("time", "double", "seconds", encoding="split"),
        Column(
            "owner",
            "text",
            "who has set a factor: the name of an observer or of an execution model, or `policy`",
            encoding="dictionary",
        ),
        Column("factor", "double", "his, from then on", encoding="dictionary"),
        Column(
            "rate", "double", "the product of all factors then: seconds of work done in a second", encoding="dictionary"
        ),
    ),
)

SUBMITTED = Table(
    "submitted",
    "a job that a decider or an observer submitted during the run, in the order of entering",
    (
        Column("sequence", "int64", "as in jobs.parquet", encoding="delta"),
        Column("job", "int64", "as in jobs.parquet", encoding="delta", source="id"),
        Column(
            "called",
            "double",
            "when it was submitted, for then or for later; null: before anything had happened",
            nullable=True,
            encoding="split",
        ),
        Column("name", "string", "its name, if it was given one", nullable=True),
    ),
)

HOLDS = Table(
    "holds",
    "a stretch during which a decision held a job",
    (
        Column("sequence", "int64", "as in jobs.parquet"),
        Column("job", "int64", "as in jobs.parquet", source="id"),
        Column("eligible", "double", "since when it had been eligible", encoding="split"),
        Column("begin", "double", "when it was held", encoding="split"),
        Column("end", "double", "when it was released, left or the run was over", encoding="split"),
    ),
)

PREDECESSORS = Table(
    "predecessors",
    "a job that another one waited for, in the order in which those were submitted; those of the workload only with "
    "`--dependencies follow`",
    (
        Column("sequence", "int64", "of the job that waited, as in jobs.parquet", encoding="delta"),
        Column("job", "int64", "its id", encoding="delta", source="id"),
        Column("predecessor", "int64", "the id of the job that it waited for", encoding="delta"),
        Column(
            "condition",
            "words",
            "what had to become of that: `ended`, `completed`, `not completed`, `started`",
            encoding="dictionary",
            words=CONDITIONS,
        ),
        Column("delay", "double", "how many seconds had to pass since then", encoding="dictionary"),
        Column("any", "bool", "whether one of the job's predecessors sufficed"),
        Column(
            "known",
            "bool",
            "whether it had been submitted before, and is remembered; one of which that is not so has no say",
        ),
    ),
)

NODES = Table(
    "nodes",
    "a node that failed, slept, came back",
    (
        Column("time", "double", "seconds", encoding="split"),
        Column("node", "node", "its name"),
        Column(
            "state",
            "words",
            "from then on: `up`, `down`, `off`, `booting`, `maintenance`, `drained`",
            encoding="dictionary",
            source="mode",
            words=NODE_STATES,
        ),
    ),
)

PLACES = Table(
    "places",
    "what a job had on a node, for one stay there, in the order in which they left",
    (
        Column("sequence", "int64", "as in jobs.parquet", encoding="delta"),
        Column("job", "int64", "as in jobs.parquet", encoding="delta", source="id"),
        Column("node", "int32", "its number: 0, 1, 2, … in the order of the cluster", encoding="delta"),
        Column("from", "double", "when it took the node, and when it left it", encoding="split"),
        Column("until", "double", "when it took the node, and when it left it", encoding="split"),
        Column(
            "chunks",
            "int32",
            "of its request; of a job that was granted amounts, as many as they hold, and at least 1",
            encoding="dictionary",
        ),
        Column("{}", "int64", "how much of each resource it had there", encoding="dictionary"),
        Column(
            "devices",
            "devices",
            "which ones, where that was said: `gpus=0,3`, and `cores=0-7;gpus=0,3`; null otherwise",
            nullable=True,
            encoding="dictionary",
        ),
    ),
)

OBSERVED = Table(
    "observed",
    "what observers say of a job, a column for each of their values",
    (Column("sequence", "int64", "as in jobs.parquet", nullable=True, encoding="delta"),),
    further=True,
)

PERFORMANCE = Table(
    "performance",
    "what it cost to ask the scheduler once",
    (
        Column("time", "double", "simulated seconds", encoding="split"),
        Column("queued", "int32", "jobs, as the scheduler found them", encoding="delta"),
        Column("running", "int32", "jobs, as the scheduler found them", encoding="delta"),
        Column("decide_seconds", "float", "how long it took to decide, native or in Python", encoding="split"),
        Column(
            "pass_seconds",
            "float",
            "from the end of the decision before (at first: from the beginning of the run) to the end of this one",
            encoding="split",
        ),
        Column(
            "memory_mb",
            "float",
            "resident memory of the process, 10⁶ bytes, looked at every 20 ms and repeated in between; null where the "
            "system does not tell",
            nullable=True,
            encoding="dictionary",
        ),
    ),
    repeatable=False,
)

WAITS = Table(
    "reasons",
    "what a job waited for, and how long it was the same",
    (
        Column("job", "int64", "as in jobs.parquet", encoding="delta", source="id"),
        Column("sequence", "int64", "as in jobs.parquet", encoding="delta"),
        Column("from", "double", "since when", encoding="split"),
        Column("until", "double", "until when: it started, left, or waited for something else then", encoding="split"),
        Column(
            "why",
            "words",
            "in one of the words that [semantics](semantics.md#why-a-job-waits) defines",
            encoding="dictionary",
            words=WAIT_REASONS,
        ),
        Column("who", "int64", "the job in the way; null if none is", nullable=True, encoding="dictionary"),
        Column(
            "words",
            "text",
            "with `gate`: the observer who refused it; with `own words`: what the policy says; null otherwise",
            nullable=True,
            encoding="dictionary",
        ),
    ),
)

WORKFLOWS = Table(
    "workflows",
    "a workflow whose tasks are among the jobs",
    (
        Column("workflow", "int64", "its number: 0, 1, 2, … as they came", encoding="delta"),
        Column("kind", "string", "which one: montage", encoding="dictionary"),
        Column("handling", "string", "how it was submitted: pilot, chained, aware …", encoding="dictionary"),
        Column("submit", "double", "when", encoding="split"),
        Column("first", "int64", "the id of its first job; the others have the next ones", encoding="delta"),
        Column("jobs", "int32", "how many jobs it was submitted as", encoding="dictionary"),
    ),
)

TASKS = Table(
    "tasks",
    "a task of a kind of workflow, and the job that it runs in",
    (
        Column("kind", "string", "as in workflows.parquet", encoding="dictionary"),
        Column("handling", "string", "as in workflows.parquet", encoding="dictionary"),
        Column("task", "string", "its id"),
        Column("name", "string", "what it does: mProject; null if that is not said", nullable=True),
        Column("level", "int32", "how many tasks are before it on the longest way", encoding="dictionary"),
        Column("job", "int32", "in which of the workflow's jobs it runs, counted from 0"),
        Column("begin", "double", "how many seconds after that job has started"),
        Column("cores", "int64", "that it uses", encoding="dictionary"),
        Column("runtime", "double", "how long it runs, and may run"),
        Column("limit", "double", "how long it runs, and may run"),
        Column("after", "string", "for which tasks it waits: their rows here, counted from the first of its kind"),
    ),
)

TABLES = {
    table.name: table
    for table in (
        *(JOBS, TIMELINE, PIECES, RATES, NODES, PLACES, PREDECESSORS, SUBMITTED, HOLDS),
        *(OBSERVED, PERFORMANCE, WAITS, WORKFLOWS, TASKS),
    )
}
