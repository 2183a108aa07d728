"""The grammar of `%memtrack`, without a shell."""

import pytest

from memtrack.errors import UsageError
from memtrack.notebook.exporting import Wanted, parse_export
from memtrack.notebook.grammar import (
    Command,
    ShowLatest,
    Track,
    parse_cell,
    parse_line,
    split_words,
)


@pytest.mark.parametrize(
    ("line", "request_"),
    [
        ("", ShowLatest()),
        ("   ", ShowLatest()),
        ("model", Track("model")),
        ("trainer.model", Track("trainer.model")),
        ("[gen, disc]", Track("[gen, disc]")),
        ('models["a b"]', Track('models["a b"]')),
        ("model --steps 3", Track("model", steps=3)),
        ("model --steps=3", Track("model", steps=3)),
        ("--steps 3 model", Track("model", steps=3)),
        ("model --optimizer opt", Track("model", optimizer="opt")),
        ("m --optimizer [a, b] --steps 1", Track("m", optimizer="[a, b]", steps=1)),
        ('model --label "my run"', Track("model", label="my run")),
        ("track off", Track("off")),
        ("track mark --steps 2", Track("mark", steps=2)),
        ("%% model", Track("model", this_cell=True)),
        ("%%", Track("", this_cell=True)),
        ("off", Command("off")),
        ("status", Command("status")),
        ("mark after warm-up", Command("mark", "after warm-up")),
        ("mark 'it'", Command("mark", "it")),
        ("open my run.memtrack", Command("open", "my run.memtrack")),
        ('open "my run.memtrack"', Command("open", "my run.memtrack")),
        ('save "my run" --baseline', Command("save", '"my run" --baseline')),
        ("history", Command("history")),
        ("diff 3 last", Command("diff", "3 last")),
        ("track diff", Track("diff")),
        ("help", Command("help")),
        ("-h", Command("help")),
        ("--help", Command("help")),
    ],
)
def test_line(line, request_):
    assert parse_line(line) == request_


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("model --step 3", "There is no option '--step'. Did you mean '--steps'?"),
        ("model --optim x", "There is no option '--optim'. Did you mean '--optimizer'?"),
        ("model -x", "There is no option '-x'. Known: --label, --optimizer, --steps."),
        ("model --steps 0", "--steps takes a whole number from 1 up, not '0'."),
        ("model --steps x", "--steps takes a whole number from 1 up, not 'x'."),
        ("model --steps -1", "--steps takes a whole number from 1 up, not '-1'."),
        ("model --steps 1.5", "--steps takes a whole number from 1 up, not '1.5'."),
        ("model --steps", "Something is missing: --steps N"),
        ("model --optimizer --steps 3", "Something is missing: --optimizer OPT"),
        ("model --steps 1 --steps 2", "--steps is given twice."),
        ("gen, disc", "'disc' is one word too many. Several models: [gen, disc]"),
        ("predictor opt", "'opt' is one word too many. Several models: [predictor, opt]"),
        (
            "opne run.memtrack",
            "'run.memtrack' is one word too many. Did you mean '%memtrack open'?",
        ),
        ("histroy bf16", "'bf16' is one word too many. Did you mean '%memtrack history'?"),
        ("record model", "'model' is one word too many. Did you mean '%memtrack track'?"),
        ("model steps=3", "'steps=3' is one word too many. Did you mean '--steps=3'?"),
        (
            "%% open run.memtrack",
            "%%memtrack records a cell; 'open' is for a line. %memtrack open run.memtrack",
        ),
        ("--steps 3", "Which model? %memtrack MODEL [--optimizer OPT] [--steps N] names it first."),
        ("track", "Something is missing: %memtrack track MODEL"),
        ("track --steps 3", "Something is missing: %memtrack track MODEL"),
        ("mark", "Something is missing: %memtrack mark LABEL"),
        ("open", "Something is missing: %memtrack open PATH"),
        (
            "off now",
            "%memtrack off takes nothing after it. A model of that name: %memtrack track off",
        ),
    ],
)
def test_wrong_line_is_one_sentence_with_what_was_meant(line, sentence):
    with pytest.raises(UsageError) as raised:
        parse_line(line)
    assert str(raised.value) == sentence


@pytest.mark.parametrize(
    ("line", "request_"),
    [
        ("", Track("", this_cell=True)),
        ("model", Track("model", this_cell=True)),
        ("model --steps 2", Track("model", steps=2, this_cell=True)),
        ("--label run", Track("", label="run", this_cell=True)),
    ],
)
def test_cell(line, request_):
    assert parse_cell(line) == request_


def test_sub_command_over_a_cell_is_told_where_it_belongs():
    with pytest.raises(UsageError) as raised:
        parse_cell("off")
    assert str(raised.value) == "%%memtrack records a cell; 'off' is for a line. %memtrack off"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("a  b\tc", ["a", "b", "c"]),
        ("f(a, [b, c])[1] x", ["f(a, [b, c])[1]", "x"]),
        ("'a b' \"c ] d\"", ["'a b'", '"c ] d"']),
        ("[a, b", ["[a, b"]),
        ("", []),
    ],
)
def test_words_end_outside_brackets_and_quotes(line, words):
    assert split_words(line) == words


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("run.html", Wanted("run.html")),
        ("'my run.csv' --table events", Wanted("my run.csv", "events")),
        ("--table=ledger run.csv --force", Wanted("run.csv", "ledger", force=True)),
    ],
)
def test_export_takes_a_file_a_table_and_force(line, wanted):
    assert parse_export(line) == wanted


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("", "Something is missing: %memtrack export FILE [--table NAME] [--force]"),
        ("run.csv --table", "Something is missing"),
        ("a b.csv", "'b.csv' is one word too many. In quotes: %memtrack export \"a b.csv\""),
        ("a.csv --tabel x", "There is no option '--tabel'. Did you mean '--table'?"),
    ],
)
def test_wrong_words_after_export_are_one_sentence(line, words):
    with pytest.raises(UsageError) as caught:
        parse_export(line)
    assert words in str(caught.value)
