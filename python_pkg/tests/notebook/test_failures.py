"""A cell that fails of memory is explained under its own traceback, which stays as it is."""

import gc
import sys
import weakref

import pytest

pytest.importorskip("torch")

from memtrack.notebook import failures
from memtrack.reports.diagnosispayload import MIME_TYPE

MESSAGE = (
    "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 23.70 GiB of"
    " which 512.00 MiB is free. Process 4121 has 1.20 GiB memory in use. Including non-PyTorch"
    " memory, this process has 22.00 GiB memory in use. Of the allocated memory 20.60 GiB is"
    " allocated by PyTorch, and 921.60 MiB is reserved by PyTorch but unallocated."
)
SETUP = f"""
import torch
message = {MESSAGE!r}
def oom():
    raise torch.cuda.OutOfMemoryError(message)
"""
HEADLINE = "Out of memory on GPU 0: 2.00 GiB asked for, 512 MiB of 23.7 GiB free."


@pytest.fixture
def failing(notebook):
    """A notebook with `oom()`, which fails as CUDA's allocator does."""
    assert notebook.run(SETUP).success
    return notebook


def explanations(notebook):
    return [bundle for bundle in notebook.shown if MIME_TYPE in bundle]


def test_a_failed_cell_is_explained_in_three_forms(failing):
    result = failing.run("oom()")
    assert not result.success
    (shown,) = failing.shown
    lines = shown["text/plain"].splitlines()
    assert lines[0] == HEADLINE
    assert "Where: at In [2]:4" not in lines  # the line that raised is in the first cell
    assert "Where: at In [1]:4" in lines
    assert shown["text/html"].startswith('<div lang="en">')
    payload = shown[MIME_TYPE]
    assert payload["kind"] == "cuda_oom" and payload["device_memory"] is True
    assert payload["numbers"]["requested"] == 2 << 30
    assert payload["other_processes"] == [{"pid": 4121, "bytes": round(1.2 * 2**30)}]
    assert "CUDA out of memory. Tried to allocate 2.00 GiB" in payload["message"]
    assert failing.err == ""


def test_a_cell_whose_output_is_captured_is_explained_outside(failing):
    failing.run("%%capture kept\noom()")
    (shown,) = explanations(failing)
    assert shown["text/plain"].splitlines()[0] == HEADLINE
    failing.run("1 + 1")
    assert len(explanations(failing)) == 1


@pytest.mark.parametrize("mode", ["Context", "Verbose", "Plain", "Minimal"])
def test_the_traceback_is_what_it_is_without_us(bare, mode):
    bare.run(SETUP)
    bare.run(f"%xmode {mode}")
    bare.run("oom()", store_history=False)
    alone = bare.out
    assert "CUDA out of memory" in alone + bare.err
    bare.run("%load_ext memtrack", store_history=False)
    bare.run("oom()", store_history=False)
    assert bare.out == alone
    assert len(explanations(bare)) == 1


@pytest.mark.parametrize(
    "cell",
    [
        "1/0",
        "raise ValueError('batch of the wrong shape')",
        "raise KeyError('memory')",
        "raise KeyboardInterrupt",
        "raise SystemExit",
        "undefined",
        "x = ]",
        "import sys; raise ImportError('no module named gpu_things')",
        "raise RuntimeError('CUDA was great, the driver of the car was not')",
        "try:\n    oom()\nexcept RuntimeError:\n    pass",
        "try:\n    oom()\nexcept RuntimeError:\n    raise ValueError('mine') from None",
    ],
)
def test_other_cells_get_nothing(failing, cell):
    failing.run(cell)
    assert failing.published == [] and failing.err.count("memtrack") == 0


@pytest.mark.parametrize(
    "cell",
    [
        "try:\n    oom()\nexcept RuntimeError as e:\n    raise ValueError('step failed') from e",
        "try:\n    oom()\nexcept RuntimeError:\n    {}['missing']",
        "try:\n    1/0\nexcept ZeroDivisionError:\n    oom()",
        "raise MemoryError",
        "raise RuntimeError(message)",
        "raise RuntimeError('CUDA error: an illegal memory access was encountered')",
        'raise RuntimeError("DefaultCPUAllocator: can\'t allocate memory: you tried to allocate 9 bytes")',
        "import asyncio\nasync def f():\n    oom()\nawait f()",
    ],
)
def test_what_came_of_a_memory_error_is_explained(failing, cell):
    failing.run(cell)
    (shown,) = explanations(failing)
    assert shown[MIME_TYPE]["kind"] != "none"
    assert failing.err == ""


