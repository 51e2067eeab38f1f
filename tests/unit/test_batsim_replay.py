"""Traces of profiles: usage of cores, and MPI; times by hand."""

import pytest
from tests.batsim_platforms import PAIR, STAR, save

from schedlab.bridge.batsim.course import Use
from schedlab.bridge.batsim.energy import power_states
from schedlab.bridge.batsim.meter import Meter
from schedlab.bridge.batsim.platform import Host, Platform
from schedlab.bridge.batsim.profiles import Profiles
from schedlab.model.errors import InputError

MESSAGE = 1_000_016  # bytes of a message of 1 MB, with its envelope


def profiles(folder, platform, kind, *ranks):
    """Of one profile `p` whose ranks do these lines."""
    for number, lines in enumerate(ranks):
        text = "".join(f"{number} {line}\n" for line in lines)
        (folder / f"{number}.txt").write_text(text)
    (folder / "t.txt").write_text("".join(f"{number}.txt\n" for number in range(len(ranks))))
    return Profiles({"p": {"type": kind, "trace": "t.txt"}}, platform, folder, "w0")


def smpi(folder, body, hosts, *ranks, **more):
    platform = Platform.read(save(folder, body))
    return profiles(folder, platform, "smpi", *ranks).course("p", hosts, **more).seconds


def farewell(*seconds):
    """Each rank tells the first host that it has ended, one after the other."""
    return pytest.approx(sum(seconds), abs=1e-6)


FAST = Platform([Host("a", (100.0,), cores=100), Host("b", (50.0,), cores=100)])


def test_usage_of_cores(tmp_path):
    known = profiles(tmp_path, FAST, "usage_trace", ["m_usage 0.5 1000", "m_usage 0.004 500"], ["m_usage 1.0 1000"])
    course = known.course("p", [0, 1])
    assert course.seconds == 20.0  # the slower host, with 1,000 flops for each core
    # Half of the cores, then a single one: less than one cannot be used.
    a, b = frozenset([0]), frozenset([1])
    assert course.uses == (Use(0, 10, 0.5, a), Use(0, 20, 1.0, b), Use(10, 15, pytest.approx(0.01), a))
    assert course.progress(5.0) == {"profile_name": "p", "current_task_index": -1}  # as Batsim has it of traces


def test_ranks_on_one_host_load_it_together(tmp_path):
    known = profiles(tmp_path, FAST, "usage_trace", ["m_usage 0.3 1000"], ["m_usage 0.2 500"])
    assert set(known.course("p", [0]).uses) == {Use(0, 5, 0.5, frozenset([0])), Use(5, 10, 0.3, frozenset([0]))}


def test_energy_of_a_usage_trace(tmp_path):
    power = {"wattage_per_state": "50:100:200"}
    platform = Platform([Host(name, (100.0,), 0, 100, power) for name in "ab"])
    known = profiles(
        tmp_path, platform, "usage_trace", ["m_usage 0.1 1000"], ["m_usage 0.01 1000", "m_usage 0.97 1000"]
    )
    course = known.course("p", [0, 1])
    books = Meter(platform, power_states(platform))
    books.start("j", course, [0, 1], 0.0)
    expected = 10 * 110 + 10 * 50 + 10 * 101 + 10 * 197
    assert (course.seconds, books.stop("j", course.seconds)) == (20.0, pytest.approx(expected))


def test_a_message_and_a_computation(tmp_path):
    seconds = smpi(
        tmp_path, PAIR, [0, 1], ["init", "compute 1e9", "send 1 0 1e6", "finalize"], ["init", "recv 0 0 1e6"]
    )
    assert seconds == farewell(1.0, 0.1 + MESSAGE / 1e6, 0.1 + 4e-6)


def test_a_small_message_does_not_hold_up_its_sender(tmp_path):
    # It goes on its way when the receiver is there; the sender has ended by then.
    seconds = smpi(tmp_path, PAIR, [0, 1], ["send 1 0 100"], ["compute 1e9", "recv 0 0 100"])
    assert seconds == farewell(1.0, 0.1 + 116 / 1e6, 0.1 + 4e-6)


def test_a_large_message_does(tmp_path):
    seconds = smpi(tmp_path, PAIR, [0, 1], ["send 1 0 1e6", "compute 1e9"], ["compute 1e9", "recv 0 0 1e6"])
    assert seconds == farewell(1.0, 0.1 + MESSAGE / 1e6, 1.0)  # by then rank 1 has said farewell


def test_messages_while_computing(tmp_path):
    lines = ["isend {} 0 1e6", "irecv {} 0 1e6", "compute 1e9", "waitall"]
    ranks = [[line.format(1 - rank) for line in lines] for rank in (0, 1)]
    # Both on the same link at once: as long as one of twice the size.
    assert smpi(tmp_path, PAIR, [0, 1], *ranks) == farewell(0.1 + 2 * MESSAGE / 1e6, 0.1 + 4e-6)


def test_wait_is_for_one_message(tmp_path):
    first = ["irecv 1 0 1e6", "irecv 1 1 1e6", "wait 1 0 0", "compute 1e9", "wait 1 0 1"]
    second = ["send 0 0 1e6", "send 0 1 1e6"]
    seconds = smpi(tmp_path, PAIR, [0, 1], first, second)
    # Two messages, the computation beside the second one.
    assert seconds == farewell(2 * (0.1 + MESSAGE / 1e6), 0.1 + 4e-6)


