"""Workload models by name and in files: which kinds there are, reading, writing, fitting."""

from __future__ import annotations

import inspect
import json
import os
import re
from importlib import import_module
from pathlib import Path
from typing import Any

from schedlab.files.whole_file import whole_file
from schedlab.generate.base import Model
from schedlab.model.errors import InputError
from schedlab.model.plugin_text import names_code, parse_reference
from schedlab.model.plugins import load, registered
from schedlab.model.suggest import did_you_mean
from schedlab.model.workload import Workload

VERSION = 1  # of model files

KINDS = {
    "weeks": "schedlab.generate.weeks.model:Weeks",
    "empirical": "schedlab.generate.empirical.model:Empirical",
    "lublin": "schedlab.generate.lublin.model:Lublin",
    "cyclic": "schedlab.generate.cyclic.model:Cyclic",
    "pool": "schedlab.generate.pool.model:Pool",
}


def model_class(kind: str, where: str = "") -> Any:
    if kind not in KINDS:
        hint = did_you_mean(kind, KINDS, f"kinds of models: {', '.join(KINDS)}")
        raise InputError(f"there is no model '{kind}'", where=where, hint=hint)
    module, _, name = KINDS[kind].partition(":")
    return getattr(import_module(module), name)


def fit(source: Workload | str | os.PathLike[str], kind: str = "weeks", **options: Any) -> Any:
    """A model of this kind, fitted to a workload or to the log of this name. `options` are those of its `fit`.

    The model of weeks takes `block` (seconds, in whole days or weeks) and `replacement` (True: each block is drawn from
    all of them; False: all weeks come before any comes again), and `processors` where the log does not tell. The
    empirical model takes `joint` (True: what belongs together stays together; False: each variable on its own),
    `draws` ("uniform" in a bin, or its "mid"), and `processors`.
    """
    from schedlab.workload.read import read_workload

    able = [name for name in KINDS if hasattr(model_class(name), "fit")]
    if kind not in able:
        hint = did_you_mean(kind, able, f"models that can be fitted: {', '.join(able)}")
        raise InputError(f"there is no model '{kind}' that can be fitted to a log", where="fit", hint=hint)
    found = model_class(kind)
    _refuse_unknown(found.fit, options, f"model {kind}")
    if not isinstance(source, Workload):
        source = read_workload(source, requests="full", in_memory=False)
    return found.fit(source, **options)


def write_model(path: str | os.PathLike[str], model: Model) -> None:
    document = {"schedlab": VERSION, "model": model.kind, **model.to_dict()}
    with whole_file(Path(path)) as file:
        file.write((json.dumps(document, ensure_ascii=False, allow_nan=False) + "\n").encode())


def read_model(source: str | os.PathLike[str]) -> Model:
    """A model file, a pool of applications (TOML, or a heatmap), words (`lublin(processors=256)`), or
    a class of your own (`mine.py:Model`)."""
    text = os.fspath(source)
    name = text.partition("(")[0].strip()
    there = Path(text).exists()
    if names_code(text) or (name not in KINDS and not there and _is_registered(name)):
        own: Model = load("model", text).make()
        return own
    if name in KINDS and not there:
        return _from_words(name, text)
    if not there and name.isidentifier():
        model_class(name, text)  # says which names there are
    return _from_file(Path(text))


def is_model_file(path: str | os.PathLike[str]) -> bool:
    """Whether a file begins as `write_model` begins one."""
    from schedlab.files.bytestream import first_text

    return (
        Path(path).is_file() and re.match(r'\s*\{\s*"schedlab":\s*\d+,\s*"model"', first_text(Path(path))) is not None
    )


def is_heatmap_file(path: str | os.PathLike[str]) -> bool:
    """Whether it has a heatmap (docs/coscheduling.md), whose applications are a pool."""
    from schedlab.files.bytestream import first_text

    found = re.search(r'"(loads|speedups)":|^bandwidth\s*=', first_text(Path(path)), re.MULTILINE)
    return found is not None


def _is_registered(name: str) -> bool:
    return any(entry.name == name for entry in registered("model"))


def _from_words(name: str, text: str) -> Model:
    found, where = model_class(name), f"model {text}"
    if name in ("weeks", "empirical"):
        hint = "schedlab fit LOG --out model.json makes one"
        raise InputError(f"a model '{name}' is fitted to a log and read from its file", where=where, hint=hint)
    reference = parse_reference(text, where)
    if reference.positional:
        hint = f"name them: {', '.join(_parameters(found))}"
        raise InputError(f"arguments have no names: {reference.positional}", where=where, hint=hint)
    _refuse_unknown(found, reference.keywords, where)
    try:
        model: Model = found(**reference.keywords)
    except TypeError as error:
        raise InputError(str(error), where=where, hint=f"it takes: {', '.join(_parameters(found))}") from None
    return model


def _from_file(path: Path) -> Model:
    from schedlab.files.bytestream import ByteStream, plain_name

    if is_heatmap_file(path):
        measured: Model = model_class("pool").from_heatmap(path)
        return measured
    if plain_name(path).endswith(".toml"):
        pool: Model = model_class("pool").read(path)
        return pool
    try:
        data = json.loads(b"".join(ByteStream(path)))
    except (ValueError, RecursionError) as error:
        hint = "a model is written by: schedlab fit LOG --out model.json"
        raise InputError(f"is not a model file: {error}", where=str(path), hint=hint) from None
    if not isinstance(data, dict) or "schedlab" not in data or "model" not in data:
        hint = 'it begins with {"schedlab": 1, "model": "weeks", …}'
        raise InputError("is not a model file: the keys schedlab and model are missing", where=str(path), hint=hint)
    version, kind = data.pop("schedlab"), data.pop("model")
    if version != VERSION:
        hint = "fit the model again with this version of schedlab"
        raise InputError(f"schedlab is {version!r}, this version reads {VERSION}", where=str(path), hint=hint)
    found: Model = model_class(str(kind), f"{path}, model").from_dict(data, str(path))
    return found


def _refuse_unknown(function: Any, options: dict[str, Any], where: str) -> None:
    names = _parameters(function)
    for option in options:
        if option not in names:
            hint = did_you_mean(option, names, f"it takes: {', '.join(names)}")
            raise InputError(f"there is no argument '{option}'", where=where, hint=hint)


def _parameters(function: Any) -> list[str]:
    return [name for name in inspect.signature(function).parameters if name not in ("self", "workload")]
