"""The server on a socket: watches, large bodies, junk, ports."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Awaitable, Callable
from contextlib import suppress

import pytest
from tests.kube_cluster import Cluster

from schedlab.bridge.kubernetes.kinds import PODS
from schedlab.bridge.kubernetes.transport import Server
from schedlab.model.errors import InputError

Talk = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


def talk(cluster: Cluster, talk: Talk) -> None:
    """Connect to a server of the cluster, and do that."""

    async def both() -> None:
        server = Server(cluster.api)
        port = await server.start()
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        await asyncio.wait_for(talk(reader, writer), 20)
        writer.close()
        await server.stop()
        assert not server.connections

    asyncio.run(both())


async def answer(reader: asyncio.StreamReader) -> tuple[int, bytes]:
    head = await reader.readuntil(b"\r\n\r\n")
    size = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
    return int(head.split()[1]), await reader.readexactly(size)


async def frame(reader: asyncio.StreamReader) -> dict[str, object]:
    size = int(await reader.readline(), 16)
    data = await reader.readexactly(size + 2)
    found: dict[str, object] = json.loads(data) if size else {}
    return found


def test_requests_share_a_connection() -> None:
    async def ask(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for path, code in (("/healthz", 200), ("/api/v1/nodes", 200), ("/nothing", 404)):
            writer.write(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            assert (await answer(reader))[0] == code
        writer.write(b"GET /version HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        assert (await answer(reader))[0] == 200
        assert await reader.read() == b""

    talk(Cluster("n1"), ask)


def test_a_watch_goes_on_until_its_time_is_over() -> None:
    cluster = Cluster("n1")

    async def ask(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"GET /api/v1/pods?watch=1&timeoutSeconds=1 HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert b"chunked" in await reader.readuntil(b"\r\n\r\n")
        cluster.add_pod("a")
        assert (await frame(reader))["type"] == "ADDED"
        cluster.bind("a", "n1")
        assert (await frame(reader))["type"] == "MODIFIED"
        assert await frame(reader) == {}
        writer.write(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")  # the connection is free again
        assert await answer(reader) == (200, b"ok")

    talk(cluster, ask)


def test_who_hangs_up_watches_no_more() -> None:
    cluster = Cluster("n1")
    watches = cluster.store.collection(PODS).watches

    async def ask(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"GET /api/v1/pods?watch=1 HTTP/1.1\r\nHost: localhost\r\n\r\n")
        await reader.readuntil(b"\r\n\r\n")
        assert len(watches) == 1
        writer.close()
        await writer.wait_closed()
        while watches:
            await asyncio.sleep(0.01)

    talk(cluster, ask)


def test_a_hundred_megabytes_are_refused_while_they_are_sent() -> None:
    async def ask(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(
            b"POST /api/v1/namespaces/default/pods HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000000\r\n\r\n"
        )
        for _ in range(100):
            writer.write(b"x" * 1_000_000)
            await writer.drain()
        code, body = await answer(reader)
        assert (code, json.loads(body)["reason"]) == (413, "RequestEntityTooLarge")
        assert await reader.read() == b""

    talk(Cluster(), ask)


@pytest.mark.parametrize("junk", [b"\x16\x03\x01\x02\x00", b"HELO\r\n\r\n", b"\0" * 100_000])
def test_junk_gets_an_answer_and_nobody_else_is_disturbed(junk: bytes) -> None:
    cluster = Cluster("n1")

    async def ask(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        other = await asyncio.open_connection(*writer.get_extra_info("peername"))
        writer.write(junk)
        code, body = await answer(reader)
        assert code == 400 and json.loads(body)["kind"] == "Status"
        other[1].write(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert await answer(other[0]) == (200, b"ok")
        other[1].close()

    talk(cluster, ask)


def test_a_port_that_is_in_use() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]

        async def start() -> None:
            await Server(Cluster().api).start(port=port)

        with pytest.raises(InputError, match=f"cannot listen on 127.0.0.1:{port}"):
            asyncio.run(start())


def test_only_this_machine_is_served() -> None:
    """Another address of it does not answer."""

    async def ask(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        address, port = writer.get_extra_info("peername")
        assert address == "127.0.0.1"
        with suppress(OSError), socket.create_connection(("127.0.0.2", port), timeout=1):
            raise AssertionError("it listens on other addresses, too")

    talk(Cluster(), ask)
