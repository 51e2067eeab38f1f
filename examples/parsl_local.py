"""A study on this machine through Parsl, with two workers: schedlab experiment run study.toml --on parsl_local.py

It does what --workers 2 does, and is here to try Parsl without a cluster. Nothing leaves the machine.
"""

from parsl.config import Config
from parsl.executors import HighThroughputExecutor
from parsl.providers import LocalProvider

WORKERS = 2


def config() -> Config:
    executor = HighThroughputExecutor(
        label="local",
        address="127.0.0.1",
        loopback_address="127.0.0.1",
        max_workers_per_node=1,
        heartbeat_period=1,  # seconds between two looks at the workers
        heartbeat_threshold=30,  # seconds of silence after which they are believed lost
        provider=LocalProvider(init_blocks=WORKERS, min_blocks=WORKERS, max_blocks=WORKERS),
    )
    return Config(executors=[executor], strategy_period=1)
