"""What a program prints is heard once, however often it is run to weigh remedies or sizes."""

import sys
import threading
import warnings

import pytest

torch = pytest.importorskip("torch")

import memtrack  # noqa: E402
from memtrack.prediction.unheard import unheard  # noqa: E402


def talkative():
    """Return a step that prints and warns."""
    model = torch.nn.Linear(256, 256).cuda()
    optimizer = torch.optim.Adam(model.parameters())
    batch = torch.randn(64, 256, device="cuda")

    def step():
        warnings.warn("of the program", stacklevel=1)
        print("heard")
        optimizer.zero_grad()
        model(batch).sum().backward()
        optimizer.step()

    return step


@pytest.mark.filterwarnings("ignore:of the program")
def test_advice_runs_the_program_again_without_a_word(capfd):
    predicted = memtrack.predict(talkative, steps=2, gpu="RTX 4090")
    assert capfd.readouterr().out == "heard\n" * 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = memtrack.advise(predicted)
    assert "predicted" in {one.evidence for one in found}
    assert capfd.readouterr() == ("", "")


def test_other_threads_are_heard_meanwhile(capsys):
    streams = sys.stdout, sys.stderr
    with unheard():
        print("dropped")
        other = threading.Thread(target=print, args=("kept",))
        other.start()
        other.join()
    assert capsys.readouterr().out == "kept\n"
    assert (sys.stdout, sys.stderr) == streams
