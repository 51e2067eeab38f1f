"""The file that describes to Parsl where a study is executed."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakSet

from schedlab.model.errors import InputError
from schedlab.model.plugin_import import blame, import_file

if TYPE_CHECKING:
    from parsl.config import Config

_REMEDY = "it is a Python file with config = parsl.config.Config(...), or a function config() that returns one"
_INTERCHANGE = [sys.executable, "-m", "schedlab.experiment.parsl_interchange"]
_used: WeakSet[Config] = WeakSet()


def read_configuration(on: Path, own_files: Path) -> Config:
    """What the file says, made ready for us: Parsl keeps its own files in `own_files` unless they have a place."""
    try:
        from parsl.config import Config
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "parsl":
            raise
        raise InputError("Parsl is not installed", where=str(on), hint="pip install 'schedlab[parallel]'") from None
    if not on.is_file() or on.suffix != ".py":
        raise InputError("there is no such Python file", where=str(on), hint=_REMEDY)
    config = _defined(on)
    if not isinstance(config, Config):
        raise InputError(f"config is a {type(config).__name__}", where=str(on), hint=_REMEDY)
    if config in _used:
        hint = "make it anew each time: def config(): return Config(...)"
        raise InputError("this process has used its config already", where=str(on), hint=hint)
    _used.add(config)
    if config.run_dir == Config().run_dir:
        config.run_dir = str(own_files)
    _check_executors(config, on)
    return config


def _defined(on: Path) -> object:
    module = import_file(str(on))
    if not hasattr(module, "config"):
        raise InputError("defines no config", where=str(on), hint=_REMEDY)
    if not callable(module.config):
        return module.config
    try:
        return module.config()
    except Exception as error:
        raise blame(error, str(on.resolve())) from error


def _check_executors(config: Config, on: Path) -> None:
    from parsl.executors import HighThroughputExecutor, ThreadPoolExecutor

    for executor in config.executors:
        if isinstance(executor, ThreadPoolExecutor):
            hint = "take a HighThroughputExecutor; on this machine alone, --workers N needs no Parsl"
            raise InputError(f"the executor '{executor.label}' has threads, not processes", where=str(on), hint=hint)
        if isinstance(executor, HighThroughputExecutor) and executor.interchange_launch_cmd == ["interchange.py"]:
            executor.interchange_launch_cmd = _INTERCHANGE
