"""What is released and what is left, without IPython: order, whose it is, the allocator's cache."""

import sys
import types

import pytest

torch = pytest.importorskip("torch")

from memtrack.capture import backends  # noqa: E402
from memtrack.capture import release as releasing  # noqa: E402
from memtrack.capture.holders import CPU  # noqa: E402
from memtrack.capture.release import release, release_all  # noqa: E402
from memtrack.diagnosis.holdings import Level  # noqa: E402

GIB = 1 << 30
CUDA = torch.device("cuda", 0)
PATIENCE_S = 20.0


def failed(size):
    """Return an exception whose traceback holds `size` floats in a finished frame."""

    def fail():
        local = torch.ones(size)  # noqa: F841 - the frame keeps it
        raise RuntimeError("CUDA out of memory")

    try:
        fail()
    except RuntimeError as error:
        return error


@pytest.fixture
def shell():
    made = types.SimpleNamespace(
        user_ns={"_oh": {}},
        user_ns_hidden={},
        displayhook=types.SimpleNamespace(_="", __="", ___=""),
        InteractiveTB=types.SimpleNamespace(tb=None, pdb=None),
        SyntaxTB=types.SimpleNamespace(last_syntax_error=None),
        last_execution_result=types.SimpleNamespace(
            error_in_exec=None, error_before_exec=None, result=None
        ),
    )
    forget()
    yield made
    forget()


def forget():
    for name in ("last_type", "last_value", "last_traceback", "last_exc"):
        vars(sys).pop(name, None)


def keep(shell, error):
    """Put an exception where Python and IPython keep the last one."""
    sys.last_type, sys.last_value, sys.last_traceback = type(error), error, error.__traceback__
    shell.InteractiveTB.tb = error.__traceback__
    shell.last_execution_result.error_in_exec = error


def local_of(error):
    return error.__traceback__.tb_next.tb_frame.f_locals.get("local")


def bytes_by_step(released):
    return {step.id: step.bytes for step in released.steps}


def test_steps_are_measured_each(shell):
    keep(shell, failed(1024))
    shell.user_ns["_oh"][2] = [torch.ones(2048)]
    shell.user_ns["mine"] = torch.ones(4096)
    shell.last_execution_result.result = shell.user_ns["_oh"][2]
    released = release(shell, CPU, ["mine"], limit_s=PATIENCE_S)
    sizes = bytes_by_step(released)
    assert (sizes["errors"], sizes["outputs"], sizes["variables"]) == (4096, 8192, 16384)
    assert released.dropped == ("mine",)
    assert "RuntimeError: CUDA out of memory" in released.traceback
    assert "local = " not in released.traceback.replace("    local = torch", "")
    assert shell.last_execution_result.result is None
    assert not hasattr(sys, "last_value") and shell.InteractiveTB.tb is None
    # That the cell has failed, others may still ask.
    assert type(shell.last_execution_result.error_in_exec) is RuntimeError
    assert "mine" not in shell.user_ns


def test_an_error_of_the_users_stays_whole_also_where_it_is_deep(shell):
    error = failed(1024)
    shell.user_ns["log"] = {"errors": [error]}
    keep(shell, error)
    del error
    released = release(shell, CPU, limit_s=PATIENCE_S)
    assert bytes_by_step(released).get("errors", 0) == 0
    assert local_of(shell.user_ns["log"]["errors"][0]).numel() == 1024
    (holding,) = [one for one in released.after.holdings if one.name == "log"]
    assert holding.chains[0].path.startswith("log['errors'][0] → fail() line ")
    assert holding.bytes == 4096


def test_a_closure_that_outlives_the_failure_keeps_its_variables(shell):
    def fail():
        mine, gone = torch.ones(1024), torch.ones(2048)
        shell.user_ns["later"] = lambda: mine
        raise RuntimeError(gone.shape)

    try:
        fail()
    except RuntimeError as error:
        keep(shell, error)
    released = release(shell, CPU, limit_s=PATIENCE_S)
    assert bytes_by_step(released)["errors"] == 8192
    assert shell.user_ns["later"]().numel() == 1024
    (holding,) = [one for one in released.after.holdings if one.name == "later"]
    assert holding.chains[0].path == "later.<closure mine>"


