"""Requests that would take the server from everybody else, against a running one: each is refused or bounded, in
kube-apiserver's words where it has them, and somebody else is answered meanwhile."""

from __future__ import annotations

import json
import socket
import time
from contextlib import suppress
from typing import Any

import pytest
from tests.kube_cluster import Cluster, pod
from tests.kube_server import Running, answer, hangs_up, peak_memory, request, running, whole_answer

from schedlab.bridge.kubernetes.patches import JSON_PATCH, MERGE_PATCH, PATCHES, STRATEGIC_MERGE_PATCH
from schedlab.bridge.kubernetes.transport import Limits

PODS = "/api/v1/namespaces/default/pods"
MAPS = "/api/v1/namespaces/default/configmaps"
QUICK = Limits(head=0.3, idle=0.6, request=0.3, look=0.1)
MEGABYTE = 1_000_000


def patch(server: Running, path: str, body: Any, kind: str = JSON_PATCH) -> tuple[int, Any]:
    return server.ask("PATCH", path, body, Content_Type=kind)


# Patches.


def test_copies_that_double_the_object() -> None:
    """22 operations in 1.2 kB would be 4 million objects; the words are those of evanphx/json-patch."""
    operations = [{"op": "copy", "from": "", "path": f"/metadata/annotations/a{n}"} for n in range(22)]
    with running() as server:
        assert server.ask("POST", MAPS, {"metadata": {"name": "a", "annotations": {}}})[0] == 201
        before = peak_memory()
        with server.others_are_served():
            code, told = patch(server, f"{MAPS}/a", operations)
        assert (code, told["reason"]) == (422, "Invalid")
        assert "the accumulated size increase of copy is" in told["message"]
        assert told["message"].endswith("exceeding the limit 3145728")
        assert peak_memory() - before < 100 * MEGABYTE
        assert server.ask("GET", f"{MAPS}/a")[1]["metadata"]["annotations"] == {}


def test_more_operations_than_kube_apiserver_takes() -> None:
    operations = [{"op": "test", "path": "/kind", "value": "ConfigMap"}] * 10_001
    with running() as server:
        server.ask("POST", MAPS, {"metadata": {"name": "a"}})
        code, told = patch(server, f"{MAPS}/a", operations)
        assert (code, told["reason"]) == (413, "RequestEntityTooLarge")
        words = "The allowed maximum operations in a JSON patch is 10000, got 10001"
        assert told["message"] == f"Request entity too large: {words}"
        assert patch(server, f"{MAPS}/a", operations[1:])[0] == 200


def test_lists_whose_elements_all_move_for_each_operation() -> None:
    data = {"metadata": {"name": "a"}, "data": [0] * 400_000}
    with running() as server:
        assert server.ask("POST", MAPS, data)[0] == 201
        for operation in ({"op": "add", "path": "/data/0", "value": 1}, {"op": "remove", "path": "/data/0"}):
            with server.others_are_served():
                code, told = patch(server, f"{MAPS}/a", [operation] * 10_000)
            assert code == 413 and "elements of lists" in told["message"]


@pytest.mark.parametrize(
    "elements",
    [
        [{"type": f"t{n}", "status": "True"} for n in range(30_000)],  # all of them others
        [{"type": "t1", f"x{n}": "1"} for n in range(30_000)],  # all of them one and the same
        [{"type": f"t{n}", "$patch": "delete"} for n in range(30_000)],
    ],
)
def test_a_strategic_merge_of_long_lists(elements: list[dict[str, str]]) -> None:
    """Merged by key in time that is proportional to both; a second time, too."""
    with running() as server:
        for number in range(2):
            with server.others_are_served():
                code, told = patch(server, "/api/v1/nodes/n1/status", {"status": {"conditions": elements}}, PATCHES[2])
            assert code == 200, (number, told)


