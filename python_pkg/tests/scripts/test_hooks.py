"""`memtrack.install()`: hooks in, hooks out, and what is said of an error nobody caught."""

import builtins
import gc
import importlib.util
import sys
import threading
from types import SimpleNamespace

import pytest
from scripts.running import python

import memtrack
from memtrack.scripts import explaining, hooks
from memtrack.scripts.explaining import may_be_of_memory
from memtrack.scripts.imports import ImportWatch

WORDS = "memtrack could not explain this error (RuntimeError: broken).\n"


@pytest.fixture(autouse=True)
def none_installed(monkeypatch):
    """Leave the process as it was, whatever a test does."""
    monkeypatch.setenv("MEMTRACK_LANG", "en")
    before = sys.excepthook, threading.excepthook, list(sys.meta_path)
    yield
    memtrack.uninstall()
    sys.excepthook, threading.excepthook, sys.meta_path[:] = before


@pytest.fixture
def explained(monkeypatch):
    """Collect the errors that are explained, as texts, in the order of what is written."""
    found = []
    monkeypatch.setattr(hooks, "explain_on_stderr", lambda error: found.append(str(error)))
    return found


def raised(error):
    try:
        raise error
    except type(error) as caught:
        return type(caught), caught, caught.__traceback__


def test_hooks_come_and_go_and_are_there_once():
    before = sys.excepthook, threading.excepthook, list(sys.meta_path)
    memtrack.uninstall()
    memtrack.install()
    ours = sys.excepthook, threading.excepthook, list(sys.meta_path)
    assert ours[0] is not before[0]
    assert ours[1] is not before[1]
    memtrack.install()
    assert (sys.excepthook, threading.excepthook, list(sys.meta_path)) == ours
    memtrack.uninstall()
    assert (sys.excepthook, threading.excepthook, list(sys.meta_path)) == before
    memtrack.uninstall()
    assert (sys.excepthook, threading.excepthook, list(sys.meta_path)) == before


def test_the_hook_before_is_called_first_with_what_it_would_get(explained):
    seen = []
    sys.excepthook = lambda *arguments: seen.append((arguments, list(explained)))
    memtrack.install()
    error = raised(MemoryError("x"))
    sys.excepthook(*error)
    assert seen == [(error, [])]
    assert explained == ["x"]


def test_a_hook_before_that_fails_does_so_as_without_us(explained):
    def failing(*arguments):
        raise ValueError("its own")

    sys.excepthook = failing
    memtrack.install()
    with pytest.raises(ValueError, match="its own"):
        sys.excepthook(*raised(MemoryError("x")))
    assert explained == ["x"]


def test_a_hook_put_on_top_stays_and_we_say_nothing_any_more(explained):
    memtrack.install()
    ours = sys.excepthook
    seen = []

    def top(*arguments):
        seen.append(arguments[1])
        ours(*arguments)

    sys.excepthook = top
    memtrack.uninstall()
    assert sys.excepthook is top
    error = raised(MemoryError("x"))
    before = sys.__excepthook__
    assert before is not None
    sys.excepthook(*error)
    assert seen == [error[1]]
    assert explained == []
    memtrack.install()
    sys.excepthook(*error)
    assert explained == ["x"]


def test_threads_are_heard(explained):
    seen = []
    threading.excepthook = seen.append
    memtrack.install()

    def fail():
        raise MemoryError("in a thread")

    thread = threading.Thread(target=fail)
    thread.start()
    thread.join()
    assert [one.exc_type for one in seen] == [MemoryError]
    assert explained == ["in a thread"]


class Held(MemoryError):
    """An error whose death can be seen."""

    deaths = 0

    def __del__(self):
        Held.deaths += 1


def test_no_error_is_kept(monkeypatch, capsys):
    def explain(error, recording=None):
        return SimpleNamespace(kind="none")

    monkeypatch.setattr("memtrack.explaining.explain", explain)
    sys.excepthook = lambda *arguments: None
    memtrack.install()
    gc.disable()
    try:
        try:
            raise Held("x")
        except Held:
            sys.excepthook(*sys.exc_info())
        assert Held.deaths == 1
    finally:
        gc.enable()


def test_our_own_failure_is_one_line(monkeypatch, capsys):
    def broken(error, recording=None):
        raise RuntimeError("broken\nand more")

    monkeypatch.setattr("memtrack.explaining.explain", broken)
    explaining.explain_on_stderr(MemoryError("x"))
    assert capsys.readouterr().err == WORDS
    monkeypatch.setattr(sys, "stderr", None)
    explaining.explain_on_stderr(MemoryError("x"))


def test_what_is_no_memory_error_is_not_even_looked_at(monkeypatch, capsys):
    monkeypatch.setattr("memtrack.explaining.explain", lambda *arguments: pytest.fail("looked at"))
    for error in (KeyError("a"), KeyboardInterrupt(), SystemExit("CUDA"), SyntaxError("memory")):
        explaining.explain_on_stderr(error)
    assert capsys.readouterr().err == ""


