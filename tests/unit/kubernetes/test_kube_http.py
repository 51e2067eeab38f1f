"""HTTP/1.1 as bytes: requests in any pieces, limits, and junk."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedlab.bridge.kubernetes.http import LARGEST_BODY, LARGEST_HEAD, HttpReader, RefusedError, chunk, response_bytes
from schedlab.bridge.kubernetes.messages import Request, Response

POST = (
    b"POST /api/v1/namespaces/default/pods/a/binding?x=1&y=a%20b HTTP/1.1\r\nHost: h\r\n"
    b"Content-Type: application/json\r\nContent-Length: 7\r\n\r\n"
    b'{"a":1}'
)
GET = b"GET /api/v1/pods?watch=true&fieldSelector=status.phase%21%3DFailed HTTP/1.1\r\nHost: h\r\nAccept: a/b\r\n\r\n"
CHUNKED = b"PATCH /p HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
CHUNKED += b"3\r\nabc\r\n2;ext=1\r\nde\r\n0\r\nTrailer: x\r\n\r\n"


def read(data: bytes) -> list[Request]:
    return HttpReader().feed(data)


def test_a_request() -> None:
    (found,) = read(POST)
    assert (found.method, found.path) == ("POST", "/api/v1/namespaces/default/pods/a/binding")
    assert found.query == {"x": "1", "y": "a b"}
    assert found.headers["content-type"] == "application/json" and found.body == b'{"a":1}'


def test_chunks_are_put_together() -> None:
    (found,) = read(CHUNKED)
    assert (found.method, found.body) == ("PATCH", b"abcde")


def test_one_after_the_other_in_one_piece() -> None:
    assert [one.method for one in read(POST + GET + CHUNKED + GET)] == ["POST", "GET", "PATCH", "GET"]


@given(st.lists(st.sampled_from([POST, GET, CHUNKED]), min_size=1, max_size=4), st.data())
def test_pieces_do_not_matter(requests: list[bytes], data: st.DataObject) -> None:
    whole = b"".join(requests)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=8)))
    reader, found = HttpReader(), []
    for begin, end in zip([0, *cuts], [*cuts, len(whole)], strict=True):
        found += reader.feed(whole[begin:end])
    assert found == read(whole) and len(found) == len(requests)


def test_whether_the_connection_stays_open() -> None:
    for head, stays in (
        (b"GET / HTTP/1.1\r\nHost: h\r\n\r\n", True),
        (b"GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", False),
        (b"GET / HTTP/1.0\r\n\r\n", False),
    ):
        reader = HttpReader()
        reader.feed(head)
        assert reader.keeps_alive is stays


def test_a_client_that_waits_for_a_word() -> None:
    reader = HttpReader()
    head, _, body = POST.partition(b"\r\n\r\n")
    assert reader.feed(head + b"\r\nExpect: 100-continue\r\n\r\n") == [] and reader.expects
    assert len(reader.feed(body)) == 1 and not reader.expects


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"junk\r\n\r\n", 400),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400),  # TLS
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost h\r\n\r\n", 400),
        (b"GET /\xff HTTP/1.1\r\nHost: h\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", 400),
        (b"GET / HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nContent-Length: 100000000\r\n\r\n", 413),
        (b"POST / HTTP/1.1\r\nContent-Length: 99999999999999999\r\n\r\n", 413),
        (b"GET /" + b"a" * LARGEST_HEAD + b" HTTP/1.1\r\n\r\n", 431),
        (b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * LARGEST_HEAD, 431),
        (b"GET / HTTP/1.1\r\nA: " + b"b" * LARGEST_HEAD, 431),
        (
            b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
            + b"100000\r\n"
            + b"x" * 0x100000
            + b"\r\n",
            200,
        ),
    ],
)
def test_junk_and_too_much(data: bytes, code: int) -> None:
    if code == 200:
        assert read(data) == []
        return
    with pytest.raises(RefusedError) as caught:
        read(data)
    assert caught.value.error.code == code and caught.value.error.body()["status"] == "Failure"


def test_a_body_in_chunks_has_an_end() -> None:
    reader = HttpReader()
    reader.feed(b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n")
    piece = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
    with pytest.raises(RefusedError) as caught:
        for _ in range(LARGEST_BODY // 0x10000 + 2):
            reader.feed(piece)
    assert caught.value.error.code == 413


def test_whatever_comes_is_a_request_or_refused() -> None:
    chance = random.Random(1)
    for _ in range(3000):
        data = bytearray(chance.choice([POST, GET, CHUNKED]) * chance.randint(1, 2))
        for _ in range(chance.randint(1, 6)):
            place = chance.randrange(len(data))
            data[place : place + chance.randint(0, 3)] = chance.randbytes(chance.randint(0, 3))
        reader = HttpReader()
        try:
            for begin in range(0, len(data), 40):
                for request in reader.feed(bytes(data[begin : begin + 40])):
                    assert request.method.isascii() and isinstance(request.body, bytes)
        except RefusedError as refused:
            assert 400 <= refused.error.code < 500


def test_answers() -> None:
    assert response_bytes(Response(201, b"{}")) == (
        b"HTTP/1.1 201 Created\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
    )
    closing = response_bytes(Response(410, b"{}"), head_only=True, close=True)
    assert closing.endswith(b"Content-Length: 2\r\nConnection: close\r\n\r\n") and b"410 Gone" in closing
    assert chunk(b'{"type":"ADDED"}\n') == b'11\r\n{"type":"ADDED"}\n\r\n'
