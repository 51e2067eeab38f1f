"""One workload of Batsim: a file, or the jobs and profiles that a scheduler registers under a name of its own."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import msgspec

from schedlab.bridge.batsim.platform import Platform
from schedlab.bridge.batsim.resources import MOST_HOSTS
from schedlab.files.bytestream import ByteStream
from schedlab.model.errors import InputError
from schedlab.model.mistakes import raise_first

if TYPE_CHECKING:
    from schedlab.bridge.batsim.course import Course
    from schedlab.bridge.batsim.profiles import Profiles

DYNAMIC = "dynamic"  # what Batsim says instead of a file
_EXPECTED = "a Batsim workload is a JSON object with nb_res, jobs (a list) and profiles (an object)"


class JobLine(msgspec.Struct, gc=False):
    """What of a job is understood; its other fields are the scheduler's."""

    id: int | str
    res: int
    profile: str
    subtime: float | None = None
    walltime: float = -1.0

    def limit(self) -> float:
        """How long it may run; a `ValueError` says what is wrong with it."""
        if not 0 <= self.res <= MOST_HOSTS:
            raise ValueError(f"job '{self.id}': 'res' is {self.res}, expected a number of hosts")
        if self.walltime == -1:
            return inf
        if not 0 < self.walltime < inf:
            raise ValueError(
                f"job '{self.id}': 'walltime' is {self.walltime}, expected seconds above 0, or -1 for none"
            )
        return self.walltime


class Lines(Sequence[bytes]):
    """Jobs as they are written, in the bytes of their file: where each begins and ends is all that is kept of it."""

    def __init__(self, content: bytearray, jobs: Sequence[msgspec.Raw]) -> None:
        self._content = content
        self._begin = array("Q")
        self._end = array("Q")
        end = 0
        for job in jobs:
            line = bytes(job)
            begin = content.index(line, end)  # between two of them there is a comma
            end = begin + len(line)
            self._begin.append(begin)
            self._end.append(end)

    def __len__(self) -> int:
        return len(self._begin)

    @overload
    def __getitem__(self, place: int) -> bytes: ...

    @overload
    def __getitem__(self, place: slice) -> list[bytes]: ...

    def __getitem__(self, place: int | slice) -> bytes | list[bytes]:
        if isinstance(place, slice):
            return [self[one] for one in range(*place.indices(len(self)))]
        return bytes(self._content[self._begin[place] : self._end[place]])


class _File(msgspec.Struct, gc=False):
    nb_res: int
    jobs: list[msgspec.Raw]
    profiles: dict[str, msgspec.Raw]


job_reader = msgspec.json.Decoder(JobLine)
_file_reader = msgspec.json.Decoder(_File)
_profile_reader = msgspec.json.Decoder(dict[str, Any])


def full_id(job: int | str, workload: str) -> str:
    """`w0!7` of the job 7 of w0; an id that has its workload already stays as it is."""
    return f"{workload}!{short_id(job, workload)}"


def short_id(job: int | str, workload: str) -> int | str:
    """The id without its workload, as a number if it is one; a `ValueError` says what is wrong with it."""
    if isinstance(job, int) and job >= 0:
        return job
    name = str(job).removeprefix(f"{workload}!")
    if "!" in name or not name:
        raise ValueError(f"'{job}' is not the id of a job of {workload}, such as 1 or {workload}!1")
    if name.isascii() and name.isdigit() and len(name) <= 18 and str(int(name)) == name:
        return int(name)
    return name