def test_after_half_a_search_nothing_that_may_be_the_users_is_touched(shell):
    error = failed(1024)
    shell.user_ns["many"] = [[[n]] for n in range(20_000)]
    shell.user_ns["log"] = [[[[error]]]]
    keep(shell, error)
    del error
    released = release(shell, CPU, limit_s=0.0)
    assert "cut_short" in released.notes
    assert local_of(shell.user_ns["log"][0][0][0][0]).numel() == 1024
    shell.user_ns.pop("log")
    keep(shell, failed(1024))
    released = release(shell, CPU, limit_s=0.0)
    assert bytes_by_step(released)["errors"] == 4096
    assert isinstance(shell.last_execution_result.error_in_exec, RuntimeError)


def test_syntax_errors_and_what_came_before_go_as_well(shell):
    first, second = failed(1024), failed(2048)
    second.__context__ = first
    shell.SyntaxTB.last_syntax_error = second
    shell.last_execution_result.error_before_exec = second
    del first, second
    released = release(shell, CPU, limit_s=PATIENCE_S)
    assert bytes_by_step(released)["errors"] == 4 * 3072
    assert shell.SyntaxTB.last_syntax_error is None


def test_a_debugger_that_is_being_used_keeps_its_frames(shell):
    error = failed(1024)
    shell.InteractiveTB.pdb = types.SimpleNamespace(curframe=error.__traceback__.tb_next.tb_frame)
    namespace = {"__name__": "pdb", "release": release, "args": (shell, CPU)}
    exec("def interaction(): return release(*args)", namespace)
    namespace["interaction"]()
    assert shell.InteractiveTB.pdb is not None
    release(shell, CPU, limit_s=PATIENCE_S)
    assert shell.InteractiveTB.pdb is None


def test_messages_that_fail_or_never_end_do_no_harm(shell):
    class Rude(RuntimeError):
        def __str__(self):
            raise KeyError("no")

    keep(shell, Rude())
    assert "Rude" in release(shell, CPU, limit_s=PATIENCE_S).traceback
    keep(shell, RuntimeError("x" * 10**6))
    assert len(release(shell, CPU, limit_s=PATIENCE_S).traceback) < 10_000


def test_outside_of_ipython_the_last_error_goes(shell):
    del shell
    error = failed(1024)
    sys.last_type, sys.last_value, sys.last_traceback = type(error), error, error.__traceback__
    del error
    assert bytes_by_step(release(None, CPU, limit_s=PATIENCE_S))["errors"] >= 4096


def test_several_devices_are_measured_each(shell):
    shell.user_ns["mine"] = torch.ones(1024)
    here, there = release_all(shell, [CPU, torch.device("meta")], ["mine"], limit_s=PATIENCE_S)
    assert bytes_by_step(here)["variables"] == 4096
    assert bytes_by_step(there)["variables"] == 0
    assert there.after.device == "meta"


@pytest.mark.parametrize(
    ("level", "asked", "capturing", "note"),
    [
        (Level(GIB, GIB, GIB, 4 * GIB), False, False, None),
        (Level(GIB, 2 * GIB, 3 * GIB, 4 * GIB), False, False, "cache_kept"),
        (Level(GIB, 2 * GIB, GIB // 2, 4 * GIB), False, False, "cache_returned"),
        (Level(GIB, 2 * GIB, 3 * GIB, 4 * GIB), True, False, "cache_returned"),
        (Level(GIB, 2 * GIB, 3 * GIB, 4 * GIB), True, True, "capturing"),
        (Level(GIB, GIB + 512, 3 * GIB, 4 * GIB), True, False, "cache_returned"),
        (Level(), True, False, None),
    ],
)
def test_the_cache_goes_if_asked_or_if_somebody_may_wait(
    monkeypatch, level, asked, capturing, note
):
    calls = []
    monkeypatch.setattr(releasing, "level_of", lambda device: level)
    monkeypatch.setattr(backends, "is_capturing", lambda: capturing)
    monkeypatch.setattr(torch.cuda, "empty_cache", lambda: calls.append("emptied"))
    assert releasing._empty_cache(CUDA, asked) == ([note] if note else [])
    assert calls == (["emptied"] if note == "cache_returned" else [])
