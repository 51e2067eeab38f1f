"""Resources as people speak of them: memory in bytes, shares of a core or GPU as parts of whole ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from schedlab.model.cluster import Cluster
from schedlab.model.units import format_bytes

# Resources that are counted in thousandths of another one. A node may have both: the same thing in two units.
THOUSANDTHS = {"cpu_milli": "cores", "gpu_milli": "gpus"}
NOUNS = {"cores": ("core", "cores"), "gpus": ("GPU", "GPUs")}  # one, and several


@dataclass(frozen=True, slots=True)
class Resource:
    """What is measured under one name: `gpus` are the whole ones and the thousandths (`gpu_milli`) together."""

    name: str
    parts: dict[str, float]  # the names that clusters and requests use, and how much one of each is

    def asked(self, chunk: Mapping[str, int]) -> float:
        """How much of it a chunk asks for."""
        return sum(chunk.get(part, 0) * size for part, size in self.parts.items())

    def there(self, node: Mapping[str, int]) -> float:
        """How much of it a node has, in whichever unit it is said."""
        return max(node.get(part, 0) * size for part, size in self.parts.items())

    def total(self, cluster: Cluster) -> float:
        return sum(group.count * self.there(group.resources) for group in cluster.groups)


def resources_of(cluster: Cluster) -> tuple[Resource, ...]:
    """All resources of the cluster, cores first."""
    return resources_named(cluster.resource_names)


def resources_named(names: Iterable[str]) -> tuple[Resource, ...]:
    """What is measured where clusters or requests speak of these; cores first, which are always there."""
    parts: dict[str, dict[str, float]] = {"cores": {"cores": 1.0}}
    for name in names:
        whole = THOUSANDTHS.get(name)
        parts.setdefault(whole or name, {})[name] = 0.001 if whole else 1.0
    return tuple(Resource(name, of) for name, of in parts.items())


def only_cores(cluster: Cluster) -> bool:
    """Whether the cluster has nothing else that jobs could ask for."""
    return cluster.resource_names == ("cores",)


def amount(resource: str, value: float) -> str:
    """`192 GiB`, `1,024`, `0.5`: thousandths as what they are a part of."""
    if resource == "memory":
        return format_bytes(round(value))
    if resource in THOUSANDTHS:
        value /= 1000
    return f"{value:,.0f}" if value == round(value) else f"{value:,.4g}"


def amount_of(resource: str, value: float) -> str:
    """With the name: `8 GPUs`, `1 core`, `192 GiB of memory`, `0.5 GPUs`."""
    text, name = amount(resource, value), THOUSANDTHS.get(resource, resource)
    if name == "memory":
        return f"{text} of memory"
    one, many = NOUNS.get(name, (name, name))
    return f"{text} {one if text == '1' else many}"