def test_data_types(tmp_path):
    seconds = smpi(tmp_path, PAIR, [0, 1], ["send 1 0 125000 0"], ["recv 0 0 125000 0"])  # doubles
    assert seconds == farewell(0.1 + MESSAGE / 1e6, 0.1 + 4e-6)


def test_sleep_and_mapping(tmp_path):
    ranks = [["sleep 2"], ["compute 1.5e9"], ["compute 1.5e9"]]
    assert smpi(tmp_path, STAR, [0, 1, 2], *ranks) == pytest.approx(2.0, abs=0.02)
    assert smpi(tmp_path, STAR, [0, 1, 2], *ranks, ranks=[0, 1, 1]) == pytest.approx(3.0, abs=0.02)  # on one core
    assert smpi(tmp_path, STAR, [0], *ranks) == pytest.approx(3.0, abs=0.02)
    with pytest.raises(InputError, match=r"has 3 ranks; they cannot be mapped to hosts by \[0, 5, 1\]"):
        smpi(tmp_path, STAR, [0, 1, 2], *ranks, ranks=[0, 5, 1])


@pytest.mark.parametrize(
    ("lines", "messages"),
    [
        # Of 4 ranks: messages of 1 MB, one after the other, and how many use the backbone at the same time.
        ("bcast 1e6 0", [1, 2]),  # a binomial tree: to rank 2, then from both to the others
        ("reduce 1e6 0 0", [3]),
        ("allreduce 1e6 0", [3, 1, 2]),
        ("gather 1e6 1e6 0", [3]),
        ("scatter 1e6 1e6 2", [3]),
        ("alltoall 1e6 1e6", [12]),
        ("allgather 1e6 1e6", [12]),
        ("scan 1e6 0", [6]),
        ("sendRecv 1e6 {next} 1e6 {last}", [4]),
    ],
)
def test_collective_operations(tmp_path, lines, messages):
    body = STAR.replace('bw="100MBps" lat="1ms" bb_bw="200MBps" bb_lat="2ms"', 'bw="1GBps" lat="0" bb_bw="1MBps"')
    ranks = [[lines.format(next=(rank + 1) % 4, last=(rank - 1) % 4)] for rank in range(4)]
    expected = sum(messages) * MESSAGE / 1e6  # whoever is on the backbone shares it
    assert smpi(tmp_path, body, [0, 1, 2, 3], *ranks) == pytest.approx(expected, abs=1e-3)


def test_a_barrier(tmp_path):
    seconds = smpi(tmp_path, PAIR, [0, 1], ["compute 3e9", "barrier"], ["barrier"])
    assert seconds == pytest.approx(3.0 + 2 * (0.1 + 16e-6) + 0.1, abs=1e-5)


def test_collective_operations_with_amounts_for_each(tmp_path):
    body = STAR.replace('bw="100MBps" lat="1ms" bb_bw="200MBps" bb_lat="2ms"', 'bw="1GBps" lat="0" bb_bw="1MBps"')

    def seconds(*lines):
        return smpi(tmp_path, body, [0, 1], *([line] for line in lines))

    assert seconds("gatherv 1 1 1000000 0", "gatherv 1000000 1 1000000 0") == pytest.approx(1.0, abs=1e-3)
    assert seconds(*["scatterv 1 1000000 5 0"] * 2) == pytest.approx(1.0, abs=1e-3)
    assert seconds(*["allgatherv 1000000 1000000 1000000"] * 2) == pytest.approx(2.0, abs=1e-3)
    assert seconds("alltoallv 0 1 1000000 0 1 2000000", "alltoallv 0 2000000 1 0 1000000 1") == pytest.approx(
        3.0, abs=1e-3
    )
    assert seconds(*["reducescatter 500000 500000 0"] * 2) == pytest.approx(1.5, abs=1e-3)


@pytest.mark.parametrize(
    ("kind", "line", "message"),
    [
        ("smpi", "dance 1", r"0\.txt, line 1: action 'dance' is not known"),
        ("smpi", "compute", "'compute' has 0 numbers, expected at least 1"),
        ("smpi", "compute fast", "expected numbers after 'compute'"),
        ("smpi", "compute nan", "'0 compute nan': expected numbers that can be"),
        ("smpi", "sleep -1", "'0 sleep -1': expected numbers that can be, at least 0"),
        ("usage_trace", "compute 1", "action 'compute' is not known"),
        ("usage_trace", "m_usage 1.5 10", "expected a share from 0 to 1"),
    ],
)
def test_wrong_traces(tmp_path, kind, line, message):
    with pytest.raises(InputError, match=message):
        profiles(tmp_path, FAST, kind, [line])


def test_missing_traces(tmp_path):
    table = {"p": {"type": "smpi", "trace": "t.txt"}}
    with pytest.raises(InputError, match=r"profile 'p': cannot read '.*t\.txt': No such file"):
        Profiles(table, FAST, tmp_path, "w0")
    with pytest.raises(InputError, match="type 'smpi': a trace can only be named in a file"):
        Profiles(table, FAST, None, "w0")
    (tmp_path / "t.txt").write_text("\n")
    with pytest.raises(InputError, match=r"'t\.txt' names no file"):
        Profiles(table, FAST, tmp_path, "w0")


def test_ranks_that_wait_for_ever(tmp_path):
    with pytest.raises(InputError, match="profile 'p': its ranks 1 wait for ever"):
        profiles(tmp_path, FAST, "smpi", ["compute 1"], ["recv 0 0 1"]).course("p", [0, 1])
    with pytest.raises(InputError, match="there is no rank 7"):
        profiles(tmp_path, FAST, "smpi", ["send 7 0 1", "recv 7 0 1"]).course("p", [0])
