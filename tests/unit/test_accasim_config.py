"""System configurations of AccaSim."""

import json

import pytest

import schedlab as sl
from schedlab.cluster.accasim import looks_like, read_accasim, write_accasim
from schedlab.model.cluster import Cluster, NodeGroup, Partition
from schedlab.model.errors import InputError, InputErrors

SETH = {
    "system_name": "Seth - HPC2N",
    "start_time": 1027839845,
    "equivalence": {"processor": {"core": 2}},
    "groups": {"g0": {"core": 4, "mem": 1048576}},
    "resources": {"g0": 120},
}
TWO = {
    "groups": {"fat": {"core": 64, "mem": 1024, "mic": 2}, "gpu": {"core": 8, "gpu": 4}, "spare": {"core": 1}},
    "resources": {"gpu": 2, "fat": 3},
}


def config(path, data):
    path.write_text(json.dumps(data))
    return path


def test_one_group(tmp_path):
    cluster = read_accasim(config(tmp_path / "seth.config", SETH))
    (group,) = cluster.groups
    assert cluster.name == "Seth - HPC2N"
    # A processor of the log takes 2 of the 4 cores of a node.
    assert (group.name, group.count, group.resources) == ("g0", 120, {"cores": 2, "memory": 2**30})
    assert cluster.node_names()[0] == "node_1"
    assert cluster.notes == (
        "a processor of the log takes 2 cores: nodes are counted in processors, 2 each",
        "start_time 1027839845: not applied, the log says when jobs are submitted",
    )


def test_seth_is_as_busy_as_a_machine_of_240_processors(tmp_path, traces):
    """Every processor takes two of AccaSim's 480 cores; before, it took one, and utilisation was 29.6 %."""
    jobs = sl.read_workload(traces / "HPC2N-2002-2.2-cln.swf.gz")
    run = sl.simulate(jobs, read_accasim(config(tmp_path / "seth.json", SETH)), "easy")
    assert run.cluster.cores == 240
    assert round(100 * run.summary["utilisation"], 1) == 59.2


@pytest.mark.parametrize(
    ("processor", "cores", "notes"),
    [
        ({}, 5, ()),
        ({"core": 1}, 5, ()),
        ({"core": 2}, 2, ("a processor of the log takes 2 cores: nodes are counted in processors, 2 each",)),
        ({"core": 1, "gpu": 1}, 5, ("a processor of the log takes gpus=1 too: not applied",)),
    ],
)
def test_what_a_processor_takes(tmp_path, processor, cores, notes):
    data = {"equivalence": {"processor": processor}, "groups": {"a": {"core": 5}}, "resources": {"a": 3}}
    cluster = read_accasim(config(tmp_path / "x.json", data))
    assert (cluster.groups[0].resources, cluster.notes) == ({"cores": cores}, notes)


@pytest.mark.parametrize("processor", [{"core": 0}, {"core": -2}, {"core": 1.5}, {"core": "2"}, 2, None, [2]])
def test_a_processor_takes_whole_cores(tmp_path, processor):
    data = {"equivalence": {"processor": processor}, "groups": {"a": {"core": 4}}, "resources": {"a": 1}}
    with pytest.raises(InputErrors, match="expected the cores that a processor takes"):
        read_accasim(config(tmp_path / "x.json", data))


def test_groups_in_the_order_of_the_nodes(tmp_path):
    cluster = read_accasim(config(tmp_path / "two.json", TWO))
    assert [(group.name, group.count, group.first) for group in cluster.groups] == [("gpu", 2, 1), ("fat", 3, 3)]
    assert cluster.groups[0].resources == {"cores": 8, "gpus": 4}
    assert cluster.groups[1].resources == {"cores": 64, "memory": 2**20, "mic": 2}
    assert cluster.node_names() == ["node_1", "node_2", "node_3", "node_4", "node_5"]
    assert cluster.notes == ("groups without nodes: spare",)


def test_all_mistakes_at_once(tmp_path):
    data = {
        "groups": {"a": {"core": -1, "mem": "4G"}, "b": 5},
        "resources": {"a": 1, "b": 2, "bb": 3, "c": 1.5},
        "node_prefix": "n1",
        "equivalance": {},
    }
    data["groups"]["c"] = {"core": 1}
    path = config(tmp_path / "bad.json", data)
    with pytest.raises(InputErrors) as error:
        read_accasim(path)
    assert [str(one).split("\n")[0] for one in error.value.errors] == [
        f"{path}: unknown key 'equivalance'",
        f'{path}: node_prefix is "n1", expected a text that does not end in a digit',
        f"{path}: groups.a.core is -1, expected a whole number of at least 0",
        f'{path}: groups.a.mem is "4G", expected a whole number of at least 0',
        f'{path}: groups.b is 5, expected a table such as {{"core": 4}}',
        f"{path}: resources has 'bb', which is not a group",
        f"{path}: resources.c is 1.5, expected a number of nodes",
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"groups": {},\n "resources"}', "line 2: this is not JSON"),
        ("[1]", "this is not a configuration of AccaSim"),
        ("{}", "there is no table 'groups'"),
        ('{"groups": {"a": {"core": 1}}, "resources": {}}', "the configuration has no nodes"),
        ("[" * 100_000, "this is not"),
    ],
)
def test_what_is_no_configuration(tmp_path, text, problem):
    path = tmp_path / "x.config"
    path.write_text(text)
    with pytest.raises(InputError, match=problem):
        read_accasim(path)


def test_written_and_read_back(tmp_path):
    cluster = read_accasim(config(tmp_path / "two.json", TWO))
    assert write_accasim(tmp_path / "out.json", cluster) == []
    assert read_accasim(tmp_path / "out.json").groups == cluster.groups


def test_what_it_cannot_hold(tmp_path):
    group = NodeGroup("a", 2, {"cores": 4, "memory": 1500}, prefix="x", features=frozenset({"f"}))
    lost = write_accasim(tmp_path / "out.json", Cluster((group,), (Partition("p", ("a",), True),)))
    assert lost == [
        "names of the nodes of a: AccaSim numbers all nodes from node_1",
        "features of a: the format has no place for them",
        "memory of a: rounded down to kB",
        "partitions: the format has no place for them",
    ]


def test_looks_like():
    assert looks_like(json.dumps(SETH), "seth.config")
    assert not looks_like('{"jobs": []}', "x.json")
