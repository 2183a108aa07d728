"""`memtrack.explain`: a text, a log, an exception, each with and without a recording."""

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch

import memtrack
from memtrack.diagnosis.diagnosis import Diagnosis
from memtrack.errors import UsageError
from memtrack.reports.diagnosispayload import MIME_TYPE

OOM = Path(__file__).parent.parent / "fixtures" / "oom"
MESSAGE = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total"
    " capacity of 23.70 GiB of which 512.00 MiB is free."
)


def case(name):
    told = json.loads((OOM / f"{name}.json").read_text(encoding="utf-8"))
    return f"{told['error_type']}: {told['message']}", memtrack.open(OOM / f"{name}.pickle.gz")


@pytest.mark.parametrize(
    "given",
    [
        MESSAGE,
        ["noise\n", MESSAGE + "\n", "more noise\n"],
        io.StringIO("noise\n" * 5000 + MESSAGE + "\n"),
        RuntimeError(MESSAGE),
    ],
)
def test_whatever_holds_the_message_gives_the_same_numbers(given):
    explained = memtrack.explain(given)
    assert isinstance(explained, Diagnosis)
    assert explained.kind == "cuda_oom" and explained.device_memory
    assert explained.numbers["requested"] == 2 << 30
    assert explained.numbers["free"] == 512 << 20


def test_it_shows_itself(monkeypatch):
    monkeypatch.setenv("MEMTRACK_LANG", "en")
    explained = memtrack.explain(MESSAGE)
    assert str(explained).startswith("Out of memory on GPU 0: 2.00 GiB asked for")
    assert repr(explained).startswith("<memtrack.Explanation: Out of memory on GPU 0")
    bundle = explained._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html", MIME_TYPE}
    assert bundle["text/plain"] == str(explained)
    json.dumps(explained.to_json())


@pytest.mark.parametrize(
    ("name", "cause"), [("fragmentation", "fragmentation"), ("backward_peak", "capacity")]
)
@pytest.mark.parametrize("as_error", [False, True])
def test_a_recording_is_evidence(name, cause, as_error):
    text, recording = case(name)
    given = RuntimeError(text.partition(": ")[2]) if as_error else text
    explained = memtrack.explain(given, recording)
    assert explained.causes[0].id == cause and explained.causes[0].confidence >= 0.6
    assert explained.needed.requested and explained.needed.largest_free is not None
    assert explained.parts and explained.holders
    alone = memtrack.explain(given)
    assert not alone.parts and alone.causes[0].confidence <= explained.causes[0].confidence


def test_what_is_no_device_memory_needs_no_recording():
    _, recording = case("fragmentation")
    explained = memtrack.explain("MemoryError: Unable to allocate 7.45 GiB", recording)
    assert not explained.device_memory and not explained.parts


@pytest.mark.parametrize("given", [7, None, b"CUDA out of memory", bytearray(b"x")])
def test_other_things_are_refused_in_one_sentence(given):
    with pytest.raises(
        memtrack.UsageError, match=r"explain takes an exception or a text, not \w+\."
    ):
        memtrack.explain(given)


@pytest.mark.parametrize("given", ["", [], "\x00\x01\x80binary", "all is well"])
def test_without_an_error_it_says_so(given):
    explained = memtrack.explain(given)
    assert explained.kind == "none" and not explained.causes


def test_a_text_is_explained_without_torch():
    code = f"import memtrack, sys; memtrack.explain({MESSAGE!r}); memtrack.explain(MemoryError())\n"
    code += "assert 'torch' not in sys.modules and 'IPython' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_what_was_recorded_of_the_cpu_is_no_evidence_for_a_gpu():
    layer = torch.nn.Linear(8, 8)
    with memtrack.track(layer) as recording:
        layer(torch.ones(4, 8)).sum().backward()
    assert memtrack.explain(MESSAGE, recording) == memtrack.explain(MESSAGE)


def test_lines_of_a_file_opened_as_bytes_are_read():
    assert (
        memtrack.explain(MESSAGE.encode().splitlines(True)).kind == memtrack.explain(MESSAGE).kind
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((MESSAGE, 5), "recording must be a recording, not int."),
        (([MESSAGE, 5],), "explain takes an exception or a text, not int."),
        ((None,), "explain takes an exception or a text, not NoneType."),
    ],
)
def test_what_it_cannot_take_is_one_line(arguments, said):
    with pytest.raises(UsageError) as raised:
        memtrack.explain(*arguments)
    assert str(raised.value) == said
