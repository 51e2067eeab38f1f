"""The machine: groups of identical nodes in a fixed order, and partitions over the groups."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from schedlab.model.arguments import check_arguments, check_each, check_fields, shown
from schedlab.model.errors import InputError, InputErrors

if TYPE_CHECKING:
    from schedlab.model.network import Network


MOST_NODES = 10_000_000  # a typing error should not fill the memory
MOST_CORES = 2**31 - 1  # of a node, or of a pool: shares of nodes are counted in 32 bits


@dataclass(frozen=True, slots=True)
class NodeGroup:
    """`count` identical nodes called prefix + number + suffix (`n001`…)."""

    name: str
    count: int
    resources: dict[str, int]  # per node: cores, memory (bytes), gpus, anything else
    prefix: str = "n"
    first: int = 1  # number of its first node
    width: int = 0  # digits of the number; 0: no padding
    suffix: str = ""
    numbered: bool = True  # false: a single node, called prefix + suffix
    sockets: int = 1
    socket_cores: tuple[int, ...] = ()  # of each, where they differ
    features: frozenset[str] = frozenset()
    speed: float = 0.0  # floating-point operations a second and core; 0: not known
    weight: int = 1  # as Slurm has it: nodes of small weight are taken first
    properties: dict[str, str] = field(default_factory=dict)  # what else its file says of the nodes

    def node_name(self, index: int) -> str:
        """The name of its node of that index, from 0."""
        number = f"{self.first + index:0{self.width}d}" if self.numbered else ""
        return f"{self.prefix}{number}{self.suffix}"

    @property
    def socket_sizes(self) -> tuple[int, ...]:
        """The cores of each socket of a node; if they are not said, as even as they can be, the first ones larger."""
        if self.socket_cores:
            return self.socket_cores
        least, larger = divmod(self.resources.get("cores", 0), self.sockets)
        return tuple(least + (socket < larger) for socket in range(self.sockets))

    @property
    def node_set(self) -> str:
        """All its nodes in a few characters: `n[001-100]`."""
        if self.count == 1:
            return self.node_name(0)
        first, last = (f"{number:0{self.width}d}" for number in (self.first, self.first + self.count - 1))
        return f"{self.prefix}[{first}-{last}]{self.suffix}"

    def node_names(self) -> list[str]:
        return [self.node_name(index) for index in range(self.count)]


@dataclass(frozen=True, slots=True)
class Partition:
    """A named set of node groups that jobs can ask for."""

    name: str
    groups: tuple[str, ...]
    default: bool = False


@dataclass(frozen=True, slots=True)
class Switch:
    """A switch of the network's tree: the nodes at its ports (a node set, `n[001-016]`), and the switches below it."""

    name: str
    nodes: str = ""
    switches: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Cluster:
    """Node groups in cluster order (the order that first-fit walks), partitions, and the tree of switches."""

    groups: tuple[NodeGroup, ...]
    partitions: tuple[Partition, ...] = ()
    pool: bool = False  # nodes do not matter: one node holds everything, results list no nodes
    name: str = field(default="cluster")
    switches: tuple[Switch, ...] = ()
    network: Network | None = None  # of a SimGrid platform: its zones, links and routes
    notes: tuple[str, ...] = field(default=(), compare=False)  # what its file says and is not in here

    def __post_init__(self) -> None:
        """Names are how results tell nodes apart."""
        check_fields(self)
        for name, kind in (("groups", NodeGroup), ("partitions", Partition), ("switches", Switch)):
            check_each(getattr(self, name), kind, name, self.name)
        for group in self.groups:
            _refuse_nonsense(group)
            if (cores := group.resources.get("cores", 0)) > MOST_CORES:
                hint = "count in larger units, nodes say"
                raise InputError(
                    f"{group.name} has {cores:,} cores a node, at most {MOST_CORES:,} are possible", hint=hint
                )
        owners: dict[str, NodeGroup] = {}
        for group in self.groups if len(self.groups) > 1 else ():
            for name in group.node_names():
                if (other := owners.setdefault(name, group)) is not group:
                    raise InputError(
                        f"the node groups {other.name!r} ({other.node_set}) and {group.name!r} ({group.node_set}) both "
                        f"have a node {name}",
                        where=self.name,
                        hint=f"give the nodes of {group.name!r} other names: another prefix, or another first number",
                    )

    @classmethod
    def uniform(cls, nodes: int, cores: int = 1, **resources: int) -> Cluster:
        """`nodes` identical nodes."""
        check_arguments("int", nodes=nodes, cores=cores, **resources)
        if nodes < 1 or cores < 0:
            raise InputError(f"a cluster of {nodes} nodes with {cores} cores each cannot run anything")
        group = NodeGroup("nodes", nodes, {"cores": cores, **resources}, width=len(str(nodes)))
        return cls((group,), name=f"{nodes}x{cores}")

    @classmethod
    def of_cores(cls, cores: int) -> Cluster:
        """One pool of cores: nodes do not matter."""
        check_arguments("int", cores=cores)
        if cores < 1:
            raise InputError(f"a pool of {cores} cores cannot run anything")
        return cls((NodeGroup("pool", 1, {"cores": cores}, prefix="pool"),), pool=True, name=f"pool:{cores}")

    @property
    def nodes(self) -> int:
        return sum(group.count for group in self.groups)

    @property
    def cores(self) -> int:
        return self.total("cores")

    def total(self, resource: str) -> int:
        return sum(group.count * group.resources.get(resource, 0) for group in self.groups)

    @property
    def resource_names(self) -> tuple[str, ...]:
        """All resources some node has; cores first, the others in order of appearance."""
        names = dict.fromkeys(["cores"])
        for group in self.groups:
            names.update(dict.fromkeys(group.resources))
        return tuple(names)

    def node_names(self) -> list[str]:
        return [name for group in self.groups for name in group.node_names()]

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready; what most clusters do not have is left out where it is not there."""
        found: dict[str, Any] = {
            "name": self.name,
            "pool": self.pool,
            "groups": [group_dict(group) for group in self.groups],
            "partitions": [{"name": p.name, "groups": list(p.groups), "default": p.default} for p in self.partitions],
        }
        if self.switches:
            found["switches"] = [
                {"name": s.name, "nodes": s.nodes, "switches": list(s.switches)} for s in self.switches
            ]
        if self.network is not None:
            found["network"] = self.network.to_dict()
        return found

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Cluster:
        groups = tuple(group_of(g) for g in data["groups"])
        partitions = tuple(Partition(p["name"], tuple(p["groups"]), p["default"]) for p in data["partitions"])
        switches = tuple(Switch(s["name"], s["nodes"], tuple(s["switches"])) for s in data.get("switches", ()))
        return cls(groups, partitions, data["pool"], data["name"], switches, _network(data.get("network")))


def _refuse_nonsense(group: NodeGroup) -> None:
    bounds = {"count": (1, MOST_NODES), "sockets": (1, MOST_CORES), "first": (0, 10**18), "width": (0, 100)}
    wrong = [
        f"{name} is {number}, expected a number from {least} to {most:,}"
        for name, (least, most) in bounds.items()
        if not least <= (number := getattr(group, name)) <= most
    ]
    wrong += [
        f"{shown(name)} is {shown(amount)} in resources, expected whole numbers from 0 on"
        for name, amount in group.resources.items()
        if not isinstance(name, str) or not isinstance(amount, int) or not 0 <= amount < 2**63
    ]
    if wrong:
        raise InputErrors([InputError(text, where=f"NodeGroup {group.name}") for text in wrong])


def _network(data: dict[str, Any] | None) -> Network | None:
    if data is None:
        return None
    from schedlab.model.network import Network  # few clusters have one

    return Network.from_dict(data)


def group_of(data: dict[str, Any]) -> NodeGroup:
    sizes = tuple(data.get("socket_cores", ()))
    return NodeGroup(**{**data, "features": frozenset(data["features"]), "socket_cores": sizes})


def group_dict(group: NodeGroup) -> dict[str, Any]:
    found: dict[str, Any] = {
        "name": group.name,
        "count": group.count,
        "resources": dict(group.resources),
        "prefix": group.prefix,
        "first": group.first,
        "width": group.width,
        "sockets": group.sockets,
        "features": sorted(group.features),
    }
    if group.socket_cores:
        found["socket_cores"] = list(group.socket_cores)
    plain = {"suffix": "", "numbered": True, "speed": 0.0, "weight": 1, "properties": {}}
    return found | {name: getattr(group, name) for name, usual in plain.items() if getattr(group, name) != usual}
