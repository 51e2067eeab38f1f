"""A study on a Slurm cluster through Parsl: schedlab experiment run study.toml --on parsl_slurm.py

Start it on a login node, with the study on a file system that the nodes share. Change what stands in capitals.
"""

import sys
from pathlib import Path

from parsl.addresses import address_by_hostname
from parsl.config import Config
from parsl.executors import HighThroughputExecutor
from parsl.providers import SlurmProvider

PARTITION = "compute"
ACCOUNT = None  # the project that pays, as text
WALLTIME = "02:00:00"  # of a Slurm job; Parsl submits the next one when it ends
LONGEST_RUN = 10 * 60  # seconds
JOBS = 4  # Slurm jobs at a time, of one node each
CORES = 32  # of a node: so many runs at a time
# What a node has to do before it finds schedlab: module load python; source …/bin/activate
WORKER_INIT = f"export PATH={Path(sys.executable).parent}:$PATH"


def config() -> Config:
    hours, minutes, seconds = map(int, WALLTIME.split(":"))
    executor = HighThroughputExecutor(
        label="slurm",
        address=address_by_hostname(),  # of this machine as the nodes see it; or address_by_interface("ib0")
        max_workers_per_node=CORES,
        # A worker takes no run that the end of its job would cut off.
        drain_period=max(hours * 3600 + minutes * 60 + seconds - LONGEST_RUN, 60),
        provider=SlurmProvider(
            partition=PARTITION,
            account=ACCOUNT,
            walltime=WALLTIME,
            worker_init=WORKER_INIT,
            cores_per_node=CORES,
            nodes_per_block=1,
            init_blocks=1,
            max_blocks=JOBS,
        ),
    )
    return Config(executors=[executor])
