"""Whose turn it is."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
from starlette.responses import PlainTextResponse

from schedlab.web.errors import RefusedError
from schedlab.web.turns import Kinds, Turns, taking


def asked(turns: Kinds, who: str) -> Any:
    return SimpleNamespace(
        app=SimpleNamespace(state=SimpleNamespace(turns=turns)), state=SimpleNamespace(space=SimpleNamespace(id=who))
    )


def test_who_has_the_fewest_is_next() -> None:
    async def run() -> None:
        turns, order, done = Turns(each=2, all=2, waiting=2), list[str](), asyncio.Event()

        async def take(who: str) -> None:
            async with turns.turn(who):
                order.append(who)
                await done.wait()

        tasks = []
        for who in ("a", "a", "a", "a", "b"):
            tasks.append(asyncio.create_task(take(who)))
            await asyncio.sleep(0)
        with pytest.raises(RefusedError, match="4 requests of yours are under way already"):
            await take("a")
        assert order == ["a", "a"]
        done.set()
        await asyncio.gather(*tasks)
        assert order == ["a", "a", "b", "a", "a"]

    asyncio.run(run())


def test_an_answer_counts_until_it_is_taken() -> None:
    """So what lies in memory for somebody who reads slowly has a bound."""
    taken, wait = list[bytes](), asyncio.Event()

    async def send(message: Any) -> None:
        await wait.wait()
        taken.append(message.get("body", b""))

    async def run() -> None:
        turns = Kinds(answers=Turns(each=1, all=9, waiting=1))
        handled = taking("moment")(lambda _request: PlainTextResponse("x"))
        answer = asyncio.create_task((await handled(asked(turns, "a")))({"type": "http"}, None, send))
        second = asyncio.create_task(handled(asked(turns, "a")))
        await asyncio.sleep(0.05)
        assert not second.done()
        with pytest.raises(RefusedError, match="2 requests of yours"):
            await handled(asked(turns, "a"))
        assert await handled(asked(turns, "b"))  # another one has his
        wait.set()
        await asyncio.gather(answer, second)
        assert taken == [b"", b"x"]

    asyncio.run(run())
