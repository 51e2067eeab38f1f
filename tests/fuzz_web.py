"""Fuzz the requests of the pages: whatever a browser or a program sends, it gets an answer of the house's form, in
time, and nothing outside its own space changes or is told.

python -m tests.fuzz_web --seconds 600 --seed 1
"""

from __future__ import annotations

import functools
import gzip
import json
import random
import sys
import time
from pathlib import Path
from typing import Any
from urllib.parse import quote

from starlette.applications import Starlette
from starlette.testclient import TestClient
from tests.fuzzing import main, mutate
from tests.web_server import ADDRESS, LOG, person

from schedlab import simulate
from schedlab.web.server import create_app
from schedlab.web.settings import Settings

SECRET, LONGEST = "hush-hush", 60.0  # seconds of an answer, on a machine that does much else
ODD = (
    *("", "0", "-1", "1e400", "NaN", "null", "true", '"', "{", "}", "[", "]", ",", ":", "\0", "\n", "ä", "9" * 5000),
    *(
        "../",
        "..%2f",
        "%00",
        "%",
        "\\",
        "/",
        "//",
        ".",
        "~",
        "\ud800".encode("utf-8", "replace").decode(),
        "𐍈",
        "\u202e",
    ),
    *("spaces/", "run.json", "Include /etc/passwd\n", "!!python/object:os.system", "&a [*a,*a]", "\n" * 500, "(" * 300),
    *("\\ud800", "{seed}", "x" * 300, "=", "&", "#", ";", "<script>", "-", "--out", "'", "$(id)", "１２"),
)
VALUES: tuple[Any, ...] = (
    *(None, True, 0, -1, 1, 10**12, 10**400, 1e300, -0.0, float("nan"), float("inf"), "", "x", "\ud800", "\0", "{}"),
    *([], {}, [[]], [None], {"": ""}, ["easy"] * 70, "easy" * 600, "../x", "/etc/passwd", "small.swf", "secret", "1d"),
    *("4x2", "pool:8", "999999x999999", "easy:order=sjf", "easy:" + "a=b," * 90, "f(" * 90, "lublin(processors=8)"),
    *("x.py:X", "slurm-real('x')", "{seed}", "2026-01-01", "phases", "1e9d", ["0.7", "0.8"], "random(seed={seed})"),
)
SETUP: dict[str, Any] = {
    "log": "small.swf",
    "cluster": "pool:8",
    "policies": ["easy", "fcfs"],
    "estimate": "limit",
    "observers": [],
    "overrun": "kill",
    "until": "",
    "clean": "pwa",
    "missing_limit": "runtime",
    "reasons": True,
    "name": "n",
}
MODEL = {"model": "lublin(processors=8)", "jobs": 20, "seed": 1, "cluster": "4x2", "policies": ["easy"], "load": 0.7}
SWEEP = {"setup": SETUP, "name": "s", "repetitions": 2, "baseline": "easy", "vary": "cluster", "values": ["pool:9"]}
SMALL = {"machine": "8", "policies": ["easy"], "estimate": "limit", "overrun": "kill", "jobs": [[0, 4, 100, 100, ""]]}
KEYS = {"backfill": "easy", "keys": {"order": "sjf", "depth": "3"}}
BODIES: tuple[tuple[str, Any], ...] = (
    *(("/api/work", {"setup": one, "pace": 3600}) for one in (SETUP, MODEL, SWEEP)),
    *(("/api/command", one) for one in ({"setup": SETUP}, {"setup": MODEL}, {"study": SWEEP})),
    *(("/api/inspect", {"setup": one}) for one in (SETUP, MODEL)),
    *(("/api/policy", one) for one in ({"text": "easy:order=sjf,place=best-fit"}, KEYS)),
    *(("/api/machine", {"cluster": one}) for one in ("64x4", "pool:8")),
    *(("/learn/own/play", SMALL), ("/learn/own/swf", SMALL)),
    *(("/api/work/ID/pace", {"pace": 1}), ("/api/work/ID/cancel", {}), ("/api/work/ID/again", {}), ("/api/sample", {})),
    *(("/api/example", {}), ("/api/study/again?study=NAME", {})),
)
PLACES = (
    *(
        "/",
        "/setup",
        "/work",
        "/studies",
        "/compare",
        "/explore?run=NAME",
        "/learn",
        "/learn/own",
        "/learn/lesson/NAME",
    ),
    *("/api/files", "/api/things", "/api/work", "/api/work/ID", "/api/figures", "/static/dom.js", "/static/NAME"),
    *("/api/files/NAME", "/api/files/NAME?show", "/api/study?study=NAME", "/api/compare?run=NAME&run=run"),
    *("/api/classes?run=run&by=NAME", "/api/explore/facts?run=NAME", "/api/explore/0/jobs?run=NAME"),
    *("/api/explore/0/NAME?run=run", "/api/explore/ID/chart?run=run&run=NAME", "/api/work/ID/events", "/NAME"),
)
HEADERS = {
    "accept-encoding": ("gzip", "identity", "", "*"),
    "if-none-match": ("*", '"x"', "W/", ", " * 500),
    "range": ("bytes=0-", "bytes=5-1", "bytes=-1", "bytes=0-0,2-2,4-4", "bytes=a", "x=1", "bytes=" + "0-0," * 200),
    "host": ("127.0.0.1:8765", "evil.example", "[", "127.0.0.1:99999999", "localhost", "[::1]:8765", ":"),
    "origin": (ADDRESS, "null", "http://evil.example"),
    "content-type": ("application/json", "text/plain", "application/json; charset=utf-16", "multipart/form-data"),
    "cookie": ("schedlab_space_8765=x", "=;;=", "schedlab_space_8765=" + "a" * 32, ";" * 2000),
    "if-modified-since": ("x", "Thu, 01 Jan 1970 00:00:00 GMT"),
}
CONF = b"ClusterName=c\nNodeName=n[1-4] CPUs=4 RealMemory=100\nPartitionName=p Nodes=ALL Default=YES MaxTime=60\n"
TOML = b'name = "m"\n[[nodes]]\ncount = 4\ncores = 8\n'
FILES: dict[str, bytes] = {
    "a.swf": LOG.encode(),
    "b.swf.gz": gzip.compress(LOG.encode()),
    "c.csv": b"id,submit,runtime,cores\n1,0,10,2\n",
    "d.conf": CONF,
    "e.toml": TOML,
    "f.json": b'{"jobs": [{"id": "1", "subtime": 0, "res": 1}], "nb_res": 4}',
    "g.yaml": b"apiVersion: v1\nkind: Node\nmetadata: {name: n1}\nstatus: {capacity: {cpu: '4'}}\n",
    "h.xml": b"<platform version='4.1'><zone id='z' routing='Full'><host id='a' speed='1f'/></zone></platform>",
    "i.txt": b"JobID|Submit|Start|End|AllocCPUS|State\n1|2026-01-01T00:00:00|U|U|1|COMPLETED\n",
    "run.json": b"{}",
    "j.toml": b'name = "s"\n[workload]\nlog = "../../small.swf"\n[run]\ncluster = "pool:8"\npolicy = "easy"\n',
}


