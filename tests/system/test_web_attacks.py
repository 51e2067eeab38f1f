"""One person does what a server should not suffer, while another works: his pages come as they always do."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx2
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.system.test_web_process import JSON, children, read_of
from tests.web_attacks import another_works, closed, most_memory, person, refusal, request, space_of
from tests.web_process import Process, serving_process
from tests.web_server import LOG

from schedlab import simulate

pytestmark = pytest.mark.corrupts

MIB = 1 << 20


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs of the same log."""
    folder = tmp_path_factory.mktemp("served")
    (folder / "small.swf").write_text(LOG)
    for policy in ("easy", "fcfs"):
        simulate(str(folder / "small.swf"), cluster="pool:8", policy=policy).save(folder / policy)
    return folder


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Process]:
    with serving_process(folder) as process:
        yield process


# ---- (a) tables of one run as the result of another ----


def test_tables_of_another_run_are_not_shown_as_its_own(server: Process, folder: Path) -> None:
    """A space is a folder like others: with run.json and tables in it, it holds a run."""
    with person(server) as genuine, person(server) as forger:
        facts = genuine.get("/api/explore/facts?run=easy")
        block = genuine.get("/api/explore/0/jobs?run=easy")
        plain = genuine.get("/api/explore/0/jobs?run=easy", headers={"accept-encoding": "identity"})
        assert plain.content == block.content and "content-encoding" not in plain.headers
        space = space_of(forger)
        forger.put("/api/files/run.json", content=(folder / "easy" / "run.json").read_bytes())
        tables = sorted(path.name for path in (folder / "fcfs").glob("*.parquet"))
        for name in tables:
            assert forger.put(f"/api/files/{name}", content=(folder / "fcfs" / name).read_bytes()).status_code == 201
        asked = (
            *("/api/explore/facts?run={}", "/api/explore/0/jobs?run={}", "/api/explore/0/chart?run={}"),
            *("/api/compare?run={}", "/api/classes?run={}", "/api/compare?run=easy&run={}"),
            *("/api/figure?run={}&kind=comparison", "/api/explorer?run={}"),
        )
        for known in ({}, {"if-none-match": facts.headers["etag"]}, {"if-none-match": block.headers["etag"]}):
            for path in asked:
                told = refusal(forger.get(path.format(space), headers=known))
                assert "was changed after the run was written" in told
        for name in tables:  # its own tables: it is the run, in another folder
            forger.put(f"/api/files/{name}?replace", content=(folder / "easy" / name).read_bytes())
        copied = forger.get(f"/api/explore/0/jobs?run={space}", headers={"if-none-match": block.headers["etag"]})
        assert (copied.status_code, copied.content) == (200, block.content)
        assert copied.headers["etag"] != block.headers["etag"]
        for name in tables:  # which it has looked at, and now they are others again
            forger.put(f"/api/files/{name}?replace", content=(folder / "fcfs" / name).read_bytes())
        assert "was changed" in refusal(forger.get(f"/api/explore/0/jobs?run={space}"))
        assert "no such file or folder" in refusal(genuine.get(f"/api/explore/facts?run={space}"))
        for first in (facts, block):
            again = genuine.get(str(first.request.url))
            assert (again.content, again.headers["etag"]) == (first.content, first.headers["etag"])
            same = genuine.get(str(first.request.url), headers={"if-none-match": first.headers["etag"]})
            assert (same.status_code, same.content) == (304, b"")


def test_tables_that_run_json_does_not_name_are_not_shown(server: Process, folder: Path) -> None:
    with person(server) as forger:
        space = space_of(forger)
        document = json.loads((folder / "easy" / "run.json").read_bytes())
        document["files"] = {}
        forger.put("/api/files/run.json", content=json.dumps(document).encode())
        for path in (folder / "easy").glob("*.parquet"):
            forger.put(f"/api/files/{path.name}", content=path.read_bytes())
        for path in ("explore/facts", "explore/0/jobs", "compare", "classes"):
            told = refusal(forger.get(f"/api/{path}?run={space}"))
            assert "files" in told or "is not a table of this run" in told


# ---- (b) texts that take long to read ----

