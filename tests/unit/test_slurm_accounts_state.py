"""The files that slurmctld reads: against those that a real one with a database wrote."""

import pytest
from tests.slurm_state import read_state

from schedlab.model.errors import InputError
from schedlab.slurm.accounts.layout import UNLIMITED
from schedlab.slurm.accounts.model import Account, Accounts, Association, Member, Qos
from schedlab.slurm.accounts.read import read_accounts
from schedlab.slurm.accounts.state import write_state
from schedlab.slurm.wire.buffer import WireError

FILES = ("assoc_mgr_state", "last_tres", "clustername")
# What sacctmgr was told when the stored files were made.
MICRO = Accounts(
    cluster="mf1",
    accounts=(Account(name="account1", fairshare=100), Account(name="account2", fairshare=100)),
    members=tuple(Member(user=f"user{n}", account="account1" if n < 4 else "account2") for n in range(1, 6)),
)
# The same as a dump.
DUMP = """\
Cluster - 'mf1':Fairshare=1:QOS='normal'
Parent - 'root'
User - 'root':DefaultAccount='root':AdminLevel='Administrator':Fairshare=1
Account - 'account1':Description='account1':Organization='account1':Fairshare=100
Account - 'account2':Description='account2':Organization='account2':Fairshare=100
Parent - 'account1'
User - 'user1':DefaultAccount='account1':Fairshare=1
User - 'user2':DefaultAccount='account1':Fairshare=1
User - 'user3':DefaultAccount='account1':Fairshare=1
Parent - 'account2'
User - 'user4':DefaultAccount='account2':Fairshare=1
User - 'user5':DefaultAccount='account2':Fairshare=1
"""
UIDS = {"root": 0, **{f"user{n}": 20_000 + n for n in range(1, 6)}}


def test_the_stored_files_are_reproduced_byte_for_byte(traces, tmp_path):
    stored = traces / "slurm-real" / "vc_fairshare"
    write_state(tmp_path, MICRO, UIDS, when=1_510_533_144)
    for name in ("assoc_mgr_state", "clustername"):
        assert (tmp_path / name).read_bytes() == (stored / name).read_bytes()
    ours, theirs = (tmp_path / "last_tres").read_bytes(), (stored / "last_tres").read_bytes()
    # Only the amounts of the cluster differ: slurmctld counts them when it starts.
    counts = {tres["type"]: tres["count"] for tres in read_state(stored).tres if tres["count"]}
    assert counts == {"cpu": 120, "mem": 944_000, "node": 10, "billing": 120}
    assert len(ours) == len(theirs)
    for count in counts.values():
        theirs = theirs.replace(count.to_bytes(8, "big"), bytes(8))
    assert ours == theirs


def test_a_dump_gives_the_same_files(tmp_path):
    (tmp_path / "dump").write_text(DUMP)
    for name, accounts in (("given", MICRO), ("dumped", read_accounts(tmp_path / "dump"))):
        (tmp_path / name).mkdir()
        write_state(tmp_path / name, accounts, UIDS)
    for file in FILES:
        assert (tmp_path / "given" / file).read_bytes() == (tmp_path / "dumped" / file).read_bytes()


def test_the_stored_files_are_read_completely(traces):
    state = read_state(traces / "slurm-real" / "vc_fairshare")
    assert state.cluster == "mf1"
    assert [user["name"] for user in state.users] == ["root", "user1", "user2", "user3", "user4", "user5"]
    assert [qos["name"] for qos in state.qos] == ["normal"]
    assert len(state.associations) == 9
    assert [tres["type"] for tres in state.tres][:4] == ["cpu", "mem", "energy", "node"]


def written(folder, accounts, **options):
    write_state(folder, accounts, {"root": 0, "alice": 1001, "bob": 1002}, **options)
    state = read_state(folder)
    return state, {(record["account"], record["user"]): record for record in state.associations}


