"""A user's program run as `python FILE …` and `python -m MODULE …` run it, in this process.

`__main__`, `sys.argv`, `sys.path`, `__file__`, the exit code and what an error shows are those of
Python itself; the tests compare the two.
"""

from __future__ import annotations

import builtins
import errno
import io
import os
import pkgutil
import runpy
import sys
from abc import ABC, abstractmethod
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, SourceFileLoader, SourcelessFileLoader
from types import CodeType, FrameType, ModuleType, TracebackType
from typing import Any

from memtrack.errors import UsageError
from memtrack.folders import folder_of_imports, from_the_root, working_folder
from memtrack.scripts import imports
from memtrack.tracebacks import entries_of, linked

_MAIN = "__main__"
_FINDING = "<frozen importlib"
_RUNPY = runpy.run_module.__code__.co_filename
_MODULES = os.path.join("torch", "nn", "modules", "module.py")
_OWN_HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")

_replaced: list[ModuleType] = []
"""The `__main__` that was there before: its code is still running."""


class NoProgram(UsageError):
    """There is nothing that can be run; `code` is what Python exits with, the sentence its own."""

    def __init__(self, words: str, code: int) -> None:
        super().__init__(f"{sys.executable}: {words}")
        self.code = code


class Program(ABC):
    """A program with its arguments; `name` is what its recording is called after.

    First `prepare`, then `run`; both change this process as Python would.
    """

    def __init__(self, name: str, arguments: Sequence[str]) -> None:
        self.name = name
        self._arguments = list(arguments)

    @abstractmethod
    def prepare(self) -> None:
        """Find it and set `sys.argv` and `sys.path`. Raises NoProgram where there is none.

        Packages that a module lies in are imported, and may raise anything.
        """

    @abstractmethod
    def run(self) -> None:
        """Run it as `__main__`; what it raises comes out, to be shown `without_our_frames`."""


class Script(Program):
    """A file of Python, as in `python FILE`."""

    def __init__(self, path: str, arguments: Sequence[str]) -> None:
        super().__init__(_stem(path), arguments)
        self._path = path

    def prepare(self) -> None:
        """Set `sys.argv` and the folder that imports look in first."""
        _must_be_readable(self._path)
        sys.argv[:] = [self._path, *self._arguments]
        _put_first_on_path(os.path.dirname(os.path.realpath(self._path)))

    def run(self) -> None:
        """Run the file; one that cannot be read raises OSError, one that is no Python SyntaxError."""
        file = from_the_root(self._path)
        is_compiled = file.endswith(".pyc")
        loader = SourcelessFileLoader(_MAIN, file) if is_compiled else SourceFileLoader(_MAIN, file)
        main = _become_main(file, loader)
        exec(_code_of(file, loader), main.__dict__)  # noqa: S102 - the user's own program


class Module(Program):
    """A module, or a package with a `__main__`, as in `python -m NAME`."""

    _spec: ModuleSpec
    _code: Any

    def prepare(self) -> None:
        """Find the module from the working folder on."""
        sys.argv[:] = ["-m", *self._arguments]
        _put_first_on_path(folder_of_imports())
        # What is missing, and what lies in a package that fails, is told as `python -m` tells it.
        find: Any = vars(runpy)["_get_module_details"]
        try:
            _, self._spec, self._code = find(self.name, _NoModule)
        except _NoModule as problem:
            raise NoProgram(str(problem), 1) from None
        sys.argv[0] = self._spec.origin or self.name

    def run(self) -> None:
        """Run the module's code."""
        spec = self._spec
        main = _become_main(spec.origin, spec.loader)
        main.__spec__, main.__package__ = spec, spec.parent
        if spec.cached is not None:
            main.__dict__["__cached__"] = spec.cached
        exec(self._code, main.__dict__)  # noqa: S102 - the user's own program


class Folder(Module):
    """A folder or a zip file with a `__main__.py`, as in `python FOLDER`."""

    def __init__(self, path: str, arguments: Sequence[str]) -> None:
        super().__init__(_stem(path), arguments)
        self._path = path

    def prepare(self) -> None:
        """Find the `__main__`, which may import what lies beside it."""
        sys.argv[:] = [self._path, *self._arguments]
        folder = _absolute(self._path)
        _put_first_on_path(folder)
        importer: Any = pkgutil.get_importer(folder)
        spec = importer.find_spec(_MAIN)
        if spec is None:
            raise NoProgram(f"can't find {_MAIN!r} module in {folder!r}", 1)
        self._spec, self._code = spec, spec.loader.get_code(_MAIN)


class _NoModule(Exception):
    """What `runpy` raises where a module cannot be run."""


def script_or_folder(path: str, arguments: Sequence[str]) -> Program:
    """Return the program in a file, a folder or a zip file."""
    if os.path.isdir(path) or (os.path.exists(path) and pkgutil.get_importer(path) is not None):
        return Folder(path, arguments)
    return Script(path, arguments)