@pytest.mark.parametrize(
    "inner",
    [
        {"env": [{"name": "e%d"}]},
        {"finalizers": ["e%d"]},
        {"$deleteFromPrimitiveList/long": ["e%d"]},
        {"ports": [{"containerPort": "%d"}]},
    ],
)
def test_a_strategic_merge_that_names_one_list_again_and_again(inner: dict[str, Any]) -> None:
    """Each time it would be looked through; a list, a large key."""
    long = {"name": "v", "long": list(range(50_000)), "ports": [{"containerPort": list(range(50_000))}]}
    body = {"metadata": {"name": "a"}, "volumes": [long]}
    elements = json.dumps([{"name": "v", **inner}] * 20_000)
    data = '{"volumes": %s}' % (elements.replace("%d", "%s") % tuple(range(20_000)))
    with running() as server:
        assert server.ask("POST", MAPS, body)[0] == 201
        with server.others_are_served():
            code, told = patch(server, f"{MAPS}/a", data.encode(), STRATEGIC_MERGE_PATCH)
        assert code in (200, 413) and (code == 200 or "elements of lists" in told["message"])


def test_an_object_that_etcd_would_not_take() -> None:
    """etcd takes 1.5 MiB; a body of kube-apiserver may have 3."""
    with running() as server:
        code, told = server.ask("POST", MAPS, {"metadata": {"name": "a"}, "data": {"x": "y" * 1_600_000}})
        assert (code, told["message"]) == (413, "etcdserver: request is too large")
        assert server.ask("POST", MAPS, {"metadata": {"name": "a"}, "data": {"x": "y" * 1_500_000}})[0] == 201
        for kind, body in (
            (MERGE_PATCH, {"data": {"z": "y" * 100_000}}),
            (STRATEGIC_MERGE_PATCH, {"data": {"z": "y" * 100_000}}),
            (JSON_PATCH, [{"op": "copy", "from": "/data", "path": "/more"}]),
        ):
            assert patch(server, f"{MAPS}/a", body, kind)[0] == 413
        code, told = server.ask("POST", MAPS, b'{"x": "' + b"y" * 3_200_000)
        assert (code, told["message"]) == (413, "Request entity too large: limit is 3145728")


@pytest.mark.parametrize("depth", [150, 900, 100_000])
@pytest.mark.parametrize("brackets", ["[]", "{}"])
def test_objects_that_are_nested_deeply(depth: int, brackets: str) -> None:
    inner = "[" * depth + "]" * depth if brackets == "[]" else '{"a":' * depth + "1" + "}" * depth
    body = b'{"metadata": {"name": "a"}, "data": %s}' % inner.encode()
    with running() as server:
        for method, path, kind in (
            ("POST", MAPS, "application/json"),
            *(("PATCH", f"{MAPS}/b", kind) for kind in (MERGE_PATCH, STRATEGIC_MERGE_PATCH)),
        ):
            server.ask("POST", MAPS, {"metadata": {"name": "b"}})
            sent = body if method == "POST" else body.replace(b'"name": "a"', b'"labels": {}')
            code, told = server.ask(method, path, sent, Content_Type=kind)
            assert code == 400 and "nested" in told["message"]
        deeper = [{"op": "add", "path": "/data" + "/a" * n, "value": {}} for n in range(min(depth, 1000))]
        assert patch(server, f"{MAPS}/b", deeper)[0] == 400
        assert server.ask("GET", MAPS, Accept="application/json;as=Table;v=v1;g=meta.k8s.io")[0] == 200


@pytest.mark.parametrize("number", ["1e999", "-1e999", "9" * MEGABYTE, "1" + "0" * 400 + ".0"])
def test_numbers_that_are_none(number: str) -> None:
    with running() as server, server.others_are_served():
        body = b'{"metadata": {"name": "a"}, "data": %s}' % number.encode()
        assert server.ask("POST", MAPS, body)[0] == 400


@pytest.mark.parametrize(
    "amount", ["1e999999999", "9" * MEGABYTE, "1" + "0" * 60 + "E", "0." + "0" * 60 + "1", "1e999"]
)
def test_quantities(amount: str) -> None:
    with running() as server, server.others_are_served():
        code, told = server.ask("POST", PODS, pod("a", cpu=amount))
        assert code in (201, 422)
        assert len(json.dumps(told)) < 3000 + len(amount) * (code == 201)
        assert server.ask("GET", PODS, Accept="application/json;as=Table;v=v1;g=meta.k8s.io")[0] == 200


