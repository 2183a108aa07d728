"""`%%memtrack`: the cell runs as it would without us."""

import re

import pytest

from memtrack.notebook.cells import line_for_cell
from memtrack.reports.payload import MIME_TYPE

pytest.importorskip("torch")


def traceback_of(out):
    """Return what a shell printed, whatever number and hash its cell had."""
    return re.sub(r"<ipython-input-\d+-\w+>|Cell In\[\d+\]", "<cell>", out)


def test_cell_is_recorded_and_its_report_shown(training):
    assert training.run("%%memtrack model\ntrain(2)").success
    (bundle,) = training.shown
    assert bundle["text/plain"].startswith("Peak ")
    report = bundle[MIME_TYPE]["report"]
    assert (report["state"], report["steps"], report["label"]) == ("complete", 2, "model")
    training.run("train(1)")
    assert len(training.shown) == 1


def test_without_a_model_whatever_runs_is_recorded(training):
    training.run("%%memtrack\ntrain(1)")
    assert training.shown[0][MIME_TYPE]["report"]["layers"]["path"]["values"][0] == "Sequential"


def test_last_value_of_the_cell_is_kept(training):
    result = training.run("%%memtrack model\ntrain(1)\n6 * 7")
    assert result.result == 42
    assert training.shell.user_ns["_"] == 42
    assert "Out[2]: 42" in training.out


def test_semicolon_still_silences_the_last_value(training):
    training.run("%%memtrack model\ntrain(1)\n6 * 7;")
    assert "42" not in training.out


def test_text_of_the_cell_is_not_touched(training):
    training.run('%%memtrack model\ntrain(1)\ntext = """\n  two\n\n\tthree\n"""')
    assert training.shell.user_ns["text"] == "\n  two\n\n\tthree\n"


def test_exception_is_shown_with_the_line_of_the_cell_and_the_report_after_it(training):
    body = "train(1)\n\ndef fails():\n    raise ValueError('mine')\nfails()"
    training.run(f"'first line'\n{body}")
    without_us = traceback_of(training.out)
    result = training.run(f"%%memtrack model\n{body}")
    assert type(result.error_in_exec) is ValueError
    magic = "get_ipython().run_line_magic('memtrack', '%% model')"
    assert traceback_of(training.out).replace(magic, "'first line'") == without_us
    assert "----> 6 fails()" in without_us
    assert training.shown[0][MIME_TYPE]["report"]["state"] == "failed"


def test_exception_before_the_model_runs_still_ends_the_recording(training):
    training.run("%%memtrack model\n1 / 0")
    training.run("%memtrack status")
    assert training.texts()[-1].startswith("Nothing was recorded")


def test_syntax_error_is_shown_as_it_is_and_records_nothing(training):
    result = training.run("%%memtrack model\n1 = = 2")
    assert isinstance(result.error_before_exec, SyntaxError)
    assert training.published == []


def test_top_level_await_works(training):
    cell = "%%memtrack model\nimport asyncio\nawait asyncio.sleep(0)\ntrain(1)"
    assert training.run(cell).success
    assert training.shown[0][MIME_TYPE]["report"]["steps"] == 1


def test_other_cell_magics_may_follow(training):
    training.run("%%memtrack model\n%%capture captured\ntrain(1)\nprint('hidden')")
    assert training.out == ""
    assert training.shell.user_ns["captured"].stdout == "hidden\n"
    assert training.shown[0][MIME_TYPE]["report"]["steps"] == 1


def test_it_may_follow_another_cell_magic(training):
    training.run("%%time\n%%memtrack model\ntrain(1)")
    assert "Wall time" in training.out
    assert training.shown[0][MIME_TYPE]["report"]["steps"] == 1


def test_called_by_name_it_runs_the_cell(training):
    training.shell.run_cell_magic("memtrack", "model", "train(1)\nvalue = 3\n")
    assert training.shell.user_ns["value"] == 3
    assert training.shown[0][MIME_TYPE]["report"]["state"] == "complete"
    training.shell.run_cell_magic("memtrack", "model", "train(1)\n1 / 0")
    assert training.shown[1][MIME_TYPE]["report"]["state"] == "failed"


def test_wrong_option_runs_nothing(training):
    result = training.run("%%memtrack model --stesp 3\nran = True")
    assert not result.success
    assert "Did you mean '--steps'?" in training.err
    assert "ran" not in training.shell.user_ns


def test_empty_cell_is_wrong_use(training):
    assert not training.run("%%memtrack model").success
    assert "the cell body is empty" in training.err


def test_cell_with_no_tensor_says_that_nothing_was_recorded(training):
    training.run("%%memtrack\nx = 1")
    assert training.texts() == ["Nothing was recorded: no tensor was made in this cell."]


@pytest.mark.parametrize(
    ("cell", "lines"),
    [
        ("%%memtrack\nx\n", ["get_ipython().run_line_magic('memtrack', '%%')\n", "x\n"]),
        (
            "%%memtrack  m --steps 2 \nx",
            ["get_ipython().run_line_magic('memtrack', '%% m --steps 2')\n", "x"],
        ),
        ("%%memtracker\nx\n", None),
        ("%%memtrack?\n", None),
        ("%%memtrack m\n\n", None),
        ("x\n%%memtrack\n", None),
        ("", None),
    ],
)
def test_only_the_first_line_of_our_cells_changes(cell, lines):
    before = cell.splitlines(keepends=True)
    assert line_for_cell(list(before)) == (before if lines is None else lines)
