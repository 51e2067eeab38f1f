"""Files that people have beside their logs and that hold no jobs: told by name, so that nobody wonders."""

from __future__ import annotations

import re
from pathlib import Path

from schedlab.files.bytestream import first_text, plain_name
from schedlab.model.errors import InputError
from schedlab.model.workload import Workload
from schedlab.workload.options import ReadOptions

_LOG = "give the log of jobs that belongs to it"
_WORKFLOW = "schedlab run FILE --handling chained simulates it, schedlab run LOG --workflows FILE puts it among jobs"
# What it is, a pattern of its beginning, a pattern of its name, and the remedy.
_KNOWN = (
    ("a workflow (DAX): tasks with dependencies, not a log of jobs", r"<adag\b", r"", _WORKFLOW),
    (
        "a workflow (WfFormat): tasks with dependencies, not a log of jobs",
        r'"schemaVersion"(?s:.*)"workflow"',
        r"",
        _WORKFLOW,
    ),
    ("a script that submits jobs, not a log of jobs", r"^[^#\n]*\bsbatch\s", r"\.sh$", _WORKFLOW),
    (
        "a table of measured run times (ELiSE): applications, not jobs",
        r'"loads"\s*:\s*\[\s*"\{\\"load_name',
        r"",
        "schedlab generate FILE --jobs 1000 --out jobs.swf makes jobs of it",
    ),
    ("a list of users (Slurm simulator): names and numbers, no jobs", r"^\w+:\d+:\w+:\d+$", r"\.sim$", _LOG),
    ("a list of allowed nodes (Slurm simulator): no submissions, no run times", r"^JobName\|AllowedNodes$", r"", _LOG),
    ("a list of queues, groups or users (AleaNG), no jobs", r"^;\s*(id|group_id|user_id)\t", r"", _LOG),
    ("a file of properties, no jobs", r"^[ \t]*+#", r"\.properties$", _LOG),
    ("a matrix of speed-ups, no jobs", r"^benchmark,", r"", _LOG),
    ("a summary of a run (Batsim): one line, no jobs", r"^consumed_joules,", r"", "give the file of its jobs"),
    ("saved state of Slurm, which only Slurm reads", r"", r"^(assoc_mgr_state|last_tres|clustername)$", _LOG),
    ("a table of priorities (sprio) or shares (sshare), no jobs", r"", r"^dump_(sprio|sshare)\.txt$", _LOG),
    (
        "a part of a Slurm configuration, read together with its slurm.conf",
        r"^[ \t]*+(AutoDetect|NodeName|SwitchName)[ \t]*=",
        r"(gres|topology)\.conf$",
        "give the slurm.conf beside it",
    ),
    (
        "a description of a cluster, not a log of jobs",
        r"<platform\b|^[ \t]*+(NodeName|PartitionName|ClusterName)[ \t]*=|^\[\[nodes\]\]",
        r"\.(conf|xml|toml)$",
        "give it as the machine: --cluster FILE",
    ),
    ("documentation, no jobs", r"", r"\.md$", _LOG),
)


def looks_like(start: str, name: str) -> bool:
    return _find(start, name) is not None


def refuse(path: Path, _options: ReadOptions) -> Workload:
    """Say what the file is."""
    found = _find(first_text(path), plain_name(path))
    assert found is not None
    what, remedy = found
    raise InputError(f"is {what}", where=str(path), hint=remedy.replace("FILE", str(path)))


def _find(start: str, name: str) -> tuple[str, str] | None:
    for what, content, called, remedy in _KNOWN:
        if re.search(content, start, re.MULTILINE) and re.search(called, name):
            return what, remedy
    return None
