"""Messages of the protocol (Batsim 3 and 4, JSON): events that are told are written, replies are read and checked.

What is told often is put together from bytes, without a detour over Python's dictionaries.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import floor, log10
from typing import Any, TypeAlias

import msgspec

from schedlab.bridge.batsim.errors import BatsimError, quoted

DIGITS = 15  # of numbers that everybody reads as they are

# ---- what is told ----


def text(value: str) -> bytes:
    """A text as JSON, with its quotes."""
    return msgspec.json.encode(value)


def time_text(seconds: float) -> bytes:
    return repr(seconds).encode()


def told_time(seconds: float) -> bytes:
    """In at most 15 digits, and not earlier. RapidJSON reads longer numbers as their neighbours, and batsched gives up
    where it is told a time before the one that it said itself."""
    exact = repr(seconds)
    if len(exact) <= DIGITS + 1:  # with the point
        return exact.encode()
    near = f"{seconds:.{DIGITS}g}"
    if float(near) < seconds:
        unit = 10.0 ** (floor(log10(abs(seconds))) - DIGITS + 1)  # of the last digit
        near = f"{float(near) + unit:.{DIGITS}g}"
    return near.encode()


def event(time: bytes, kind: bytes, data: bytes = b"{}") -> bytes:
    return b'{"timestamp":%b,"type":"%b","data":%b}' % (time, kind, data)


def message(time: bytes, events: Iterable[bytes]) -> bytes:
    return b'{"now":%b,"events":[%b]}' % (time, b",".join(events))


def job_submitted(time: bytes, job: bytes, description: bytes, profile: bytes | None = None) -> bytes:
    more = b"" if profile is None else b',"profile":%b' % profile
    return b'{"timestamp":%b,"type":"JOB_SUBMITTED","data":{"job_id":%b,"job":%b%b}}' % (time, job, description, more)


def job_completed(time: bytes, job: bytes, state: str, returns: int, hosts: str) -> bytes:
    return (
        b'{"timestamp":%b,"type":"JOB_COMPLETED","data":{"job_id":%b,"job_state":"%b","return_code":%d,"alloc":"%b"}}'
        % (time, job, state.encode(), returns, hosts.encode())
    )


def job_killed(time: bytes, jobs: list[str], progress: dict[str, Any]) -> bytes:
    return event(time, b"JOB_KILLED", msgspec.json.encode({"job_ids": jobs, "job_progress": progress}))


def resource_state_changed(time: bytes, hosts: str, state: int) -> bytes:
    data = b'{"resources":"%b","state":"%d"}' % (hosts.encode(), state)
    return event(time, b"RESOURCE_STATE_CHANGED", data)


def consumed_energy(time: bytes, joules: float) -> bytes:
    return event(time, b"ANSWER", b'{"consumed_energy":%b}' % repr(joules).encode())


def notify(time: bytes, **data: Any) -> bytes:
    return event(time, b"NOTIFY", msgspec.json.encode(data))


# ---- what schedulers say ----


class _Event(msgspec.Struct, tag_field="type", gc=False):
    timestamp: float


class IoJob(msgspec.Struct, gc=False, omit_defaults=True):
    alloc: str
    profile_name: str
    profile: dict[str, Any] | None = None


class ExecuteData(msgspec.Struct, gc=False, omit_defaults=True):
    job_id: str
    alloc: str
    mapping: dict[str, int | str] | None = None
    storage_mapping: dict[str, int] | None = None
    additional_io_job: IoJob | None = None


class OneJob(msgspec.Struct, gc=False):
    job_id: str


class SomeJobs(msgspec.Struct, gc=False):
    job_ids: list[str]


class CallData(msgspec.Struct, gc=False):
    timestamp: float


class RegisterJobData(msgspec.Struct, gc=False):
    job_id: str
    job: msgspec.Raw


class RegisterProfileData(msgspec.Struct, gc=False):
    workload_name: str
    profile_name: str
    profile: dict[str, Any]


class StateData(msgspec.Struct, gc=False):
    resources: str
    state: str


class MetadataData(msgspec.Struct, gc=False):
    job_id: str
    metadata: str


class JobStateData(msgspec.Struct, gc=False):
    job_id: str
    job_state: str


class NotifyData(msgspec.Struct, gc=False):
    type: str


class QueryData(msgspec.Struct, gc=False):
    requests: dict[str, dict[str, Any]]


class JobMessageData(msgspec.Struct, gc=False):
    job_id: str
    msg: str


class ExecuteJob(_Event, tag="EXECUTE_JOB", gc=False):
    data: ExecuteData


class RejectJob(_Event, tag="REJECT_JOB", gc=False):
    data: OneJob


class KillJob(_Event, tag="KILL_JOB", gc=False):
    data: SomeJobs


class CallMeLater(_Event, tag="CALL_ME_LATER", gc=False):
    data: CallData


class RegisterJob(_Event, tag="REGISTER_JOB", gc=False):
    data: RegisterJobData


class RegisterProfile(_Event, tag="REGISTER_PROFILE", gc=False):
    data: RegisterProfileData


class SetResourceState(_Event, tag="SET_RESOURCE_STATE", gc=False):
    data: StateData


class SetJobMetadata(_Event, tag="SET_JOB_METADATA", gc=False):
    data: MetadataData


class ChangeJobState(_Event, tag="CHANGE_JOB_STATE", gc=False):
    data: JobStateData


class Notify(_Event, tag="NOTIFY", gc=False):
    data: NotifyData


class Query(_Event, tag="QUERY", gc=False):
    data: QueryData


class Answer(_Event, tag="ANSWER", gc=False):
    data: dict[str, Any]


class ToJobMessage(_Event, tag="TO_JOB_MSG", gc=False):
    data: JobMessageData


Said: TypeAlias = (
    ExecuteJob
    | RejectJob
    | KillJob
    | CallMeLater
    | RegisterJob
    | RegisterProfile
    | SetResourceState
    | SetJobMetadata
    | ChangeJobState
    | Notify
    | Query
    | Answer
    | ToJobMessage
)


class Reply(msgspec.Struct, gc=False):
    now: float
    events: list[Said]


_reader = msgspec.json.Decoder(Reply)


def read_reply(content: bytes) -> Reply:
    """A reply whose parts have the right types; what they mean is looked at where they are applied."""
    try:
        return _reader.decode(content)
    except msgspec.ValidationError as error:
        raise BatsimError(f"the scheduler's reply is not as the protocol has it: {error}: {quoted(content)}") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BatsimError(f"the scheduler's reply is not JSON ({error}): {quoted(content)}") from None
