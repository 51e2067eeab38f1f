"""Who may ask what: addresses, origins, tokens, cookies."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient
from tests.web_server import ADDRESS, person, serving

from schedlab.web.page import page
from schedlab.web.settings import Settings

OWN = "127.0.0.1:8765"


@pytest.fixture
def app(tmp_path: Path) -> Iterator[Starlette]:
    with serving(tmp_path) as served:
        yield served


@pytest.mark.parametrize("host", [OWN, "localhost:8765", "localhost", "[::1]:8765", "127.0.0.1", "LOCALHOST:9000"])
def test_addresses_of_this_machine(app: Starlette, host: str) -> None:
    assert person(app).get("/api/files", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:8765", "127.0.0.1.evil.example", "localhost.evil.example:8765", "192.168.1.9", ""],
)
def test_a_name_of_somebody_elses_that_leads_here(app: Starlette, host: str) -> None:
    """DNS rebinding: a page of evil.example asks its own host, which by now is this machine."""
    for method, path in (("GET", "/"), ("GET", "/api/files"), ("PUT", "/api/files/x"), ("GET", "/static/dom.js")):
        answer = person(app).request(method, path, headers={"host": host})
        assert answer.status_code == 421
        assert "is not an address of this server" in answer.json()["error"]
        assert "set-cookie" not in answer.headers


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},  # a sandboxed page, or a file
        {"origin": "http://127.0.0.1:9999"},  # another server of this machine
        {"origin": "http://localhost:8765"},  # asked for by another name
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"origin": f"http://{OWN}", "sec-fetch-site": "cross-site"},
    ],
)
def test_changes_asked_for_by_other_sites(app: Starlette, headers: dict[str, str]) -> None:
    client = person(app)
    for method, path in (("PUT", "/api/files/x.swf"), ("POST", "/api/work"), ("DELETE", "/api/files/small.swf")):
        answer = client.request(method, path, headers=headers, content=b"{}")
        assert (answer.status_code, answer.json()["error"]) == (
            403,
            "requests from pages of other sites are not answered",
        )
    assert [entry["name"] for entry in client.get("/api/files").json()["files"]] == ["small.swf"]


@pytest.mark.parametrize(
    "headers", [{}, {"origin": f"http://{OWN}"}, {"origin": f"http://{OWN}", "sec-fetch-site": "same-origin"}]
)
def test_changes_asked_for_by_its_own_pages_and_by_programs(app: Starlette, headers: dict[str, str]) -> None:
    assert person(app).put("/api/files/x.swf", headers=headers, content=b"x").status_code == 201


def test_a_form_of_another_kind_is_not_read(app: Starlette) -> None:
    """What a page can send across origins without asking first is never JSON."""
    answer = person(app).post("/api/work", content=b'{"setup": {}}', headers={"content-type": "text/plain"})
    assert answer.status_code == 415


def test_every_answer_forbids_foreign_scripts(app: Starlette) -> None:
    client = person(app)
    for path in ("/", "/static/dom.js", "/api/files", "/nothing"):
        headers = client.get(path).headers
        assert "default-src 'none'; script-src 'self'; style-src 'self';" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"


def test_pages_have_no_scripts_inside(app: Starlette) -> None:
    page = person(app).get("/").text
    assert page.count("<script") == page.count('<script type="module" src="/static/') + page.count(
        '<script type="application/json"'
    )
    assert " onclick=" not in page and "<style" not in page


def test_texts_of_others_are_never_markup() -> None:
    """Whatever users, jobs or files are called: in the page's title and in the data that come with it."""
    script = "</script><script>alert(1)</script><img src=x onerror=alert(1)>"
    text = bytes(page(script, "home", at="/", data={"user": script}).body).decode()
    assert "<script>alert" not in text and "<img" not in text
    assert json.loads(text.partition('id="data">')[2].partition("</script>")[0]) == {"user": script}


def test_cookie(app: Starlette) -> None:
    client = TestClient(app, base_url=ADDRESS)
    first = client.get("/").headers["set-cookie"]
    assert first.startswith("schedlab_space_8765=")
    assert {"HttpOnly", "SameSite=Strict", "Path=/", "Max-Age=34560000"} <= set(first.split("; "))
    assert "set-cookie" not in client.get("/").headers  # it stays the same


@pytest.mark.parametrize("value", ["../../etc", "x", "a" * 31, "a" * 33, "a b", ""])
def test_a_cookie_that_this_server_did_not_make(app: Starlette, value: str) -> None:
    client = TestClient(app, base_url=ADDRESS)
    assert "set-cookie" in client.get("/api/files", headers={"cookie": f"schedlab_space_8765={value}"}).headers


def test_who_follows_a_link_from_elsewhere_keeps_its_space(app: Starlette) -> None:
    """The cookie is not shown then (SameSite=Strict), and must not be replaced: the page asks for itself again."""
    answer = TestClient(app, base_url=ADDRESS).get("/", headers={"sec-fetch-site": "cross-site"})
    assert "set-cookie" not in answer.headers
    assert 'http-equiv="refresh"' in answer.text


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[Starlette]:
    with serving(tmp_path, Settings(host="0.0.0.0", token="right")) as served:
        yield served


@pytest.mark.parametrize("path", ["/", "/api/files", "/static/dom.js", "/?token=wrong", "/?token="])
def test_without_the_token_nobody_is_let_in(elsewhere: Starlette, path: str) -> None:
    answer = TestClient(elsewhere, base_url=ADDRESS).get(path)
    assert answer.status_code == 403
    assert "lets nobody in without its token" in answer.json()["error"]
    assert "right" not in answer.text


def test_with_the_token_a_cookie_is_given_and_the_address_forgets_it(elsewhere: Starlette) -> None:
    client = TestClient(elsewhere, base_url="http://192.168.1.9:8765")
    answer = client.get("/?a=1&token=right", follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, "/?a=1")
    assert client.get("/api/files").status_code == 200
    assert client.get("/?token=wrong").status_code == 403
    assert client.get("/", headers={"host": "evil.example"}).status_code == 421
    away = client.get("/%2Fevil.example/x?token=right", follow_redirects=False)
    assert away.headers["location"].startswith("/evil.example")
