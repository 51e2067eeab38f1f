"""Who takes the engine's results: a run folder, memory, or nobody."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, Self

from schedlab.engine.scenario import Scenario
from schedlab.model.cluster import Cluster
from schedlab.model.errors import InputError
from schedlab.model.run import EVERYWHERE, Run, Where

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Writer(Protocol):
    """Left before `finish`, for whatever reason, it leaves nothing behind."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def write(self, table: str, batch: Mapping[str, Any]) -> None:
        """Rows of one of `model.tables.TABLES`."""
        ...

    def write_evidence(self, name: str, content: bytes) -> None: ...

    def finish(self, config: dict[str, Any]) -> Run: ...


def writer_for(scenario: Scenario, cluster: Cluster, brief: bool) -> Writer:
    """`brief`: nobody looks at more than the summary of a run that has no folder."""
    # What makes tables takes longer to load than a small run takes: not before it is wanted.
    from schedlab.engine.store import BriefWriter, MemoryWriter, RunWriter

    if scenario.out is None:
        return BriefWriter(cluster) if brief else MemoryWriter(cluster)
    return RunWriter(Path(scenario.out), cluster, force=scenario.force)


class Discard:
    """Nobody wants tables of the run: whoever decides or observes writes down what is wanted."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    def write(self, table: str, batch: Mapping[str, Any]) -> None:
        pass

    def write_evidence(self, name: str, content: bytes) -> None:
        pass

    def finish(self, config: dict[str, Any]) -> Run:
        return Run(lambda: config, _NoTables())


class _NoTables:
    def column(self, name: str, table: str = "jobs") -> NDArray[Any]:
        self._refuse()

    def batches(self, names: Sequence[str], table: str, where: Where = EVERYWHERE) -> Iterator[dict[str, NDArray[Any]]]:
        self._refuse()

    def frame(self, table: str) -> NoReturn:
        self._refuse()

    def of_job(self, table: str, sequence: int) -> NoReturn:
        self._refuse()

    def arrow(self, table: str, columns: Sequence[str] | None = None, where: Where = EVERYWHERE) -> NoReturn:
        self._refuse()

    def evidence(self, name: str) -> bytes:
        self._refuse()

    def save(self, config: dict[str, Any], path: Path, force: bool) -> None:
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise InputError("the tables of this run were not kept")
