"""What the server sends of runs: to whom, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient
from tests.blocks import unpack
from tests.unit.test_web_explore import HOSTILE, small
from tests.unit.test_web_pack import busy

from schedlab.analysis.compare import compare
from schedlab.analysis.side_by_side import text_columns
from schedlab.engine.store import read_run
from schedlab.model.errors import InputError
from schedlab.web.explore import explorer_facts, packs_of
from schedlab.web.opened import Opened
from schedlab.web.server import create_app
from schedlab.web.settings import Settings
from schedlab.web.space import Space, space_of

ADDRESS = "http://127.0.0.1:8765"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    top = tmp_path_factory.mktemp("served")
    small().save(top / "results" / "easy")
    small("fcfs").save(top / "results" / "fcfs")
    busy(60).save(top / "busy")
    (top / "log.swf").write_text("; a log\n")
    (top / "empty").mkdir()
    return top


@pytest.fixture
def client(folder: Path) -> Iterator[TestClient]:
    with TestClient(create_app(folder), base_url=ADDRESS, raise_server_exceptions=False) as found:
        yield found


def asked(client: TestClient, path: str, *runs: str) -> Any:
    return client.get(f"/api/explore/{path}", params=[("run", name) for name in runs])


def test_facts_are_those_of_the_page_of_one_file(client: TestClient, folder: Path) -> None:
    runs = [read_run(folder / "results" / name) for name in ("easy", "fcfs")]
    found = asked(client, "facts", "results/easy", "results/fcfs")
    assert found.status_code == 200
    assert found.json() == json.loads(json.dumps(explorer_facts(packs_of(runs))))
    texts = [column["texts"] for column in found.json()["comparison"]["columns"]]
    assert texts == [column.texts for column in text_columns(compare(runs))]


def test_a_folder_stands_for_its_runs(client: TestClient) -> None:
    assert asked(client, "facts", "results").json() == asked(client, "facts", "results/easy", "results/fcfs").json()


def test_every_block_is_that_of_the_pack(client: TestClient, folder: Path) -> None:
    packs = packs_of([read_run(folder / "results" / name) for name in ("easy", "fcfs")])
    for at, pack in enumerate(packs):
        for name in (*pack.names(), "reasons-1"):
            found = asked(client, f"{at}/{name}", "results")
            assert found.content == pack.block(name), name
            assert found.headers["content-encoding"] == "gzip"
    jobs = unpack(asked(client, "1/jobs", "results").content)
    np.testing.assert_array_equal(jobs["difference"], [0, 0, 88, 58])


def test_who_cannot_decompress_gets_it_plain(client: TestClient) -> None:
    plain = client.get("/api/explore/0/jobs?run=busy", headers={"accept-encoding": "identity"})
    assert "content-encoding" not in plain.headers
    assert plain.content == asked(client, "0/jobs", "busy").content


def test_what_a_browser_has_is_not_sent_again(client: TestClient) -> None:
    for path in ("facts", "0/jobs"):
        tag = asked(client, path, "busy").headers["etag"]
        again = client.get(f"/api/explore/{path}?run=busy", headers={"if-none-match": tag})
        assert (again.status_code, again.content) == (304, b"")
        other = client.get(f"/api/explore/{path}?run=results", headers={"if-none-match": tag})
        assert other.status_code == 200


def test_a_run_that_was_replaced_is_another_one(tmp_path: Path) -> None:
    small().save(tmp_path / "run")
    with TestClient(create_app(tmp_path), base_url=ADDRESS) as client:
        before = asked(client, "0/jobs", "run")
        small("fcfs").save(tmp_path / "run", force=True)
        after = asked(client, "0/jobs", "run")
    assert before.headers["etag"] != after.headers["etag"]
    assert unpack(after.content)["start"].tolist() == [0, 50, 90, 90]


@pytest.mark.parametrize(
    ("name", "status"),
    [
        ("../secret", 400),
        ("/etc", 400),
        ("results/../../x", 400),
        ("results\\easy", 400),
        ("results/easy\0", 400),
        ("nothing", 404),
        (".hidden", 404),
        ("spaces/0123456789ab/run", 404),
        ("x" * 5000, 404),
        ("<script>window.hit=1</script>", 404),
        ("", 400),
    ],
)
def test_names_that_lead_nowhere(client: TestClient, name: str, status: int) -> None:
    for path in ("facts", "0/jobs"):
        found = asked(client, path, name)
        assert found.status_code == status, found.text
        assert set(found.json()) == {"error", "hint"}


def test_a_run_of_another_space_is_not_there(client: TestClient, folder: Path) -> None:
    client.get("/explore")
    own = space_of(folder.resolve(), client.cookies["schedlab_space_8765"])
    small().save(own.own / "mine")
    name = own.name(own.own / "mine")
    assert asked(client, "facts", name).status_code == 200
    with TestClient(create_app(folder), base_url=ADDRESS) as somebody:
        for path in ("facts", "0/jobs"):
            assert asked(somebody, path, name).status_code == 404


def test_a_link_out_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    small().save(tmp_path / "elsewhere" / "run")
    (tmp_path / "served").mkdir()
    (tmp_path / "served" / "run").symlink_to(tmp_path / "elsewhere" / "run")
    with TestClient(create_app(tmp_path / "served"), base_url=ADDRESS) as client:
        assert asked(client, "facts", "run").status_code == 400
        assert asked(client, "facts", ".").status_code == 400


@pytest.mark.parametrize(
    "path",
    [
        *("0/facts", "0/bars-99", "0/tile-0-0", "0/jobs-1", "0/bars", "0/_jobs_block", "0/reasons-4000000"),
        *("0/__class__", "1/jobs", "99/jobs", "0/waits-x", "0/bars--1", "0/bars-00"),
    ],
)
def test_blocks_that_a_run_does_not_have(client: TestClient, path: str) -> None:
    found = asked(client, path, "results/easy")
    assert found.status_code == 404
    assert found.json()["error"].endswith("these runs have no such block")


def test_what_is_no_run_is_said_as_the_command_line_says_it(client: TestClient, folder: Path) -> None:
    for name in ("empty", "log.swf"):
        with pytest.raises(InputError) as error:
            read_run(folder / name)
        told = asked(client, "facts", name)
        assert told.status_code == 400
        assert told.json()["error"].endswith(error.value.message)
        assert told.json()["hint"] == error.value.hint


def test_a_broken_run_is_said_as_the_command_line_says_it(tmp_path: Path) -> None:
    small().save(tmp_path / "lost")
    (tmp_path / "lost" / "timeline.parquet").unlink()
    (tmp_path / "half").mkdir()
    (tmp_path / "half" / "run.json").write_text('{"schedlab": "1"')
    with TestClient(create_app(tmp_path), base_url=ADDRESS) as client:
        for name in ("lost", "half"):
            with pytest.raises(InputError) as error:
                read_run(tmp_path / name)
            told = asked(client, "facts", name)
            assert told.status_code == 400 and error.value.message in told.json()["error"]


def test_the_page_is_told_names_as_texts(client: TestClient) -> None:
    found = client.get("/explore", params={"run": HOSTILE[0]})
    assert found.status_code == 200
    assert "<script>window.hit" not in found.text
    assert "script-src 'self'" in found.headers["content-security-policy"]


def test_too_many_runs_are_not_opened(client: TestClient) -> None:
    told = asked(client, "facts", *["busy"] * 25)
    assert told.status_code == 400 and "25 runs are too many" in told.json()["error"]


def test_memory_is_bounded(folder: Path) -> None:
    space = Space(folder.resolve(), "0123456789ab")
    busy_run, other = space.folder / "busy", space.folder / "results" / "easy"
    with closing(Opened(Settings(), most_jobs=60, most_bytes=2000)) as opened:
        first = opened.look([busy_run], space)
        assert opened.look([busy_run], space) is first
        for name in ("jobs", "chart", "story"):
            opened.block(first, 0, name)
        assert sum(map(len, opened._blocks.values())) <= 2000 or len(opened._blocks) == 1
        opened.look([other], space)
        assert opened.look([busy_run], space) is not first
