"""Readers of other people's texts take time in proportion to the text, whatever is in it, and little memory."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import schedlab as sl
from schedlab._core import expand_sets
from schedlab.cluster.slurm.hosts import host_names
from schedlab.model.errors import SchedlabError
from schedlab.model.nodeset import expand
from schedlab.model.units import parse_bytes, parse_duration
from schedlab.policy.orders import parse_order
from schedlab.policy.spec import parse_policy
from schedlab.workflow.read import read_workflows

LENGTH = 60_000  # characters; twice as many are tried where that takes long
SLOW = 0.4  # seconds of processor time: what is quadratic takes that for 60 kB
UNITS = {
    **{
        name: name
        for name in ["\n", "\r\n", ",", "[", "]", "(", "()", "{", "{}", '"', "'", " ", "\t", "\\", "#", ";", "=", "."]
    },
    **{
        name: name
        for name in [
            "7",
            "a",
            "-",
            "- ",
            "<",
            "<a>",
            "<a/>",
            "&",
            ":",
            "|",
            "*",
            "+",
            "_",
            "$",
            "${",
            "$(",
            "`",
            "a.",
            "\0",
            "é",
        ]
    },
    **{
        name: name
        for name in [
            "a\\\n",
            "\\\n",
            "#a\n",
            ";a: b\n",
            "n[1-9],",
            "n[1-999999999],",
            "a=1\n",
            "a=1 ",
            "[a]\n",
            "[[a]]\n",
        ]
    },
    **{name: name for name in ["1 ", "a,b\n", "Include x.conf\n", 'a="', "ALL,", "a|"]},
}
# The files, and how they begin.
BEGINNINGS = {
    "slurm.conf": ("NodeName=n1 CPUs=1\n", "NodeName=", "NodeName=n1\nPartitionName=a Nodes=", "NodeName=n1 \\\n"),
    "x.swf": ("", "; MaxProcs: ", "; Note: ", "1 0 -1 "),
    "x.csv": ("submit,runtime\n", "submit,runtime\n0,"),
    "x.sacct": (
        "JobID|Submit|Start|End|State|NCPUS|Elapsed|Timelimit\n",
        "JobID|Submit|Start|End|State|NCPUS|Elapsed|Timelimit\n1|",
    ),
    "x.json": ('{"a":', '{"jobs":[{"id":1,"subtime":0,"res":1,"profile":"', '{"kind":"List","items":'),
    "x.toml": ("a = ", '[[nodes]]\ncores = 1\ncount = 1\nname = "'),
    "x.xml": ('<platform version="4.1">', '<platform version="4.1"><zone id="a" routing="Full"><host id="'),
    "x.events": (
        "-dt 0 -e submit_batch_job | -J jobid_1 ",
        "-dt 0 -e ",
        "-dt 0 -e submit_batch_job | -J jobid_1 -d afterok",
    ),
    "x.yaml": ("kind: NodeList\nitems:\n- ",),
    "x.sh": ("#!/bin/sh\nsbatch ", "#!/bin/sh\na=$(sbatch ", "${"),
}
READERS: tuple[Callable[[Path], object], ...] = (sl.read_cluster, sl.read_workload, read_workflows)
TEXTS: dict[str, Callable[[str], object]] = {
    "node sets": expand,
    "lists of hosts": host_names,
    "policies": parse_policy,
    "orders": parse_order,
    "formulas": lambda text: parse_order(f"cores + {text}"),
    "durations": parse_duration,
    "bytes": parse_bytes,
    "machines": sl.read_cluster,
}


def seconds(read: Callable[[], object]) -> float:
    """Of processor time, until it is read or refused."""
    begin = time.process_time()
    try:
        read()
    except (SchedlabError, ValueError) as error:
        assert len(str(error)) < 200_000, "an error that nobody can read"
    return time.process_time() - begin


def check(read: Callable[[str], object], text: Callable[[int], str]) -> None:
    once = seconds(lambda: read(text(LENGTH)))
    if once > SLOW:
        once = min(once, seconds(lambda: read(text(LENGTH))))
        twice = min(seconds(lambda: read(text(2 * LENGTH))) for _ in range(2))
        assert twice < 3 * once, f"{once:.2f} s, {twice:.2f} s for twice as much: {text(60)!r}"


@pytest.mark.parametrize("what", TEXTS)
def test_texts(what: str) -> None:
    for unit in UNITS:
        for start in ("", "n[1-", "easy:order="):
            check(TEXTS[what], lambda length, start=start, unit=unit: start + unit * (length // len(unit)))  # type: ignore[misc]


@pytest.mark.parametrize("name", BEGINNINGS)
def test_files(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    for start in BEGINNINGS[name]:
        for unit in UNITS:
            for reader in READERS:

                def read(text: str, reader: Callable[[Path], object] = reader) -> object:
                    path.write_text(text)
                    return reader(path)

                check(read, lambda length, start=start, unit=unit: start + unit * (length // len(unit)))  # type: ignore[misc]


def switches(number: int) -> str:
    return (
        "".join(f"SwitchName=s{one} Switches=s{one + 1}\n" for one in range(number))
        + f"SwitchName=s{number} Nodes=n1\n"
    )


@pytest.mark.parametrize(
    ("file", "lines"),
    [
        ("slurm.conf", lambda number: "".join(f"PartitionName=p{one} Nodes=zz{one}\n" for one in range(number))),
        ("slurm.conf", lambda number: "PartitionName=p Nodes=" + "ALL," * number + "n1\n"),
        ("slurm.conf", lambda number: "NodeName=n1\n" * number),
        ("slurm.conf", lambda number: "Include topology.conf\n" * number),
        ("slurm.conf", lambda number: "NodeName=n2 " + " ".join(f"k{one}=1" for one in range(number)) + "\n"),
        ("topology.conf", switches),
    ],
)
def test_long_configurations(file: str, lines: Callable[[int], str], tmp_path: Path) -> None:
    def read(number: int) -> object:
        (tmp_path / "slurm.conf").write_text("NodeName=n1\nPartitionName=all Nodes=ALL\n")
        (tmp_path / "topology.conf").write_text("")
        with (tmp_path / file).open("a") as written:
            written.write(lines(number))
        return sl.read_cluster(tmp_path / "slurm.conf")

    once = min(seconds(lambda: read(4000)) for _ in range(2))
    assert seconds(lambda: read(8000)) < max(3 * once, SLOW)


@pytest.mark.parametrize(
    "text",
    [
        "".join(f"NodeName=p{one}n[1-65536] CPUs=1\n" for one in range(40)),
        "NodeName=n[1-999999999] CPUs=1\n",
        "NodeName=n[1-60000][1-60000] CPUs=1\n",
        "kind: NodeList\nitems:\n- " + "[" * 60_000,
        "kind: NodeList\nitems:\n- " + "- " * 30_000,
    ],
)
def test_absurd_machines_are_refused_in_little_memory(text: str, tmp_path: Path) -> None:
    path = tmp_path / ("slurm.conf" if text.startswith("Node") else "nodes.yaml")
    path.write_text(text)
    code = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30)); import schedlab as sl\n"
        "try: sl.read_cluster(sys.argv[1])\n"
        "except sl.InputError as error: print(error)"
    )
    found = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, timeout=300)
    assert found.returncode == 0 and ("more than" in found.stdout), found


def test_ranges_that_are_written_again_and_again_do_not_fill_the_memory() -> None:
    names = [f"n{number:04d}" for number in range(1, 1001)]

    def read(text: str) -> None:
        letters = np.frombuffer(text.encode(), np.uint8)
        expand_sets(letters, np.array([len(letters)]), names)

    read("n[0001-1000]*2")
    with pytest.raises(ValueError, match=r"n\[0001-1000"):
        read("n[" + ",".join(["0001-1000"] * 50_000) + "]")