def test_many_taints_and_many_tolerations() -> None:
    """20,000 of each: they are looked up, not compared with one another."""
    tolerations = [{"key": f"k{number}", "operator": "Exists"} for number in range(20_000)]
    taints = [{"key": f"k{number}", "effect": "NoExecute"} for number in reversed(range(20_000))]
    with running() as server, server.others_are_served():
        assert server.ask("POST", PODS, pod("a", tolerations=tolerations))[0] == 201
        assert patch(server, "/api/v1/nodes/n1", {"spec": {"taints": taints}}, MERGE_PATCH)[0] == 200
        binding = {"metadata": {"name": "a"}, "target": {"name": "n1"}}
        assert server.ask("POST", f"{PODS}/a/binding", binding)[0] == 201
        assert patch(server, f"{PODS}/a", {"metadata": {"labels": {"x": "1"}}}, MERGE_PATCH)[0] == 200


def test_an_owner_of_many_that_wait() -> None:
    """Each that goes would have all others looked at."""
    with running() as server:
        uid = server.ask("POST", MAPS, {"metadata": {"name": "a"}})[1]["metadata"]["uid"]
        owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "a", "uid": uid, "blockOwnerDeletion": True}
        for number in range(6_000):
            waits = {"finalizers": ["x.io/one"]} if number % 2 else {}
            body = {"metadata": {"name": f"b{number}", "ownerReferences": [owner], **waits}}
            assert server.cluster.ask("POST", MAPS, body)[0] == 201
        with server.others_are_served():
            assert server.ask("DELETE", f"{MAPS}/a", {"propagationPolicy": "Foreground"})[0] == 200
            while len(server.ask("GET", f"{MAPS}?limit=5000")[1]["items"]) > 3_001:
                time.sleep(0.05)
        assert server.cpu() < 10


def test_prefixes_of_names_are_as_long_as_names() -> None:
    with running() as server:
        assert server.ask("POST", MAPS, {"metadata": {"generateName": "a" * 253}})[0] == 201
        code, told = server.ask("POST", MAPS, {"metadata": {"generateName": "a" * MEGABYTE}})
        assert code == 422 and "metadata.generateName: Too long" in told["message"]


# Selectors.


@pytest.mark.parametrize(
    "text",
    [
        *("a," * 30_000, "a" * 60_000, "a" + "." * 60_000 + "!", "(" * 60_000, ",(" * 30_000, "a in (" + "b," * 29_000),
        *("a%20" * 15_000, "a in (" * 10_000, "!" * 60_000, "=" * 60_000, "a=" + "-" * 60_000, "a/" * 30_000),
        *("%09" * 20_000, ",".join(f"!k{n}" for n in range(9_000)), ",".join(f"k{n}!=v" for n in range(8_000))),
    ],
)
def test_label_selectors_of_sixty_kilobytes(text: str) -> None:
    cluster = Cluster("n1")
    for number in range(2_000):
        cluster.add_pod(f"p{number}")
    with running(cluster) as server, server.others_are_served():
        code, told = server.ask("GET", f"{PODS}?limit=1&labelSelector={text}")
        assert code in (200, 400)
        assert len(json.dumps(told)) < 5000


@pytest.mark.parametrize("sign", ["=", "!="])
@pytest.mark.parametrize("text", ["status.phase{}x%d", "\\\\{}%d", "{}%d", "status.phase{}\\\\,%d"])
def test_field_selectors_of_sixty_kilobytes(text: str, sign: str) -> None:
    terms = ",".join(text.format(sign) % n for n in range(3_000))
    cluster = Cluster("n1")
    for number in range(2_000):
        cluster.add_pod(f"p{number}")
    with running(cluster) as server, server.others_are_served():
        code, told = server.ask("GET", f"{PODS}?limit=1&fieldSelector={terms}")
        assert code in (200, 400)
        assert len(json.dumps(told)) < 5000


