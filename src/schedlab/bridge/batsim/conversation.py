"""Asking and being answered: messages go out when the scheduler has time, what it says is done when it is due."""

from __future__ import annotations

from collections import deque
from heapq import heappop, heappush
from math import inf

import msgspec

from schedlab import _core
from schedlab._core import View
from schedlab.bridge.batsim.decisions import Decisions
from schedlab.bridge.batsim.errors import BatsimError, quoted
from schedlab.bridge.batsim.link import Partner
from schedlab.bridge.batsim.messages import CallMeLater, Said, event, message, read_reply
from schedlab.bridge.batsim.stage import Refused, Stage
from schedlab.model.errors import InputError

MOST_ROUNDS = 10_000  # messages of one instant, and one more for each job that has come or gone in the run


class Conversation:
    def __init__(self, stage: Stage, link: Partner, decisions: Decisions) -> None:
        self._stage, self._link, self._decisions = stage, link, decisions
        self._said: deque[Said] = deque()  # of the last reply, what is not done yet
        self._ready_at = -inf  # until then the scheduler is busy
        self._calls: list[float] = []  # when it wants to be called
        self.last = b""  # its last reply
        self.exchanges = 0

    def busy(self, now: float) -> bool:
        """Whether something is left of what it said, or it has not finished saying it."""
        return bool(self._said) or self._ready_at > max(now, self._stage.told) or bool(self._calls)

    def call(self, now: float) -> None:
        """The calls that are due."""
        while self._calls and self._calls[0] <= now:
            heappop(self._calls)
            self._stage.news.append(event(self._stage.now, b"REQUESTED_CALL"))

    def go_on(self, view: View) -> None:
        """Do what is due, and ask, until there is nothing to ask or the scheduler has no time."""
        stage = self._stage
        again = 0
        # In Batsim notes overtake what a scheduler says to SIMULATION_BEGINS, if it says anything.
        together = bool(self._said) and self.exchanges == 1
        while self._is_ready(view) and (stage.news or stage.later):
            if together or not stage.news:
                self._now_the_later()
            news, stage.news = stage.news, []
            self.ask(view, news)
            self._now_the_later()  # before what comes of its answer
            again += 1
            if again > MOST_ROUNDS + stage.moves:
                said = f"the scheduler has been asked {again:,} times, and time does not pass"
                raise BatsimError(f"at {view.now:.15g} s {said}; its last reply was {quoted(self.last)}")
        self._now_the_later()  # it has no time: when it does, all is told in one message

    def _now_the_later(self) -> None:
        if self._stage.later:
            self._stage.news += self._stage.later
            self._stage.later = []

    def ask(self, view: View, news: list[bytes]) -> None:
        stage = self._stage
        asked = message(stage.now, news)
        for listener in stage.listeners:
            listener.sent(asked)
        self.last = answer = self._link.exchange(asked)
        for listener in stage.listeners:
            listener.received(answer)
        self.exchanges += 1
        reply = read_reply(answer)
        self._ready_at = latest = reply.now  # if that is over, now: batsim-py leaves out parts of seconds
        for said in reply.events:
            if said.timestamp > latest:
                raise self._untimely(said.timestamp)
            self._said.append(said)

    def _untimely(self, time: float) -> BatsimError:
        said = f"the scheduler's reply has a time, {time:.15g} s, that is later than the reply's own time"
        return BatsimError(f"{said}; it is {self._stage.time:.15g} s: {quoted(self.last)}")

    def _is_ready(self, view: View) -> bool:
        said, now = self._said, self._stage.told
        while said:
            if said[0].timestamp > now:
                view.wake_at(said[0].timestamp)
                return False
            self._do(view, said.popleft())
        if self._ready_at > now:
            view.wake_at(self._ready_at)
            return False
        return True

    def _do(self, view: View, said: Said) -> None:
        try:
            if isinstance(said, CallMeLater):
                self._call_later(view, said.data.timestamp)
            else:
                self._decisions.do(view, said)
        except (Refused, _core.DecisionError, InputError) as error:
            asked = quoted(msgspec.json.encode(said))
            why = f"{error.where}: {error.message}" if isinstance(error, InputError) and error.where else str(error)
            why = " ".join(why.split())
            raise BatsimError(f"at {view.now:.15g} s the scheduler asks for what cannot be: {why}; {asked}") from None

    def _call_later(self, view: View, time: float) -> None:
        if time <= self._stage.told:
            raise Refused(f"it wants to be called at {time:.15g} s, and that is not in the future")
        heappush(self._calls, time)
        view.wake_at(time)
