"""What a job asks for in the options of `sbatch`, as a request. `docs/formats/slurm.md` states the rules."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from schedlab.files.slurm_values import GRES_EXPECTED, MEMORY_EXPECTED, gres, memory, shown, whole
from schedlab.model.request import Request
from schedlab.model.units import LARGEST_AMOUNT

# Short options that stand for one that is used here.
SHORT = {
    "A": "account",
    "C": "constraint",
    "G": "gpus",
    "J": "job-name",
    "N": "nodes",
    "a": "array",
    "b": "begin",
    "c": "cpus-per-task",
    "d": "dependency",
    "n": "ntasks",
    "p": "partition",
    "q": "qos",
    "t": "time",
}
USED = frozenset(SHORT.values()) | {
    *("uid", "ntasks-per-node", "mem", "mem-per-cpu", "gres", "gpus-per-node", "gpus-per-task", "exclusive"),
}
# Those that decide about the request: jobs with the same values ask for the same.
SHAPING = tuple(sorted(USED - {"account", "array", "begin", "dependency", "job-name", "qos", "time", "uid"}))
# Others that have a value, and options that never have one in a word of its own.
_SHORT_WITH_VALUE = frozenset("BDFLMSeilmowx")
_FLAG_NAMES = """
    exclusive contiguous get-user-env hold ignore-pbs kill-on-bad-exit nice no-kill no-requeue overcommit oversubscribe
    parsable propagate quiet reboot requeue share spread-job test-only use-min-nodes verbose wait
