"""schedlab: a laboratory for cluster scheduling.

>>> import schedlab as sl
>>> run = sl.simulate("log.swf.gz", "120x2", "easy")
>>> run.summary, run.jobs
"""

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from schedlab.cluster.read import read_cluster as read_cluster
    from schedlab.engine.build import Native as Native
    from schedlab.engine.check import Offence as Offence
    from schedlab.engine.check import check as check
    from schedlab.engine.decider import Policy as Policy
    from schedlab.engine.execution import Execution as Execution
    from schedlab.engine.observer import Observer as Observer
    from schedlab.engine.scenario import Scenario as Scenario
    from schedlab.engine.simulate import simulate as simulate
    from schedlab.engine.stepper import Stepper as Stepper
    from schedlab.engine.store import read_run as read_run
    from schedlab.model.cluster import Cluster as Cluster
    from schedlab.model.cluster import NodeGroup as NodeGroup
    from schedlab.model.cluster import Partition as Partition
    from schedlab.model.cluster import Switch as Switch
    from schedlab.model.errors import DecisionError as DecisionError
    from schedlab.model.errors import InputError as InputError
    from schedlab.model.errors import InvariantError as InvariantError
    from schedlab.model.errors import PolicyError as PolicyError
    from schedlab.model.errors import SchedlabError as SchedlabError
    from schedlab.model.predecessors import Predecessor as Predecessor
    from schedlab.model.request import Request as Request
    from schedlab.model.run import Run as Run
    from schedlab.model.workflow import Task as Task
    from schedlab.model.workflow import Workflow as Workflow
    from schedlab.model.workload import JobBatch as JobBatch
    from schedlab.model.workload import Phase as Phase
    from schedlab.model.workload import Shape as Shape
    from schedlab.model.workload import Workload as Workload
    from schedlab.policy.estimator import Estimator as Estimator
    from schedlab.workflow.read import read_workflow as read_workflow
    from schedlab.workload.read import read_workload as read_workload

# What a user imports, and where it lives. Loaded when first used: the command line starts in a fraction of the time.
_PUBLIC = {
    "Cluster": "schedlab.model.cluster",
    "DecisionError": "schedlab.model.errors",
    "Estimator": "schedlab.policy.estimator",
    "Execution": "schedlab.engine.execution",
    "InputError": "schedlab.model.errors",
    "InvariantError": "schedlab.model.errors",
    "JobBatch": "schedlab.model.workload",
    "Native": "schedlab.engine.build",
    "NodeGroup": "schedlab.model.cluster",
    "Observer": "schedlab.engine.observer",
    "Offence": "schedlab.engine.check",
    "Partition": "schedlab.model.cluster",
    "Phase": "schedlab.model.workload",
    "Policy": "schedlab.engine.decider",
    "PolicyError": "schedlab.model.errors",
    "Predecessor": "schedlab.model.predecessors",
    "Request": "schedlab.model.request",
    "Run": "schedlab.model.run",
    "Scenario": "schedlab.engine.scenario",
    "SchedlabError": "schedlab.model.errors",
    "Shape": "schedlab.model.workload",
    "Stepper": "schedlab.engine.stepper",
    "Switch": "schedlab.model.cluster",
    "Task": "schedlab.model.workflow",
    "Workflow": "schedlab.model.workflow",
    "Workload": "schedlab.model.workload",
    "check": "schedlab.engine.check",
    "read_cluster": "schedlab.cluster.read",
    "read_run": "schedlab.engine.store",
    "read_workflow": "schedlab.workflow.read",
    "read_workload": "schedlab.workload.read",
    "simulate": "schedlab.engine.simulate",
}

__all__ = list(_PUBLIC)

if "SCHEDLAB_CONFINED" in os.environ:  # a process of `schedlab web`, from its first moment on
    from schedlab.model.confined import confine_as_told

    confine_as_told()


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'schedlab' has no attribute {name!r}")
    value = getattr(import_module(_PUBLIC[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(_PUBLIC)
