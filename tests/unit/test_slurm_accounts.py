"""Accounts for the real Slurm: what the readers make of their files, and what is added for the users of a log."""

import textwrap

import pytest

from schedlab.model.errors import InputError, InputErrors
from schedlab.slurm.accounts import values
from schedlab.slurm.accounts.from_jobs import accounts_of
from schedlab.slurm.accounts.model import Account, Accounts, Association, Member, Qos, settings, words
from schedlab.slurm.accounts.passwd import passwd_lines
from schedlab.slurm.accounts.read import read_accounts
from schedlab.slurm.accounts.read_toml import parse_toml

# As sacctmgr writes it, the explanation at its beginning shortened.
DUMP = """\
# To edit this file start with a cluster line for the new cluster
# Cluster - 'cluster_name':MaxTRESPerJob=node=50
Cluster - 'alpha':Fairshare=1:QOS='normal'
Parent - 'root'
User - 'root':DefaultAccount='root':AdminLevel='Administrator':Fairshare=1
Account - 'cs':Description='Bob's lab: C# and more':Organization='lc':Fairshare=399:GrpTRES=cpu=100,mem=2T:MaxJobs=4
Account - 'bio':Description='bio':Organization='bio':Fairshare=2147483647:QOS='+long,-normal'
Parent - 'cs'
Account - 'test':Description='t':Organization='t':DefaultQOS='long':Fairshare=1:MaxWallDurationPerJob=40:QOS='long'
User - 'lipari':Partition='gpu':DefaultAccount='cs':Fairshare=3:MaxTRESPerJob=gres/gpu:v100=4,node=2:MaxJobs=3
User - 'lipari':DefaultAccount='cs':Coordinator='cs':Fairshare=1:MaxSubmitJobs=10:Priority=7
Parent - 'bio'
User - 'lipari':DefaultAccount='cs':Fairshare=parent
"""

# The columns of 22.05 with two of its others; -p ends lines with a bar, -P does not.
QOS_TABLE = """\
Name|Priority|GraceTime|Preempt|PreemptExemptTime|PreemptMode|Flags|UsageThres|UsageFactor|GrpTRES|GrpJobs|GrpWall|MaxTRES|MaxWall|MaxTRESPU|MaxJobsPU|MaxSubmitPA|MinTRES|LimitFactor
normal|0|00:00:00|||cluster|||1.000000||||||||||
long|67679|00:01:00|normal|02:00:00|requeue|DenyOnLimit,NoDecay|0.250000|0.500000|cpu=32,mem=128G|4|02:00:00|gres/gpu=2,node=1|2-00:00:00|cpu=16|2|5|cpu=1|2.000000
"""

TOML = """\
cluster = "micro"

[accounts.science]
fairshare = 60
grp_tres = "cpu=64,mem=100G,gres/gpu=4"

[accounts.physics]
parent = "science"
fairshare = 100
max_wall = "2-00:00:00"
qos = ["normal", "long"]
default_qos = "long"

[users.alice]
accounts = ["physics", "science"]
default = "science"
fairshare = 2

[users.bob]
accounts = ["physics"]
max_jobs = 3

[[users.bob.associations]]
account = "science"
partition = "gpu"
fairshare = "parent"

[qos.long]
priority = 10
max_wall = "7-00:00:00"
max_tres_per_user = "cpu=100"
flags = ["DenyOnLimit"]
"""


def written(folder, name, text):
    path = folder / name
    path.write_text(textwrap.dedent(text))
    return path


def test_a_dump_of_sacctmgr(tmp_path):
    found = read_accounts(written(tmp_path, "alpha.cfg", DUMP))
    assert found.cluster == "alpha"
    assert found.root == Association(qos=("normal",))
    assert found.accounts == (
        Account(name="cs", fairshare=399, grp_tres={"cpu": 100, "mem": 2 * 1024 * 1024}, max_jobs=4),
        Account(name="bio", fairshare="parent", qos=("+long", "-normal")),
        Account(name="test", parent="cs", default_qos="long", max_wall=40, qos=("long",)),
    )
    assert found.members == (
        Member(user="root", account="root"),
        Member(
            user="lipari",
            account="cs",
            partition="gpu",
            fairshare=3,
            max_tres={"gres/gpu:v100": 4, "node": 2},
            max_jobs=3,
        ),
        Member(user="lipari", account="cs", max_submit=10, priority=7),
        Member(user="lipari", account="bio", fairshare="parent"),
    )
    assert found.default_accounts == {"root": "root", "lipari": "cs"}
    assert [qos.name for qos in found.qos] == ["normal", "long"]
    assert found.users == ("root", "lipari")


