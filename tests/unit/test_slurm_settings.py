"""A site's slurm.conf as it is read, and what emulation makes of it."""

from pathlib import Path

import pytest
from tests.slurm_emulation import emulation_of

from schedlab.cluster.slurm import read as cluster_read
from schedlab.cluster.slurm.gres import NodeGres
from schedlab.cluster.slurm.read import read_settings, read_slurm_conf
from schedlab.model.errors import InputError, InputErrors
from schedlab.slurm.settings import Difference, differences_text, edited, releases

STATES = "FUTURE, DOWN, DRAIN, FAIL, UNKNOWN, IDLE, CLOUD, EXTERNAL, UP"
SMALL = """\
ClusterName=Tiny
SlurmctldHost=adm1
{general}
NodeName=n[1-4] CPUs=8 RealMemory=32000 {node}
PartitionName=main Nodes=ALL Default=YES {partition}
"""


def settings_of(folder, general="", node="", partition="", **beside):
    (folder / "slurm.conf").write_text(SMALL.format(general=general, node=node, partition=partition))
    for name, text in beside.items():
        (folder / f"{name}.conf").write_text(text)
    return read_settings(folder / "slurm.conf")


def lines(emulation, file="slurm.conf"):
    return emulation.files[file].splitlines()


def differences(emulation):
    return {difference.key: (difference.before, difference.after) for difference in emulation.differences}


def test_an_unknown_key_is_looked_up_once(tmp_path, monkeypatch):
    """However many lines it stands on."""
    asked = []
    for module in (cluster_read, releases):
        monkeypatch.setattr(module, "closest", lambda word, names: asked.append(word) or "Weight")
    (tmp_path / "slurm.conf").write_text(
        "ClusterName=many\nPartitionName=main Nodes=ALL\n"
        + "".join(f"NodeName=n{number} CPUs=8 Wieghts=1\n" for number in range(20))
    )
    notes = read_slurm_conf(tmp_path / "slurm.conf").notes
    assert "line 3, did you mean Weight?" in notes[-1] and notes[-1].endswith("and 10 more")
    said = emulation_of(read_settings(tmp_path / "slurm.conf")).differences
    assert sum("did you mean Weight?" in difference.why for difference in said) == 20
    assert asked == ["wieghts", "wieghts"]  # when the file is read, and when it is put in the words of this release


def test_entries_have_their_places(tmp_path):
    (tmp_path / "more.conf").write_text("\nKillWait=60\n")
    settings = settings_of(tmp_path, general="KillWait=30\nInclude more.conf")
    assert [(entry.subject.key, Path(entry.subject.file).name, entry.subject.line) for entry in settings.entries] == [
        ("ClusterName", "slurm.conf", 1),
        ("SlurmctldHost", "slurm.conf", 2),
        ("KillWait", "slurm.conf", 3),
        ("KillWait", "more.conf", 2),
        ("NodeName", "slurm.conf", 5),
        ("PartitionName", "slurm.conf", 6),
    ]
    assert settings.text("killwait") == "60"
    assert [line for line in lines(emulation_of(settings)) if "KillWait" in line] == ["KillWait=60"]


def test_files_beside_are_found_by_their_names(tmp_path):
    (tmp_path / "ub-slurm.conf").write_text(SMALL.format(general="", node="Gres=gpu:2", partition=""))
    (tmp_path / "ub-gres.conf").write_text("Name=gpu File=/dev/nvidia[0-1]\n")
    (tmp_path / "topology.conf").write_text("SwitchName=s Nodes=n[1-4]\n")
    settings = read_settings(tmp_path / "ub-slurm.conf")
    assert settings.gres[0].subject.text == "gpu"
    assert not settings.has_topology


@pytest.mark.parametrize(("text", "said"), [("NodeName=n1 CPUs=4\n", "no partition"), ("KillWait=3\n", "no node")])
def test_a_file_that_cannot_be_run(tmp_path, text, said):
    (tmp_path / "slurm.conf").write_text(text)
    with pytest.raises(InputError, match=said):
        emulation_of(read_settings(tmp_path / "slurm.conf"))


def test_mistakes_of_the_machine_are_told_with_the_line_of_the_site(tmp_path):
    with pytest.raises(InputErrors) as caught:
        settings_of(tmp_path, node="State=BOGUS", partition="\nPartitionName=more Nodes=x[1-2]")
    file = tmp_path / "slurm.conf"
    assert [(error.where, error.message) for error in caught.value.errors] == [
        (f"{file}, line 4", f"State=BOGUS: expected one of {STATES}"),
        (f"{file}, line 6", "Nodes=x[1-2]: there is no node x1, x2"),
    ]


