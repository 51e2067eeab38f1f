from __future__ import annotations

from pathlib import Path

import pytest

from schedlab.cluster.toml.read import parse_cluster
from schedlab.model.cluster import Partition
from schedlab.model.errors import InputError, InputErrors
from schedlab.model.toml_lines import TomlLines


def test_names_of_nodes() -> None:
    def names(keys: str) -> list[str]:
        return parse_cluster(f'[[nodes]]\nname = "a"\ncount = 2\ncores = 1\n{keys}', "file.toml").node_names()

    assert names("") == ["a1", "a2"]
    assert names('prefix = "r1-n"') == ["r1-n1", "r1-n2"]
    assert names("first = 99") == ["a099", "a100"]
    assert names("first = 0\ndigits = 4") == ["a0000", "a0001"]
    assert parse_cluster('[[nodes]]\nname = "fat2"\ncount = 1\ncores = 1', "x/y.toml").node_names() == ["fat2-1"]


def test_what_is_left_out() -> None:
    cluster = parse_cluster(
        '[[nodes]]\nname = "a"\ncount = 2\ncores = 1\n[[partitions]]\nname="p"\nnodes=["a"]', "x/y.toml"
    )
    assert cluster.name == "y"
    assert cluster.groups[0].resources == {"cores": 1}
    assert cluster.partitions == (Partition("p", ("a",), default=True),)  # the only one is the default


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('name = "a"\ncount == 2\n', "file.toml:2:8"),
        ("name = [1,\n2", "file.toml:2"),
        ("a = 1\na = 2\n", "file.toml:2:6"),
        ("memory = 192 GiB\n", "file.toml:1:14"),
        ("\0\1\2", "file.toml:1:1"),
        ("a = " + "9" * 5000, "file.toml"),
        ("a = " + "[" * 5000, "file.toml"),
    ],
)
def test_not_toml(text: str, place: str) -> None:
    with pytest.raises(InputError, match="this is not") as caught:
        parse_cluster(text, "file.toml")
    assert caught.value.where.startswith(place)
    assert caught.value.hint


def mistakes(text: str) -> list[tuple[str, str]]:
    """(place, message with hint) of each mistake."""
    with pytest.raises(InputErrors) as caught:
        parse_cluster(text, "m")
    assert str(caught.value) == "\n".join(str(error) for error in caught.value.errors)
    return [(error.where, f"{error.message} | {error.hint}") for error in caught.value.errors]


def test_all_mistakes_at_once() -> None:
    found = mistakes(
        """\
nam = "x"
[[nodes]]
name = "thin one"
count = 0
cores = "32"
memory = "192 G"
gpus = -1
features = [
  "a]", # [
  "b c",
]
prefix = "t1"
colour = "red"
sockets = 2.0
[nodes.resources]
"two words" = 4
cores = 3
licences = "many"
[[nodes]]
cores = 64
memory = true
[[partitions]]
name = "batch"
nodes = ["thin one", "tin"]
default = "yes"
[[partitions]]
nodes = []
"""
    )
    name = "a name made of letters, digits, '_', '.' and '-'"
    whole = "a whole number of at least 0"
    amount = f'{whole}, or bytes with a unit such as "192 GiB"'
    expected = [
        ("m:1", "unknown key 'nam' | did you mean 'name'?"),
        ("m:3", f'name = "thin one": expected {name}'),
        ("m:4", "count = 0: expected a whole number from 1 to 10,000,000"),
        ("m:5", f'cores = "32": expected {whole}'),
        ("m:6", f"memory = \"192 G\": expected {amount} | write '192 GiB' (powers of 1024) or '192 GB'"),
        ("m:7", f"gpus = -1: expected {whole}"),
        ("m:9", f'features[0] = "a]": expected a list of words, each {name}'),
        ("m:10", f'features[1] = "b c": expected a list of words, each {name}'),
        ("m:12", 'prefix = "t1": expected the beginning of the nodes\' names'),
        ("m:13", "unknown key 'colour' | a node group has name, count, cores"),
        ("m:14", "sockets = 2.0: expected a whole number from 1 to 1024, or the cores of each: [10, 12]"),
        ("m:16", f'"two words" cannot be a key of resources | expected {name}'),
        ("m:17", '"cores" cannot be a key of resources | write cores beside count'),
        ("m:18", f'resources.licences = "many": expected names, each with {amount}'),
        ("m:19", "this node group has no 'name' | add name = …"),
        ("m:19", "this node group has no 'count' | add count = …"),
        ("m:21", f"memory = true: expected {amount}"),
        ("m:25", 'default = "yes": expected true or false'),
        ("m:26", "this partition has no 'name'"),
        ("m:27", "nodes = []: expected a list of at least one name of a node group"),
    ]
    assert [place for place, _ in found] == [place for place, _ in expected]
    for (_, message), (_, start) in zip(found, expected, strict=True):
        assert message.startswith(start)