def test_the_first_cause_is_told_and_what_followed_is_no_other_cause(failing):
    failing.run("try:\n    oom()\nexcept RuntimeError as e:\n    raise ValueError('lost') from e")
    (shown,) = explanations(failing)
    assert shown["text/plain"].startswith(HEADLINE)


@pytest.mark.skipif(sys.version_info < (3, 11), reason="groups of exceptions came with 3.11")
def test_a_memory_error_in_a_group_is_found(failing):
    failing.run(
        "try:\n    oom()\nexcept RuntimeError as e:\n"
        "    raise ExceptionGroup('workers', [ValueError('a'), ExceptionGroup('inner', [e])])"
    )
    (shown,) = explanations(failing)
    assert shown["text/plain"].startswith(HEADLINE)


def test_a_script_that_fails_is_explained(failing, tmp_path):
    script = tmp_path / "train.py"
    script.write_text(f"raise RuntimeError({MESSAGE!r})\n")
    failing.run(f"%run {script}")
    (shown,) = explanations(failing)
    assert f"Where: at {script}:1" in shown["text/plain"].replace("\n", " ")
    failing.run("1 + 1")
    assert len(explanations(failing)) == 1


def test_a_timed_cell_is_explained_once(failing):
    failing.run("%%time\noom()")
    assert len(explanations(failing)) == 1


def test_a_cell_run_by_a_cell_is_explained_once(failing):
    failing.run("get_ipython().run_cell('oom()')\nx = 1")
    assert len(explanations(failing)) == 1


def test_each_failed_cell_has_its_own_explanation(failing):
    failing.run("oom()")
    failing.run("oom()")
    assert len(explanations(failing)) == 2


@pytest.mark.parametrize("error", ["RuntimeError('ours')", "KeyboardInterrupt()", "MemoryError()"])
def test_a_failure_of_ours_is_one_line_below_theirs(failing, monkeypatch, error):
    def broken(*_):
        raise eval(error)

    monkeypatch.setattr(failures, "case_of", broken)
    result = failing.run("oom()")
    assert type(result.error_in_exec).__name__ == "OutOfMemoryError"
    assert "CUDA out of memory" in failing.out
    name = error.partition("(")[0]
    assert failing.err.startswith(f"memtrack could not explain this error ({name}")
    assert failing.err.count("\n") == 1 and failing.published == []


def test_hostile_errors_are_survived(failing):
    failing.run(
        "class Odd(RuntimeError):\n"
        "    def __str__(self):\n        raise RuntimeError('no text: out of memory')\n"
        "    @property\n    def exceptions(self):\n        return 7\n"
        "raise Odd('CUDA out of memory. Tried to allocate 2.00 MiB')"
    )
    assert failing.err == ""


def test_an_error_that_is_its_own_cause_ends(failing):
    failing.run("e = torch.cuda.OutOfMemoryError(message)\ne.__cause__ = e\nraise e")
    assert len(explanations(failing)) == 1


def test_other_error_hooks_go_on(failing):
    told = []
    failing.shell.set_custom_exc((RuntimeError,), lambda *args, **_: told.append(args[2]))
    failing.run("oom()")
    assert len(told) == 1
    assert len(explanations(failing)) <= 1


def test_nothing_of_the_failed_cell_is_kept(failing):
    failing.run(
        "import weakref\nclass Big: pass\nkept = []\ndef train():\n    big = Big()\n"
        "    kept.append(weakref.ref(big))\n    oom()\ntrain()"
    )
    assert len(explanations(failing)) == 1
    alive = failing.shell.user_ns["kept"][0]
    for name in ("last_type", "last_value", "last_traceback", "last_exc"):
        if hasattr(sys, name):
            delattr(sys, name)
    failing.shell.InteractiveTB.tb = None
    failing.shell.last_execution_result.error_in_exec = None
    failing.shell.run_cell("1")
    gc.collect()
    assert isinstance(alive, weakref.ref) and alive() is None