def test_what_decides_scheduling_stays_word_for_word(tmp_path):
    kept = [
        *("SchedulerType=sched/backfill", "SchedulerParameters=bf_window=4320,defer,max_rpc_cnt=100"),
        *("PriorityType=priority/multifactor", "PriorityFlags=ACCRUE_ALWAYS", "SelectType=select/cons_tres"),
        *("PreemptType=preempt/qos", "PreemptMode=REQUEUE", "Licenses=matlab:50", "MaxJobCount=1234", "KillWait=7"),
        *("OverTimeLimit=3", "EnforcePartLimits=ALL", "DefMemPerCPU=100", "CompleteWait=9", "JobRequeue=0"),
        *("AccountingStorageEnforce=associations,limits,qos", "AccountingStorageTRES=gres/gpu"),
    ]
    settings = settings_of(
        tmp_path,
        general="\n".join(kept),
        node="Weight=3 Feature=a,b CoreSpecCount=1",
        partition="AllowQos=x QOS=y MaxTime=60",
    )
    found = lines(emulation_of(settings))
    assert [line for line in found if line in kept] == kept
    assert "NodeName=n[1-4] CPUs=8 RealMemory=32000 Weight=3 Feature=a,b CoreSpecCount=1 NodeAddr=127.0.0.1" in found
    assert "PartitionName=main Nodes=ALL Default=YES AllowQos=x QOS=y MaxTime=60" in found


def test_what_emulation_replaces(tmp_path):
    general = "AuthType=auth/munge\nSlurmctldHost=adm2\nPrologSlurmctld=/x\nSlurmctldDebug=debug2\nSuspendTime=300"
    emulation = emulation_of(settings_of(tmp_path, general=general, node="NodeAddr=10.0.0.[1-4] Port=[7001-7004]"))
    found = lines(emulation)
    assert found.count("SlurmctldHost=localhost(127.0.0.1)") == 1
    for line in ("AuthType=auth/none", "SlurmctldPort=7001", "SlurmdPort=7002", "SlurmUser=me", "SlurmdTimeout=0"):
        assert line in found
    assert "StateSaveLocation=/run/here/state" in found
    assert "SlurmctldDebug=debug2" in found
    assert not [line for line in found if line.startswith(("Prolog", "Suspend", "SlurmctldHost=adm"))]
    said = differences(emulation)
    assert said["AuthType"] == ("auth/munge", "auth/none")
    assert said["PrologSlurmctld"] == ("/x", "")
    assert said["NodeAddr"] == ("10.0.0.[1-4]", "127.0.0.1")


def test_without_accounts(tmp_path):
    general = (
        "AccountingStorageType=accounting_storage/slurmdbd\nAccountingStorageEnforce=all\n"
        "AccountingStorageTRES=gres/gpu\nPriorityWeightTRES=CPU=1,GRES/gpu=5\nPriorityWeightAge=10"
    )
    settings = settings_of(tmp_path, general=general, partition="QOS=q AllowAccounts=a TRESBillingWeights=GRES/gpu=1")
    emulation = emulation_of(settings, accounting=False)
    found = lines(emulation)
    assert "AccountingStorageType=accounting_storage/none" in found
    assert "PriorityWeightTRES=CPU=1" in found
    assert "PartitionName=main Nodes=ALL Default=YES" in found
    assert not [line for line in found if line.startswith(("AccountingStorageEnforce", "AccountingStorageTRES"))]
    assert differences(emulation)["PriorityWeightAge"] == ("10", "no effect")
    assert "PriorityWeightAge=10" in found
    assert emulation.tres == ()


def test_with_accounts(tmp_path):
    general = "AccountingStorageEnforce=all,nosteps\nAccountingStorageTRES=gres/gpu,License/matlab\nTrackWCKey=yes"
    emulation = emulation_of(settings_of(tmp_path, general=general))
    assert "AccountingStorageEnforce=associations,limits,qos,safe,nosteps" in lines(emulation)
    assert emulation.tres == ("gres/gpu", "license/matlab")
    assert emulation.cluster_name == "tiny"


