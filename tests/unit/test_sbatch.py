"""Options of sbatch as requests."""

import math

import pytest

from schedlab.files.slurm_values import gres, gres_text, memory, seconds, time_text
from schedlab.model.request import Request
from schedlab.workload.slurm.order import array_size, begin_after
from schedlab.workload.slurm.sbatch import OptionError, ask, passed_on, split_options

MB, GB = 2**20, 2**30


def asked(text):
    values, _ = split_options([*text.split(), "pseudo.job"])
    return ask(values)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("30", 1800),  # minutes
        ("1:30", 90),  # minutes:seconds
        ("01:00:05", 3605),
        ("2-3", 2 * 86400 + 3 * 3600),  # days-hours
        ("1-00:30", 86400 + 1800),
        ("3-00:00:00", 259200),
        ("INFINITE", math.inf),
    ],
)
def test_times(text, expected):
    assert seconds(text) == expected


def test_time_text():
    assert [time_text(90), time_text(3605), time_text(259200)] == ["00:01:30", "01:00:05", "3-00:00:00"]


@pytest.mark.parametrize("text", ["", "5m", "1:2:3:4", "-5", "1.5", "1-", "٣"])
def test_times_that_are_none(text):
    with pytest.raises(ValueError, match="minutes:seconds"):
        seconds(text)


def test_memory():
    assert [memory("500000"), memory("62G"), memory("4k"), memory("1TB")] == [500000 * MB, 62 * GB, 4096, 2**40]
    with pytest.raises(ValueError, match="whole number of MB"):
        memory("1.5G")


def test_generic_resources():
    assert gres("gpu") == {"gpus": 1}
    assert gres("gpu:2") == {"gpus": 2}
    assert gres("gpu:v100:2,gpu:p100:1,nvme:1K") == {"gpus": 3, "gpu:v100": 2, "gpu:p100": 1, "nvme": 1024}
    assert gres("gres/gpu:v100=2(S:0-1)") == {"gpus": 2, "gpu:v100": 2}
    assert gres_text({"gpus": 3, "gpu:v100": 2, "nvme": 5}) == "gpu:v100:2,gpu:1,nvme:5"
    assert gres_text({"a b": 1}) == ""
    for wrong in ("gpu:a:b:1", "", "cores:1", "gpu:1,,x"):
        with pytest.raises(ValueError, match="names with counts"):
            gres(wrong)


@pytest.mark.parametrize(
    ("text", "count", "chunk", "on_nodes"),
    [
        ("", 1, {"cores": 1}, False),
        ("-n 5", 5, {"cores": 1}, False),
        ("-n5 -c2", 5, {"cores": 2}, False),
        ("-n 5 -c 2 --mem-per-cpu=100", 5, {"cores": 2, "memory": 200 * MB}, False),
        ("-n 36 --ntasks-per-node=12", 3, {"cores": 12}, True),
        ("-N 2 -n 18 --mem=250G", 2, {"cores": 9, "memory": 250 * GB}, True),
        ("-N 2 -n 8 --mem-per-cpu=1G", 2, {"cores": 4, "memory": 4 * GB}, True),
        ("-N 3", 3, {"cores": 1}, True),
        ("-N 3 --ntasks-per-node=4 -c 2", 3, {"cores": 8}, True),
        ("--ntasks-per-node=4", 1, {"cores": 4}, True),
        ("-n 1 --gres=gpu:2", 1, {"cores": 1, "gpus": 2}, True),
        ("-N 2 -n 4 --gres=gpu:v100:2", 2, {"cores": 2, "gpus": 2, "gpu:v100": 2}, True),
        ("-n 4 --gpus-per-task=1", 4, {"cores": 1, "gpus": 1}, False),
        ("-N 2 -n 4 --gpus-per-task=v100:1", 2, {"cores": 2, "gpus": 2, "gpu:v100": 2}, True),
        ("-n 4 --gpus=8", 4, {"cores": 1, "gpus": 2}, False),
        ("-N 2 -n 4 -G 8", 2, {"cores": 2, "gpus": 4}, True),
        ("-n 1 --gpus-per-node=3", 1, {"cores": 1, "gpus": 3}, True),
        # Of two types there are as many as of both together, whichever options name them.
        ("-n 1 --gres=gpu:a:1 --gpus=b:2", 1, {"cores": 1, "gpus": 3, "gpu:a": 1, "gpu:b": 2}, True),
        ("-n 1 --gres=gpu:a:3 --gpus-per-task=a:1,b:1", 1, {"cores": 1, "gpus": 4, "gpu:a": 3, "gpu:b": 1}, True),
        ("-n 1 --gres=gpu:a:1 --gpus-per-node=5", 1, {"cores": 1, "gpus": 5, "gpu:a": 1}, True),
    ],
)
def test_requests(text, count, chunk, on_nodes):
    found = asked(text)
    assert found.count == count
    assert found.request == Request(chunk, per_node_max=1 if on_nodes else 0)
    assert not found.assumed