def test_other_parameters() -> None:
    with running() as server, server.others_are_served():
        for query, code in (
            ("limit=" + "9" * 10_000, 400),
            ("limit=999999999999999999", 200),
            ("limit=-1", 400),
            ("resourceVersion=999999999999999999", 504),
            ("resourceVersion=" + "9" * 10_000, 400),
            ("resourceVersion=5&resourceVersionMatch=Exact", 200),
            ("continue=" + "A" * 60_000, 400),
            ("continue=WzEsIiIsIiJd", 200),
            ("continue=Wy05OTk5LCIiLCIiXQ==", 410),  # [-9999,"",""]
            ("continue=Wzk5OTk5OTk5OTk5OTk5OTk5OTk5OTksIiIsIiJd", 400),  # [99999999999999999999999,"",""]
            ("&".join(f"a{n}" for n in range(5_000)), 400),
            ("watch=1&timeoutSeconds=999999999999999999", 200),
        ):
            with server.connect() as client:
                client.sendall(request("GET", f"/api/v1/nodes?{query}"))
                assert int(client.recv(12).split()[1]) == code, query


# Slow and many connections.


def test_who_does_not_go_on_is_cut_off() -> None:
    """Heads that come byte by byte, bodies that do not come, connections on which nothing is asked; a slow one never
    takes longer because it sends a byte now and then."""
    with running(limits=QUICK) as server:
        silent, slow, body, idle = (server.connect() for _ in range(4))
        idle.sendall(request("GET", "/healthz"))
        assert answer(idle) == (200, "ok")
        body.sendall(b"POST %b HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{" % PODS.encode())
        with server.others_are_served():
            for byte in b"GET / HTTP/1.1\r\nX: " + b"x" * 100:
                try:
                    slow.send(bytes([byte]))
                except OSError:
                    break
                time.sleep(0.02)
            else:
                raise AssertionError("a head may take as long as it likes")
            assert hangs_up(silent)
            code, told = answer(body)
            assert (code, told["reason"]) == (408, "Timeout") and hangs_up(body)
            assert hangs_up(idle)
        for one in (silent, slow, body, idle):
            one.close()


def test_who_watches_is_not_cut_off() -> None:
    with running(limits=QUICK) as server, server.connect() as client:
        client.sendall(request("GET", f"{PODS}?watch=1"))
        time.sleep(1.5)
        assert server.ask("POST", PODS, pod("a"))[0] == 201
        data = b""
        while b'"ADDED"' not in data:
            data += client.recv(65536)


def test_many_slow_connections() -> None:
    """The oldest of them give way: who comes is served, and there are never more than a number of them."""
    with running(limits=Limits(connections=50)) as server:
        clients = []
        with server.others_are_served():
            for number in range(200):
                clients.append(server.connect())
                clients[-1].sendall(b"GET /healthz HTTP/1.1\r\nX: " if number % 2 else b"")
                assert len(server.server.connections) <= 51
        for client in clients:
            client.close()


def test_many_watches() -> None:
    with running(limits=Limits(connections=50, watches=30)) as server:
        clients = [server.connect() for _ in range(40)]
        codes = []
        with server.others_are_served():
            for client in clients:
                client.sendall(request("GET", f"{PODS}?watch=1"))
                codes.append(int(client.recv(12).split()[1]))
        assert codes == [200] * 30 + [429] * 10
        for client in clients:
            client.close()


def test_bodies_that_never_end_have_a_bound_together() -> None:
    """Small requests are read nevertheless."""
    with running(limits=Limits(receiving=10 * MEGABYTE)) as server:
        clients = [server.connect() for _ in range(10)]
        head = b"POST %b HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3000000\r\n\r\n" % MAPS.encode()
        codes = []
        with server.others_are_served():
            for client in clients:
                client.settimeout(1)
                try:
                    client.sendall(head + b"x" * 2 * MEGABYTE)
                    codes.append(answer(client)[0])
                except TimeoutError:
                    codes.append(0)
            assert server.ask("POST", PODS, pod("a"))[0] == 201
            assert server.server.receiving < 11 * MEGABYTE
        assert set(codes[:4]) == {0} and codes.count(429) >= 5
        for client in clients:
            client.close()