def test_other_releases(tmp_path):
    general = (
        "ControlMachine=adm1\nFastSchedule=2\nCacheGroups=1\nHashPlugin=hash/sha3\nSchedulrType=x\n"
        "TopologyPlugin=topology/flat\nSelectType=cons_tres\nSelectTypeParameters=CR_Core,LL_SHARED_GRES\n"
        "PreemptParameters=strict_order,reclaim_licenses\nSchedulerParameters=bf_continue,bf_new_thing=3"
    )
    settings = settings_of(tmp_path, general=general, node="RestrictedCoresPerGPU=1", partition="ExclusiveTopo=YES")
    emulation = emulation_of(settings)
    found, said = lines(emulation), {each.key: each for each in emulation.differences}
    assert "SchedulerParameters=bf_continue,preempt_strict_order" in found
    assert "SelectTypeParameters=CR_Core" in found
    assert "SelectType=select/cons_tres" in found
    assert "TopologyPlugin=topology/none" in found
    words = " ".join(found)
    for key in ("FastSchedule", "CacheGroups", "HashPlugin", "Schedulr", "Restricted", "ExclusiveTopo", "PreemptPar"):
        assert key not in words
    assert "did you mean SchedulerType?" in said["SchedulrType"].why
    assert "earlier" in said["CacheGroups"].why
    assert "later" in said["NodeName=n[1-4] RestrictedCoresPerGPU"].why
    assert said["SchedulerParameters"].before == "bf_new_thing=3"


def test_defaults_that_later_releases_changed_are_said(tmp_path):
    said = differences(emulation_of(settings_of(tmp_path)))
    assert said["SelectType"] == ("", "select/linear")
    assert said["PriorityType"] == ("", "priority/basic")


def test_programs_that_change_jobs(tmp_path):
    settings = settings_of(tmp_path, general="JobSubmitPlugins=lua,job_submit/all_partitions\nCliFilterPlugins=lua")
    emulation = emulation_of(settings)
    assert "JobSubmitPlugins=all_partitions" in lines(emulation)
    (why,) = [each.why for each in emulation.differences if each.key == "JobSubmitPlugins"]
    assert why.startswith("lua is not run")
    bare = emulation_of(settings, has_plugin=lambda name: "job_submit" not in name)
    assert "JobSubmitPlugins" not in bare.files["slurm.conf"]


def test_plugins_that_decide_have_to_be_there(tmp_path):
    general = "SelectType=select/serial\nTopologyPlugin=topology/block\nSchedulerType=sched/backfill"
    there = ("select/linear", "select/cons_tres", "sched/backfill")
    with pytest.raises(InputErrors) as caught:
        emulation_of(settings_of(tmp_path, general=general), has_plugin=lambda name: name in there)
    first, second = caught.value.errors
    assert first.where == f"{tmp_path / 'slurm.conf'}, line 3"
    assert "SelectType=select/serial" in first.message
    assert "select/cons_tres, select/linear" in first.hint
    assert "TopologyPlugin=topology/block" in second.message


def test_a_tree_needs_its_file(tmp_path):
    with pytest.raises(InputErrors, match=r"needs a topology\.conf"):
        emulation_of(settings_of(tmp_path, general="TopologyPlugin=topology/tree"))


def test_states_of_nodes(tmp_path):
    text = (
        "NodeName=DEFAULT CPUs=2 State=CLOUD\nNodeName=c1\nNodeName=f1 State=FUTURE\nNodeName=d1 State=down\n"
        "NodeName=r1 State=DRAIN\nDownNodes=x1\nNodeName=x1 State=UNKNOWN\nPartitionName=p Nodes=ALL\n"
    )
    (tmp_path / "slurm.conf").write_text(text)
    emulation = emulation_of(read_settings(tmp_path / "slurm.conf"))
    found = lines(emulation)
    assert "NodeName=DEFAULT CPUs=2 State=UNKNOWN" in found
    assert "NodeName=d1 State=DRAIN NodeAddr=127.0.0.1" in found
    assert "DownNodes=x1 State=DRAIN" in found
    assert [(node.name, node.in_service) for node in emulation.nodes] == [
        *(("c1", True), ("d1", False), ("r1", False), ("x1", False)),
    ]
    # What is written is the cluster that the engine has to have.
    folder = tmp_path / "written"
    folder.mkdir()
    assert read_slurm_conf(emulation.write(folder)).nodes == 1


