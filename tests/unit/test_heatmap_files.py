"""Heatmaps from files: against the measurements themselves, by hand, and what is said of files that are wrong."""

from __future__ import annotations

import gzip
import json
import math
from pathlib import Path
from statistics import mean, median

import numpy as np
import pytest

from schedlab.heatmap.profiles import Profile, derive
from schedlab.heatmap.read import read_heatmap
from schedlab.model.errors import InputError
from schedlab.model.heatmap import Heatmap

MEASURED = {
    "lm-aris.compute-NAS.json.gz": (33, 809),
    "lm-aris.compute-SPEC.json.gz": (8, 63),
    "lm-remake-g5k.nancy.grvingt-NAS.json.gz": (13, 169),
    "lm-remake-g5k.nancy.grvingt-NASx10.json.gz": (13, 169),
    "marconi-npb256-speedups.csv": (8, 64),
}  # applications and pairs, as the collection's README counts them


def written(folder: Path, name: str, content: str) -> Heatmap:
    path = folder / name
    path.write_text(content)
    return read_heatmap(path)


@pytest.mark.traces
@pytest.mark.parametrize("name", MEASURED)
def test_published_heatmaps_have_the_sizes_that_are_known(traces: Path, name: str) -> None:
    found = read_heatmap(traces / "heatmaps" / name)
    assert (len(found), int(np.isfinite(found.speedups).sum())) == MEASURED[name]


@pytest.mark.traces
def test_the_mean_of_marconi_is_as_printed(traces: Path) -> None:
    found = read_heatmap(traces / "heatmaps" / "marconi-npb256-speedups.csv")
    assert f"{found.friendliness():.2f}" == "1.12"  # ELiSE's paper, figure 2
    assert found.speedups[found.number("ft.E"), found.number("cg.D")] == 1.47
    assert found.speedups[found.number("cg.D"), found.number("ft.E")] == 0.90


@pytest.mark.traces
@pytest.mark.parametrize("name", [name for name in MEASURED if name.startswith("lm-")])
def test_speedups_are_the_medians_of_the_measurements(traces: Path, name: str) -> None:
    path = traces / "heatmaps" / name
    loads = {
        load["load_name"]: load for load in map(json.loads, json.loads(gzip.decompress(path.read_bytes()))["loads"])
    }
    found = read_heatmap(path)
    assert list(found.names) == list(loads)
    for a, first in enumerate(loads):
        alone = median(loads[first]["compact_timelogs"])
        assert found.runtimes[a] == alone
        assert found.processes[a] == loads[first]["num_of_processes"] == int(first.split(".")[-1])
        for b, second in enumerate(loads):
            times = loads[first]["coscheduled_timelogs"].get(second)
            if times is None:
                assert math.isnan(found.speedups[a, b])
            elif first == second:  # the two partners are measured apart
                assert found.speedups[a, b] == pytest.approx(alone / mean(median(some) for some in times))
            else:
                assert found.speedups[a, b] == pytest.approx(alone / median(time for some in times for time in some))


@pytest.mark.traces
def test_run_times_ten_times_as_long_have_the_same_speedups(traces: Path) -> None:
    one = read_heatmap(traces / "heatmaps" / "lm-remake-g5k.nancy.grvingt-NAS.json.gz")
    ten = read_heatmap(traces / "heatmaps" / "lm-remake-g5k.nancy.grvingt-NASx10.json.gz")
    assert one.names == ten.names
    np.testing.assert_allclose(ten.runtimes, 10 * one.runtimes)
    np.testing.assert_allclose(ten.speedups, one.speedups)


def test_elise_by_hand(tmp_path: Path) -> None:
    a = {
        "load_name": "a.8",
        "compact_timelogs": [10, 12, 50],
        "coscheduled_timelogs": {"a.8": [[10, 20, 30], [40]], "b": [[8, 9], [100]], "gone.4": [[1]]},
    }
    b = {"load_name": "b", "num_of_processes": 4, "compact_timelogs": [6], "coscheduled_timelogs": {"a.8": [[]]}}
    found = written(tmp_path, "lm.json", json.dumps({"loads": [json.dumps(a), b]}))
    assert found.to_dict() == {
        "names": ["a.8", "b"],
        "speedups": [[12 / 30, 12 / 9], [None, None]],  # beside itself (20 + 40) / 2; beside b the middle of 8, 9, 100
        "runtimes": [12, 6],
        "processes": [8, 4],
        "alone": {},
        "source": str(tmp_path / "lm.json"),
    }