"""
_FLAGS = frozenset(_FLAG_NAMES.split())
# Short options that are not used here, and that decide about scheduling: Slurm itself may be told of them.
_PASSED_ON = {
    "-H": "hold",
    "-L": "licenses",
    "-O": "overcommit",
    "-s": "oversubscribe",
    "-w": "nodelist",
    "-x": "exclude",
}
_ALIASES = {"tasks-per-node": "ntasks-per-node"}
_LONG_TO_SHORT = {long: short for short, long in SHORT.items()}


class OptionError(ValueError):
    """An option that is known, with a value that is not one."""

    def __init__(self, option: str, value: str | None, expected: str) -> None:
        short = f"-{_LONG_TO_SHORT[option]}, " if option in _LONG_TO_SHORT else ""
        name = f"{short}--{option}" if option in USED else f"-{option}"
        found = "has no value" if value is None else f"is {shown(value)}"
        super().__init__(f"{name} {found}, expected {expected}")


def split_options(words: Sequence[str], also: Collection[str] = ()) -> tuple[dict[str, str], dict[str, str]]:
    """The options that are used, by their long names, and those that are not, up to the name of the script.

    `also` names options that are written with one dash (`-sim-walltime 15`). Of an option that is given twice the last
    one counts, as for Slurm.
    """
    values, unused, _ = options_and_script(words, also)
    return values, unused


def options_and_script(
    words: Sequence[str], also: Collection[str] = ()
) -> tuple[dict[str, str], dict[str, str], Sequence[str]]:
    """As `split_options`, and the words from the name of the script on."""
    values: dict[str, str] = {}
    unused: dict[str, str] = {}  # with their dashes
    place = 0

    def next_word(option: str) -> str:
        nonlocal place
        place += 1
        if place >= len(words):
            raise OptionError(option, None, "one")
        return words[place]

    while place < len(words) and words[place].startswith("-"):
        word = words[place]
        if word[1:] in also:
            values[word[1:]] = next_word(word[1:])
        elif word.startswith("--"):
            name, has_value, value = word[2:].partition("=")
            name = _ALIASES.get(name, name)
            if name not in USED:
                # A word that follows is its value; the last one of the line is the script.
                follows = words[place + 1] if place + 2 < len(words) else "-"
                separate = not (has_value or name in _FLAGS or follows.startswith("-"))
                unused[f"--{name}"] = follows if separate else value
                place += separate
            else:
                values[name] = value if has_value or name in _FLAGS else next_word(name)
        elif word[1:2] in SHORT:
            values[SHORT[word[1]]] = word[2:] or next_word(SHORT[word[1]])
        else:
            separate = word[1:] in _SHORT_WITH_VALUE and place + 1 < len(words)
            unused[word[:2]] = words[place + 1] if separate else word[2:]
            place += separate
        place += 1
    return values, unused, words[place:]


def passed_on(unused: Mapping[str, str]) -> dict[str, str]:
    """Those of them that have a long name, by it."""
    names = {option: option[2:] if option.startswith("--") else _PASSED_ON.get(option, "") for option in unused}
    return {name: unused[option] for option, name in names.items() if name}


@dataclass(frozen=True, slots=True)
class Asked:
    """The request of a job, how many chunks of it, and what had to be assumed."""

    request: Request
    count: int
    assumed: tuple[str, ...] = ()


def ask(options: Mapping[str, str]) -> Asked:
    """What these options ask for."""
    assumed: list[str] = []
    of_task = _whole(options, "cpus-per-task") or 1
    nodes, tasks = nodes_and_tasks(options, assumed)
    per_node, gpus_per_node = _resources(options, "gres"), _gpus(options, "gpus-per-node")
    per_task, in_all = _gpus(options, "gpus-per-task"), _gpus(options, "gpus")
    of_node, of_cpu = _memory(options, "mem", assumed), _memory(options, "mem-per-cpu", assumed)

    can_split = not (of_node or per_node or gpus_per_node) and all(amount % tasks == 0 for amount in in_all.values())
    if not nodes and not can_split:
        nodes = 1
        if tasks > 1:
            assumed.append("nodes: one for all tasks of a job that says what it needs of a node, and not how many")
    parts = nodes or tasks
    share = -(-tasks // parts)
    if share * parts != tasks:
        assumed.append("cores: rounded up to equal shares of the nodes")
    if any(amount % parts for amount in in_all.values()):
        assumed.append("GPUs: rounded up to equal shares of the nodes")

    cores = share * of_task
    chunk = {"cores": cores, "memory": of_node or of_cpu * cores}
    for resources, times, divisor in (
        (per_node, 1, 1),
        (gpus_per_node, 1, 1),
        (per_task, share, 1),
        (in_all, 1, parts),
    ):
        for name, amount in resources.items():
            chunk[name] = max(chunk.get(name, 0), -(-amount * times // divisor))
    _count_all_types(chunk)
    if any(amount > LARGEST_AMOUNT for amount in chunk.values()):
        raise OptionError("mem-per-cpu", options.get("mem-per-cpu", ""), "less memory")
    request = Request(
        {name: amount for name, amount in chunk.items() if amount or name == "cores"},
        per_node_max=1 if nodes else 0,
        features=_features(options, assumed),
        partition=_partition(options, assumed),
        exclusive=whole_nodes(options, assumed),
    )
    return Asked(request, parts, tuple(assumed))


def _count_all_types(chunk: dict[str, int]) -> None:
    """Types that several options name, or that were rounded up one by one, may be more than they were in all."""
    typed: dict[str, int] = {}
    for name, amount in chunk.items():
        owner, colon, _ = name.partition(":")
        if colon:
            typed[owner] = typed.get(owner, 0) + amount
    for owner, amount in typed.items():
        name = "gpus" if owner == "gpu" else owner
        chunk[name] = max(chunk.get(name, 0), amount)


def nodes_and_tasks(options: Mapping[str, str], assumed: list[str]) -> tuple[int, int]:
    """How many nodes (0: it does not say) and tasks."""
    nodes, at_most = _nodes(options, assumed), _whole(options, "ntasks-per-node")
    tasks = _whole(options, "ntasks") or max(nodes, 1) * max(at_most, 1)
    if tasks > 10**9:
        raise OptionError("ntasks-per-node", options["ntasks-per-node"], "fewer tasks in all")
    if not nodes and at_most:
        nodes = -(-tasks // at_most)
    if nodes > tasks:
        assumed.append("nodes: no more than tasks")
        nodes = tasks
    return nodes, tasks


def _nodes(options: Mapping[str, str], assumed: list[str]) -> int:
    text = options.get("nodes")
    if text is None:
        return 0
    least, dash, most = text.partition("-")
    try:
        number = whole(least, least=1)
        if dash and whole(most, least=number) != number:
            assumed.append("nodes: the least of a range")
    except ValueError:
        raise OptionError("nodes", text, "a number of nodes such as 2, or a range such as 2-4") from None
    return number


def _whole(options: Mapping[str, str], name: str) -> int:
    """0 if the option is not there."""
    text = options.get(name)
    try:
        return 0 if text is None else whole(text, least=1)
    except ValueError as error:
        raise OptionError(name, text, str(error)) from None


def _memory(options: Mapping[str, str], name: str, assumed: list[str]) -> int:
    text = options.get(name)
    if text is None:
        return 0
    try:
        amount = memory(text)
    except ValueError:
        raise OptionError(name, text, MEMORY_EXPECTED) from None
    if not amount:
        assumed.append(f"--{name}=0 (all the memory of a node): none asked for")
    return amount


def _resources(options: Mapping[str, str], name: str, prefix: str = "") -> dict[str, int]:
    text = options.get(name)
    if text is None or text.casefold() == "none":
        return {}
    try:
        return gres(",".join(prefix + item for item in text.split(",")))
    except ValueError:
        raise OptionError(name, text, GRES_EXPECTED if not prefix else "a number, or types such as v100:2") from None


def _gpus(options: Mapping[str, str], name: str) -> dict[str, int]:
    return _resources(options, name, "gpu:")


def _features(options: Mapping[str, str], assumed: list[str]) -> frozenset[str]:
    text = options.get("constraint")
    if text is None:
        return frozenset()
    if re.search(r"[|*\[\]()]", text):
        assumed.append("constraint: alternatives and counts are not used")
        return frozenset()
    words = re.split("[&,]", text)
    if not all(words) or re.search(r"\s", text):
        raise OptionError("constraint", text, "features joined by &, without blanks")
    return frozenset(words)


def _partition(options: Mapping[str, str], assumed: list[str]) -> str | None:
    text = options.get("partition")
    if text is None:
        return None
    first, several, _ = text.partition(",")
    if several:
        assumed.append("partition: the first of several")
    if not first:
        raise OptionError("partition", text, "the name of a partition")
    return first


def whole_nodes(options: Mapping[str, str], assumed: list[str]) -> bool:
    """Whether they ask for nodes that no other job is on."""
    text = options.get("exclusive")
    if text is None:
        return False
    if text not in ("", "user", "mcs", "topo"):
        raise OptionError("exclusive", text, "nothing, user, mcs or topo")
    if text:
        assumed.append(f"--exclusive={text}: nodes of its own")
    return True