def test_who_asks_and_does_not_read() -> None:
    """Ten thousand requests in one piece: their answers are made when they can be sent, one at a time."""
    cluster = Cluster("n1")
    for number in range(500):
        cluster.add_pod(f"p{number}")
    with running(cluster, QUICK) as server, server.connect() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        before, work = peak_memory(), server.cpu()
        with server.others_are_served():
            client.settimeout(2)
            with suppress(TimeoutError, ConnectionError):
                client.sendall(request("GET", PODS) * 10_000)
            assert hangs_up(client) or server.cpu() - work < 5
        assert peak_memory() - before < 100 * MEGABYTE


def test_ten_thousand_requests_in_one_piece() -> None:
    """All are answered, in their order, and others in between."""
    with running() as server, server.connect() as client, server.others_are_served():
        client.sendall(request("GET", "/version") + request("GET", "/healthz") * 9_998)
        client.sendall(request("GET", "/nothing"))
        data = b""
        while data.count(b"HTTP/1.1 ") < 10_000 or not data.endswith(b"}"):
            data += client.recv(1 << 20)
        assert data.count(b"HTTP/1.1 200 OK") == 9_999 and data.startswith(b"HTTP/1.1 200")
        assert data.rpartition(b"HTTP/1.1 ")[2].startswith(b"404")


def test_watches_that_nobody_reads() -> None:
    """A hundred watches, and changes of a megabyte: what they have to be told is kept once, and has an end."""
    with running(limits=Limits(unread=20 * MEGABYTE)) as server:
        clients = [server.connect() for _ in range(100)]
        for client in clients:
            client.sendall(request("GET", f"{MAPS}?watch=1"))
            assert client.recv(12).endswith(b"200")
        before = peak_memory()
        with server.others_are_served():
            assert server.ask("POST", MAPS, {"metadata": {"name": "a"}})[0] == 201
            for number in range(40):
                body = {"metadata": {"name": "a"}, "data": {"x": str(number) * (MEGABYTE // len(str(number)))}}
                assert server.ask("PUT", f"{MAPS}/a", body)[0] == 200
        assert peak_memory() - before < 700 * MEGABYTE
        assert not server.server.watches
        for client in clients:
            client.close()


def fill(server: Running, maps: int) -> None:
    """Of a megabyte each."""
    for number in range(maps):
        body = {"metadata": {"name": f"a{number}"}, "data": {"x": "y" * MEGABYTE}}
        assert server.cluster.ask("POST", MAPS, body)[0] == 201


def test_many_who_ask_for_much_and_do_not_read() -> None:
    """Large answers have a bound together; small ones are given nevertheless."""
    with running(limits=Limits(sending=100 * MEGABYTE)) as server:
        fill(server, 40)
        assert server.ask("GET", MAPS)[0] == 200
        before = peak_memory()
        clients, codes = [], []
        with server.others_are_served():
            for _ in range(30):
                clients.append(server.connect())
                clients[-1].sendall(request("GET", MAPS))
                codes.append(int(clients[-1].recv(12).split()[1]))
        assert codes[:2] == [200, 200] and codes.count(429) > 20
        assert peak_memory() - before < 400 * MEGABYTE
        for client in clients:
            client.close()


@pytest.mark.parametrize("query", ["watch=1", "watch=1&resourceVersion=1"])
def test_many_who_watch_much_from_its_beginning_and_do_not_read(query: str) -> None:
    """What has been is written when it is read."""
    with running() as server:
        fill(server, 40)
        assert server.ask("GET", MAPS)[0] == 200
        before = peak_memory()
        clients = []
        with server.others_are_served():
            for _ in range(50):
                clients.append(server.connect())
                clients[-1].sendall(request("GET", f"{MAPS}?{query}"))
                assert clients[-1].recv(12).endswith(b"200")
        assert peak_memory() - before < 500 * MEGABYTE
        with clients[0] as reader:
            data = 0
            while data < 40 * MEGABYTE:
                data += len(reader.recv(MEGABYTE))
        for client in clients:
            client.close()


def test_tables_of_watches_are_made_once() -> None:
    table = "application/json;as=Table;v=v1;g=meta.k8s.io"
    with running() as server:
        clients = [server.connect() for _ in range(100)]
        for client in clients:
            client.sendall(request("GET", f"{MAPS}?watch=1&includeObject=Object", Accept=table))
            assert client.recv(12).endswith(b"200")
        before, work = peak_memory(), server.cpu()
        with server.others_are_served():
            for number in range(5):
                body = {"metadata": {"name": f"a{number}"}, "data": {"x": "y" * MEGABYTE}}
                assert server.ask("POST", MAPS, body)[0] == 201
        assert peak_memory() - before < 300 * MEGABYTE
        assert server.cpu() - work < 5
        for client in clients:
            client.close()


# Browsers.


@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "127.0.0.1.evil.example:80"},
        {"Host": "10.1.2.3"},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},
    ],
)
@pytest.mark.parametrize("content_type", ["application/json", ""])
def test_pages_of_others_are_not_answered(method: str, headers: dict[str, str], content_type: str) -> None:
    with running() as server:
        path = f"{PODS}/a" if method == "DELETE" else PODS
        server.cluster.add_pod("a")
        body = pod("b") if method == "POST" else None
        code, told = server.ask(method, path, body, **{"Content_Type": content_type, **headers})
        assert code == (421 if "Host" in headers else 403) and told["kind"] == "Status"
        assert server.ask("GET", PODS)[1]["items"][0]["metadata"]["name"] == "a"


