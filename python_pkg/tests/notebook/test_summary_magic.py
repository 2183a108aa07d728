"""`%memtrack summary`: the allocator's table of any moment, from a cell."""

import pytest
from readings_script import FAMILIES, FIGURES, figures
from readings_script import training as readings

from memtrack.api import Recording
from memtrack.notebook.completion import complete
from memtrack.notebook.grammar import Command, parse_line
from memtrack.recording import save_recording

pytest.importorskip("torch")


@pytest.fixture
def recorded(training, monkeypatch):
    """A notebook whose latest recording has readings, as one made on a GPU."""
    data = readings(marks=("before eval", "x")).build()
    monkeypatch.setattr(Recording, "data", property(lambda self: data))
    training.run("%memtrack model\ntrain(1)")
    training.run("%memtrack off")
    return training


def table(notebook, line):
    notebook.run(f"shown = %memtrack {line}")
    return repr(notebook.shell.user_ns["shown"])


@pytest.mark.parametrize(
    ("line", "headings"),
    [
        ("summary", ["end of the recording"]),
        ("summary start", ["start of the recording"]),
        ("summary step 2 forward", ["after forward of step 2"]),
        ("summary before eval", ["mark 'before eval'"]),
        ('summary "before eval"', ["mark 'before eval'"]),
        ("summary start 'before eval'", ["First: start of the", "Second: mark 'before eval'"]),
        ("summary step 1 step 2", ["First: after step 1", "Second: after step 2"]),
        ("summary step 1 backward end", ["First: after backward of step 1", "Second: end of the"]),
        ("summary x before eval", ["First: mark 'x'", "Second: mark 'before eval'"]),
        ("summary {name}", ["after step 1"]),
    ],
)
def test_table_of_the_moments_asked_for(recorded, line, headings):
    recorded.run("name = 'step 1'")
    shown = table(recorded, line).splitlines()
    assert shown[1].strip("| ") == "PyTorch CUDA memory summary, device ID 0"
    for place, heading in enumerate(headings, start=2):
        assert heading in shown[place]


def test_it_is_shown_as_text_and_as_html(recorded):
    result = recorded.run("%memtrack summary step 1 forward").result
    formats, _ = recorded.shell.display_formatter.format(result)
    assert formats["text/plain"] == result.text
    assert formats["text/html"].startswith("<table")
    values = figures(2)
    assert f'title="{values["allocated_bytes.all.peak"]:,}"' in formats["text/html"]
    assert formats["text/html"].count("<td") == len(FIGURES) * (3 * len(FAMILIES) + 2)


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("summary strat", "There is no moment 'strat'. Did you mean 'start'?"),
        ("summary step 7", "There is no moment 'step 7'. Did you mean 'step 3'?"),
        ("summary start x end", "One moment or two, not 3: 'start', 'x', 'end'."),
    ],
)
def test_a_wrong_moment_is_one_line(recorded, line, sentence):
    assert not recorded.run(f"%memtrack {line}").success
    assert recorded.err.startswith(f"UsageError: {sentence}")
    assert recorded.err.count("\n") == 1


def test_in_chinese(recorded):
    recorded.run("%config MemtrackMagics.language = 'zh_CN'")
    recorded.run("%memtrack model\ntrain(1)")
    recorded.run("%memtrack off")
    assert "第 1 步的前向之后" in table(recorded, "summary step 1 forward")
    recorded.run("%memtrack summary nowhere")
    assert "没有" in recorded.err


def test_a_run_on_the_cpu_says_why_there_is_none(training):
    training.run("%memtrack model\ntrain(1)")
    assert not training.run("%memtrack summary").success
    assert training.err == (
        "UsageError: There are no allocator statistics: this run used the CPU only,"
        " which keeps none. Record it on a GPU.\n"
    )


def test_without_a_recording_it_says_how_to_make_one(notebook):
    notebook.run("%memtrack summary")
    assert notebook.err == (
        "UsageError: Nothing has been recorded yet. %memtrack MODEL records a model.\n"
    )


@pytest.fixture
def file(tmp_path):
    """A file of a recording that has readings."""
    data = readings(marks=("before eval",)).build(label="from the file")
    return save_recording(data, tmp_path / "run.memtrack")


def test_what_was_opened_last_is_the_latest(training, file):
    training.run("%memtrack model\ntrain(1)")
    training.run("%memtrack off")
    training.run(f"%memtrack open {file}")
    assert "mark 'before eval'" in table(training, "summary before eval")
    assert "before eval" in " ".join(complete(training.shell, "%memtrack summary ")[1])
    training.run("again = %memtrack")
    assert training.shell.user_ns["again"].data.facts.label == "from the file"
    training.run("%memtrack status")
    assert training.texts()[-1].endswith("%memtrack shows what was opened last again.")
    training.run("%memtrack model --steps 1\ntrain(1)")
    training.run("again = %memtrack")
    assert training.shell.user_ns["again"].data.facts.label == "model"


def test_opening_a_file_does_not_hide_the_run_that_goes_on(training, file):
    training.run("%memtrack model\ntrain(1)")
    training.run(f"%memtrack open {file}")
    training.run("train(1)")
    training.run("%memtrack off")
    training.run("again = %memtrack")
    assert training.shell.user_ns["again"].data.facts.label == "model"


def test_a_file_alone_can_be_summarised(notebook, file):
    notebook.run(f"%memtrack open {file}")
    assert "start of the recording" in table(notebook, "summary start")


def test_moments_are_completed(recorded):
    found = complete(recorded.shell, "%memtrack summary ")[1]
    assert {"start", "end", "peak", '"step 1 forward"', '"before eval"', "x"} <= set(found)
    assert complete(recorded.shell, "%memtrack summary start e")[1] == ["end"]


def test_of_a_running_recording_the_usual_moments_are_completed(training):
    assert complete(training.shell, "%memtrack summary ")[1] == []
    training.run("%memtrack model")
    assert complete(training.shell, "%memtrack summary s")[1] == ["start"]


@pytest.mark.parametrize(
    ("line", "argument"),
    [
        ("summary", ""),
        ("summary step 3 forward", "step 3 forward"),
        ('summary "a b" "c d"', '"a b" "c d"'),
    ],
)
def test_words_keep_their_quotes(line, argument):
    assert parse_line(line) == Command("summary", argument)
