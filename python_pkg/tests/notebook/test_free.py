"""The law of `%memtrack free`: what a failed cell has added is back, or its holder is named."""

import sys
import weakref
from textwrap import dedent

import pytest
from failing_cells import CELLS, NEEDS_GROUPS, SETUP, Census, storages

pytest.importorskip("torch")

LAW = 0.95
GROUPS = sys.version_info >= (3, 11)
PARTS = [name for name in CELLS if GROUPS or name not in NEEDS_GROUPS]


@pytest.fixture
def failing(notebook):
    """A notebook with what the failing cells need; its variables go when the test ends."""
    assert notebook.run(SETUP).success
    yield notebook
    for name in ("last_type", "last_value", "last_traceback", "last_exc"):
        vars(sys).pop(name, None)
    notebook.shell.reset()


def fail(notebook, name):
    """Run a cell that fails; return a census of what it has added."""
    before = storages()
    assert not notebook.run(dedent(CELLS[name])).success
    added = Census(before)
    assert added.alive >= 1 << 19, "the cell keeps nothing alive: the test shows nothing"
    return added


def free(notebook, arguments=""):
    notebook.run(f"%memtrack free {arguments}")
    return notebook.texts()[-1]


@pytest.mark.parametrize("name", PARTS)
def test_what_a_failed_cell_has_added_is_back(failing, name):
    added = fail(failing, name)
    total = added.alive
    shown = free(failing)
    # What the cell has given names to is the user's, and is named.
    named = [one for one in ("loss", "net", "work", "model") if one in failing.shell.user_ns]
    for one in named:
        assert f"%memtrack free {one}" in shown
    if named:
        free(failing, " ".join(named))
    assert added.alive <= (1 - LAW) * total


@pytest.mark.parametrize("mode", ["Plain", "Verbose", "Minimal", "Docs"])
def test_in_every_mode_of_showing_it(failing, mode):
    failing.run(f"%xmode {mode}")
    added = fail(failing, "chained")
    total = added.alive
    free(failing)
    assert added.alive <= (1 - LAW) * total


def test_after_a_debugger_has_been_there(failing, monkeypatch):
    added = fail(failing, "nested functions")
    total = added.alive
    monkeypatch.setattr("builtins.input", lambda *_: "quit")
    failing.shell.InteractiveTB.debugger(force=True)
    assert failing.shell.InteractiveTB.pdb.botframe is not None
    free(failing)
    assert failing.shell.InteractiveTB.pdb is None
    assert added.alive <= (1 - LAW) * total


def test_an_error_that_the_user_keeps_is_named_and_stays_whole(failing):
    added = fail(failing, "chained")
    failing.run("import sys; saved = [sys.last_value.__cause__]; mine = saved[0].__traceback__")
    total = added.alive
    shown = free(failing)
    assert "→ first() line" in shown
    assert "%memtrack free saved mine" in shown or "%memtrack free mine saved" in shown
    frame = failing.shell.user_ns["saved"][0].__traceback__.tb_next.tb_frame
    assert frame.f_locals["one"].numel() == 512 * 256
    del frame
    assert added.alive > 0
    free(failing, "saved mine")
    assert added.alive <= (1 - LAW) * total
    assert "saved" not in failing.shell.user_ns


def test_a_generator_that_may_go_on_is_not_closed(failing):
    failing.run(
        """
def patient():
    held = big()
    try:
        fail()
    except RuntimeError as error:
        tried = error
    yield held
    yield held + 1
going_on = patient(); _ = next(going_on)
def fails_too():
    other = big()
    raise going_on.gi_frame.f_locals["tried"]
"""
    )
    failing.run("fails_too()")
    free(failing)
    assert failing.run("assert next(going_on)[0] == 2").success


def test_outputs_with_tensors_are_forgotten_and_others_are_not(failing):
    before = storages()
    failing.run("'words'")
    failing.run("[torch.ones(1 << 18)]")
    failing.run("Out[max(Out)][0]")
    added = Census(before)
    ns = failing.shell.user_ns
    kept = [number for number, value in ns["Out"].items() if value == "words"]
    assert len(ns["Out"]) == 3
    shown = free(failing)
    assert "1.00 MiB  displayed values that IPython remembered" in shown
    assert list(ns["Out"]) == kept
    assert ns[f"_{kept[0]}"] == "words"
    assert [name for name in ns if name in ("_3", "_4")] == []
    assert ns["_"] == "" and failing.shell.displayhook._ == ""
    assert added.alive == 0
    assert failing.run("7").result == 7
    assert ns["_"] == 7


def test_an_underscore_of_the_users_stays(failing):
    failing.run("_ = torch.ones(1 << 18)")
    shown = free(failing)
    assert "%memtrack free _" in shown
    assert failing.shell.user_ns["_"].numel() == 1 << 18
    free(failing, "_")
    assert not hasattr(failing.shell.user_ns.get("_"), "numel")