def test_definitions_of_qos_come_from_a_table_of_their_own(tmp_path):
    table = written(tmp_path, "qos.txt", QOS_TABLE)
    found = read_accounts(written(tmp_path, "alpha.cfg", DUMP), table)
    assert found.qos == (
        Qos(name="normal", priority=0, grace_time=0, preempt_mode="cluster"),
        Qos(
            name="long",
            priority=67679,
            grace_time=60,
            preempt=("normal",),
            preempt_exempt_time=7200,
            preempt_mode="requeue",
            flags=("DenyOnLimit", "NoDecay"),
            usage_threshold=0.25,
            usage_factor=0.5,
            grp_tres={"cpu": 32, "mem": 128 * 1024},
            grp_jobs=4,
            grp_wall=120,
            max_tres={"gres/gpu": 2, "node": 1},
            max_wall=2880,
            max_tres_per_user={"cpu": 16},
            max_jobs_per_user=2,
            max_submit_per_account=5,
            min_tres={"cpu": 1},
            limit_factor=2.0,
        ),
    )
    with_bars = QOS_TABLE.replace("\n", "|\n")
    assert read_accounts(tmp_path / "alpha.cfg", written(tmp_path, "p.txt", with_bars)).qos == found.qos


def test_newer_dumps_define_qos_themselves(tmp_path):
    lines = """\
        QOS - 'normal':Description='Normal QOS default'
        QOS - 'std':Description='s':GraceTime=90:MaxJobsPU=5:MaxWallDurationPerJob=1440:Preempt='normal':Priority=10
        Cluster - 'linux':Fairshare=1:QOS='std'
        """
    found = read_accounts(written(tmp_path, "dump", lines))
    assert found.qos[1] == Qos(
        name="std",
        description="s",
        grace_time=90,
        max_jobs_per_user=5,
        max_wall=1440,
        preempt=("normal",),
        priority=10,
    )


def test_older_dumps_name_cpus_and_nodes_apart(tmp_path):
    lines = """\
        Cluster - tux
        Parent - root
        Account - old:GrpCPUs=10:GrpNodes=3:MaxCPUMinsPerJob=20:MaxNodesPerJob=5:MaxWallDuration=40
        """
    (account,) = read_accounts(written(tmp_path, "dump", lines)).accounts
    assert account.grp_tres == {"cpu": 10, "node": 3}
    assert (account.max_tres_mins, account.max_tres, account.max_wall) == ({"cpu": 20}, {"node": 5}, 40)


def test_all_mistakes_of_a_dump_at_once(tmp_path):
    lines = """\
        Cluster - 'tux'
        Parent - 'nowhere'
        Account - 'a':Fairshair=3
        Account - 'a':MaxJobs=many
        Usre - 'b'
        User - 'c':GrpTRES=bananas=3
        User - 'c'
        """
    with pytest.raises(InputErrors) as caught:
        read_accounts(written(tmp_path, "dump", lines))
    messages = [str(error).replace(str(tmp_path), "") for error in caught.value.errors]
    assert [message.split(": ")[0] for message in messages] == [f"/dump, line {line}" for line in (2, 3, 4, 4, 5, 6, 7)]
    assert "parent 'nowhere' is no account" in messages[0]
    assert "did you mean 'fairshare'?" in messages[1]
    assert "maxjobs='many': expected a whole number" in messages[3]
    assert "expected a resource that Slurm tracks" in messages[5]
    assert "user 'c' appears twice in account 'nowhere'" in messages[6]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("normal|0|00:00:00\n", "has to name the columns"),
        ("Name|Prority\nnormal|0\n", "column 'Prority' is not known"),
        ("Name|Priority\nnormal|0|1|2\n", "4 columns, where the first line names 2"),
        ("Name|Priority\nnormal|high\n", "priority 'high': expected a whole number"),
        ("Name|Preempt\nnormal|low\n", "preempts 'low', which is not in the table"),
        ("\n", "no table of QOS"),
    ],
)
def test_what_is_no_table_of_qos_is_refused(tmp_path, table, message):
    with pytest.raises(InputError, match=message):
        read_accounts(written(tmp_path, "dump", DUMP), written(tmp_path, "qos", table))


def test_toml():
    found = parse_toml(TOML, "accounts.toml")
    assert found.cluster == "micro"
    assert found.accounts[0] == Account(
        name="science", fairshare=60, grp_tres={"cpu": 64, "mem": 102_400, "gres/gpu": 4}
    )
    assert found.accounts[1] == Account(
        name="physics",
        parent="science",
        fairshare=100,
        max_wall=2880,
        qos=("normal", "long"),
        default_qos="long",
    )
    assert found.members == (
        Member(user="alice", account="physics", fairshare=2),
        Member(user="alice", account="science", fairshare=2),
        Member(user="bob", account="physics", max_jobs=3),
        Member(user="bob", account="science", partition="gpu", max_jobs=3, fairshare="parent"),
    )
    assert found.default_accounts == {"alice": "science", "bob": "physics"}
    assert found.root.qos == ("normal", "long")
    assert found.qos[1] == Qos(
        name="long", priority=10, max_wall=10_080, max_tres_per_user={"cpu": 100}, flags=("DenyOnLimit",)
    )


