"""Edits of a slurm.conf from a command line: what they change, and what they are told when they cannot."""

import pytest

from schedlab.cluster.slurm.read import cluster_of, read_settings
from schedlab.model.errors import InputErrors
from schedlab.model.mistakes import Mistakes
from schedlab.slurm.settings import edited

CONF = """\
SchedulerParameters=bf_max_job_user=100,bf_continue,defer
PriorityWeightFairshare=50000
PriorityMaxAge=7-0
Licenses=matlab:50,ansys:20
NodeName=DEFAULT CPUs=4 Weight=1 Features=slow
NodeName=n[001-006] Gres=gpu:2
NodeName=login Procs=8 Weight=9
PartitionName=DEFAULT MaxTime=60 Priority=7
PartitionName=debug Nodes=n[001-002]
PartitionName=main Nodes=n[001-006] Default=YES AllowQos=a,b Priority=3
"""


@pytest.fixture
def settings(tmp_path):
    (tmp_path / "slurm.conf").write_text(CONF)
    return read_settings(tmp_path / "slurm.conf")


def shown(settings):
    return [" ".join(f"{value.key}={value.text}" for value in entry.values) for entry in settings.entries]


@pytest.mark.parametrize(
    ("edit", "line"),
    [
        ("PriorityMaxAge=14-0", "PriorityMaxAge=14-0"),
        ("prioritymaxage = 14-0", "PriorityMaxAge=14-0"),
        ("KillWait=60", "KillWait=60"),
        ("SchedulerParameters+=bf_max_job_user=10", "SchedulerParameters=bf_max_job_user=10,bf_continue,defer"),
        (
            "SchedulerParameters+=bf_window=9,defer",
            "SchedulerParameters=bf_max_job_user=100,bf_continue,defer,bf_window=9",
        ),
        ("SchedulerParameters-=bf_max_job_user", "SchedulerParameters=bf_continue,defer"),
        ("Licenses+=matlab:60", "Licenses=matlab:60,ansys:20"),
        ("Licenses-=ansys", "Licenses=matlab:50"),
        ("DebugFlags+=Backfill", "DebugFlags=Backfill"),
        ("PriorityWeightFairshare*=1.2", "PriorityWeightFairshare=60000"),
        ("PriorityWeightFairshare*=0.00001", "PriorityWeightFairshare=1"),
        ("PartitionName=debug:MaxTime=2:00:00", "PartitionName=debug Nodes=n[001-002] MaxTime=2:00:00"),
        ("PartitionName=debug:Nodes+=n004,n003", "PartitionName=debug Nodes=n[001-002,004,003]"),
        ("PartitionName=debug:Nodes-=n001", "PartitionName=debug Nodes=n002"),
        (
            "PartitionName=main:AllowQos+=c",
            "PartitionName=main Nodes=n[001-006] Default=YES AllowQos=a,b,c Priority=3",
        ),
        ("PartitionName=main:AllowQos=", "PartitionName=main Nodes=n[001-006] Default=YES Priority=3"),
        ("NodeName=n[001-006]:Weight=5", "NodeName=n[001-006] Gres=gpu:2 Weight=5"),
        ("NodeName=n001:Feature+=fast", "NodeName=n001 Gres=gpu:2 Feature=slow,fast"),
        ("NodeName=login:Procs=16", "NodeName=login Weight=9 CPUs=16"),
        ("NodeName=login:Weight*=3", "NodeName=login Procs=8 Weight=27"),
    ],
)
def test_an_edit(settings, edit, line):
    found = shown(edited(settings, [edit]))
    assert line in found
    key = line.partition("=")[0]
    if "Name" not in key:
        assert len([each for each in found if each.startswith(f"{key}=")]) == 1
    else:
        assert len([each for each in found if each in shown(settings)]) == len(settings.entries) - 1


def test_a_key_is_removed(settings):
    assert "PriorityMaxAge=7-0" not in shown(edited(settings, ["PriorityMaxAge="]))
    assert (
        edited(settings, ["SchedulerParameters-=defer,bf_continue,bf_max_job_user"]).general("SchedulerParameters")
        is None
    )


