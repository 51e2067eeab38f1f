"""The explorer as one file: what is in it, and what can never be run from it."""

from __future__ import annotations

import json
import re
from base64 import b64decode, b64encode
from hashlib import sha256
from pathlib import Path
from zlib import decompress

import numpy as np
import pytest
from tests.blocks import unpack
from tests.commands import schedlab

import schedlab as sl
from schedlab.analysis.compare import compare
from schedlab.analysis.side_by_side import text_columns
from schedlab.model.errors import InputError
from schedlab.model.run import Run
from schedlab.web.bundle import bundle
from schedlab.web.explore import safe_json, write_explorer

HOSTILE = ["</script><script>window.hit=1</script>", "<img src=x onerror=window.hit=1>", "\"'&", "ünï 😀"]


def small(policy: str = "easy") -> Run:
    """Four jobs on two nodes, with names that somebody made up to do harm."""
    jobs = sl.Workload.of(
        submit=[0, 1, 2, 3],
        runtime=[50, 40, 30, 10],
        count=[2, 4, 2, 2],
        user=[0, 1, 2, 3],
        names=tuple(HOSTILE),
        labels={"user": HOSTILE},
        name=HOSTILE[1],
    )
    return sl.simulate(jobs, sl.Cluster.uniform(2, cores=2), policy, reasons=True)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("page") / "run.html"
    write_explorer([small(), small("fcfs")], path)
    return path.read_text(encoding="utf-8")


def facts_of(page: str) -> dict[str, object]:
    found = re.search(r'<script type="application/json" id="facts">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    return dict(json.loads(found[1]))


def test_numbers_are_those_of_compare(page: str) -> None:
    columns = facts_of(page)["comparison"]["columns"]  # type: ignore[index]
    expected = list(text_columns(compare([small(), small("fcfs")])))
    assert [(one["key"], one["unit"], one["texts"]) for one in columns] == [
        (other.key, other.unit, other.texts) for other in expected
    ]
    assert [one["best"] for one in columns] == [sorted(other.best) for other in expected]


def test_names_cannot_end_an_element(page: str) -> None:
    assert "<script>window.hit" not in page
    assert "<img src=x" not in page
    assert page.count("</script>") == page.count("<script")
    assert facts_of(page)["runs"][0]["owners"]["user"]["labels"] == HOSTILE  # type: ignore[index]


def test_only_its_own_script_may_run(page: str) -> None:
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    script = re.search(r"<script>(.*)</script>", page, re.DOTALL)
    style = re.search(r"<style>(.*?)</style>", page, re.DOTALL)
    assert policy is not None and script is not None and style is not None
    allowed = policy[1].replace("&#39;", "'")
    assert "default-src 'none'" in allowed and "unsafe" not in allowed
    for kind, text in (("script", script[1]), ("style", style[1])):
        assert f"{kind}-src 'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'" in allowed


def test_nothing_is_loaded_from_elsewhere(page: str) -> None:
    assert not re.search(r"https?:|@import|url\(", page)
    assert re.findall(r'(?:src|href)="([^"]*)"', page) == ["data:,"]


def test_blocks_are_inside(page: str) -> None:
    found = re.search(r'<script type="text/plain" id="block-1-jobs">(.*?)</script>', page)
    assert found is not None
    jobs = unpack(decompress(b64decode(found[1])))
    assert jobs["name"] == HOSTILE
    # Under FCFS job 2 waits for job 1, and the others for it: 0, 50, 90, 90.
    np.testing.assert_array_equal(jobs["start"], [0, 50, 90, 90])
    # EASY backfills job 3 at 2 and job 4 at 32: without it they wait 88 and 58 s longer.
    np.testing.assert_array_equal(jobs["difference"], [0, 0, 88, 58])


def test_the_same_runs_give_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one.html", "other.html"):
        write_explorer([small()], tmp_path / name)
    assert (tmp_path / "one.html").read_bytes() == (tmp_path / "other.html").read_bytes()


def test_json_that_stands_in_an_element() -> None:
    text = safe_json({"a": "</script><!--&"})
    assert json.loads(text) == {"a": "</script><!--&"}
    assert not set("<>&") & set(text)
    with pytest.raises(ValueError, match="not JSON compliant"):
        safe_json(float("nan"))


def test_a_module_gets_what_it_imports(monkeypatch: pytest.MonkeyPatch) -> None:
    modules = {
        "one.js": 'import { two } from "./two.js";\nexport const one = two() + 1;\n',
        "two.js": "export function two() { return 2; }\n",
        "bad.js": 'import { three } from "./two.js";\n',
    }
    monkeypatch.setattr("schedlab.web.bundle.static", modules.__getitem__)
    text = bundle("one")
    assert text.index("const $two = ") < text.index("const $one = ")
    assert "export" not in text and "import" not in text and "const { two } = $two;" in text
    with pytest.raises(ValueError, match=r"bad\.js imports three, which two\.js does not export"):
        bundle("bad")


def test_a_page_is_not_written_over_a_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be written"):
        write_explorer([small()], tmp_path)


def test_the_command(tmp_path: Path) -> None:
    small().save(tmp_path / "run")
    page = tmp_path / "run.html"
    done = schedlab("explore", tmp_path / "run", "-o", page)
    assert done.stdout.startswith(f"1 run, 4 jobs in {page} (")
    assert page.stat().st_size > 100_000
    again = schedlab("explore", tmp_path / "run", "-o", page)
    assert again.returncode and "is already there" in again.stderr
    wrong = schedlab("explore", tmp_path / "run", "-o", tmp_path / "run.pdf")
    assert wrong.returncode and "let it end in .html" in wrong.stderr


def test_too_many_jobs_for_a_file_are_for_the_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("schedlab.web.explore.MOST_JOBS", 7)
    with pytest.raises(InputError, match=r"8 jobs are too many for a page of one file \(at most 7\)") as error:
        write_explorer([small(), small("fcfs")], tmp_path / "page.html")
    assert "schedlab web" in str(error.value)
    assert not (tmp_path / "page.html").exists()