def test_a_variable_goes_only_when_named_and_others_who_hold_it_are_told(failing):
    before = storages()
    failing.run("a = torch.ones(1 << 18); box = {'b': a}; c = torch.ones(1 << 18)")
    added = Census(before)
    whole = added.alive
    free(failing)
    assert added.alive == whole
    shown = free(failing, "a")
    assert "a" not in failing.shell.user_ns
    assert "box['b']" in shown and "%memtrack free box" in shown
    assert added.alive == whole
    shown = free(failing, "box, c")
    assert "2.00 MiB  dropped: box, c" in shown
    assert added.alive <= whole - (2 << 20)


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("free bos", "There is no variable 'bos' in this notebook. Did you mean 'box'?"),
        ("free box.a", "'box.a' is not the name of a variable. In Python: box.a = None"),
        ("free --cash", "There is no option '--cash'. Did you mean '--cache'?"),
        ("free In", "There is no variable 'In' in this notebook."),
        ("free trch", "There is no variable 'trch' in this notebook."),
        ("who cares", "%memtrack who takes nothing after it."),
    ],
)
def test_wrong_words_are_one_line_and_drop_nothing(failing, line, sentence):
    failing.run("box = torch.ones(4)")
    assert not failing.run(f"%memtrack {line}").success
    assert failing.err.startswith(f"UsageError: {sentence}")
    assert failing.err.count("\n") == 1
    assert "box" in failing.shell.user_ns


def test_a_wrong_name_beside_objects_that_answer_nothing_is_one_line(failing):
    failing.run(
        "class Closed:\n    def __getattribute__(self, name): raise RuntimeError(name)\nclosed = Closed()"
    )
    result = failing.run("%memtrack free closd")
    assert str(result.error_in_exec).endswith("Did you mean 'closed'?")
    failing.run("del closed")


def test_afterwards_tb_and_debug_say_that_there_is_nothing(failing, caplog):
    fail(failing, "forward")
    shown = free(failing)
    assert "%tb and %debug have nothing to show now" in " ".join(shown.split())
    html = failing.shown[-1]["text/html"]
    assert "OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB." in html
    assert failing.run("%tb").success
    assert failing.err == "No traceback available to show.\n"
    assert failing.run("%debug").success
    assert "nothing to debug" in caplog.text
    failing.run("1 / 0")
    assert "ZeroDivisionError" in failing.out
    failing.run("%tb")
    assert "ZeroDivisionError" in failing.out


def test_within_the_cell_that_handles_it_running_frames_are_left(failing):
    assert failing.run(
        """
def still_running():
    mine = big()
    try:
        fail()
    except RuntimeError:
        get_ipython().run_line_magic('memtrack', 'free')
    return mine.numel()
assert still_running() == 512 * KB
"""
    ).success


def test_without_torch_it_says_so(notebook, monkeypatch):
    monkeypatch.delitem(sys.modules, "torch")
    for command in ("who", "free"):
        notebook.run(f"%memtrack {command}")
        assert "PyTorch is not imported" in notebook.texts()[-1]


def test_a_recording_keeps_nothing_from_being_freed(training):
    training.run("%memtrack model\ntrain(1)")
    weak = [weakref.ref(one) for one in training.shell.user_ns["model"].parameters()]
    assert "dropped: model, optimizer, train" in free(training, "model optimizer train")
    assert len(weak) == 4 and not any(one() is not None for one in weak)
    assert training.run("%memtrack off").success
    assert training.texts()[0].startswith("Peak ")


def test_a_recording_goes_on_undisturbed(training):
    def events(between):
        training.run(f"%memtrack model\ntrain(1)\n{between}\ntrain(1)")
        training.run("%memtrack off\nr = %memtrack")
        data = training.shell.user_ns.pop("r").data
        return len(data.events), len(data.allocations), len(data.calls)

    events("pass")  # the first steps of an optimizer make its state
    plain = events("pass")
    assert events("get_ipython().run_line_magic('memtrack', 'who')") == plain
    assert events("get_ipython().run_line_magic('memtrack', 'free')") == plain
    assert events("pass") == plain


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("x; import os", "takes names of variables, and no code after a semicolon."),
        ("\u00e9,dq", "There is no variable '\u00e9' in this notebook."),
        ("rows[0,1]", "'rows[0,1]' is not the name of a variable."),
    ],
)
def test_what_is_no_list_of_names_is_told_so(failing, arguments, said):
    result = failing.run(f"%memtrack free {arguments}")
    assert said in str(result.error_in_exec)


def test_names_may_be_parted_by_commas(failing):
    failing.run("import torch; first, second = torch.ones(9), torch.ones(9)")
    free(failing, "first,second")
    assert not {"first", "second"} & set(failing.shell.user_ns)
