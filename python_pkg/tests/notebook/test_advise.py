"""`%memtrack advise` in a real shell: the latest recording, a named one, and wrong words."""

import pytest

from memtrack.errors import UsageError
from memtrack.notebook.advice import Wanted, parse_advise
from memtrack.reports.advice import Remedies
from memtrack.reports.payload import MIME_TYPE


def test_words_after_advise():
    assert parse_advise("") == Wanted()
    assert parse_advise("--budget 24GiB") == Wanted(budget=24 << 30)
    assert parse_advise("runs[0] --gpus=4 --budget '8 GiB'") == Wanted("runs[0]", 8 << 30, 4)


@pytest.mark.parametrize(
    "words",
    ["a b", "--budget", "--budget much", "--gpus many", "--bugdet 3g", "--gpus --budget 3g"],
)
def test_wrong_words_are_told_in_a_line(words):
    with pytest.raises(UsageError):
        parse_advise(words)


def test_advice_on_the_latest_recording(notebook):
    notebook.run("%memtrack advise")
    assert "Nothing has been recorded yet" in notebook.err
    notebook.run(
        "import torch\n"
        "net = torch.nn.Sequential(*(torch.nn.Linear(64, 64) for _ in range(4)))\n"
        "opt = torch.optim.AdamW(net.parameters())"
    )
    notebook.run("%memtrack net --steps 2")
    notebook.run(
        "for _ in range(2):\n"
        "    net(torch.randn(256, 64)).sum().backward(); opt.step(); opt.zero_grad()"
    )
    result = notebook.run("found = %memtrack advise --budget 1GiB").success
    assert result
    found = notebook.shell.user_ns["found"]
    assert isinstance(found, Remedies) and found.budget == 1 << 30
    assert found._repr_mimebundle_()[MIME_TYPE]["report"]["advice"]["budget"] == 1 << 30
    notebook.run("r = %memtrack")
    notebook.run("again = %memtrack advise r")
    assert notebook.shell.user_ns["again"].base == found.base


def test_only_recordings_are_advised_on(notebook):
    notebook.run("x = 3")
    notebook.run("%memtrack advise x")
    assert "takes a recording or a prediction" in notebook.err
    notebook.run("%memtrack advise nothing_here")
    assert "There is no name 'nothing_here'" in notebook.err
