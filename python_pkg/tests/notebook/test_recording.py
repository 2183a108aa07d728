"""Recordings through the magic in a real shell: what is shown, when it ends, what it leaves."""

import gc
import re
import weakref

import pytest

from memtrack.reports.payload import MIME_TYPE

torch = pytest.importorskip("torch")


def hooks_left():
    """Count the global hooks and modes that a recording uses."""
    from torch.nn.modules import module
    from torch.utils._python_dispatch import _get_current_dispatch_mode_stack

    return (
        len(module._global_forward_pre_hooks),
        len(module._global_forward_hooks),
        len(_get_current_dispatch_mode_stack()),
    )


@pytest.fixture(autouse=True)
def nothing_left():
    before = hooks_left()
    yield
    assert hooks_left() == before


def state(notebook, index=0):
    return notebook.shown[index][MIME_TYPE]["report"]["state"]


def test_watching_shows_one_line_until_something_runs(training):
    training.run("%memtrack model")
    training.run("unrelated = torch.ones(3)")
    assert training.texts() == [
        "Watching `model`: run your training, in any cell. %memtrack off ends it."
    ]
    assert MIME_TYPE not in training.shown[0]
    assert (training.out, training.err) == ("", "")


def test_report_appears_in_the_first_cell_after_a_later_cell_trained(training):
    training.run("%memtrack model --optimizer optimizer")
    training.run("train(2)")
    (bundle,) = training.shown
    assert set(bundle) == {"text/plain", "text/html", MIME_TYPE}
    assert bundle["text/plain"].startswith("Peak ")
    assert state(training) == "recording"
    assert bundle[MIME_TYPE]["report"]["steps"] == 2
    training.run("train(1)")
    training.run("%memtrack off")
    assert len(training.shown) == 1
    assert state(training) == "complete"
    assert training.shown[0][MIME_TYPE]["report"]["steps"] == 3


def test_cell_of_the_magic_itself_is_recorded_from_there_on(training):
    training.run("train(1)\n%memtrack model\ntrain(2)")
    training.run("%memtrack off")
    assert training.shown[0][MIME_TYPE]["report"]["steps"] == 2


def test_cell_that_records_nothing_updates_nothing(training):
    training.run("%memtrack model")
    training.run("train(1)")
    count = len(training.published)
    training.run("x = 1")
    assert len(training.published) == count


def test_steps_end_the_recording_before_its_cell_ends(training):
    training.run("%memtrack model --steps 2")
    cell = "train(5)\nfrom torch.nn.modules import module\nleft = len(module._global_forward_hooks)"
    before = hooks_left()
    training.run(cell)
    assert training.shell.user_ns["left"] <= before[1]
    assert state(training) == "complete"
    assert training.shown[0][MIME_TYPE]["report"]["steps"] == 2
    training.run("%memtrack status")
    assert training.texts()[-1] == (
        "Nothing is being recorded. Latest: model, steps: 2, complete. %memtrack shows it."
    )


def test_exception_in_a_recorded_cell_ends_it_with_the_users_traceback(training):
    cell = "train(1)\nraise ValueError('mine')"
    training.run(cell)
    without_us = training.out
    training.run("%memtrack model")
    result = training.run(cell)
    assert type(result.error_in_exec) is ValueError
    assert re.sub(r"input-\d+|In\[\d+\]", "", training.out) == re.sub(
        r"input-\d+|In\[\d+\]", "", without_us
    )
    assert "memtrack" not in training.out
    assert state(training) == "failed"


def test_interrupt_ends_it_as_interrupted(training):
    training.run("%memtrack model")
    training.run("train(1)\nraise KeyboardInterrupt")
    assert state(training) == "interrupted"


def test_exception_in_a_cell_that_ran_no_model_does_not_end_it(training):
    training.run("%memtrack model")
    training.run("undefined_name")
    training.run("this is not python")
    training.run("train(1)")
    assert state(training) == "recording"


def test_tracking_again_replaces_the_old_recording(training):
    training.run("%memtrack model")
    training.run("train(1)")
    training.run("%memtrack model")
    assert state(training, 0) == "complete"
    training.run("train(2)")
    training.run("%memtrack off")
    assert [bundle[MIME_TYPE]["report"]["steps"] for bundle in training.shown] == [1, 2]


def test_off_without_a_run_says_that_nothing_was_recorded(training):
    training.run("%memtrack model")
    training.run("%memtrack off")
    assert training.texts() == ["Nothing was recorded: `model` did not run while it was watched."]
    training.run("%memtrack off")
    assert training.texts()[-1] == "Nothing is being recorded."


def test_latest_report_is_the_value_of_the_bare_magic(training):
    training.run("%memtrack model --label tiny")
    training.run("train(2)")
    result = training.run("%memtrack")
    assert repr(result.result).startswith("<memtrack.Recording of tiny, running: 2 steps, peak ")
    training.run("%memtrack off")
    result = training.run("latest = %memtrack\nlatest")
    assert repr(result.result).startswith("<memtrack.Recording of tiny: 2 steps, peak ")
    data, _ = training.shell.display_formatter.format(result.result)
    assert set(data) == {"text/plain", "text/html", MIME_TYPE}
    assert data["text/plain"] == training.shown[0]["text/plain"]