@pytest.mark.parametrize(
    "host", ["127.0.0.1:80", "localhost", "LOCALHOST:1", "[::1]:80", "kubernetes.docker.internal:6443"]
)
def test_addresses_of_the_server(host: str) -> None:
    with running(names=["kubernetes.docker.internal"]) as server:
        assert server.ask("GET", PODS, Host=host)[0] == 200
        assert server.ask("POST", PODS, pod("a"), Host=host, Content_Type="")[0] == 201  # as kube-apiserver takes it
        assert server.ask("GET", f"http://{host}/version")[0] == 200  # as proxies are asked
        assert server.ask("GET", "http://evil.example/version")[0] == 421


@pytest.mark.parametrize(
    "head",
    [
        "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: identity\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: +5\r\n\r\nabcde",
        "GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n",
        "GET / HTTP/1.1\r\nHost : localhost\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: localhost\r\n X: folded\r\n\r\n",
        "GET / HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\nHost: localhost\n\n",
        "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: a\r\nContent-Type: b\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n",
    ],
)
def test_requests_that_could_be_read_in_two_ways(head: str) -> None:
    """What follows them is not taken for a request."""
    with running() as server, server.connect() as client:
        client.sendall(head.encode() + request("POST", PODS, pod("smuggled")))
        client.shutdown(socket.SHUT_WR)
        code, told, _ = whole_answer(client)
        assert code == 400 and "Connection: close" in told and hangs_up(client)
        assert server.ask("GET", PODS)[1]["items"] == []


@pytest.mark.parametrize(
    "media", ["text/plain", "multipart/form-data; boundary=x", "application/x-www-form-urlencoded"]
)
def test_media_types_that_pages_may_send_without_being_asked(media: str) -> None:
    with running() as server:
        code, told = server.ask("POST", PODS, pod("a"), Content_Type=media)
        assert (code, told["reason"]) == (415, "UnsupportedMediaType")
        assert "accepted media types include" in told["message"]
        assert patch(server, "/api/v1/nodes/n1", {}, "")[0] == 415


def test_compressed_bodies_are_no_json() -> None:
    import gzip

    with running() as server:
        body = gzip.compress(json.dumps(pod("a")).encode())
        assert server.ask("POST", PODS, body, Content_Encoding="gzip")[0] == 400