def test_a_failed_recording_keeps_its_report_and_the_failure_its_explanation(training):
    training.run("%memtrack model")
    training.run(SETUP + "\ntrain(2)\noom()")
    report, explained = training.texts()
    assert report.startswith("Peak ") and "The run ended with an exception" in report
    assert explained.startswith(HEADLINE)


def test_a_recorded_cell_that_fails_has_both(training):
    training.run("%%memtrack model\n" + SETUP + "\ntrain(2)\noom()")
    kinds = {MIME_TYPE in bundle for bundle in training.shown}
    assert kinds == {True, False} and len(training.shown) == 2


def test_explanations_in_chinese(failing):
    failing.run("%config MemtrackMagics.language = 'zh_CN'")
    failing.run("oom()")
    shown = explanations(failing)[0]["text/plain"]
    assert "可行的办法" in shown and "What helps" not in shown


def test_after_unloading_nothing_is_explained(failing):
    failing.run("%unload_ext memtrack")
    failing.run("oom()")
    assert failing.published == []


@pytest.fixture
def on_cuda(training, monkeypatch):
    """A notebook on a fake CUDA: `fail()` is a request that the allocator cannot serve."""
    import torch
    from failing_cuda import Cuda

    from memtrack.capture import torch_api

    # A torch that is built for CUDA has been attached to already.
    training.run("%unload_ext memtrack", store_history=False)
    monkeypatch.setattr(torch.version, "cuda", "13.0")
    training.shell.user_ns["fail"] = Cuda(monkeypatch).fail
    training.run("%load_ext memtrack", store_history=False)
    yield training
    training.run("%unload_ext memtrack", store_history=False)
    delattr(torch.cuda, torch_api._TRAMPOLINE)


FAILING_LAYER = (
    "class Greedy(nn.Module):\n    def forward(self, x):\n        fail()\n"
    "bad = nn.Sequential(nn.Linear(2, 2), nn.Sequential(Greedy()))"
)


def test_a_failure_is_placed_without_a_model_attached(on_cuda):
    on_cuda.run(FAILING_LAYER)
    on_cuda.run("bad(torch.ones(1, 2))")
    (shown,) = explanations(on_cuda)
    assert shown[MIME_TYPE]["place"]["phase"] == "forward"
    assert shown[MIME_TYPE]["place"]["layer"] == "1.0"
    assert shown["text/plain"].startswith(
        "Out of memory in forward of 1.0: 2.00 GiB asked for, largest free block 1.00 GiB"
    )
    assert shown[MIME_TYPE]["needed"]["largest_free"] == 1 << 30
    assert sum(part["bytes"] for part in shown[MIME_TYPE]["parts"]) == 24 << 30
    assert on_cuda.err == ""


def test_a_recorded_failure_is_shown_at_once_and_again_with_its_recording(on_cuda):
    on_cuda.run(FAILING_LAYER)
    on_cuda.run("%memtrack bad")
    on_cuda.run("bad(torch.ones(1, 2))")
    (shown,) = explanations(on_cuda)
    versions = [one for one in on_cuda.published if MIME_TYPE in one["data"]]
    assert [one["update"] for one in versions] == [False, True]
    assert len({one["transient"]["display_id"] for one in versions}) == 1
    place = shown[MIME_TYPE]["place"]
    assert (place["phase"], place["layer"], place["step"]) == ("forward", "1.0", 1)
    assert str(answered(on_cuda, "")) == shown["text/plain"]
    assert on_cuda.err == ""


def test_what_a_cell_survives_is_forgotten(on_cuda):
    from memtrack.capture.failure import failure_like

    on_cuda.run("try:\n    fail()\nexcept RuntimeError:\n    pass")
    assert failure_like(None, None) is None and explanations(on_cuda) == []


# %memtrack explain


def answered(notebook, line):
    result = notebook.run(f"%memtrack explain {line}")
    return result.result


def test_the_last_failure_again(failing):
    failing.run("oom()")
    failing.run("undefined")
    assert str(answered(failing, "")).startswith(HEADLINE)


def test_a_failure_from_before_loading(bare):
    bare.run(SETUP)
    bare.run("oom()")
    bare.run("%load_ext memtrack")
    assert str(answered(bare, "")).startswith(HEADLINE)


