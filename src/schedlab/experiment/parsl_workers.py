"""Workers wherever Parsl can start some: on Slurm, Kubernetes, other machines. See docs/parsl.md."""

from __future__ import annotations

import atexit
import logging
import math
import os
import signal
import socket
import sys
import time
import traceback
from collections import deque
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from schedlab.experiment.answer import answer
from schedlab.experiment.coordinator import StoppedError
from schedlab.experiment.inputs import Inputs
from schedlab.experiment.parsl_config import read_configuration
from schedlab.experiment.plan import PlannedRun
from schedlab.experiment.pool import Outcome
from schedlab.model.errors import InputError
from schedlab.model.stopping import undisturbed
from schedlab.model.version import VERSION

if TYPE_CHECKING:
    from parsl.config import Config
    from parsl.dataflow.dflow import DataFlowKernel
    from parsl.executors.base import ParslExecutor

Task = dict[str, Any]

AHEAD = 2  # runs given out for each worker, so that none has to wait for its next one
UNKNOWN_WORKERS = 32  # of a node, where the configuration does not say
MOST_RUNS = 10_000  # given out at a time
PATIENCE = 10_000  # milliseconds that a task may take to be handed to the interchange


class ParslWorkers:
    """Runs are tasks of Parsl, which write their results into the study's folder themselves."""

    def __init__(self, on: Path, folder: Path, asked: dict[str, Any]) -> None:
        folder = folder.resolve()
        config = read_configuration(on, folder / "parsl")
        self._common = {"asked": asked, "folder": str(folder), "start": str(Path.cwd()), "schedlab": VERSION}
        self._most = min(sum(room(executor) for executor in config.executors), MOST_RUNS)
        self._runs: dict[Future[dict[str, Any]], PlannedRun] = {}
        # Parsl starts its programs by their names.
        os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
        self._kernel = _started(config, on)
        from parsl import python_app

        self._submit = python_app(run_task, data_flow_kernel=self._kernel)

    @property
    def busy(self) -> int:
        return len(self._runs)

    def take(self, waiting: deque[PlannedRun]) -> None:
        while waiting and len(self._runs) < self._most:
            run = waiting.popleft()
            self._runs[self._submit({**self._common, "run": run.to_dict()})] = run

    def outcomes(self, timeout: float) -> list[Outcome]:
        if not self._runs:
            time.sleep(timeout)
            return []
        done, _ = wait(self._runs, timeout, FIRST_COMPLETED)
        if not done and (dead := self._cut_off()):
            raise self._broken(f"the interchange of the executor '{dead[0].label}' is gone")
        return [self._outcome(future) for future in done]

    def close(self, *, abort: bool = False) -> None:
        """Blocks of workers are ended whatever they are at."""
        with _undisturbed():
            if self._cut_off():  # Parsl would wait for it for ever
                atexit.unregister(self._kernel.atexit_cleanup)
                left = list(self._kernel.executors.values())
            else:
                self._kernel.cleanup()
                left = [one for one in self._kernel.executors.values() if getattr(one, "bad_state_is_set", False)]
            for executor in left:
                _end(executor)

    def _outcome(self, future: Future[dict[str, Any]]) -> Outcome:
        from parsl.executors.errors import ExecutorError
        from parsl.executors.high_throughput.errors import ManagerLost, VersionMismatch, WorkerLost
        from parsl.jobs.errors import TooManyJobFailuresError

        run = self._runs.pop(future)
        error = future.exception()
        if error is None:
            return Outcome(run, **future.result())
        if isinstance(error, ExecutorError | TooManyJobFailuresError | VersionMismatch):
            raise self._broken(str(error)) from error
        lost = isinstance(error, WorkerLost | ManagerLost)
        text = str(error) if lost else f"{type(error).__name__}: {error}"
        return Outcome(run, error=text, traceback="".join(traceback.format_exception(error)), lost=lost)

    def _cut_off(self) -> list[ParslExecutor]:
        """The executors that have lost the process through which they talk to their workers."""
        processes = {one: getattr(one, "interchange_proc", None) for one in self._kernel.executors.values()}
        return [one for one, process in processes.items() if process is not None and process.poll() is not None]

    def _broken(self, message: str) -> StoppedError:
        hint = f"its logs are in {self._kernel.run_dir}; the same command goes on where it stopped"
        return StoppedError(f"Parsl cannot go on: {message.strip()}\n  hint: {hint}")


def run_task(task: Task) -> dict[str, Any]:
    """Execute one run. This is called on the worker."""
    # One thread for each: the cores are shared by workers, not by the threads of one.
    os.environ.setdefault("POLARS_MAX_THREADS", "1")
    return answer(partial(_executed, task))


def _executed(task: Task) -> dict[str, Any]:
    from schedlab.experiment.execute import execute

    folder = Path(task["folder"])
    if task["schedlab"] != VERSION:
        hint = "give the workers the environment in which the study was started"
        raise InputError(f"the worker has schedlab {VERSION}, the study {task['schedlab']}", where=_host(), hint=hint)
    if not (folder / "study.toml").is_file():
        hint = "workers have to share the file system with the one who starts the study"
        raise InputError(f"the worker does not see the folder {folder}", where=_host(), hint=hint)
    if Path(task["start"]).is_dir():  # names of files in the study may be relative to it
        os.chdir(task["start"])
    return execute(PlannedRun.from_dict(task["run"]), task["asked"], folder, _inputs())


@cache
def _inputs() -> Inputs:
    """One for each process."""
    return Inputs()


def _host() -> str:
    return socket.gethostname()


def room(executor: ParslExecutor) -> int:
    """How many runs the executor can use at a time."""
    provider = getattr(executor, "provider", None)
    blocks = getattr(provider, "max_blocks", 1) * getattr(provider, "nodes_per_block", 1)
    workers = getattr(executor, "workers_per_node", 1)
    if workers == 1 and getattr(executor, "max_workers_per_node", math.inf) != 1:
        workers = UNKNOWN_WORKERS
    return int(min(AHEAD * blocks * workers, MOST_RUNS))


def _started(config: Config, on: Path) -> DataFlowKernel:
    from parsl.dataflow.dflow import DataFlowKernel

    with _undisturbed():
        try:
            kernel = DataFlowKernel(config)
        except Exception as error:
            for executor in config.executors:
                executor.shutdown()
            message = f"Parsl does not start: {type(error).__name__}: {error}"
            raise InputError(message, where=str(on), hint=f"its logs are in {config.run_dir}") from error
    for executor in config.executors:
        if (outgoing := getattr(executor, "outgoing_q", None)) is not None:
            # Where the interchange is gone, a thread would hand over its task for ever, and the process wait for it.
            outgoing.zmq_socket.sndtimeo = PATIENCE
    logging.getLogger("parsl").setLevel(logging.INFO)  # it notes everything, which grows with the days of a study
    return kernel


def _end(executor: ParslExecutor) -> None:
    """Its workers, and the process in between."""
    from parsl.executors.status_handling import BlockProviderExecutor

    if (process := getattr(executor, "interchange_proc", None)) is not None:
        process.terminate()
    if isinstance(executor, BlockProviderExecutor):
        # That of the base class asks only the batch system, not the workers, who may not answer any more.
        BlockProviderExecutor.scale_in(executor, len(executor.status_facade))


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Ctrl-C and SIGTERM have to wait: half started or half stopped, Parsl would leave processes behind."""
    with undisturbed():
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # for what it starts meanwhile
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