DEEP = 20_000
TEXTS: dict[str, bytes] = {
    "lines.conf": b"\n" * 60_000,
    "carriage.conf": b"\r" * 60_000,
    "blanks.conf": b" " * 60_000,
    "continued.conf": b"\\\n" * 30_000,
    "brackets.conf": b"NodeName=" + b"n[" * 30_000,
    "ranges.conf": b"NodeName=n[0-999999999]\n",
    "equals.conf": b"NodeName" + b"=" * 60_000,
    "quotes.conf": b'NodeName="' + b'\\"' * 30_000,
    "includes.conf": b"Include includes.conf\n" * 1000,
    "tables.toml": b"[a]\n" + b"[a" + b".a" * DEEP + b"]\n",
    "lists.toml": b"a = " + b"[" * DEEP,
    "newlines.toml": b"\n" * 60_000 + b"x",
    "nodes.toml": b'name = "x"\n[[nodes]]\ncount = 999999999999\ncores = 4\n',
    "integer.toml": b"a = " + b"9" * 60_000,
    "aliases.yaml": b"a: &a [x,x]\n"
    + b"".join(b"%c: &%c [*%c,*%c,*%c]\n" % (c + 1, c + 1, *[c] * 3) for c in range(97, 121)),
    "lists.yaml": b"[" * DEEP,
    "flow.yaml": b"{a: " * DEEP,
    "spaces.yaml": b"a:" + b" " * 60_000 + b"\n" * 60_000 + b"- x",
    "entities.xml": b"<!DOCTYPE p [<!ENTITY a 'aaaaaaaaaa'>"
    + b"".join(b"<!ENTITY %c '&%c;&%c;&%c;&%c;'>" % (c + 1, *[c] * 4) for c in range(97, 120))
    + b"]><platform>&x;</platform>",
    "elements.xml": b"<platform>" + b"<zone>" * DEEP,
    "attributes.xml": b"<platform " + b"a='" + b"&lt;" * DEEP + b"'/>",
    "lists.json": b"[" * DEEP,
    "objects.json": b'{"a":' * DEEP,
    "jobs.json": b'{"jobs": [' + b'{"id": "1", "subtime": 0, "res": 1},' * DEEP,
    "one-line.swf": b"1 " * 200_000,
    "header.swf": b"; MaxProcs:" + b" " * 60_000 + b"\n",
    "numbers.swf": b"9" * 60_000 + b" 0 -1 1 1 -1 -1 1 1 -1 1 1 1 -1 -1 -1 -1 -1\n",
    "lines.swf": b"\n" * 200_000,
    "quotes.csv": b"id,submit\n" + b'"' * 60_001,
    "columns.csv": b"," * 60_000 + b"\n",
    "fields.txt": b"JobID|Submit|Start|End\n" + b"|" * 60_000 + b"\n",
    "times.txt": b"JobID|Submit|Start|End|State|AllocCPUS\n1|" + b"1-" * 30_000 + b"|x|x|COMPLETED|1\n",
    "text.events": b"{" * DEEP,
}


@pytest.mark.slow
def test_texts_that_take_long_are_read_while_others_are_served(server: Process) -> None:
    """Every kind of file that pages read, as a log and as a machine."""
    with person(server) as client:
        names = {name: client.put(f"/api/files/{name}", content=text).json()["name"] for name, text in TEXTS.items()}

        def look(name: str) -> list[httpx2.Response]:
            setup = {"log": "small.swf", "cluster": name}
            return [
                client.post("/api/inspect", json={"setup": {"log": name}}),
                client.post("/api/machine", json={"cluster": name}),
                client.post("/api/command", json={"setup": setup}),
                client.post("/api/command", json={"setup": {"model": name, "jobs": 5, "cluster": "pool:8"}}),
                client.post("/api/work", json={"setup": {**setup, "policies": ["easy"]}}),
            ]

        with another_works(server), ThreadPoolExecutor(2) as pool:
            for name, answers in zip(names, pool.map(look, names.values()), strict=True):
                for answer in answers:
                    assert answer.status_code < 500 or answer.status_code == 507, (name, answer.text[:1000])
        for work in client.get("/api/work").json()["work"]:
            client.post(f"/api/work/{work['id']}/cancel")


LONG = (
    *("(" * 1990, "easy:" + "a=b," * 490, "easy:order=" + "(" * 1900, "f(" * 990, "[" * 2000, "x" * 2000, "9" * 2000),
    *("random(seed=" + "9" * 1900 + ")", "easy(" + "'" * 1900, "easy:" + "=" * 1900, " " * 2000, "a.b" * 660),
    *("f(9**9**9**9)", "f('a'*9999999999)", "lublin(processors=999999999999)", "f(" + "-" * 1900 + "1)"),
    *("{seed}" * 330, "pool:" + "9" * 1900),
)