def changed(document: Any, chance: random.Random, often: float) -> Any:
    """Some values of it are others."""
    if chance.random() < often:
        return chance.choice(VALUES)
    if isinstance(document, dict):
        found = {key: changed(value, chance, often) for key, value in document.items() if chance.random() > often / 2}
        more = chance.random() < often
        return found | ({chance.choice((*ODD, "\ud800", *SETUP, *MODEL)): chance.choice(VALUES)} if more else {})
    if isinstance(document, list):
        return [changed(value, chance, often) for value in document] * (1 + (chance.random() < often))
    return document


def named(place: str, names: list[str], ids: list[str], chance: random.Random) -> str:
    name, id = chance.choice(names), chance.choice([*ids, "x", "0", "-1", "9" * 400])
    if chance.random() < 0.2:
        name = mutate(name.encode(), chance, ODD).decode(errors="replace")
    return place.replace("NAME", quote(name, safe=chance.choice(("", "/")))).replace("ID", quote(id))


class World:
    """A folder that is served, with what nobody may read beside it and in it."""

    def __init__(self, top: Path) -> None:
        self.folder = top / "served"
        self.folder.mkdir()
        (top / "secret.txt").write_text(SECRET)
        (self.folder / ".hidden").write_text(SECRET)
        (self.folder / "link").symlink_to(top / "secret.txt")
        (self.folder / "small.swf").write_text(LOG)
        simulate(str(self.folder / "small.swf"), cluster="pool:8", policy="easy").save(self.folder / "run")
        self.app: Starlette = create_app(self.folder, Settings(at_once=0, largest_upload=1 << 20))
        self.top = top
        self.other = person(self.app)
        self.other.put("/api/files/hush.swf", content=SECRET.encode())
        self.before = self.told()

    def told(self) -> dict[str, tuple[int, int]]:
        """What is not the person's that asks."""
        [others] = {path for path in (self.folder / "spaces").iterdir() if (path / "hush.swf").is_file()}
        roots = [self.top / "secret.txt", *(each for each in self.folder.rglob("*") if "spaces" not in each.parts)]
        return {
            str(path): (path.lstat().st_size, path.lstat().st_mtime_ns)
            for path in [*roots, *others.rglob("*")]
            if "__pycache__" not in path.parts
        }


