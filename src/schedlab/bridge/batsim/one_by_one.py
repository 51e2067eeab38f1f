"""Nobody decides (`--no-sched`): jobs run one after the other, each alone on the first hosts."""

from __future__ import annotations

from collections import deque

import msgspec

from schedlab.bridge.batsim.resources import hosts_text


class _Data(msgspec.Struct, gc=False):
    job_id: str = ""
    job: dict[str, msgspec.Raw] = {}


class _Event(msgspec.Struct, gc=False):
    type: str
    data: _Data


class _Message(msgspec.Struct, gc=False):
    now: float
    events: list[_Event]


_reader = msgspec.json.Decoder(_Message)


class OneByOne:
    """Answers as a scheduler at the other end of a link would."""

    def __init__(self) -> None:
        self._waiting: deque[tuple[str, int]] = deque()  # jobs, and how many hosts they want
        self._busy = False

    def exchange(self, message: bytes) -> bytes:
        told = _reader.decode(message)
        for event in told.events:
            if event.type == "JOB_SUBMITTED":
                hosts = msgspec.json.decode(event.data.job["res"], type=int)
                self._waiting.append((event.data.job_id, hosts))
            elif event.type == "JOB_COMPLETED":
                self._busy = False
        answers = []
        if self._waiting and not self._busy:
            job, hosts = self._waiting.popleft()
            self._busy = True
            data = {"job_id": job, "alloc": hosts_text(range(hosts))}
            answers.append({"timestamp": told.now, "type": "EXECUTE_JOB", "data": data})
        return msgspec.json.encode({"now": told.now, "events": answers})

    def exchange_last(self, message: bytes, patience: float) -> bytes:
        return self.exchange(message)

    def close(self) -> None:
        pass