def test_marks_are_in_the_report(training):
    training.run("%memtrack model")
    training.run("train(1)\n%memtrack mark after $unknown one")
    training.run("%memtrack off")
    assert training.shown[0][MIME_TYPE]["report"]["marks"]["label"] == ["after $unknown one"]


def test_several_models_keep_their_names(training):
    training.run("gen, disc = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)")
    training.run("%memtrack [gen, disc]")
    training.run("disc(gen(torch.ones(1, 2))).sum().backward()")
    training.run("%memtrack off")
    assert training.shown[0][MIME_TYPE]["report"]["layers"]["path"]["values"] == ["gen", "disc"]


def test_model_named_like_a_sub_command(training):
    training.run("off = model")
    training.run("%memtrack track off")
    training.run("train(1)")
    training.run("%memtrack off")
    assert training.shown[0][MIME_TYPE]["report"]["label"] == "off"


def test_local_model_inside_a_function_is_found(training):
    training.run(
        "def experiment():\n"
        "    net = torch.nn.Linear(2, 2)\n"
        "    %memtrack net\n"
        "    net(torch.ones(1, 2)).sum().backward()\n"
        "experiment()"
    )
    training.run("%memtrack off")
    assert training.shown[0][MIME_TYPE]["report"]["label"] == "net"


def test_deleting_the_model_frees_it_after_off(training):
    training.run("%memtrack model --optimizer optimizer")
    training.run("train(2)")
    training.run("%memtrack off")
    training.run("%memtrack")
    model = weakref.ref(training.shell.user_ns["model"])
    weight = weakref.ref(next(training.shell.user_ns["model"].parameters()))
    training.run("train.__defaults__ = ()")
    training.run("del model, optimizer")
    gc.collect()
    assert model() is None and weight() is None


def test_cells_on_other_threads_are_left_alone(training):
    import threading

    training.run("%memtrack model")
    thread = threading.Thread(target=lambda: training.shell.run_cell("train(1)"))
    thread.start()
    thread.join()
    assert training.texts()[0].startswith("Watching")
    training.run("train(1)")
    assert training.texts()[0].startswith("Peak")


def test_other_thread_cannot_end_it_while_its_cell_runs(training):
    training.run("%memtrack model")
    cell = (
        "import threading\n"
        "other = threading.Thread(target=get_ipython().run_cell, args=('%memtrack off',))\n"
        "train(1); other.start(); other.join(); train(1)"
    )
    training.run(cell)
    assert "The cell that is being recorded is still running." in training.err
    assert training.shown[0][MIME_TYPE]["report"]["steps"] == 2
    assert state(training) == "recording"


def test_cell_within_a_cell_does_not_end_the_recording(training):
    training.run("%memtrack model")
    training.run("get_ipython().run_cell('train(1)')\nget_ipython().run_cell('')\ntrain(1)")
    assert training.shown[0][MIME_TYPE]["report"]["steps"] == 2


def test_frames_are_known_by_their_cell(training):
    training.run("%memtrack model")
    training.run("train(1)")
    number = training.shell.execution_count - 1
    training.run("%memtrack off")
    sites = training.shown[0][MIME_TYPE]["report"]["views"][0]["timeline"]["sites"]
    assert any(site.startswith("In [1]:") for site in sites), sites
    assert number == 3


def test_nothing_is_registered_while_nothing_is_recorded(training):
    before = {event: list(found) for event, found in training.shell.events.callbacks.items()}
    training.run("%memtrack model")
    assert training.shell.events.callbacks != before
    training.run("%memtrack off")
    assert training.shell.events.callbacks == before


class TestOurFailures:
    """What fails in memtrack is one line on stderr and the end of the recording."""

    def test_in_the_report(self, training, monkeypatch):
        from memtrack.notebook import output

        def broken(data):
            raise RuntimeError("no report today")

        training.run("%memtrack model")
        monkeypatch.setattr(output, "build_report", broken)
        result = training.run("train(1)\n'the value'")
        assert result.success and result.result == "the value"
        assert training.err == (
            "memtrack could not finish the report (RuntimeError: no report today);"
            " your run goes on untracked.\n"
        )
        monkeypatch.undo()
        training.run("%memtrack status")
        assert training.texts()[-1].startswith("Nothing is being recorded.")

    def test_beside_an_exception_of_the_user(self, training, monkeypatch):
        from memtrack.notebook import output

        monkeypatch.setattr(output, "build_report", lambda data: 1 / 0)
        training.run("%memtrack model")
        result = training.run("train(1)\nraise ValueError('mine')")
        assert "ValueError: mine" in training.out
        assert type(result.error_in_exec) is ValueError
        assert training.err.startswith("memtrack could not finish the report (ZeroDivisionError")

    def test_when_a_cell_begins(self, training, monkeypatch):
        from memtrack.capture import Recorder

        training.run("%memtrack model")
        monkeypatch.setattr(Recorder, "enter", lambda self: 1 / 0)
        assert training.run("train(1)").success
        assert training.err.startswith("memtrack could not record this cell (ZeroDivisionError")