def without_our_frames(
    traceback: TracebackType | None, hooked: bool = False
) -> TracebackType | None:
    """Return what is left of a program's traceback without what is there because we ran it.

    With `hooked`, modules were called through our hooks: torch then goes through one frame more.

    Gone are what lies above the program and, where an import that we watch has failed, our frame with
    those of Python's import around it, which Python itself leaves out.
    """
    entries = entries_of(traceback)
    files = [entry.tb_frame.f_code.co_filename for entry in entries]
    first = max((row + 1 for row, file in enumerate(files) if file == __file__), default=0)
    while 0 < first < len(files) and files[first].startswith((_FINDING, _RUNPY)):
        first += 1
    kept = [
        entries[row]
        for row in range(first, len(files))
        if not _is_about_imports(files, row)
        and not (hooked and _is_for_hooks(entries[row].tb_frame))
    ]
    return linked(kept)


def _is_for_hooks(frame: FrameType) -> bool:
    """Tell whether a frame is torch's way round for hooks, of a module that has none of its own."""
    code = frame.f_code
    if code.co_name != "inner" or not code.co_filename.endswith(_MODULES):
        return False
    module = frame.f_locals.get("self")
    own = getattr(module, "__dict__", {})
    return module is not None and not any(own.get(name) for name in _OWN_HOOKS)


def _is_about_imports(files: Sequence[str], row: int) -> bool:
    """Tell whether a frame is our import watch, or Python's import next to one."""
    if files[row] == imports.__file__:
        return True
    if not files[row].startswith(_FINDING):
        return False
    for step in (-1, 1):
        other = row
        while 0 <= other < len(files) and files[other].startswith(_FINDING):
            other += step
        if 0 <= other < len(files) and files[other] == imports.__file__:
            return True
    return False


def _stem(path: str) -> str:
    return os.path.splitext(os.path.basename(from_the_root(path)))[0]


def _absolute(path: str) -> str:
    """Return a path from the root on, spelled as it is: so Python puts it into its messages."""
    folder = str(working_folder())
    return folder if path == os.curdir else os.path.join(folder, path)


def _must_be_readable(path: str) -> None:
    """Raise NoProgram for a file that cannot be opened. It is not: a pipe can be opened but once."""
    problem = 0
    try:
        os.stat(path)
    except OSError as refused:
        problem = refused.errno or errno.ENOENT
    except ValueError:  # a zero in it
        problem = errno.ENOENT
    if not problem and not os.access(path, os.R_OK):
        problem = errno.EACCES
    if problem:
        words = f"can't open file {_absolute(path)!r}: [Errno {problem}] {os.strerror(problem)}"
        raise NoProgram(words, 2)


def _code_of(file: str, loader: SourceFileLoader | SourcelessFileLoader) -> CodeType:
    if isinstance(loader, SourcelessFileLoader):
        compiled = loader.get_code(_MAIN)
        assert compiled is not None
        return compiled
    with io.open_code(file) as source:
        written = source.read()
    try:
        return compile(written, file, "exec", dont_inherit=True)
    except SyntaxError as problem:
        if "(unicode error) 'utf-8'" in str(problem.msg):
            raise _undeclared(written, file) or problem from None
        if problem.filename is None and b"\0" in written:
            raise _binary(written, file) from None
        raise


def _binary(written: bytes, file: str) -> SyntaxError:
    """Return what Python says of a file with a null byte."""
    line = written.count(b"\n", 0, written.index(b"\0")) + 1
    return SyntaxError("source code cannot contain null bytes", (file, line, None, ""))


def _undeclared(written: bytes, file: str) -> SyntaxError | None:
    """Return what Python says of a file that is not UTF-8 and declares no encoding (PEP 263)."""
    for number, line in enumerate(written.splitlines(), 1):
        try:
            line.decode("utf-8")
        except UnicodeDecodeError as problem:
            return SyntaxError(
                f"Non-UTF-8 code starting with '\\x{line[problem.start]:02x}' in file {file} on line"
                f" {number}, but no encoding declared; see https://peps.python.org/pep-0263/ for details"
            )
    return None


def _become_main(file: str | None, loader: Any) -> ModuleType:
    """Return a new `__main__` with the names that Python gives it; it stays the one from now on."""
    main = ModuleType(_MAIN)
    before = vars(sys.modules[_MAIN])
    main.__dict__.update(__builtins__=builtins, __file__=file, __loader__=loader)
    if "__cached__" in before:
        main.__dict__["__cached__"] = None
    if "__annotations__" in before:  # Python before 3.14
        main.__dict__.update(__annotations__={})
    _replaced.append(sys.modules[_MAIN])
    sys.modules[_MAIN] = main
    return main


def _put_first_on_path(folder: str) -> None:
    """Replace what Python has put first; it puts nothing there when it was told not to."""
    if not getattr(sys.flags, "safe_path", False):
        sys.path[:1] = [folder]
