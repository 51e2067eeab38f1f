"""A study on Kubernetes through Parsl: schedlab experiment run /studies/study.toml --on parsl_kubernetes.py

Start it in a pod of the cluster, with the volume mounted. It needs `pip install kubernetes`.
Change what stands in capitals.
"""

import os

from parsl.addresses import address_by_hostname
from parsl.config import Config
from parsl.executors import HighThroughputExecutor
from parsl.providers import KubernetesProvider

NAMESPACE = "default"
IMAGE = "registry.example.org/schedlab:latest"  # the one of the pod that starts the study: schedlab[parallel] in it
VOLUME = "studies"  # a persistent volume claim that many pods may write to (ReadWriteMany)
MOUNTED_AT = "/studies"  # in all pods alike; the study and its files are in there
PODS = 8  # at a time
CORES = 2  # of a pod: so many runs at a time
MEMORY = "4Gi"  # of a pod


def config() -> Config:
    executor = HighThroughputExecutor(
        label="kubernetes",
        address=address_by_hostname(),  # of this pod
        max_workers_per_node=CORES,
        provider=KubernetesProvider(
            namespace=NAMESPACE,
            image=IMAGE,
            persistent_volumes=[(VOLUME, MOUNTED_AT)],
            init_cpu=CORES,
            max_cpu=CORES,
            init_mem=MEMORY,
            max_mem=MEMORY,
            # What the pods write belongs to who started the study.
            user_id=str(os.getuid()),
            group_id=str(os.getgid()),
            worker_init=f"cd {MOUNTED_AT}",
            init_blocks=1,
            max_blocks=PODS,
        ),
    )
    return Config(executors=[executor])