def test_limits_of_accounts_hold_for_those_below(tmp_path):
    accounts = Accounts(
        cluster="c",
        root=Association(qos=("normal",), max_submit=50, max_tres={"cpu": 8, "node": 4}),
        accounts=(
            Account(name="a", max_jobs=5, qos=("normal", "long"), grp_jobs=3, priority=2, max_tres={"cpu": 6}),
            Account(name="b", parent="a", default_qos="long", qos=("+fast", "-normal")),
        ),
        members=(Member(user="alice", account="b", max_jobs=1), Member(user="bob", account="a", fairshare="parent")),
        qos=tuple(Qos(name=name) for name in ("normal", "long", "fast")),
    )
    _, records = written(tmp_path, accounts)
    alice = records["b", "alice"]
    assert (alice["max_jobs"], alice["max_submit"], alice["priority"], alice["max_wall"]) == (1, 50, 2, UNLIMITED)
    assert alice["max_tres"] == "1=6,4=4"
    assert alice["grp_jobs"] == UNLIMITED
    assert (alice["qos"], alice["default_qos"]) == (["2", "3"], 2)
    assert (alice["uid"], alice["is_default"], alice["parent_id"]) == (1001, 1, records["b", None]["id"])
    assert records["a", "bob"]["qos"] == ["1", "2"]
    assert records["a", "bob"]["fairshare"] == 0x7FFF_FFFF
    assert records["root", "root"]["qos"] == ["1"]


def test_the_tree_is_written_from_the_root_down(tmp_path):
    accounts = Accounts(
        cluster="c",
        accounts=(Account(name="z", parent="y"), Account(name="y"), Account(name="x", parent="z")),
        members=(Member(user="bob", account="x"), Member(user="alice", account="y")),
    )
    state, _ = written(tmp_path, accounts)
    seen = set()
    for record in state.associations:
        assert record["parent_id"] in seen or record["account"] == "root"
        seen.add(record["id"])
        assert record["left"] < record["right"]
    places = [(record["account"], record["user"]) for record in state.associations]
    assert places == [
        ("root", None),
        ("root", "root"),
        ("y", None),
        ("y", "alice"),
        ("z", None),
        ("x", None),
        ("x", "bob"),
    ]


def test_resources_of_the_site_have_numbers(tmp_path):
    accounts = Accounts(
        cluster="c", qos=(Qos(name="normal", max_tres={"gres/gpu:v100": 2, "license/matlab": 1, "cpu": 5}),)
    )
    state, _ = written(tmp_path, accounts, tres=("gres/gpu", "cpu", "bb/datawarp"))
    named = {tres["id"]: (tres["type"], tres["name"]) for tres in state.tres if tres["id"] > 8}
    assert named == {
        1001: ("gres", "gpu"),
        1002: ("bb", "datawarp"),
        1003: ("gres", "gpu:v100"),
        1004: ("license", "matlab"),
    }
    assert state.qos[0]["max_tres"] == "1=5,1003=2,1004=1"
    with pytest.raises(InputError, match=r"AccountingStorageTRES: 'gpus'"):
        written(tmp_path, accounts, tres=("gpus",))


def test_a_qos_with_everything(tmp_path):
    qos = Qos(
        name="urgent",
        preempt=("normal", "slow"),
        preempt_mode="within,cancel",
        flags=("NoReserve", "DenyOnLimit"),
        usage_factor=1.5,
        limit_factor=2.0,
        grace_time=30,
        priority=9,
    )
    accounts = Accounts(cluster="c", qos=(Qos(name="normal"), qos, Qos(name="slow")))
    state, _ = written(tmp_path, accounts)
    record = state.qos[1]
    assert record["preempt"] == (4, frozenset({1, 3}))
    assert (record["preempt_mode"], record["flags"]) == (0x4008, 0x50)
    assert (record["usage_factor"], record["limit_factor"], record["usage_threshold"]) == (1.5, 2.0, float(UNLIMITED))
    assert (record["grace_time"], record["priority"], record["description"]) == (30, 9, "urgent")
    assert state.qos[0]["preempt"] is None


def test_only_releases_that_are_known(tmp_path):
    with pytest.raises(InputError, match=r"Slurm 19.05: .*those that are: 22.05"):
        write_state(tmp_path, MICRO, UIDS, release="19.05")


def test_a_file_that_ends_early_is_refused(tmp_path):
    write_state(tmp_path, MICRO, UIDS)
    whole = (tmp_path / "assoc_mgr_state").read_bytes()
    (tmp_path / "assoc_mgr_state").write_bytes(whole[:-20])
    with pytest.raises(WireError, match="association"):
        read_state(tmp_path)
    (tmp_path / "assoc_mgr_state").write_bytes(b"\x01\x02" + whole[2:])
    with pytest.raises(WireError, match="is of protocol 258"):
        read_state(tmp_path)
