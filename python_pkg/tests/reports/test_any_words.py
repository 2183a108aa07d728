"""Names that UTF-8 cannot hold, as files on Linux may have them: what is shown can be sent and saved."""

import json

import pytest

import memtrack
from memtrack.runs.keeping import keep_now
from memtrack.runs.surroundings import Origin

torch = pytest.importorskip("torch")

ODD = "caf\udce9"


@pytest.fixture
def recording(monkeypatch, tmp_path):
    monkeypatch.setenv("MEMTRACK_HISTORY", str(tmp_path / "kept"))
    model = torch.nn.Sequential()
    model.add_module(ODD, torch.nn.Linear(4, 4))
    run = compile("model(value).sum().backward()", f"/home/{ODD}/train.py", "exec")
    with memtrack.track(model, label=ODD, history=False) as made:
        made.mark(ODD)
        exec(run, {"model": model, "value": torch.ones(2, 4)})
    return made


def sent(shown):
    """Return a bundle as a kernel sends it: as UTF-8."""
    return json.loads(json.dumps(shown, ensure_ascii=False).encode("utf-8"))


def test_a_report_its_advice_and_a_comparison(recording):
    for shown in (recording, memtrack.advise(recording), memtrack.compare(recording, recording)):
        bundle = shown._repr_mimebundle_()
        assert "caf?" in str(sent(bundle))


def test_a_run_that_is_kept(recording, tmp_path):
    run = keep_now(recording.data, Origin(f"/home/{ODD}/train.py", None, tmp_path))
    assert run.label == "caf?"
    assert run.notebook == "/home/caf?/train.py"
    assert "caf?" in str(sent(memtrack.history()._repr_mimebundle_()))


def test_an_explanation():
    words = f'  File "/home/{ODD}/train.py", line 3, in {ODD}\nRuntimeError: CUDA out of memory. '
    shown = memtrack.explain(f"{words}Tried to allocate 2.00 GiB. {ODD}")._repr_mimebundle_()
    assert "2.00 GiB" in str(sent(shown))