def test_mistakes_between_parts() -> None:
    group = '[[nodes]]\nname = "{}"\ncores = 4\ncount = 10\n'
    text = (
        group.format("a") + 'prefix = "n"\nsockets = 8\n'  # lines 1-6
        + group.format("a") + 'prefix = "n"\nfirst = 10\n'  # 7-12
        + group.format("b") + 'prefix = "n"\nfirst = 11\ndigits = 1\n'  # 13-19, overlaps the second
        + '[[partitions]]\nname = "p"\nnodes = ["a", "bb", "a"]\n'  # 20-22
        + '[[partitions]]\nname = "p"\nnodes = ["b"]\n'  # 23-25
    )  # fmt: skip
    assert mistakes(text) == [
        ("m:6", "sockets = 8: expected at most the number of cores, 4 | "),
        ("m:8", 'name = "a": there is a node group of that name above | expected a name of its own'),
        (
            "m:12",
            "the nodes n[10-19] have the names of nodes of group 'a', n[01-10] | "
            "give the group a prefix of its own, or first = 11",
        ),
        (
            "m:18",
            "the nodes n[11-20] have the names of nodes of group 'a', n[10-19] | "
            "give the group a prefix of its own, or first = 20",
        ),
        ("m:22", "nodes[1] = \"bb\": there is no such node group | did you mean 'b'? node groups: a, a, b"),
        ("m:22", 'nodes[2] = "a" appears twice | expected it once'),
        ("m:24", 'name = "p": there is a partition of that name above | expected a name of its own'),
    ]


def test_mistakes_of_the_whole() -> None:
    group = '[[nodes]]\nname = "{}"\ncores = {}\ncount = {}\n'
    assert mistakes("") == [("m:1", "the file describes no nodes | add [[nodes]] with name, count and cores")]
    assert mistakes("[nodes]\nname = 'a'\ncores = 1\ncount = 2\n") == [
        ("m:1", "[nodes] is one table; expected a list of them | write [[nodes]], with double brackets")
    ]
    assert mistakes("nodes = 3") == [("m:1", "nodes = 3: expected tables | write [[nodes]] and the keys below it")]
    assert mistakes("name = 3\n" + group.format("a", 1, 1)) == [("m:1", "name = 3: expected a text | ")]
    assert [m for _, m in mistakes(group.format("a", 0, 1))] == [
        "the cluster has no cores | expected cores of at least 1 in some group"
    ]
    assert (
        "more than 10,000,000 nodes"
        in mistakes(group.format("a", 1, 9_000_000) + group.format("b", 1, 9_000_000))[0][1]
    )
    huge = group.format("a", 1, 1) + group.format("b", 1, 2) + 'memory = "6 EiB"\n'
    assert "memory of more than 9,223,372,036,854,775,807 together" in mistakes(huge)[0][1]
    two_defaults = "".join(f'[[partitions]]\nname = "{p}"\nnodes = ["a"]\ndefault = true\n' for p in "pq")
    assert mistakes(group.format("a", 1, 1) + two_defaults) == [
        ("m:12", "default = true: 'p' is the default already | expected one default partition")
    ]


def test_lines_of_keys() -> None:
    lines = TomlLines(
        '''\
# [[nodes]] in a comment
title = """
[[nodes]]
count = 1
"""
list = [ # [
  "]",
  [1, 2],
]
[[nodes]]
  count = 1 # count
  resources.licences = 2
  "quoted key" = 3
[[ nodes ]]
count=2
[nodes.resources]
licences = 3
[[nodes]]
inline = { count = 3, x = [1, 2] }
[other]
count = 4
'''
    )
    assert lines.line(("title",)) == 2
    assert lines.line(("list", 1)) == 8  # of the element; that of the key if it has none
    assert lines.line(("list", 7)) == 6
    assert lines.line(("nodes",)) == 1  # not written on a line of its own: the file
    assert lines.line(("nodes", 0)) == 10
    assert lines.line(("nodes", 0, "count")) == 11
    assert lines.line(("nodes", 0, "resources", "licences")) == 12
    assert lines.line(("nodes", 0, "quoted key")) == 13
    assert lines.line(("nodes", 1)) == 14
    assert lines.line(("nodes", 1, "count")) == 15
    assert lines.line(("nodes", 1, "missing")) == 14
    assert lines.line(("nodes", 1, "resources", "licences")) == 17
    assert lines.line(("nodes", 2, "inline", "count")) == 19
    assert lines.line(("other", "count")) == 21


def test_the_example_in_the_documentation() -> None:
    text = (Path(__file__).parents[2] / "docs" / "cluster.md").read_text()
    example = text.partition("```toml\n")[2].partition("```")[0]
    cluster = parse_cluster(example, "mixed.toml")
    assert (cluster.nodes, cluster.cores, cluster.total("gpus"), cluster.total("licences")) == (108, 3712, 32, 32)


def test_sockets_of_different_sizes() -> None:
    text = '[[nodes]]\nname = "a"\ncount = 2\ncores = 22\nsockets = [10, 12]\n'
    (group,) = parse_cluster(text, "m").groups
    assert group.sockets == 2 and group.socket_sizes == (10, 12)
    with pytest.raises(InputError, match="the sockets have 22 cores in all, the node has 24"):
        parse_cluster(text.replace("cores = 22", "cores = 24"), "m")
    with pytest.raises(InputError, match="or the cores of each"):
        parse_cluster(text.replace("12]", "0]"), "m")