def test_texts_of_forms_that_take_long(server: Process) -> None:
    with person(server) as client, another_works(server):
        for text in LONG[::3]:
            forms = ({"log": "small.swf", "policies": [text] * 9}, {"model": text, "jobs": 5, "cluster": text})
            others = ({"log": "small.swf", "estimate": text, "observers": [text] * 9, "until": text, "name": text},)
            bodies: list[tuple[str, Any]] = [("/api/command", {"setup": form}) for form in (*forms, *others)]
            bodies += [("/api/policy", {"text": text}), ("/api/machine", {"cluster": text})]
            bodies += [("/api/inspect", {"setup": form}) for form in forms]
            scenario = {"machine": text, "policies": [text], "estimate": text, "jobs": [[0, 1, 1, 1, text]]}
            bodies += [("/learn/own/play", scenario), ("/learn/own/swf", scenario)]
            for path, body in bodies:
                answer = client.post(path, json=body)
                assert answer.status_code < 500, (path, text[:40], answer.text[:1000])


def test_bodies_that_are_full_of_what_is_not_asked_for(server: Process) -> None:
    """As much as a body may have."""
    fields = {f"policie{number}": 0 for number in range(40_000)}
    many = ["easy:order=sjf"] * 60_000
    deep = '{"setup": {"policies": ' + "[" * 900 + "]" * 900 + "}}"
    with person(server) as client, another_works(server):
        for path in ("/api/inspect", "/api/command", "/api/work", "/api/policy", "/api/machine", "/learn/own/play"):
            for body in ({"setup": fields}, fields, {"setup": {"policies": many}}, {"keys": fields}, {"study": fields}):
                answer = client.post(path, json=body)
                assert 400 <= answer.status_code < 500, (path, answer.text[:500])
                assert len(answer.content) < 100_000
            answer = client.post(path, content=deep, headers={"content-type": "application/json"})
            assert 400 <= answer.status_code < 500, (path, answer.text[:500])


# ---- (c) who is let in ----