@pytest.mark.parametrize(
    ("said", "cpus", "sockets", "cores", "threads", "boards"),
    [  # as scontrol of 22.05 shows them
        ("CPUs=8", 8, 8, 1, 1, 1),
        ("CPUs=64 Sockets=2 CoresPerSocket=32 ThreadsPerCore=2", 64, 2, 32, 2, 1),
        ("CPUs=99 Sockets=2 CoresPerSocket=32 ThreadsPerCore=2", 128, 2, 32, 2, 1),
        ("CoresPerSocket=4", 4, 1, 4, 1, 1),
        ("Procs=12 CoresPerSocket=6", 12, 2, 6, 1, 1),
        ("Boards=2 SocketsPerBoard=2 CoresPerSocket=8 ThreadsPerCore=2", 64, 4, 8, 2, 2),
        ("Sockets=1 Boards=2", 1, 1, 1, 1, 1),
    ],
)
def test_processors_are_counted_as_slurm_does(tmp_path, said, cpus, sockets, cores, threads, boards):
    (tmp_path / "slurm.conf").write_text(f"NodeName=n1 {said}\nPartitionName=p Nodes=n1\n")
    (node,) = emulation_of(read_settings(tmp_path / "slurm.conf")).nodes
    assert (node.cpus, node.sockets, node.cores_per_socket, node.threads, node.boards) == (
        *(cpus, sockets, cores, threads, boards),
    )
    assert node.memory is None


def test_the_line_itself_comes_before_default_in_either_spelling(tmp_path):
    text = "NodeName=DEFAULT Feature=a\nNodeName=n1 Features=b,c\nNodeName=n2\nPartitionName=p Nodes=ALL\n"
    (tmp_path / "slurm.conf").write_text(text)
    nodes = emulation_of(read_settings(tmp_path / "slurm.conf")).nodes
    assert [node.features for node in nodes] == [("b", "c"), ("a",)]


def test_generic_resources(tmp_path):
    gres = (
        "AutoDetect=nvml\nNodeName=n[1-4] Name=gpu Type=a100 File=/dev/nvidia[0-1] Cores=0-3\n"
        "NodeName=n[1-4] Name=gpu Type=a100 File=/dev/nvidia[2-3] Cores=4-7\nName=nvme Count=2T Flags=CountOnly\n"
    )
    node = "Gres=gpu:a100:4(S:0-1),gpu:t4:1,nvme:1T,bandwidth:lustre:no_consume:4K"
    emulation = emulation_of(settings_of(tmp_path, node=node, gres=gres))
    assert emulation.nodes[3].gres == (
        NodeGres("gpu", "a100", 2, cores="0-3", has_file=True),
        NodeGres("gpu", "a100", 2, cores="4-7", has_file=True),
        NodeGres("gpu", "t4", 1),
        NodeGres("nvme", "", 2**40, flags="CountOnly"),
        NodeGres("bandwidth", "lustre", 4096),
    )
    assert lines(emulation, "gres.conf")[:2] == [
        "NodeName=n[1-4] Name=gpu Type=a100 Count=2 Cores=0-3",
        "NodeName=n[1-4] Name=gpu Type=a100 Count=2 Cores=4-7",
    ]
    assert "/dev/" not in emulation.files["gres.conf"]
    assert differences(emulation)["gres.conf AutoDetect"] == ("nvml", "")


def test_slurm_conf_counts(tmp_path):
    emulation = emulation_of(settings_of(tmp_path, node="Gres=gpu:2", gres="NodeName=n1 Name=gpu\nAutoDetect=off\n"))
    assert emulation.files["gres.conf"] == "NodeName=n[1-4] Name=gpu Count=2\n"
    assert differences(emulation)["gres.conf n1 gpu"] == ("1", "2")


def test_topology_without_nodes_that_are_gone(tmp_path):
    topology = "SwitchName=a Nodes=n[1-2],gone[1-3] LinkSpeed=9\nSwitchName=b Nodes=n[3-4]\nSwitchName=t Switches=a,b\n"
    emulation = emulation_of(settings_of(tmp_path, general="TopologyPlugin=topology/tree", topology=topology))
    assert lines(emulation, "topology.conf") == [
        *("SwitchName=a Nodes=n[1-2] LinkSpeed=9", "SwitchName=b Nodes=n[3-4]", "SwitchName=t Switches=a,b"),
    ]
    assert differences(emulation)["topology.conf Nodes"] == ("gone[1-3]", "")


def test_a_switch_that_slurm_would_refuse(tmp_path):
    topology = "SwitchName=a Nodes=n[1-2]\nSwitchName=b\nSwitchName=t Nodes=n3 Switches=a,b\n"
    with pytest.raises(InputErrors) as caught:
        emulation_of(settings_of(tmp_path, topology=topology))
    assert [(error.where, error.message) for error in caught.value.errors] == [
        (f"{tmp_path / 'topology.conf'}, line 2", "SwitchName=b: Slurm 22.05 expects either Nodes or Switches"),
        (f"{tmp_path / 'topology.conf'}, line 3", "SwitchName=t: Slurm 22.05 expects either Nodes or Switches"),
    ]


