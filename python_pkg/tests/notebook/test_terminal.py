"""In a terminal nothing can be replaced: a line at the beginning, the report once at the end."""

import pytest
from IPython.core.displaypub import DisplayPublisher

pytest.importorskip("torch")


@pytest.fixture
def terminal(training):
    training.shell.display_pub = DisplayPublisher(parent=training.shell, shell=training.shell)
    return training


def test_line_at_the_beginning_and_report_at_off(terminal):
    terminal.run("%memtrack model")
    assert terminal.out == (
        "Watching `model`: run your training, in any cell. %memtrack off ends it.\n"
    )
    terminal.run("train(1)")
    assert terminal.out == ""
    terminal.run("%memtrack off")
    assert terminal.out.count("Peak ") == 1
    assert "0.weight" in terminal.out or "model" in terminal.out


def test_report_after_the_cell_in_which_the_steps_are_done(terminal):
    terminal.run("%memtrack model --steps 1")
    terminal.run("train(3)\nprint('end of cell')")
    assert terminal.out.index("end of cell") < terminal.out.index("Peak ")
    terminal.run("%memtrack off")
    assert terminal.out == "Nothing is being recorded.\n"


def test_recorded_cell_prints_its_report_after_its_own_output(terminal):
    terminal.run("%%memtrack model\ntrain(1)\nprint('mine')")
    assert terminal.out.startswith("mine\nPeak ")


def test_bare_magic_prints_the_text_report(terminal):
    terminal.run("%%memtrack model\ntrain(1)")
    report = terminal.out
    terminal.run("%memtrack")
    assert report.strip() in terminal.out


def test_an_explanation_is_printed_once_below_the_traceback(terminal):
    terminal.run("import numpy\nnumpy.ones(10**12)")
    traceback, _, explanation = terminal.out.partition("The computer's own memory ran out")
    assert "Unable to allocate 7.28 TiB" in traceback and "7.28 TiB" in explanation
    terminal.run("%memtrack explain")
    assert terminal.out.count("\nWhere: at In [2]:2\n") == 1


def test_a_recorded_failure_is_explained_once_where_nothing_can_be_replaced(terminal):
    terminal.run(
        "%%memtrack model\ntrain(1)\n"
        "raise torch.cuda.OutOfMemoryError('CUDA out of memory. Tried to allocate 2.00 GiB.')"
    )
    assert terminal.out.count("2.00 GiB asked for") == 1
    assert terminal.out.count("\nPeak ") == 1
