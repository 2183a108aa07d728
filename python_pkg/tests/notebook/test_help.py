"""Help says what the table of words says."""

import pytest

from memtrack.notebook.grammar import parse_cell, parse_line
from memtrack.notebook.help import help_text
from memtrack.notebook.words import EXAMPLES, OPTIONS, SUB_COMMANDS


def test_help_names_every_word_and_fits_eighty_columns():
    text = help_text()
    for command in SUB_COMMANDS.values():
        assert f"%memtrack {command.name} {command.argument}".rstrip() in text
    for option in OPTIONS.values():
        assert f"{option.name} {option.value}" in text
    assert max(len(line) for line in text.splitlines()) <= 80


@pytest.mark.parametrize("example", [code for code, _ in EXAMPLES])
def test_examples_are_understood(example):
    magic, _, line = example.partition(" ")
    (parse_cell if magic == "%%memtrack" else parse_line)(line)


def test_help_is_shown_by_the_word_and_by_the_question_mark(notebook):
    notebook.run("%memtrack help")
    assert notebook.texts()[-1] == help_text()
    notebook.run("%memtrack --help")
    assert notebook.texts()[-1] == help_text()
    notebook.run("%memtrack?")
    page = notebook.out + "".join(str(p) for p in notebook.shell.payload_manager.read_payload())
    assert "stop by itself after N steps" in page


def test_help_in_chinese(notebook):
    notebook.run("%config MemtrackMagics.language = 'zh_CN'")
    notebook.run("%memtrack help")
    assert "--steps N" in notebook.texts()[-1]
    assert "N 步后自动停止" in notebook.texts()[-1]