@pytest.mark.parametrize(
    "line", ["error", "holder.error", "message", "lines", f'"{MESSAGE}"', MESSAGE]
)
def test_an_error_or_text_by_name_or_as_it_is(failing, line):
    failing.run(
        "try:\n    oom()\nexcept RuntimeError as e:\n    error = e\n"
        "class holder: pass\nholder.error = error\nlines = message.split('. ')"
    )
    assert failing.published == []
    explained = answered(failing, line)
    assert explained.kind == "cuda_oom" and explained.numbers["requested"] == 2 << 30
    assert repr(explained).startswith("<memtrack.Explanation: Out of memory")


def test_a_text_is_never_run(failing):
    failing.run("ran = []")
    answered(failing, "{ran.append(1)} $ran CUDA out of memory. Tried to allocate 2.00 GiB")
    assert failing.shell.user_ns["ran"] == []


def test_what_is_asked_inside_a_function(failing):
    failing.run(
        "def inner():\n    err = MemoryError('out of memory')\n"
        "    return get_ipython().run_line_magic('memtrack', 'explain message')\n"
        "kind = inner().kind"
    )
    assert failing.shell.user_ns["kind"] == "cuda_oom"


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("mesage", "There is no name 'mesage' in this notebook. Did you mean 'message'?"),
        ("xyzzy", "There is no name 'xyzzy' in this notebook."),
        (
            "torch",
            "`torch` is of type module; %memtrack explain takes an exception or a text.",
        ),
        ("oom.nothing", "`oom.nothing` fails: AttributeError: 'function' object has no attribute"),
    ],
)
def test_wrong_use_is_one_line(failing, line, sentence):
    assert not failing.run(f"%memtrack explain {line}").success
    assert failing.err.startswith(f"UsageError: {sentence}") and failing.err.count("\n") == 1


def test_without_any_error_one_line_says_so(notebook, monkeypatch):
    monkeypatch.delattr(sys, "last_value", raising=False)
    notebook.run("%memtrack explain")
    assert notebook.err == (
        "UsageError: No error has been shown in this notebook yet."
        " %memtrack explain NAME explains an exception or a text.\n"
    )


def test_a_slip_in_a_command_is_no_failure_to_explain(notebook):
    notebook.run("1/0")
    notebook.run("%memtrack off now")
    assert not notebook.run("%memtrack explain").success
    assert notebook.err.endswith(
        "UsageError: The last error was a slip in a command, not a failure of your code."
        " %memtrack explain NAME explains an exception or a text.\n"
    )


def test_a_text_without_a_memory_error(failing):
    failing.run("undefined")
    explained = answered(failing, '"NameError: name undefined is not defined"')
    assert explained.kind == "none"
    assert str(explained).startswith("No memory error found; the last error is: NameError")


def test_completion_offers_explain_and_leaves_names_to_the_shell(notebook):
    _, found = notebook.shell.complete("", "%memtrack ex", 12)
    assert "explain" in found


@pytest.mark.parametrize(("cell", "name"), [("1/0", "ZeroDivisionError"), ("x = ]", "SyntaxError")])
def test_which_failure_is_explained_is_said_after_another_error(failing, cell, name):
    failing.run("oom()")
    failing.run(cell)
    failing.run("%memtrack explain nothing_of_that_name")
    explained = answered(failing, "")
    assert failing.texts()[-1] == f"This is about In [2]; the last error was {name}."
    assert str(explained).startswith(HEADLINE)
    failing.run("oom()")
    shown = len(failing.texts())
    assert str(answered(failing, "")).startswith(HEADLINE) and len(failing.texts()) == shown


def test_which_failure_is_explained_in_chinese_and_without_a_number(failing):
    failing.run("%config MemtrackMagics.language = 'zh_CN'")
    failing.run("oom()", store_history=False)
    failing.run("1/0")
    failing.run("%memtrack explain")
    assert failing.texts()[-1] == "以下说明针对更早的一次失败；最近的错误是 ZeroDivisionError。"


def test_explain_by_a_call_names_cells_as_the_magic_does(failing, monkeypatch):
    monkeypatch.setattr("IPython.get_ipython", lambda: failing.shell)
    failing.run("try:\n    oom()\nexcept RuntimeError as error:\n    e = error")
    called = str(failing.run("import memtrack\nmemtrack.explain(e)").result)
    asked = str(answered(failing, "e"))
    assert called == asked and "Where: at In [1]:4" in called.splitlines()
