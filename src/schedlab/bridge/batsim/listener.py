"""Who wants to know what is said and what becomes of jobs, in Batsim's words: logs and result files."""

from __future__ import annotations

from schedlab.bridge.batsim.live import Live


class Listener:
    """Derive from it and define what you need. It changes nothing."""

    def sent(self, message: bytes) -> None:
        """A message has gone to the scheduler."""

    def received(self, message: bytes) -> None:
        """The scheduler has answered."""

    def submitted(self, time: float, live: Live) -> None:
        """A job has come, of a workload or of the scheduler."""

    def started(self, time: float, live: Live) -> None:
        """A job runs on `live.hosts`."""

    def ended(self, time: float, live: Live) -> None:
        """A job has left: it ended, was killed or rejected; `live.state` and `live.returns` tell how."""

    def power_asked(self, time: float, hosts: list[int], asleep: bool) -> None:
        """The scheduler wants another power state of these hosts, `asleep`: one in which they sleep."""

    def switching(self, time: float, off: list[int], on: list[int]) -> None:
        """Of these hosts, some begin to switch off, others on."""

    def switched(self, time: float, host: int, asleep: bool) -> None:
        """A host has switched, and sleeps or is awake."""

    def in_state(self, time: float, hosts: list[int], state: int, switched: bool) -> None:
        """All hosts of a request are in the power state that was asked for, at once or after they have `switched`."""

    def first_submission(self, joules: float) -> None:
        """What all hosts have consumed when the first job comes."""

    def consumed(self, time: float, joules: float, event: str, watts: float) -> None:
        """What all hosts have consumed when a job starts (s) or ends (e), or power states change (p); `watts` is the
        least that they draw with something to do."""

    def availability(self, time: float, hosts: list[int], available: bool) -> None:
        """Hosts can, or can no more, be given to jobs, because of an external event."""