def test_values_with_blanks_and_hashes_are_written_so_that_they_are_read_again(tmp_path):
    emulation = emulation_of(settings_of(tmp_path, node='Reason="board \\# 2 broken"'))
    (line,) = [line for line in lines(emulation) if line.startswith("NodeName")]
    assert 'Reason="board \\# 2 broken"' in line
    folder = tmp_path / "written"
    folder.mkdir()
    again = read_settings(emulation.write(folder))
    assert {value.text for entry in again.entries for value in entry.values} >= {"board # 2 broken"}


def test_emulating_twice_changes_nothing_more(tmp_path):
    first = emulation_of(settings_of(tmp_path, general="Prolog=/x", node="Gres=gpu:2"))
    folder = tmp_path / "written"
    folder.mkdir()
    second = emulation_of(read_settings(first.write(folder)))
    assert {each.key for each in second.differences} == {"SelectType", "PriorityType"}
    assert sorted(lines(second)) == sorted(lines(first))


def test_differences_for_people():
    said = differences_text(
        [
            Difference("AuthType", "auth/munge", "auth/none", "messages stay on this machine"),
            Difference("Prolog", "/a", "", "not run"),
            Difference("Epilog", "/b", "", "not run"),
            Difference("PartitionName=a AllowGroups", "x", "", "unknown"),
            Difference("PartitionName=b AllowGroups", "x", "", "unknown"),
            *(Difference(key, "1", after, "of this run") for key, after in zip("PQRSTU", "234567", strict=True)),
        ]
    )
    assert said == [
        "AuthType:              auth/munge -> auth/none (messages stay on this machine)",
        "Prolog, Epilog:        left out (not run)",
        "AllowGroups of PartitionName=a, PartitionName=b: x -> left out (unknown)",
        "P, Q, R, S and 2 more: replaced (of this run)",
    ]


def test_stored_confs_keep_their_scheduling(traces):
    for name in ("vc_prio_size", "vc_fairshare"):
        path = traces / "slurm-real" / name / "slurm.conf"
        emulation = emulation_of(read_settings(path), accounting=name == "vc_fairshare")
        before = [
            line for line in path.read_text().splitlines() if line.startswith(("Sched", "Prio", "Select", "Part"))
        ]
        assert [line for line in lines(emulation) if line in before] == before
        assert (traces / "slurm-real" / name / "topology.conf").read_text() == emulation.files["topology.conf"]
        assert (traces / "slurm-real" / name / "gres.conf").read_text() == emulation.files["gres.conf"]


def test_old_names_of_options_are_translated_and_said(tmp_path):
    """22.05 refuses max_job_bf and Task, and passes over interval without a word."""
    general = (
        "SchedulerParameters=max_job_bf=50,interval=60,bf_continue,assoc_limit_continue\n"
        "DebugFlags=Task,Backfill\nFastSchedule=1"
    )
    emulation = emulation_of(settings_of(tmp_path, general=general))
    assert "SchedulerParameters=bf_max_job_test=50,bf_interval=60,bf_continue" in lines(emulation)
    assert "DebugFlags=CPU_Bind,Backfill" in lines(emulation)
    said = [(one.key, one.before, one.after, one.why) for one in emulation.differences]
    name = "its name in Slurm 22.05"
    for expected in (
        ("SchedulerParameters", "max_job_bf=50", "bf_max_job_test=50", name),
        ("SchedulerParameters", "interval=60", "bf_interval=60", name),
        (
            "SchedulerParameters",
            "assoc_limit_continue",
            "",
            "what Slurm 22.05 does unless it is told assoc_limit_stop",
        ),
        ("DebugFlags", "Task", "CPU_Bind", name),
        ("FastSchedule", "1", "", "of an earlier release; it no longer does anything"),
    ):
        assert expected in said


def test_a_new_name_beats_the_old_one(tmp_path):
    settings = settings_of(tmp_path, general="SchedulerParameters=bf_max_job_test=70,max_job_bf=50")
    emulation = emulation_of(settings)
    assert "SchedulerParameters=bf_max_job_test=70" in lines(emulation)
    assert differences(emulation)["SchedulerParameters"] == ("max_job_bf=50", "")
    changed = emulation_of(edited(settings, ["SchedulerParameters-=bf_max_job_test"]))
    assert "SchedulerParameters=bf_max_job_test=50" in lines(changed)