class OutOfMemoryError(RuntimeError):
    """Named as torch's."""


def chained(outer, inner):
    try:
        try:
            raise inner
        except type(inner) as cause:
            raise outer from cause
    except type(outer) as found:
        return found


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (MemoryError(), True),
        (OutOfMemoryError("x"), True),
        (RuntimeError("CUDA error: an illegal memory access was encountered"), True),
        (RuntimeError("[enforce fail at alloc_cpu.cpp:127] DefaultCPUAllocator: …"), True),
        (RuntimeError("CUBLAS_STATUS_ALLOC_FAILED when calling cublasCreate(handle)"), True),
        (RuntimeError("DataLoader worker (pid 12) is killed by signal: Killed."), True),
        (chained(ValueError("wrapped"), MemoryError()), True),
        (chained(ValueError("wrapped"), KeyError("a")), False),
        (ValueError("shapes do not match"), False),
        (KeyboardInterrupt(), False),
    ],
)
def test_which_errors_are_looked_at(error, expected):
    assert may_be_of_memory(error) is expected


class Speechless(Exception):
    def __str__(self):
        raise ValueError("no text")


def test_an_error_without_a_text_is_none_of_ours(capsys):
    explaining.explain_on_stderr(Speechless())
    assert capsys.readouterr().err == ""


@pytest.mark.skipif(sys.version_info < (3, 11), reason="groups of exceptions came with Python 3.11")
def test_the_members_of_a_group_are_looked_at():
    group = builtins.ExceptionGroup
    assert may_be_of_memory(group("tasks", [ValueError(), group("more", [MemoryError()])]))
    assert not may_be_of_memory(group("tasks", [ValueError(), KeyError()]))


def test_hooks_put_in_and_taken_out_by_many_threads_leave_nothing():
    before = sys.excepthook, threading.excepthook

    def again_and_again():
        for _ in range(300):
            memtrack.install()
            memtrack.uninstall()

    threads = [threading.Thread(target=again_and_again) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (sys.excepthook, threading.excepthook) == before


def test_a_loop_of_causes_ends():
    one, two = ValueError("a"), ValueError("b")
    one.__cause__, two.__cause__ = two, one
    assert may_be_of_memory(one) is False


SCRIPT = """
import memtrack
memtrack.install()
import torch
assert "memtrack.capture.recorder" in __import__("sys").modules
def grow():
    return torch.empty(1 << 50)
grow()
"""


def test_a_script_that_installs_us_explains_itself(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    found = python(tmp_path, "script.py")
    traceback, _, explanation = found.err.partition("Cannot allocate memory)\n")
    assert found.code == 1
    assert traceback.startswith("Traceback (most recent call last):\n")
    assert traceback.count("  File ") == 2
    assert "memory ran out" in explanation
    assert not list(tmp_path.glob("*.memtrack"))


def test_installing_loads_nothing_large(tmp_path):
    (tmp_path / "script.py").write_text(
        "import sys, memtrack\nmemtrack.install()\n"
        "print([name for name in ('torch', 'numpy', 'IPython') if name in sys.modules])\n1 / 0\n"
    )
    found = python(tmp_path, "script.py")
    assert found.out == "[]\n"
    assert found.err.endswith("ZeroDivisionError: division by zero\n")


@pytest.fixture
def module(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "watched_module.py").write_text("value = 1\n")
    yield tmp_path / "watched_module.py"
    sys.modules.pop("watched_module", None)


def test_an_import_is_told_of_once_and_leaves_the_loader_as_it_was(module):
    told, path = [], list(sys.meta_path)
    watches = [ImportWatch("watched_module", lambda n=n: told.append(n)) for n in (1, 2)]
    # Looking for a module, as libraries do to see whether it is there, does not count.
    assert importlib.util.find_spec("watched_module") is not None
    assert importlib.util.find_spec("no_such_module_anywhere") is None
    assert told == []
    imported = importlib.import_module("watched_module")
    assert imported.value == 1
    assert sorted(told) == [1, 2]
    assert vars(imported.__spec__.loader).keys() == {"name", "path"}
    assert sys.meta_path == path
    ImportWatch("watched_module", lambda: told.append(3))
    assert told[-1] == 3
    assert sys.meta_path == path
    for watch in watches:
        watch.stop()


def test_an_import_that_fails_is_tried_again(module):
    told = []
    module.write_text("1 / 0\n")
    watch = ImportWatch("watched_module", lambda: told.append(1))
    with pytest.raises(ZeroDivisionError):
        importlib.import_module("watched_module")
    assert told == []
    module.write_text("value = 22\n")
    importlib.invalidate_caches()
    assert importlib.import_module("watched_module").value == 22
    assert told == [1]
    watch.stop()


def test_a_watch_that_has_stopped_hears_nothing(module):
    told = []
    watch = ImportWatch("watched_module", lambda: told.append(1))
    watch.stop()
    watch.stop()
    importlib.import_module("watched_module")
    assert told == []