SQUARE = [[1.0, None], [0.5, 1.5]]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("plain.csv", "x,a,b\na,1,\nb,0.5,1.5\n"),
        ("columns-in-another-order.csv", "x;b;a\na;;1\n\nb;1.5;0.5\n"),
        ("tabs.txt", "\ta\tb\na\t1\t\nb\t0.5\t1.5"),
        ("names.json", '{"names": ["a", "b"], "speedups": [[1, null], [0.5, 1.5]]}'),
        ("rows.json", '{"a": {"a": 1, "b": null}, "b": {"b": 1.5, "a": 0.5}}'),
        ("rows-without-null.json", '{"a": {"a": 1}, "b": {"b": 1.5, "a": 0.5}}'),
    ],
)
def test_matrices(tmp_path: Path, name: str, content: str) -> None:
    assert written(tmp_path, name, content) == Heatmap.from_cells(["a", "b"], SQUARE, source=str(tmp_path / name))


def test_facts_of_a_matrix_by_name_or_in_a_list(tmp_path: Path) -> None:
    content = {"names": ["a", "b"], "speedups": SQUARE, "runtimes": {"b": 20}, "processes": [4, 8]}
    found = written(tmp_path, "facts.json", json.dumps(content | {"alone": {"0.5": {"a": 1.2}, "0.25": [1.3, 1.4]}}))
    assert math.isnan(found.runtimes[0]) and found.runtimes[1] == 20
    assert found.processes.tolist() == [4, 8]
    assert found.alone[0.25].tolist() == [1.3, 1.4]
    assert found.alone[0.5][0] == 1.2 and math.isnan(found.alone[0.5][1])


def test_what_a_run_folder_holds_can_be_read_again(tmp_path: Path) -> None:
    first = Heatmap.from_cells(["a", "b"], SQUARE, runtimes=[1, None], alone={0.5: [None, 1.1]}, source="where it was")
    assert written(tmp_path, "heatmap.json", json.dumps(first.to_dict())) == first