def test_a_line_of_nodes_is_cut_where_needed(settings):
    found = shown(edited(settings, ["NodeName=n[003-004],login:Weight=5"]))
    assert found[5:9] == [
        *(
            "NodeName=n[001-002] Gres=gpu:2",
            "NodeName=n[003-004] Gres=gpu:2 Weight=5",
            "NodeName=n[005-006] Gres=gpu:2",
        ),
        "NodeName=login Procs=8 Weight=5",
    ]


def test_priority_gives_way_to_what_it_stands_for(settings):
    """Priority, even that of DEFAULT, would beat PriorityTier."""
    found = shown(edited(settings, ["PartitionName=debug:PriorityTier=90"]))
    assert found[7:] == [
        "PartitionName=DEFAULT MaxTime=60",
        "PartitionName=debug Nodes=n[001-002] PriorityTier=90 PriorityJobFactor=7",
        "PartitionName=main Nodes=n[001-006] Default=YES AllowQos=a,b PriorityTier=3 PriorityJobFactor=3",
    ]


def test_edits_follow_each_other(settings):
    edits = ["PriorityWeightFairshare*=2", "PriorityWeightFairshare*=2", "KillWait=5", "KillWait*=3"]
    assert edited(settings, edits).text("PriorityWeightFairshare") == "200000"
    assert edited(settings, edits).text("KillWait") == "15"


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        ("SchedulerParameter=x", "did you mean 'SchedulerParameters'?"),
        ("PartitionName=debug:MaxTimes=3", "did you mean 'MaxTime'?"),
        ("PartitionName=debgu:MaxTime=3", "did you mean 'debug'?"),
        ("PartitionName=DEFAULT:MaxTime=3", "no partition DEFAULT"),
        ("NodeName=n007:Weight=3", "no node n007"),
        ("NodeName=n[7:Weight=3", "expected names"),
        ("PartitionName=debug", "PartitionName=debug:MaxTime=60"),
        ("NodeName=n001", "NodeName=n001:Weight=5"),
        ("AuthType=auth/munge", "messages stay on this machine"),
        ("Prolog=/x", "programs of the site are not run"),
        ("SuspendTime=60", "power saving is not emulated"),
        ("AccountingStorageType=x", "has no effect in emulation"),
        ("NodeName=n001:NodeAddr=x", "has no effect in emulation"),
        ("PartitionName=debug:AllowGroups=x", "everybody is let in"),
        ("PreemptParameters=x", "belongs to another release"),
        ("KillWait=soon", "expected a whole number"),
        ("PriorityFavorSmall=maybe", "expected YES or NO"),
        ("SchedulerParameters+=bf_max_job_usr=3", "did you mean 'bf_max_job_user'?"),
        ("SchedulerParameters-=bf_windo", "there is no bf_windo in it"),
        ("SelectTypeParameters=CR_Cores", "did you mean 'CR_Core'?"),
        ("PriorityMaxAge*=2", "only a whole number can be multiplied, and it is 7-0"),
        ("KillWait*=2", "nothing to multiply"),
        ("PriorityWeightFairshare*=much", "a number such as 1.2"),
        ("PriorityWeightFairshare*=-1", "a number such as 1.2"),
        ("KillWait=", "it is not set"),
        ("SchedulerParameters+=", "nothing stands after +="),
        ("PartitionName=debug:MaxTime=", "comes from DEFAULT"),
        ('Licenses=a"b', "no quotation marks"),
        ("Licenses=a\nAuthType=x", "no line breaks"),
        ("faster please", "this is not an edit"),
        ("", "this is not an edit"),
    ],
)
def test_what_an_edit_is_told(settings, edit, said):
    with pytest.raises(InputErrors) as caught:
        edited(settings, [edit])
    assert said in str(caught.value)
    assert str(caught.value).startswith(f"--set {edit}")


def test_all_mistakes_at_once(settings):
    with pytest.raises(InputErrors) as caught:
        edited(settings, ["KillWiat=3", "KillWait=3", "AuthType=x"])
    assert len(caught.value.errors) == 2


def test_a_node_that_is_not_there_is_told_with_the_edit(settings):
    with pytest.raises(InputErrors) as caught:
        cluster_of(edited(settings, ["PartitionName=debug:Nodes=zz"]), Mistakes())
    (error,) = caught.value.errors
    assert (error.where, error.message) == ("--set PartitionName=debug:Nodes=zz", "Nodes=zz: there is no node zz")