class Document:
    """Jobs as they are written, and profiles. Delays are understood without looking further: most jobs are that."""

    def __init__(self, name: str, file: str = DYNAMIC, jobs: Sequence[bytes] = (), hosts: int = 0) -> None:
        self.name, self.file, self.jobs, self.hosts = name, file, jobs, hosts
        self.profiles: dict[str, msgspec.Raw] = {}
        self.wanted: set[str] = set()  # profiles that jobs of the file have
        self._delays: dict[str, float] = {}
        self._returns: dict[str, int] = {}  # of delays, where it is not 0
        self._others: list[str] = []  # profiles that are no delays
        self._on_hosts: Profiles | None = None  # all of them, if there are others
        self._usual: dict[tuple[str, int], float] = {}
        self._platform: Platform | None = None

    @classmethod
    def read(cls, path: Path, name: str, digest: Any) -> Document:
        stream = ByteStream(path)
        content = bytearray()  # not a list of pieces, of which there would be two for a moment
        for piece in stream:
            content += piece
        digest.update(stream.sha256.encode())
        try:
            found = _file_reader.decode(content)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise InputError(f"is not a Batsim workload: {error}", where=str(path), hint=_EXPECTED) from None
        if found.nb_res < 1:
            raise InputError(f"'nb_res' is {found.nb_res}, expected a number of hosts", where=str(path))
        lines = Lines(content, found.jobs)
        found.jobs = []  # what was needed of them is in the lines, and there may be millions
        document = cls(name, str(path.resolve()), lines, found.nb_res)
        document._take(found.profiles)
        return document

    def settle(self, platform: Platform) -> None:
        """What the profiles are on this machine."""
        self._platform = platform
        if self._others:
            from schedlab.bridge.batsim.profiles import Profiles

            table = {name: _profile_reader.decode(line) for name, line in self.profiles.items()}
            folder = None if self.file == DYNAMIC else Path(self.file).parent
            self._on_hosts = Profiles(table, platform, folder, self.file)

    def add_profile(self, name: str, spec: Mapping[str, Any]) -> None:
        """One that a scheduler has registered; an `InputError` says what is wrong with it."""
        if name in self.profiles:
            raise InputError(f"there is a profile '{name}' already", where=self.name)
        self._take({name: msgspec.Raw(msgspec.json.encode(spec))})
        if self._on_hosts is not None:
            self._on_hosts.add(name, spec)
        elif self._others:
            assert self._platform is not None
            self.settle(self._platform)

    def add_delays(self, delays: Mapping[str, float]) -> None:
        """Profiles that need not be understood: run times of a log, of which some are 0."""
        self._delays.update(delays)
        self.wanted.update(delays)
        for name, seconds in delays.items():
            self.profiles[name] = msgspec.Raw(msgspec.json.encode({"type": "delay", "delay": seconds}))

    def told(self) -> dict[str, msgspec.Raw]:
        """The profiles that jobs of the file have, and parts of these: Batsim forgets the others."""
        wanted, more = self.wanted, [name for name in self._others if name in self.wanted]
        while more:
            parts = set(self._parts(more.pop())) - wanted
            wanted = wanted | parts
            more += parts
        return {name: line for name, line in self.profiles.items() if name in wanted}

    def seconds(self, profile: str) -> float | None:
        """Of a delay; None of everything else, whose time depends on the hosts."""
        return self._delays.get(profile)

    def returns(self, profile: str) -> int:
        if self._on_hosts is not None:
            return self._on_hosts.returns(profile)
        return self._returns.get(profile, 0)

    def course(self, profile: str, hosts: Sequence[int], mapping: Sequence[int] | None, **more: Any) -> Course:
        assert self._on_hosts is not None
        return self._on_hosts.course(profile, hosts, mapping, **more)

    @property
    def only_delays(self) -> bool:
        return not self._others

    def takes_any_number(self, profile: str) -> bool:
        """Whether jobs may get other numbers of hosts than they ask for: their work is divided among those."""
        return self._on_hosts is not None and self._on_hosts.takes_any_number(profile)

    def _parts(self, profile: str) -> list[str]:
        """Of a sequence; nothing else has any."""
        if profile in self._delays:
            return []
        return list(_profile_reader.decode(self.profiles[profile]).get("seq", ()))

    def usual_seconds(self, job: JobLine) -> float:
        """How long a job takes, as far as that can be known before it starts: on the first hosts."""
        if job.profile not in self.profiles:
            raise ValueError(f"job '{job.id}': there is no profile '{job.profile}'")
        if (seconds := self._delays.get(job.profile)) is not None:
            return seconds
        key = (job.profile, job.res)
        if key not in self._usual:
            assert self._on_hosts is not None
            try:
                self._usual[key] = self._on_hosts.usual_seconds(job.profile, max(job.res, 1))
            except InputError as error:
                raise ValueError(f"job '{job.id}': {error}") from None
        return self._usual[key]

    def _take(self, profiles: Mapping[str, msgspec.Raw]) -> None:
        mistakes = []
        for name, line in profiles.items():
            where = f"{self.file}, profile '{name}'"
            try:
                spec = _profile_reader.decode(line)
                self._understand(name, spec)
                self.profiles[name] = msgspec.Raw(msgspec.json.format(line, indent=-1))  # in one line, as logs need it
            except (msgspec.ValidationError, ValueError) as error:
                mistakes.append(InputError(str(error), where=where))
        raise_first(mistakes, self.file)

    def _understand(self, name: str, spec: Mapping[str, Any]) -> None:
        if spec.get("type") != "delay":
            self._others.append(name)
            return
        seconds, code = spec.get("delay"), spec.get("ret", 0)
        if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 < seconds < inf:
            raise ValueError(f"'delay' is {seconds!r}, expected seconds above 0")
        if isinstance(code, bool) or not isinstance(code, int):
            raise ValueError(f"'ret' is {code!r}, expected a whole number")
        self._delays[name] = float(seconds)
        if code:
            self._returns[name] = code