def test_compressed_files(tmp_path: Path) -> None:
    path = tmp_path / "m.csv.gz"
    path.write_bytes(gzip.compress(b"x,a\na,1.25\n"))
    assert read_heatmap(path).speedups.tolist() == [[1.25]]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("m.csv", "\n", r"m\.csv: the file is empty"),
        ("m.csv", "x,a,b\na,1,1\n", r"m\.csv: partners without a row of their own: b\n.*same applications"),
        ("m.csv", "x,a\na,1\nb,1\n", r"applications that are nobody's partner: b"),
        ("m.csv", "x,a,a\na,1,1\n", r"partners with two columns: a"),
        ("m.csv", "x,a\na,1\na,1\n", r"the application 'a' is there 2 times"),
        ("m.csv", "x,a,b\na,1\nb,1,1\n", r"the row of a has 1 values for 2 partners"),
        ("m.csv", "x,a\na,0\n", r"m\.csv: speed-up of a beside a = 0: expected a speed-up above 0"),
        ("m.csv", "x,a\na,-1\n", r"speed-up of a beside a = -1"),
        ("m.csv", "x,a\na,NaN\n", r"speed-up of a beside a = NaN: expected a number \(leave it empty"),
        ("m.csv", "x,a\na,inf\n", r"speed-up of a beside a = inf"),
        ("m.csv", "x\n", r"a heatmap without applications"),
        ("m.json", "{}", r"a heatmap without applications"),
        ("m.json", "[1]", r"there is no heatmap in this JSON\n.*load manager"),
        ("m.json", '{"a": {"a": 1}, "a": {"a": 2}}', r"the key 'a' is there twice"),
        ("m.json", '{"a": 1}', r"a = 1: expected the speed-ups of a by partner"),
        ("m.json", '{"a": {"b": 1}}', r"partners without a row of their own: b"),
        ("m.json", '{"a": {"a": NaN}}', r"speed-up of a beside a = nan: expected a number"),
        ("m.json", '{"names": ["a"], "speedups": [[1, 2]]}', r"is 1 × 2, not 1 × 1"),
        ("m.json", '{"names": ["a"], "speedup": [[1]]}', r"unknown key 'speedup'\n.*did you mean 'speedups'"),
        ("m.json", '{"names": ["a"], "speedups": [[1]], "runtimes": {"b": 1}}', r"runtimes has 'b', which is no appl"),
        ("m.json", '{"names": ["a"], "speedups": [[1]], "runtimes": 3}', r"runtimes = 3: expected a list"),
        (
            "m.json",
            '{"names": ["a"], "speedups": [[1]], "alone": {"half": [1]}}',
            r"alone has 'half': expected a fract",
        ),
        ("m.json", '{"loads": {}}', r"loads = {}: expected a list"),
        ("m.json", '{"loads": []}', r"a heatmap without applications"),
        ("m.json", '{"loads": ["{"]}', r"loads\[0\]: this is not JSON"),
        ("m.json", '{"loads": [{"load_name": "a", "compact_timelogs": [0]}]}', r"compact_timelogs of a = \[0\]"),
        (
            "m.json",
            '{"loads": [{"load_name": "a", "compact_timelogs": [1], "coscheduled_timelogs": {"a": [1]}}]}',
            r"times of a beside a = \[1\]: expected lists of run times",
        ),
        ("m.toml", "cores = 4\n[[applications]]\nname = 'a'\ndemand = 1", r"there is no bandwidth\n.*GB/s"),
        (
            "m.toml",
            "cores = 4.5\nbandwidth = 0\napplications = []",
            r"(?s)bandwidth = 0: .*cores = 4\.5: .*applications = ",
        ),
        ("m.toml", "cores = 4\nbandwidth = 9\n[[applications]]\nname = 'a'", r"there is no applications\[0\]\.demand"),
        (
            "m.toml",
            "cores = 4\nbandwidth = 9\n[[applications]]\nname = 'a'\ndemand = -1",
            r"demand = -1: expected a number",
        ),
        (
            "m.toml",
            "cores = 4\nbandwidth = 9\n[[applications]]\nname = 'a'\ndemand = 1\nmemory = 2\nmemory_bound = 1.5",
            r"(?s)unknown key 'applications\[0\]\.memory'.*memory_bound = 1\.5: expected a number from 0 to 1",
        ),
        ("p.csv", "name,demand,bandwidth,cores\na,1,9,4\nb,1,8,4\n", r"the column bandwidth has 2 different values"),
        ("p.csv", f"name,demand,bandwidth,cores\na,1,9,{10**30}\n", r"cores = 10+: expected a whole number above 0"),
        ("p.csv", "name,demand\na,1\n", r"there is no bandwidth"),
        ("p.csv", "name,demand,bandwidth,cores\na,many,9,4\n", r'demand = "many": expected a number of 0 or more'),
    ],
)
def test_what_is_said_of_wrong_files(tmp_path: Path, name: str, content: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        written(tmp_path, name, content)


# A node of 4 cores with 8 GB/s: 2 GB/s for each core of a full node.
# light wants 1 (nobody is in its way on a full node), heavy 4 (takes twice as long there), mixed 4 half of the time.
LIGHT, HEAVY, MIXED = Profile("light", 1), Profile("heavy", 4), Profile("mixed", 4, memory_bound=0.5)


def test_speedups_from_memory_bandwidth_by_hand() -> None:
    found = derive([LIGHT, HEAVY, MIXED], bandwidth=8, cores=4)
    # Compact: 1, 2, and 0.5 + 0.5 * 2 = 1.5 times the time with enough bandwidth.
    # Beside light, heavy's pair wants 2 * 1 + 2 * 4 = 10 of 8 GB/s: memory takes 1.25 times as long, for both.
    # heavy beside heavy (or mixed): 16 of 8, twice as long, as on a full node.
    expected = [
        [1, 1 / 1.25, 1 / 1.25],
        [2 / 1.25, 1, 1],
        [1.5 / (0.5 + 0.5 * 1.25), 1, 1],
    ]
    np.testing.assert_allclose(found.speedups, expected)
    # Without neighbours on half of the cores heavy wants 8 of 8 GB/s: twice as fast as on a full node.
    np.testing.assert_allclose(found.alone[0.5], [1, 2, 1.5])
    np.testing.assert_allclose(found.alone[0.25], [1, 2, 1.5])


def test_applications_that_want_no_bandwidth_do_not_notice_each_other() -> None:
    idle = Profile("idle", 0)
    assert derive([idle, LIGHT], bandwidth=8, cores=4).speedups.tolist() == [[1, 1], [1, 1]]


def test_beside_itself_nothing_changes_in_the_model_of_bandwidth() -> None:
    profiles = [Profile(str(number), number / 3, number % 11 / 10) for number in range(20)]
    np.testing.assert_allclose(np.diag(derive(profiles, bandwidth=100, cores=48).speedups), 1)


def test_a_spread_application_is_never_slower_alone_than_beside_another() -> None:
    found = derive(
        [Profile(str(number), number / 3, number % 11 / 10) for number in range(20)], bandwidth=100, cores=48
    )
    assert np.all(found.alone[0.5][:, None] >= found.speedups - 1e-12)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        (
            "p.toml",
            'bandwidth = 8\ncores = 4\n[[applications]]\nname = "light"\ndemand = 1\nruntime = "5m"\nprocesses = 64\n'
            '[[applications]]\nname = "mixed"\ndemand = 4\nmemory_bound = 0.5',
        ),
        (
            "p.csv",
            "name,demand,memory_bound,runtime,processes,bandwidth,cores\nlight,1,,5m,64,8,4\nmixed,4,0.5,,,8,4\n",
        ),
        (
            "p.json",
            '{"bandwidth": 8, "cores": 4, "applications": [{"name": "light", "demand": 1, "runtime": 300, '
            '"processes": 64}, {"name": "mixed", "demand": 4, "memory_bound": 0.5}]}',
        ),
    ],
)
def test_profiles_in_files(tmp_path: Path, name: str, content: str) -> None:
    found = written(tmp_path, name, content)
    light = Profile("light", 1, runtime=300, processes=64)
    assert found == derive([light, MIXED], bandwidth=8, cores=4, source=str(tmp_path / name))
