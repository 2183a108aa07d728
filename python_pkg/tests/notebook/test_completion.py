"""Completion after `%memtrack`: what fits at each place, and nothing else beside it."""

import pytest
from IPython.core.completer import provisionalcompleter

from memtrack.notebook.completion import complete
from memtrack.notebook.runs import WORDS
from memtrack.notebook.words import OPTIONS, SUB_COMMANDS

GTX = ("1080 Ti", "1080", "1660 Ti", "1650", "1070", "1060")
SETTING = """
class Trainer: pass
trainer = Trainer()
trainer.model = model
pair = [model, model]
failure, message = ValueError("none"), "CUDA out of memory"
def build(): pass
"""


@pytest.fixture
def offered(training, tmp_path, monkeypatch):
    """Give what the notebook's completer offers at the end of a cell."""
    training.run(SETTING)
    monkeypatch.chdir(tmp_path)

    def offers(cell):
        with provisionalcompleter():
            return [one.text for one in training.shell.Completer.completions(cell, len(cell))]

    return offers


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("%memtrack ", ["model", "pair", *SUB_COMMANDS]),
        ("%memtrack mo", ["model"]),
        ("%memtrack op", ["optimizer", "open"]),
        ("%memtrack of", ["off"]),
        ("%memtrack trai", ["train", "trainer"]),
        ("%memtrack track ", ["model", "pair"]),
        ("%memtrack model ", list(OPTIONS)),
        ("%memtrack model --", list(OPTIONS)),
        ("%memtrack model --optimizer ", ["optimizer"]),
        ("%memtrack model --steps 3 --", ["--optimizer", "--label"]),
        ("%%memtrack ", ["model", "pair"]),
        ("%%memtrack mo", ["model"]),
        ("%%memtrack model --l", ["--label"]),
        ("%memtrack explain ", ["failure", "message"]),
        ("%memtrack predict bu", ["build"]),
        ("%memtrack predict build --l", ["--largest-batch"]),
        ('%memtrack predict build --gpu "RTX 409', ['"RTX 4090"', '"RTX 4090 Laptop"']),
        ("%memtrack predict build --gpu MI2", ["MI250X", "MI210"]),
        ("%memtrack plan 7B --gpu GTX", [f'"GTX {number}"' for number in GTX]),
        ("%memtrack plan ", ["ledger", "kv", "loading"]),
        ("%memtrack plan 7B --mixed m", ["master"]),
        (
            "%memtrack plan 7B --optimizer ada",
            ["adamw", "adam", "adam8bit", "adafactor", "adagrad"],
        ),
        ("%memtrack save --", ["--baseline"]),
        ("%memtrack history p", ["pin"]),
        ("%memtrack history ", list(WORDS)),
        ("%memtrack diff --", ["--steps", "--rank"]),
        ("%memtrack diff l", ["last"]),
        ("%memtrack export run.csv --table ", ["layers", "ledger", "timeline", "events"]),
        ("%memtrack free mess", ["message"]),
        ("for _ in range(3):\n    %memtrack st", ["status"]),
    ],
)
def test_what_fits_is_offered_alone(offered, line, found):
    assert offered(line) == found


def test_files_that_can_be_opened_are_offered(offered, tmp_path):
    for name in ("run.memtrack", "a run.memtrack", "notes.txt", "oom.pickle.gz"):
        (tmp_path / name).touch()
    (tmp_path / "train.ranks").mkdir()
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "old.memtrack").touch()
    assert offered("%memtrack open ru") == ["run.memtrack"]
    assert offered("%memtrack open kept/") == ["kept/old.memtrack"]
    found = complete(None, "%memtrack open ")[1]
    assert found == ['"a run.memtrack"', "oom.pickle.gz", "run.memtrack", "train.ranks", "kept/"]


@pytest.mark.parametrize(
    "line",
    [
        "%memtrack trainer.",
        "%memtrack status ",
        "%memtrack model --steps ",
        "%memtrackx ",
        "mo",
        "",
    ],
)
def test_what_ipython_knows_is_left_to_it(offered, line):
    texts = offered(line)
    assert complete(None, line)[1] == []
    assert "--steps" not in texts and "status" not in texts
    assert line != "mo" or texts[0] == "model"


def test_the_matcher_goes_when_the_extension_does(training):
    matchers = training.shell.Completer.custom_matchers
    before = len(matchers)
    training.run("%reload_ext memtrack")
    assert len(matchers) == before
    training.run("%unload_ext memtrack")
    assert len(matchers) == before - 1
