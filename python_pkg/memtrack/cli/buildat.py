"""`MODULE:FUNCTION` as a user means it: found in the current folder first, run as if on its own.

Also `FILE.py:FUNCTION`, and `FUNCTION(32, size="small")` with plain values for a function that needs some.
"""

from __future__ import annotations

import ast
import importlib.util
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any

from memtrack.errors import UsageError
from memtrack.folders import folder_of_imports, from_the_root, working_folder
from memtrack.i18n import text
from memtrack.tracebacks import entries_of, linked

_PACKAGE = str(Path(__file__).resolve().parent.parent) + os.sep
_IMPORTING = "<frozen importlib"


def build_at(name: str) -> Callable[..., Any]:
    """Import and return what `name` stands for; UsageError in one line, or what the module raises."""
    where, colon, words = name.rpartition(":")
    if "(" in where:  # a colon inside the arguments
        where, colon, words = name.partition(":")
    if not (colon and where and words):
        raise UsageError(
            text("'{name}' is not MODULE:FUNCTION.", name=name),
            text("For a function build in train.py write train:build."),
        )
    path, positional, named = _call(words)
    function = _member(_module(where), where, path)
    return partial(function, *positional, **named) if "(" in words else function


@contextmanager
def as_program(name: str, arguments: Sequence[str]) -> Iterator[None]:
    """Let a module find `sys.argv` and its folder as if it were run alone, and put both back."""
    argv, path = list(sys.argv), list(sys.path)
    file = name.partition(":")[0]
    folder = os.path.dirname(from_the_root(file)) if file.endswith(".py") else folder_of_imports()
    sys.argv[:] = [file, *arguments]
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        sys.argv[:], sys.path[:] = argv, path


def without_our_frames(traceback: TracebackType | None) -> TracebackType | None:
    """Return a program's traceback without memtrack's frames and those of Python's import."""
    left_out = (_PACKAGE, _IMPORTING, "<frozen runpy")
    return linked(
        [
            entry
            for entry in entries_of(traceback)
            if not entry.tb_frame.f_code.co_filename.startswith(left_out)
        ]
    )


def _call(words: str) -> tuple[list[str], list[Any], dict[str, Any]]:
    """Take `Class.function(32, size="small")` apart: path, positional and named values."""
    try:
        node: ast.expr = ast.parse(words.strip(), mode="eval").body
        positional, named = [], {}
        if isinstance(node, ast.Call):
            positional = [ast.literal_eval(value) for value in node.args]
            named = {str(one.arg): ast.literal_eval(one.value) for one in node.keywords}
            node = node.func
        path = ast.unparse(node).split(".")
    except (SyntaxError, ValueError):
        path, positional, named = [""], [], {}
    if not all(part.isidentifier() for part in path):
        raise UsageError(
            text("'{name}' is not the name of a function.", name=words),
            text("It may have plain values, as in build(32)."),
        )
    return path, positional, named


def _module(name: str) -> ModuleType:
    file = Path(name) if name.endswith(".py") else Path(f"{name}.py")
    if file.is_file():
        return _from_file(file.resolve())
    if name.endswith(".py"):
        raise UsageError(text("There is no file {path}.", path=name))
    try:
        return import_module(name)
    except ModuleNotFoundError as missing:
        # A module that is there and misses another one says so itself.
        if missing.name is None or not f"{name}.".startswith(f"{missing.name}."):
            raise
    raise UsageError(
        text("There is no module '{name}' here.", name=name),
        text("It is looked for in {folder} and where Python looks.", folder=working_folder()),
    )


def _from_file(file: Path) -> ModuleType:
    """Import a file of the user's also where a module of Python has its name, such as `code`."""
    known = sys.modules.get(file.stem)
    if known is not None and Path(getattr(known, "__file__", None) or "").resolve() == file:
        return known
    name = file.stem if known is None else f"{file.stem} of {file.parent.name}"
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise UsageError(text("There is no module '{name}' here.", name=str(file)))
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _member(module: ModuleType, name: str, path: Sequence[str]) -> Callable[..., Any]:
    found: Any = module
    for part in path:
        if not hasattr(found, part):
            known = [f"{name}:{one}" for one, value in vars(found).items() if _is_own(value, one)]
            raise UsageError.unknown_word(text("function"), f"{name}:{'.'.join(path)}", known)
        found = getattr(found, part)
    if not callable(found):
        raise UsageError(text("{name} is no function.", name=".".join((name, *path))))
    function: Callable[..., Any] = found
    return function


def _is_own(value: Any, name: str) -> bool:
    return callable(value) and not name.startswith("_")
