"""What a simulator tells its scheduler (Batsim 3 and 4, JSON): messages as they are read at the scheduler's end."""

from __future__ import annotations

from typing import Annotated, Any, TypeVar

import msgspec

from schedlab.bridge.batsim.errors import BatsimError, quoted

Kind = TypeVar("Kind")


class Event(msgspec.Struct, gc=False):
    timestamp: float
    type: str
    data: msgspec.Raw


class Message(msgspec.Struct, gc=False):
    now: float
    events: list[Event]


class Resource(msgspec.Struct, gc=False):
    id: Annotated[int, msgspec.Meta(ge=0)]
    name: str
    state: str = "idle"
    properties: dict[str, str] = {}


class Config(msgspec.Struct, rename="kebab", gc=False):
    redis_enabled: bool = False
    dynamic_jobs_enabled: bool = False


class Begins(msgspec.Struct, gc=False):
    compute_resources: list[Resource]
    config: Config = msgspec.field(default_factory=Config)


class JobDescription(msgspec.Struct, gc=False):
    """What of a job is understood; all of it is attached to the job for policies that want to see it."""

    res: int
    walltime: float | None = None  # -1 or nothing: none
    user: int | str | None = None
    user_id: int | str | None = None
    group: int | str | None = None
    group_id: int | str | None = None
    queue: int | str | None = None


class Submitted(msgspec.Struct, gc=False):
    job_id: str
    job: msgspec.Raw


class Completed(msgspec.Struct, gc=False):
    job_id: str
    job_state: str = ""


class Killed(msgspec.Struct, gc=False):
    job_ids: list[str]


class Noted(msgspec.Struct, gc=False):
    type: str = ""
    resources: str = ""


_message = msgspec.json.Decoder(Message)
_begins = msgspec.json.Decoder(Begins)
_submitted = msgspec.json.Decoder(Submitted)
_description = msgspec.json.Decoder(JobDescription)
_attachments = msgspec.json.Decoder(dict[str, Any])
_completed = msgspec.json.Decoder(Completed)
_killed = msgspec.json.Decoder(Killed)
_noted = msgspec.json.Decoder(Noted)


def read_message(content: bytes) -> Message:
    message = _read(_message, content, "the simulator's message")
    before = 0.0
    for number, event in enumerate(message.events):
        if not before <= event.timestamp <= message.now:
            raise BatsimError(
                f"event {number} of the simulator's message is of {event.timestamp} s, expected a time from {before} s "
                f"to {message.now} s: {quoted(content)}"
            )
        before = event.timestamp
    return message


def read_begins(event: Event) -> Begins:
    return _read(_begins, event.data, "the simulator's SIMULATION_BEGINS")


def read_submitted(event: Event) -> tuple[str, JobDescription, msgspec.Raw]:
    """The job's id, what is understood of its description, and the description."""
    submitted = _read(_submitted, event.data, "the simulator's JOB_SUBMITTED")
    return submitted.job_id, _read(_description, submitted.job, f"job {submitted.job_id}"), submitted.job


def read_attachments(description: msgspec.Raw) -> dict[str, Any]:
    return _attachments.decode(description)


def read_completed(event: Event) -> Completed:
    return _read(_completed, event.data, "the simulator's JOB_COMPLETED")


def read_killed(event: Event) -> Killed:
    return _read(_killed, event.data, "the simulator's JOB_KILLED")


def read_noted(event: Event) -> Noted:
    return _read(_noted, event.data, "the simulator's NOTIFY")


def _read(decoder: msgspec.json.Decoder[Kind], content: bytes | msgspec.Raw, what: str) -> Kind:
    try:
        return decoder.decode(content)
    except msgspec.ValidationError as error:
        raise BatsimError(f"{what} is not as the protocol has it: {error}: {quoted(bytes(content))}") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BatsimError(f"{what} is not JSON ({error}): {quoted(bytes(content))}") from None
