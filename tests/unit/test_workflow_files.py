"""Workflows from files: those of the collection, the same graph in every format, and what is said of wrong ones."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest

from schedlab.model.errors import InputError
from schedlab.model.workflow import Task, Workflow
from schedlab.workflow.dot import edges_of
from schedlab.workflow.read import read_workflow, read_workflows
from schedlab.workflow.toml_form import write_workflows

EXAMPLES = Path(__file__).parents[2] / "examples" / "workflows"

# A takes 10 s on 4 cores; B (20 s) and C (30 s) take 100 and 250 bytes of it; D takes 7 from B and none from C.
EDGES = {"A": (), "B": ("A",), "C": ("A",), "D": ("B", "C")}
RUNTIMES = {"A": 10.0, "B": 20.0, "C": 30.0, "D": 5.0}
DATA: dict[str, dict[str, float]] = {"A": {}, "B": {"A": 100.0}, "C": {"A": 250.0}, "D": {"B": 7.0}}
INPUTS = {"A": ["in"], "B": ["ab"], "C": ["ab", "ac"], "D": ["bd"]}
OUTPUTS = {"A": ["ab", "ac"], "B": ["bd"], "C": ["cx"], "D": ["out"]}
SIZES = {"in": 9, "ab": 100, "ac": 150, "bd": 7, "cx": 3, "out": 1}


def expected(data: bool = True) -> list[Task]:
    return [
        Task(id, 4 if id == "A" else 1, RUNTIMES[id], RUNTIMES[id], EDGES[id], f"n{id}", DATA[id] if data else {})
        for id in EDGES
    ]


def wfformat() -> dict[str, Any]:
    specified = [
        {
            "id": id,
            "name": f"n{id}_ID{place:07d}",
            "parents": [*EDGES[id]],
            "inputFiles": INPUTS[id],
            "outputFiles": OUTPUTS[id],
        }
        for place, id in enumerate(EDGES)
    ]
    ran = [{"id": id, "runtimeInSeconds": RUNTIMES[id]} | ({"coreCount": 4} if id == "A" else {}) for id in EDGES]
    files = [{"id": id, "sizeInBytes": size} for id, size in SIZES.items()]
    workflow = {"specification": {"tasks": specified, "files": files}, "execution": {"tasks": ran}}
    return {"name": "montage-0", "schemaVersion": "1.5", "workflow": workflow}


def wfformat_1_4() -> dict[str, Any]:
    tasks = [
        {
            "id": id,
            "name": f"n{id}",
            "parents": [f"n{parent}" for parent in EDGES[id]],  # by name, as some files have them
            "runtimeInSeconds": RUNTIMES[id],
            "cores": 4.0 if id == "A" else 1.0,
            "files": [
                {"link": link, "name": file, "sizeInBytes": SIZES[file]}
                for link, used in (("input", INPUTS), ("output", OUTPUTS))
                for file in used[id]
            ],
        }
        for id in EDGES
    ]
    return {"name": "four", "schemaVersion": "1.4", "workflow": {"tasks": tasks}}


def dax(jobs: str = "", children: str = "") -> str:
    for id in EDGES:
        uses = [f'<uses file="{file}" link="input" size="{SIZES[file]}"/>' for file in INPUTS[id]]
        uses += [f'<uses file="{file}" link="output" size="{SIZES[file]}"/>' for file in OUTPUTS[id]]
        cores = ' cores="4"' if id == "A" else ""
        jobs += f'<job id="{id}" name="n{id}" runtime="{RUNTIMES[id]:g},0"{cores}>{"".join(uses)}</job>\n'
    for id, parents in EDGES.items():
        if parents:
            children += f'<child ref="{id}">{"".join(f"<parent ref={parent!r}/>" for parent in parents)}</child>\n'
    return f'<?xml version="1.0"?>\n<adag xmlns="x" jobCount="25">\n{jobs}{children}</adag>\n'


def manifest(dot: str = "strict digraph {\n A -> B;\n A->C\n B->D; C -> D }") -> dict[str, Any]:
    tasks = [
        {"id": id, "name": f"n{id}", "number_of_cores": 4 if id == "A" else 1, "runtime_sim": RUNTIMES[id]}
        | {"runtime_limit": RUNTIMES[id]}
        for id in EDGES
    ]
    return {"tasks": tasks, "max_cores": 4, "total_runtime": 45.0, "dot_dag": dot}


def paper() -> dict[str, Any]:
    return {
        "tasks": [
            {"id": id, "cmd": "x", "cores": 4 if id == "A" else 1, "rtime": RUNTIMES[id], "deps": [*EDGES[id]]}
            for id in EDGES
        ]
    }


def written(folder: Path, content: Any, name: str = "four.json.gz") -> Path:
    text = content if isinstance(content, str) else json.dumps(content)
    path = folder / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return path


@pytest.mark.parametrize(
    ("content", "name", "data"),
    [
        (wfformat(), "four.json.gz", True),
        (wfformat_1_4(), "four.json", True),
        (dax(), "four.dax.xml.gz", True),
        (manifest(), "four.json.gz", False),
    ],
)
def test_the_same_graph_in_every_format(tmp_path: Path, content: Any, name: str, data: bool) -> None:
    found = read_workflow(written(tmp_path, content, name))
    assert found == Workflow("four", tuple(expected(data)))
    assert (found.width, found.critical_path, found.work, found.notes) == (4, 45.0, 95.0, ())


def test_the_form_of_the_paper(tmp_path: Path) -> None:
    found = read_workflow(written(tmp_path, paper()))
    assert [(task.id, task.cores, task.runtime, task.limit, task.after) for task in found.tasks] == [
        (task.id, task.cores, task.runtime, task.runtime, task.after) for task in expected()
    ]


def test_what_a_manifest_states_wrongly_is_noted(tmp_path: Path) -> None:
    stated = manifest() | {"max_cores": 5, "total_runtime": 99}
    stated["tasks"][3]["runtime_limit"] = 1
    notes = read_workflow(written(tmp_path, stated)).notes
    assert notes == (
        "max_cores is 5 in the file, its tasks use 4 at once",
        "total_runtime is 99 s in the file, its tasks take 45 s by their run times, 41 s by their limits",
        "the run time is longer than the limit of 1 task: D",
    )


def test_written_and_read_again(tmp_path: Path) -> None:
    odd = Task('q"\\ ü', 1, 0.1, 1 / 3, ("A",), "a name", {"A": 0.5})
    before = [Workflow.of("four", expected()), Workflow.of("odd name", [*expected(), odd])]
    path = tmp_path / "both.toml"
    write_workflows(path, before, "two lines\nof remarks")
    assert read_workflows(path) == before
    assert read_workflow(f"{path}:odd name") == before[1]
    with pytest.raises(InputError, match=r"has 2 workflows\n  hint: say which: .*both.toml:four; there are four, odd"):
        read_workflow(path)
    with pytest.raises(InputError, match="there is no workflow 'for'\n  hint: did you mean 'four'"):
        read_workflow(f"{path}:for")


DOT = {
    "digraph{a->b->c;c->d}": [("a", "b"), ("b", "c"), ("c", "d")],
    'strict digraph "a name" {\n\t"a 1" -> "b#2";\n lone; a-> b [color="x]", w=2]\n}': [("a 1", "b#2"), ("a", "b")],
    'digraph g { rankdir=LR node[shape=box] subgraph c_0 {label="x"; a [label="a"]\n} b\n a -> b a->b }': [("a", "b")],
    "digraph { // one -> two\n # no -> no\n a -> b /* c\n -> */ c -> d }": [("a", "b"), ("c", "d")],
    "digraph {}": [],
}


@pytest.mark.parametrize("text", DOT)
def test_edges_of_dot(text: str) -> None:
    assert edges_of(text, "here") == DOT[text]


@pytest.mark.parametrize(
    "text", ["graph { a -- b }", "digraph { a -- b }", "digraph { a -> ; }", "digraph { -> a }", "a"]
)
def test_dot_that_is_none(text: str) -> None:
    with pytest.raises(InputError, match=r"^here: "):
        edges_of(text, "here")


def toml(*rows: str) -> str:
    return "[four]\ntasks = [\n" + "".join(f"  {{ {row} }},\n" for row in rows) + "]\n"


def changed(document: dict[str, Any], *keys: str | int, value: Any) -> dict[str, Any]:
    inside: Any = document
    for key in keys[:-1]:
        inside = inside[key]
    inside[keys[-1]] = value
    return document


SPECIFIED = ("workflow", "specification", "tasks")
WRONG = {
    "wfformat, a cycle": (changed(wfformat(), *SPECIFIED, 0, "parents", value=["D"]), "circle: A -> "),
    "wfformat, a parent": (changed(wfformat(), *SPECIFIED, 0, "parents", value=["X"]), "A comes after X, which does"),
    "wfformat, an id": (changed(wfformat(), *SPECIFIED, 2, "id", value="B"), "two tasks have the id B"),
    "wfformat, a time": (
        changed(wfformat(), "workflow", "execution", "tasks", 1, "runtimeInSeconds", value=-2),
        "B has a runtime of -2 s, expected 0 or more",
    ),
    "wfformat, no time": (
        changed(wfformat(), "workflow", "execution", "tasks", value=[]),
        "no run time is known of 4 tasks: A, B, C, D",
    ),
    "wfformat, a list": (
        changed(wfformat(), *SPECIFIED, 1, "parents", value="A"),
        r'workflow.specification.tasks\[1\].parents = "A": expected a list',
    ),
    "dax, a cycle": (dax(children='<child ref="A"><parent ref="D"/></child>'), "circle: A -> "),
    "dax, a parent": (dax(children='<child ref="A"><parent ref="X"/></child>'), "line 3: task A comes after X"),
    "dax, an id": (dax(jobs='<job id="C" runtime="1"/>\n'), "line 6: two tasks have the id C"),
    "dax, a time": (dax(jobs='<job id="E" runtime="-1"/>\n'), "line 3: task E has a runtime of -1 s"),
    "dax, no time": (dax(jobs='<job id="E"/>\n'), "line 3: runtime of E is missing"),
    "dax, a child": (dax(children='<child ref="X"/>'), "<child ref='X'>: there is no job of that id"),
    "manifest, a cycle": (manifest("digraph {A->B->C->A}"), "circle: A -> B -> C -> A"),
    "manifest, a parent": (manifest("digraph {X->B}"), "B comes after X, which does not exist"),
    "manifest, a child": (manifest("digraph {B->X}"), "dot_dag: the edge B -> X ends at a task that does not exist"),
    "manifest, an id": (changed(manifest(), "tasks", 0, "id", value="B"), "two tasks have the id B"),
    "manifest, a time": (changed(manifest(), "tasks", 0, "runtime_sim", value=-1), "A has a runtime of -1 s"),
    "manifest, no id": (changed(paper(), "tasks", 0, "id", value=None), "task 1 has no id"),
    "paper, a cycle": (changed(paper(), "tasks", 0, "deps", value=["D"]), "circle: A -> "),
    "toml, a cycle": (toml('id="a",runtime=1,after=["b"]', 'id="b",runtime=1,after=["a"]'), "toml:1: tasks wait for"),
    "toml, a parent": (toml('id="a",runtime=1', 'id="b",runtime=1,after=["c"]'), "toml:4: task b comes after c, which"),
    "toml, an id": (toml('id="a",runtime=1', 'id="a",runtime=1'), "toml:4: two tasks have the id a"),
    "toml, a time": (toml('id="a",runtime=-1'), "toml:3: runtime = -1: expected seconds, 0 or more"),
    "toml, a key": (toml('id="a",runtime=1,core=3'), "toml:3: unknown key 'core'\n  hint: did you mean 'cores'"),
    "toml, no key": (toml('id="a"'), "toml:3: this task has no 'runtime'"),
    "toml, a list": ("[four]\ntasks = 3\n", "toml:2: the workflow four has no list of tasks"),
    "toml, data": (toml('id="a",runtime=1,data={b=1}'), "toml:3: task a takes data from b, which it does not come"),
    "json, nothing": ({"jobs": []}, "there is no workflow in this JSON"),
    "text": ("1 2 3", "there is no workflow in this file\n  hint: a workflow is WfFormat"),
    "xml": ("<platform/>", "is XML of <platform>, expected a workflow <adag>"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_files_are_refused_with_the_ids(tmp_path: Path, case: str) -> None:
    content, message = WRONG[case]
    ending = {"dax": "xml", "toml": "toml"}.get(case.partition(",")[0], "json")
    path = written(tmp_path, content, f"four.{ending}")
    with pytest.raises(InputError) as caught:
        read_workflow(path)
    assert re.search(message, str(caught.value)), str(caught.value)
    assert str(path) in str(caught.value)


def test_all_mistakes_at_once(tmp_path: Path) -> None:
    rows = ('id="a",runtime=-1', 'id="b",runtime=1,cores=0', "id=3,runtime=1,after=[1]")
    with pytest.raises(InputError) as caught:
        read_workflow(written(tmp_path, toml(*rows) + "[other]\n", "four.toml"))
    lines = [int(line) for line in re.findall(r"four.toml:(\d+): ", str(caught.value))]
    assert lines == [3, 4, 5, 5, 7]


def test_negative_times_count_as_zero_if_asked_for(tmp_path: Path) -> None:
    path = written(tmp_path, dax(jobs='<job id="E" runtime="-1"/>\n'), "four.xml")
    with pytest.raises(InputError, match="--negative-times zero"):
        read_workflow(path)
    found = read_workflow(path, negative_times="zero")
    assert [task.runtime for task in found.tasks if task.id == "E"] == [0.0]
    assert found.notes == ("negative run times count as 0, of 1 task: E",)


def test_a_long_circle_is_told_in_short() -> None:
    tasks = [Task(str(number), 1, 1, 1, (str((number + 1) % 5000),)) for number in range(5000)]
    with pytest.raises(InputError, match=r"circle: 0 -> 4999 -> 4998 -> .* … .* -> 0$"):
        Workflow.of("long", tasks)


SHAPES = {
    "widelong": (2, 480, 17880.0, 18000.0),
    "longwide": (2, 480, 17880.0, 18000.0),
    "chain": (5, 1, 18000.0, 18000.0),
    "chain(tasks=3, cores=2, runtime=60, limit=90)": (3, 2, 180.0, 270.0),
    "fork-join(width=4)": (6, 4, 10800.0, 10800.0),
    "diamond(cores=3, runtime=1)": (4, 6, 3.0, 3.0),
}


@pytest.mark.parametrize("text", SHAPES)
def test_shapes(text: str) -> None:
    found = read_workflow(text)
    assert (len(found), found.width, found.critical_path, found.limit) == SHAPES[text]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("chain(5)", "takes its arguments by name"),
        ("chain(task=5)", r"has no 'task'\n  hint: it is chain\(tasks=5, cores=1, runtime=3600, limit=runtime\)"),
        ("chain(tasks=0)", "tasks = 0: expected a whole number from 1"),
        ("chain(runtime='1')", 'runtime = "1": expected seconds'),
        ("diamont", "no such file, and no such shape\n  hint: did you mean 'diamond'"),
    ],
)
def test_shapes_that_are_none(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_workflow(text)


def test_a_recipe_of_wfcommons() -> None:
    pytest.importorskip("wfcommons", reason="needs the extra 'workflows'")
    found = read_workflow("wfcommons(recipe='blast',tasks=50,seed=3)")
    assert found == read_workflow("wfcommons(recipe='blast',tasks=50,seed=3)")
    assert {task.name for task in found.tasks} == {"split_fasta", "blastall", "cat_blast", "cat"}
    assert 40 <= len(found) <= 50


@pytest.mark.traces
def test_the_collection_has_the_tasks_that_are_known(traces: Path) -> None:
    known = dict(re.findall(r"`workflows/([^`]+)` \| (\d+) \|", (traces / "README.md").read_text()))
    found = {path.name: read_workflow(path, negative_times="zero") for path in (traces / "workflows").iterdir()}
    assert {name: len(workflow) for name, workflow in found.items()} == {name: int(n) for name, n in known.items()}
    assert [name for name, workflow in found.items() if workflow.notes] == ["Epigenomics_997.dax.xml.gz"]
    montage = found["Montage_1000.dax.xml.gz"]
    assert (max(montage.level) + 1, montage.width) == (9, 662)


@pytest.mark.traces
def test_the_examples_are_the_manifests_of_scsf(traces: Path) -> None:
    folder = traces.parent / "cases" / "scsf" / "manifests"
    if not folder.is_dir():
        pytest.skip(f"needs ScSF's manifests; there is no {folder}")
    examples = {workflow.name: workflow for workflow in read_workflows(EXAMPLES / "scsf.toml")}
    manifests = {path.stem: read_workflow(path) for path in folder.iterdir()}
    short = {name: name.lower().removeprefix("synth").removesuffix("job") for name in manifests}
    assert {short[name]: each.tasks for name, each in manifests.items()} == {
        name: each.tasks for name, each in examples.items()
    }
    assert sorted(name for name, each in manifests.items() if each.notes) == [
        "runtime64job",
        "waittimeratio128",
        "waittimeratioSquare128",
    ]
    assert [examples[name].tasks for name in ("widelong", "longwide")] == [
        read_workflow(name).tasks for name in ("widelong", "longwide")
    ]