@functools.cache
def world(top: Path) -> World:
    return World(top)


def fuzz(chance: random.Random, top: Path) -> bool:
    """A dozen requests of somebody; whether the last one was answered as it was wanted."""
    served = world(top)
    client, sent = person(served.app), list[Any]()
    names = ["small.swf", "run", "run/run.json", "link", ".hidden", "spaces", "nothing", "comparison"]
    ids = ["ab12"]
    good = False
    try:
        for _ in range(12):
            method, path, body, headers = message(chance, names, ids)
            sent.append((method, path, body, headers))
            begun = time.monotonic()
            answer = asked(client, method, path, body, headers)
            if answer is None:
                continue
            took, good = time.monotonic() - begun, answer.status_code < 400
            assert took < LONGEST, f"{took:.1f} s"
            check(answer, method)
            if good and answer.headers.get("content-type") == "application/json" and method != "HEAD":
                found = answer.json()
                names += [found["name"]] if isinstance(found, dict) and isinstance(found.get("name"), str) else []
                ids += [found["id"]] if isinstance(found, dict) and isinstance(found.get("id"), str) else []
        assert served.told() == served.before
    except Exception:
        print(f"failed after {sent!r}", file=sys.stderr)
        raise
    return good


def message(chance: random.Random, names: list[str], ids: list[str]) -> tuple[str, str, bytes | None, dict[str, str]]:
    headers = {name: chance.choice(values) for name, values in HEADERS.items() if chance.random() < 0.04}
    which = chance.random()
    if which < 0.3:
        name = chance.choice([*FILES])
        content = mutate(FILES[name], chance, ODD)
        odd = mutate(name.encode(), chance, ODD).decode(errors="replace") if chance.random() < 0.1 else name
        return "PUT", f"/api/files/{quote(odd, safe='')}{chance.choice(('', '?replace'))}", content, headers
    if which < 0.7:
        place, document = chance.choice(BODIES)
        document = changed(document, chance, chance.choice((0, 0.03, 0.1, 0.3)))
        if isinstance(document, dict) and chance.random() < 0.7:
            _use(document, chance, names)
        content = mutate(json.dumps(document).encode(), chance, ODD, (0, 0, 0, 0, 0, 1, 2))
        return "POST", named(place, names, ids, chance), content, {"content-type": "application/json", **headers}
    method = chance.choice(("GET", "GET", "GET", "GET", "HEAD", "DELETE", "OPTIONS", "TRACE", "PATCH", "POST", "PUT"))
    return method, named(chance.choice(PLACES), names, ids, chance), None, headers


def _use(document: dict[str, Any], chance: random.Random, names: list[str]) -> None:
    """What was sent before, as a log or a machine."""
    for inner in (document, *(each for each in document.values() if isinstance(each, dict))):
        for key in ("log", "cluster", "model"):
            if key in inner:
                inner[key] = chance.choice([inner[key], *names[8:], *names[8:]])


def asked(client: TestClient, method: str, path: str, body: bytes | None, headers: dict[str, str]) -> Any:
    if "/events" in path and method in ("GET", "HEAD"):
        return None  # a stream without an end
    try:
        return client.request(method, path, content=body, headers={k: v.encode() for k, v in headers.items()})
    except UnicodeError:  # of the client itself
        return None


def check(answer: Any, method: str) -> None:
    status, text = answer.status_code, answer.text if method != "HEAD" else ""
    assert status < 500 or status == 507, (status, text)
    assert SECRET not in text and "Traceback" not in text
    if status >= 400 and method != "HEAD":
        found = json.loads(text)
        assert set(found) == {"error", "hint"} and all(isinstance(each, str) for each in found.values()), found


if __name__ == "__main__":
    main(fuzz, __doc__)