LOOK = """
import os, sys, urllib.error, urllib.request
"x".encode("idna")  # loads what is not readable for everybody
os.setgid(65534); os.setuid(65534)
place, token, *paths = sys.argv[1:]
for path in ("/", "/api/files", "/static/dom.js", "/?token=x"):
    try:
        print(urllib.request.urlopen(place + path, timeout=60).status)
    except urllib.error.HTTPError as error:
        print(error.code)
for path in paths:
    try:
        print(open(path, "rb").read().count(b"nothing"))
    except PermissionError:
        print("refused")
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="needs the right to become somebody else")
def test_another_account_of_the_machine_gets_nothing(folder: Path, tmp_path: Path) -> None:
    """It reaches the port, and sees what programs are started with; the token is in neither, and files are closed."""
    served = tmp_path / "served"
    shutil.copytree(folder, served)
    served.chmod(0o700)
    opens = tmp_path / "opens"
    opens.write_text(f"#!/bin/sh\ncat /proc/$$/cmdline >> {tmp_path}/started\necho >> {tmp_path}/started\n")
    opens.chmod(0o755)
    command = [sys.executable, "-m", "schedlab", "web", str(served), "--port", "0"]
    told = {**os.environ, "BROWSER": f"{opens} %s"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=told) as process:
        try:
            assert process.stdout is not None
            found = re.match(r"(http://\S+?:\d+)/\?token=(\S+) serves ", process.stdout.readline())
            assert found is not None
            place, token = found[1], found[2]
            while not (tmp_path / "started").exists() or token in (tmp_path / "started").read_text():
                time.sleep(0.05)
            [page] = served.glob("spaces/.open-*.html")
            assert (page.stat().st_mode & 0o777, page.parent.stat().st_mode & 0o077) == (0o600, 0)
            files = [str(page), f"/proc/{process.pid}/environ", f"/proc/{process.pid}/mem", str(served / "small.swf")]
            ran = subprocess.run(["python3", "-c", LOOK, place, "x", *files], capture_output=True, text=True)
            assert ran.stdout.split() == ["403"] * 4 + ["refused"] * 4, ran.stderr
            every = [process.pid, *children(process.pid)]
            assert not [pid for pid in every if token.encode() in read_of(pid, "cmdline")]
            assert token not in (tmp_path / "started").read_text()
        finally:
            process.terminate()
            process.wait(60)
        assert list(served.glob("spaces/.open-*.html")) == []


def test_the_token_leaves_the_address_at_once(server: Process) -> None:
    """So it stands in no history but that of the one address, and no page says it to others (Referer)."""
    with httpx2.Client(base_url=server.place) as client:
        first = client.get(server.address)
        assert first.status_code == 303
        assert (first.headers["location"], first.headers["referrer-policy"]) == ("/", "no-referrer")
        token = server.address.rpartition("=")[2]
        [cookie] = [each for each in first.headers.get_list("set-cookie") if token in each]
        assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= set(cookie.split("; "))
        page = client.get("/")
        assert (page.status_code, page.headers["referrer-policy"]) == (200, "no-referrer")
        assert token not in page.text


# ---- (d) much at once, large things, slow connections ----


def test_many_inspections_at_once(server: Process) -> None:
    log = "".join(f"{n} {n} -1 10 1 -1 -1 1 20 -1 1 {n % 7} 1 -1 -1 -1 -1 -1\n" for n in range(1, 100_000)).encode()
    with person(server) as client:
        names = [client.put(f"/api/files/{n}.swf", content=log).json()["name"] for n in range(44)]

        def look(name: str) -> httpx2.Response:
            return client.post("/api/inspect", json={"setup": {"log": name}})

        with another_works(server), ThreadPoolExecutor(44) as pool, person(server) as other:
            answers = pool.map(look, names)
            begun = time.monotonic()
            asked = other.post("/api/inspect", json={"setup": {"log": "small.swf"}})
            own = time.monotonic() - begun
            assert asked.json()["jobs"] == 40
            found = [answer.status_code for answer in answers]
            whole = time.monotonic() - begun
        assert set(found) == {200, 429}
        assert found.count(200) >= 12  # two at once, and ten that wait
        assert own < max(5.0, whole)  # before all of the many


def bomb(rows: int) -> bytes:
    """A column that is one value, so many times: some MB that are gigabytes."""
    stream = io.BytesIO()
    schema = pa.schema([("id", pa.int64()), ("submit", pa.int64()), ("runtime", pa.int64()), ("cores", pa.int64())])
    with pq.ParquetWriter(stream, schema, compression="zstd") as writer:
        column = pa.array([1]).take(pa.array([0] * 10_000_000))
        for _ in range(rows // 10_000_000):
            writer.write_table(pa.table([column] * 4, schema=schema), row_group_size=10_000_000)
    return stream.getvalue()


@pytest.mark.slow
def test_small_files_that_become_gigabytes(folder: Path) -> None:
    """Within the memory that one process may have, whatever they are read as."""
    parquet = bomb(100_000_000)
    assert len(parquet) < 5 * MIB  # 3.2 GB of columns
    packed = {
        "a.swf.gz": gzip.compress(bytes(300 * MIB), 1),
        "b.csv.gz": gzip.compress(b"1," * MIB * 100, 1),
        "c.swf.bz2": bz2.compress(bytes(100 * MIB), 1),
        "d.swf.xz": lzma.compress(bytes(100 * MIB), preset=0),
        "e.swf.zst": pa.compress(bytes(900 * MIB), "zstd", asbytes=True),
        "f.json.gz": gzip.compress(b"[" * 100 * MIB, 1),
        "g.conf": b"Include g.conf\n" * 100_000,
    }
    with (
        serving_process(folder, "--memory", "1 GiB") as server,
        person(server) as client,
        most_memory(server) as most,
        ThreadPoolExecutor(1) as pool,
    ):
        log = client.put("/api/files/bomb.parquet", content=parquet).json()["name"]
        looked = pool.submit(client.post, "/api/inspect", json={"setup": {"log": log}})
        with another_works(server):
            for name, content in packed.items():
                sent = client.put(f"/api/files/{name}", content=content).json()["name"]
                refusal(client.post("/api/inspect", json={"setup": {"log": sent}}))
                refusal(client.post("/api/machine", json={"cluster": sent}))
            space = log.rpartition("/")[0]
            client.put("/api/files/run.json", content=(folder / "easy" / "run.json").read_bytes())
            for path in (folder / "easy").glob("*.parquet"):
                client.put(f"/api/files/{path.name}", content=parquet)
            assert "and of 1 GiB a table may take half" in refusal(client.get(f"/api/explore/facts?run={space}"))
            for kind in ("compare", "classes", "figure", "explorer"):
                refusal(client.get(f"/api/{kind}?run={space}"))
        begun = time.monotonic()
        assert server.end() == 0
        assert time.monotonic() - begun < 30  # it does not wait for what still takes long
        assert looked.exception() is not None or looked.result().status_code == 422
        assert most() < 2300 * MIB, f"{most() / MIB:,.0f} MiB"  # two at once, of one person


def trickle(connections: list[socket.socket], end: threading.Event) -> None:
    """A byte a second to each."""
    while not end.wait(1):
        for each in connections:
            with suppress(OSError):
                each.send(b"a")


@pytest.mark.slow
def test_slow_connections(server: Process, folder: Path) -> None:
    """Of each kind eighty at once: nothing said, half a head, half a body, and answers that nobody takes."""
    (folder / "large.bin").write_bytes(os.urandom(30 * MIB))
    kinds: dict[str, bytes] = {
        "nothing": b"",
        "head": request(server, "GET /", "X-A: "),
        "body": request(server, "PUT /api/files/slow.swf?replace", "Content-Length: 100000", "", ""),
        "chunks": request(
            server, "POST /api/work", "Transfer-Encoding: chunked", "Content-Type: application/json", "", "99999\r\n"
        ),
        "unwanted": b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100000\r\n\r\n",
        "answer": request(server, "GET /api/files/large.bin", "", ""),
    }
    end = threading.Event()
    with ExitStack() as all_closed, another_works(server):
        found: dict[str, list[socket.socket]] = {}
        for kind, sent in kinds.items():
            found[kind] = []
            for _ in range(80):
                each = all_closed.enter_context(socket.socket())
                each.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                each.connect(("127.0.0.1", server.port))
                each.sendall(sent)
                found[kind].append(each)
        trickled = [each for kind, several in found.items() if kind not in ("nothing", "answer") for each in several]
        thread = threading.Thread(target=trickle, args=(trickled, end))
        thread.start()
        try:
            begun = time.monotonic()
            for kind in ("nothing", "head", "unwanted", "body", "chunks"):
                assert all(closed(each, 120) for each in found[kind]), kind
            time.sleep(max(0.0, begun + 50 - time.monotonic()))
            left = [each for each in Path(f"/proc/{server.process.pid}/fd").iterdir() if goes_to(each, "socket:")]
            assert len(left) < 80, len(left)
        finally:
            end.set()
            thread.join()


def goes_to(entry: Path, kind: str) -> bool:
    try:
        return str(entry.readlink()).startswith(kind)
    except OSError:
        return False


def test_many_streams_and_requests_at_once(server: Process) -> None:
    """Of one person so many, of others none the less."""
    with person(server) as client, ExitStack() as all_closed, another_works(server):
        cookie = "; ".join(f"{name}={value}" for name, value in client.cookies.items())
        told = []
        for _ in range(300):
            each = all_closed.enter_context(socket.create_connection(("127.0.0.1", server.port)))
            each.sendall(request(server, "GET /api/work/events", f"Cookie: {cookie}", "", ""))
            each.settimeout(60)
            told.append(each.recv(100).split()[1] if len(told) >= 20 else b"")
        assert set(told[20:]) == {b"429"}
        with person(server) as other, other.stream("GET", "/api/work/events") as stream:
            assert stream.status_code == 200


def test_more_connections_than_there_may_be(server: Process) -> None:
    """Those that have waited longest without a request give way."""
    with ExitStack() as all_closed, another_works(server):
        first = all_closed.enter_context(socket.create_connection(("127.0.0.1", server.port)))
        for _ in range(1300):
            all_closed.enter_context(socket.create_connection(("127.0.0.1", server.port)))
        assert closed(first, 20)


def test_who_has_much_running_does_not_keep_others_from_beginning(server: Process) -> None:
    """Runs that stand still, as many as may be started: another one begins all the same."""
    setup = {"log": "small.swf", "cluster": "pool:8", "policies": ["easy"]}
    with person(server) as client, person(server) as other:
        started = [client.post("/api/work", json={"setup": setup, "pace": 0}) for _ in range(60)]
        ids = [each.json()["id"] for each in started if each.status_code == 201]
        assert {each.status_code for each in started} == {201, 429}
        mine = other.post("/api/work", json={"setup": setup}).json()["id"]
        end = time.monotonic() + 100
        while other.get(f"/api/work/{mine}").json()["state"] != "done":
            assert time.monotonic() < end
            time.sleep(0.1)
        for id in ids:
            client.post(f"/api/work/{id}/cancel")


def test_all_of_ones_files_have_a_bound(folder: Path) -> None:
    with (
        serving_process(folder, "--largest-space", "3 MiB") as server,
        person(server) as client,
        person(server) as other,
    ):
        found = [client.put(f"/api/files/{n}.swf", content=bytes(MIB)).status_code for n in range(5)]
        assert found == [201, 201, 201, 507, 507]
        body = {"setup": {"log": "small.swf", "cluster": "pool:8", "policies": ["easy"]}}
        answer = client.post("/api/work", json=body)
        assert (answer.status_code, answer.json()["error"]) == (
            507,
            "what is yours takes 3 MiB of the 3 MiB that one person may have",
        )
        assert other.post("/api/work", json=body).status_code == 201
        assert client.delete(f"/api/files/{space_file(client)}").status_code == 200
        assert client.post("/api/work", json=body).status_code == 201


def space_file(client: httpx2.Client) -> str:
    files = client.get("/api/files").json()["files"]
    return str(next(each["name"] for each in files if each["own"]))


# ---- requests and names that no page has ----

OWN = "Host: 127.0.0.1"
ODD: dict[str, tuple[str, tuple[str, ...], str]] = {
    "a method that is none": ("FOO /", (OWN,), "400"),
    "TRACE": ("TRACE /", (OWN,), "405"),
    "OPTIONS": ("OPTIONS *", (OWN,), "404"),
    "CONNECT": ("CONNECT 127.0.0.1:80", (OWN,), "400"),
    "outside": ("GET /../../etc/passwd", (OWN,), "404"),
    "outside, in a static file": ("GET /static/%2e%2e/server.py", (OWN,), "404"),
    "outside, in a file": ("GET /api/files/easy%2f..%2f..%2fx.swf", (OWN,), "400"),
    "a number without end": (f"GET /api/explore/{'9' * 5000}/jobs?run=easy", (OWN,), "404"),
    "thousands of runs": (f"GET /api/explore/facts?{'run=easy&' * 6000}", (OWN,), "400"),
    "no name of the server": ("GET /", (), "421"),
    "two names of the server": ("GET /", (OWN, "Host: evil.example"), "421"),
    "a name that only begins well": ("GET /", ("Host: localhost:1@evil.example",), "421"),
    "a name after brackets": ("GET /", ("Host: [::1]evil.example",), "421"),
    "a head without end": ("GET /", (OWN, "X: " + "a" * 200_000), "400"),
    "a path without end": (f"GET /{'a' * 200_000}", (OWN,), "400"),
    "two lengths": ("POST /api/work", (OWN, "Content-Length: 5", "Content-Length: 6"), "400"),
    "a length and chunks": ("POST /api/work", (OWN, "Content-Length: 5", "Transfer-Encoding: chunked"), "400"),
    "chunks that are none": ("POST /api/work", (OWN, "Transfer-Encoding: chunked, identity"), "400"),
    "a length below nothing": ("POST /api/work", (OWN, "Content-Length: -1"), "400"),
    "a length without end": ("PUT /api/files/x", (OWN, f"Content-Length: {'9' * 15}"), "413"),
    "a thousand ranges": ("GET /api/files/small.swf", (OWN, "Range: bytes=" + "0-0,2-2," * 7000), "200"),
    "a range that ends before it begins": ("GET /api/files/small.swf", (OWN, "Range: bytes=5-1"), "200"),
    "another protocol": ("GET /", (OWN, "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Key: x"), "200"),
}


@pytest.mark.parametrize("name", ODD)
def test_requests_that_no_page_sends(server: Process, name: str) -> None:
    line, headers, status = ODD[name]
    allowed = f"Authorization: {server.allowed['authorization']}"
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
        connection.sendall("\r\n".join((f"{line} HTTP/1.1", allowed, *headers, "", "")).encode())
        assert connection.recv(100).split()[1].decode() == status
    with person(server) as client:
        assert client.get("/").status_code == 200


def test_requests_before_there_is_an_answer(server: Process) -> None:
    """Nobody knows whose the second one is, if something between browser and server reads the first one otherwise."""
    first, second = request(server, "GET /", "", ""), request(server, "DELETE /api/files/small.swf", "", "")
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
        connection.sendall(first + second)
        assert closed(connection, 60)
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
        for _ in range(2):  # one after the other they are answered
            connection.sendall(first)
            told = b""
            while not told.endswith(b"</html>"):
                told += (piece := connection.recv(1 << 16))
                assert piece, told
            assert told.startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize(
    ("name", "status"),
    [
        *(("ü" * 120, 400), ("漢" * 120, 400), ("ü" * 100, 201), ("a" * 120, 201), ("a" * 121, 400)),
        *(
            ("a\u202eb", 400),
            ("a\u200bb", 400),
            ("e\u0301", 400),
            ("CON", 201),
            ("a..b", 201),
            ("...", 400),
            ("-a", 400),
        ),
    ],
)
def test_names_of_files(server: Process, name: str, status: int) -> None:
    with person(server) as client:
        assert client.put(f"/api/files/{quote(name)}", content=b"x").status_code == status


NUMBERS = (10**400, -1, float("nan"), 2**63)


def test_numbers_without_end(server: Process) -> None:
    with person(server) as client:
        for number in NUMBERS:
            model = {"model": "lublin(processors=8)", "jobs": 5, "cluster": "pool:8"}
            for form in ({**model, "jobs": number}, {**model, "seed": number}, {**model, "load": number}):
                for path in ("/api/command", "/api/inspect"):
                    answer = client.post(path, content=json.dumps({"setup": form}), headers=JSON)
                    assert answer.status_code < 500, (path, number, answer.text)
            sweep = json.dumps({"study": {"setup": model, "repetitions": number}, "pace": number})
            assert client.post("/api/command", content=sweep, headers=JSON).status_code < 500
        study = {"setup": {"log": "small.swf", "cluster": "pool:8"}, "repetitions": 10**9}
        told = refusal(client.post("/api/work", json={"setup": study}))
        assert told == "repetitions: 1,000,000,000 runs are too many for a page"
        half = client.post("/api/command", content=b'{"setup": {"\\ud800": 1}}', headers=JSON)
        assert refusal(half) == "\\ud800: there is no such field"


def test_a_run_that_needs_more_memory_than_it_may_have(folder: Path) -> None:
    with serving_process(folder, "--memory", "1 GiB") as server, person(server) as client:
        setup = {"model": "lublin(processors=8)", "jobs": 10**12, "cluster": "pool:8"}
        id = client.post("/api/work", json={"setup": setup}).json()["id"]
        end = time.monotonic() + 200
        while (work := client.get(f"/api/work/{id}").json())["state"] in ("queued", "running"):
            assert time.monotonic() < end
            time.sleep(0.2)
        assert (work["state"], work["error"]) == ("failed", "needed more memory than a process may have here")


# ---- (e) cookies ----


def test_cookies_of_two_servers_of_one_machine(server: Process, tmp_path: Path) -> None:
    """Browsers send those of all ports of a host."""
    with serving_process(tmp_path) as second, httpx2.Client(follow_redirects=True, timeout=60) as browser:
        spaces = {}
        for each in (server, second):
            assert browser.get(each.address).status_code == 200
            spaces[each.port] = browser.put(f"{each.place}/api/files/cookies.txt?replace", content=b"x").json()["name"]
        names = {f"schedlab_{kind}_{each.port}" for kind in ("token", "space") for each in (server, second)}
        assert set(browser.cookies) == names
        for each in (server, second):
            answer = browser.put(f"{each.place}/api/files/cookies.txt?replace", content=b"x")
            assert answer.json()["name"] == spaces[each.port] and "set-cookie" not in answer.headers


# ---- without what the kernel offers ----

WITHOUT = """
import sys
from schedlab.model import landlock
landlock.version = lambda: 0
sys.argv[0] = "schedlab"
from schedlab.cli.start import main
main()
"""


def test_where_the_kernel_has_no_landlock_it_is_said(folder: Path) -> None:
    command = [sys.executable, "-c", WITHOUT, "web", str(folder), "--port", "0", "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stderr is not None
        address = process.stdout.readline().split()[0]
        with httpx2.Client(base_url=address.partition("?")[0], follow_redirects=True, timeout=60) as client:
            assert client.get(address).status_code == 200
            assert client.post("/api/machine", json={"cluster": "4x2"}).json()["cores"] == 8
        process.terminate()
        assert process.wait(60) == 0
        assert "warning: this kernel has no Landlock: files that libraries open by themselves" in process.stderr.read()