def test_where_a_request_goes():
    found = asked("-n 2 -C a&b -p fat --exclusive")
    assert found.request == Request(
        {"cores": 1}, features=frozenset(("a", "b")), partition="fat", exclusive=True
    )  # n chunks anywhere on nodes of its own
    assert not found.assumed


@pytest.mark.parametrize(
    ("text", "count", "chunk", "assumed"),
    [
        ("-N 2 -n 5", 2, {"cores": 3}, "cores: rounded up"),
        ("-N 2-4 -n 4", 2, {"cores": 2}, "nodes: the least of a range"),
        ("-n 12 --mem=1G", 1, {"cores": 12, "memory": GB}, "nodes: one for all tasks"),
        ("-n 3 --gpus=4", 1, {"cores": 3, "gpus": 4}, "nodes: one for all tasks"),
        ("-N 2 -n 2 --gpus=3", 2, {"cores": 1, "gpus": 2}, "GPUs: rounded up"),
        ("-N 2 -n 2 --gpus=a:1,b:1", 2, {"cores": 1, "gpus": 2, "gpu:a": 1, "gpu:b": 1}, "GPUs: rounded up"),
        ("-N 4 -n 2", 2, {"cores": 1}, "nodes: no more than tasks"),
        ("--mem=0", 1, {"cores": 1}, "--mem=0"),
        ("-C a|b", 1, {"cores": 1}, "constraint: alternatives"),
        ("-C a*2&b", 1, {"cores": 1}, "constraint: alternatives"),
        ("-p a,b", 1, {"cores": 1}, "partition: the first"),
        ("--exclusive=user", 1, {"cores": 1}, "--exclusive=user"),
    ],
)
def test_what_had_to_be_assumed(text, count, chunk, assumed):
    found = asked(text)
    assert (found.count, found.request.chunk) == (count, chunk)
    assert len(found.assumed) == 1
    assert found.assumed[0].startswith(assumed)


def test_alternatives_are_dropped_from_the_request():
    assert asked("-C [rack1|rack2]").request.features == frozenset()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("-n 0", "-n, --ntasks is '0', expected a whole number from 1"),
        ("-n 1_0", "'1_0'"),
        ("-N 4-2", "-N, --nodes is '4-2', expected a number of nodes such as 2, or a range"),
        ("--mem=lots", "--mem is 'lots', expected a whole number of MB"),
        ("--gres=gpu:a:b:1", "--gres is 'gpu:a:b:1', expected names with counts"),
        ("--gpus=a:b:1", "-G, --gpus is 'a:b:1'"),
        ("-C a&", "-C, --constraint is 'a&', expected features joined by &"),
        ("--exclusive=me", "--exclusive is 'me'"),
        ("-n 1000000000 -N 1 --mem-per-cpu=99999999999", "expected less memory"),
    ],
)
def test_bad_values(text, message):
    with pytest.raises(OptionError, match=message.replace("*", r"\*")):
        asked(text)


def test_features_have_no_blanks():
    values, _ = split_options(["--constraint=a b", "pseudo.job"])
    with pytest.raises(OptionError, match="'a b', expected features joined by &, without blanks"):
        ask(values)


def test_a_value_is_missing():
    with pytest.raises(OptionError, match="-t, --time has no value"):
        split_options(["-n", "1", "-t"])


def test_options_that_are_not_used():
    words = ["--nice=5", "-o", "out.txt", "--comment", "hello", "-H", "--requeue", "-n", "3", "--gres=gpu:1"]
    words += ["--gres=gpu:2", "job.sh", "-n", "7"]
    values, unused = split_options(words)
    assert values == {"ntasks": "3", "gres": "gpu:2"}  # the last one counts; what follows the script is its own
    assert unused == {"--nice": "5", "-o": "out.txt", "--comment": "hello", "-H": "", "--requeue": ""}
    assert passed_on(unused) == {"nice": "5", "comment": "hello", "hold": "", "requeue": ""}


def test_nice_has_its_value_in_the_same_word():
    assert split_options(["--nice", "run.sh", "-n", "7"]) == ({}, {"--nice": ""})


def test_arrays():
    assumed = []
    sizes = [array_size(text, assumed) for text in ("0-9", "3", "1,3,5-7", "0-15:4")]
    assert sizes == [10, 1, 5, 4]
    assert not assumed
    assert array_size("0-9%2", assumed) == 10
    assert len(assumed) == 1
    for wrong in ("", "5-1", "0-9:0", "a", "0-999999999", "1%"):
        with pytest.raises(OptionError, match="--array"):
            array_size(wrong, [])


def test_begin():
    assumed = []
    assert begin_after("now+90", assumed) == 90
    assert begin_after("now+2hours", assumed) == 7200
    assert begin_after("2030-01-01T00:00", assumed) == 0
    assert assumed[-1] == "option --begin: a date is not used"