def test_all_mistakes_of_a_toml_file_at_once():
    text = """\
[accounts.a]
parent = "b"
[accounts.b]
parent = "a"
fairshare = -3
[accounts.c]
parent = "nobody"
max_jbos = 3
[users.alice]
accounts = ["d"]
default = "a"
qos = "slow"
[users.bob]
[qos.long]
max_wall = "next week"
flags = ["Nice"]
"""
    with pytest.raises(InputErrors) as caught:
        parse_toml(text, "accounts.toml")
    lines = [int(str(error).split(":")[1]) for error in caught.value.errors]
    assert lines == [2, 4, 5, 7, 8, 10, 11, 12, 13, 15, 16]
    told = str(caught.value)
    assert "account 'a' is above itself" in told
    assert "fairshare = -3: expected a whole number of shares, or parent" in told
    assert "did you mean 'max_jobs'?" in told
    assert "there is no account 'nobody'" in told
    assert "there is no QOS 'slow'" in told
    assert "user 'bob' is in no account" in told


def test_a_file_that_is_neither(tmp_path):
    with pytest.raises(InputError, match=r"neither a dump of sacctmgr nor TOML"):
        read_accounts(written(tmp_path, "accounts", "who knows\n"))
    with pytest.raises(InputError, match="not TOML"):
        read_accounts(written(tmp_path, "accounts.toml", "who knows\n"))


def test_accounts_of_those_who_give_no_file():
    found = accounts_of({"bob": ["Physics", "bio"], "alice": []}, ["normal", "long"], "c1")
    assert found == Accounts(
        cluster="c1",
        root=Association(qos=("normal", "long")),
        accounts=tuple(Account(name=name) for name in ("physics", "bio", "default")),
        members=(
            Member(user="bob", account="physics"),
            Member(user="bob", account="bio"),
            Member(user="alice", account="default"),
        ),
        qos=(*Accounts(cluster="c1").qos, Qos(name="long")),
    )


def test_users_of_a_log_who_are_not_in_the_file():
    accounts = parse_toml(TOML, "accounts.toml")
    jobs = {"alice": ["physics"], "carl": ["physics", "arts"], "dora": [], "bob": [""]}
    found, told = accounts.with_users(jobs, ["long", "urgent"])
    assert found.accounts[2:] == (Account(name="arts"), Account(name="default"))
    assert [(member.user, member.account) for member in found.members[4:]] == [
        ("carl", "physics"),
        ("carl", "arts"),
        ("dora", "default"),
    ]
    assert found.root.qos == ("normal", "long", "urgent")
    assert found.accounts[1].qos == ("normal", "long", "urgent")
    assert told == [
        "2 accounts of the jobs are not in the accounts and are added under root with fairshare 1: arts, default",
        "3 users of the jobs are not in the accounts and are added with fairshare 1:"
        " carl in physics, carl in arts, dora in default",
        "1 QOS of the jobs is not in the accounts and is added without limits, for all users: urgent",
    ]
    assert found.with_users(jobs, ["urgent"]) == (found, [])


def test_the_file_of_users():
    text, uids = passwd_lines(["zoe", "abe", "root", "me", "17"], current=("me", 100_001))
    assert uids == {"root": 0, "me": 100_001, "17": 100_000, "abe": 100_002, "zoe": 100_003}
    assert text.splitlines()[0] == "root:x:0:0::/:/bin/sh"
    assert [line.split(":")[0] for line in text.splitlines()] == list(uids)
    assert passwd_lines(["abe", "zoe"]) == passwd_lines(["zoe", "abe", "root", "abe"])


def test_names_that_the_file_of_users_cannot_hold():
    with pytest.raises(InputErrors) as caught:
        passwd_lines(["a:b", "fine", "", "+nis", "new\nline", "x" * 300])
    assert len(caught.value.errors) == 5
    assert "user 'a:b': expected a name without blanks, colons" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cpu=100", {"cpu": 100}),
        ("mem=10", {"mem": 10}),
        ("mem=10G,GRES/gpu=2", {"mem": 10_240, "gres/gpu": 2}),
        ("mem=1.5T", {"mem": 1_572_864}),
        ("node=2K", {"node": 2048}),
        ("cpu=-1,node=3", {"node": 3}),
        ("gres/gpu:a100=4", {"gres/gpu:a100": 4}),
        ("", {}),
    ],
)
def test_resources_with_amounts(text, expected):
    assert values.tres(text) == expected


@pytest.mark.parametrize("text", ["cpu", "cpu=", "cpu=x", "apples=3", "mem=1K", "mem=0.5", "=3", f"cpu={2**63}"])
def test_what_are_no_resources(text):
    with pytest.raises(ValueError, match=r"number|names|tracks"):
        values.tres(text)


def test_every_setting_has_words_and_no_two_share_one():
    for kind in (Association, Qos):
        assert set(words(kind).values()) == set(settings(kind))
