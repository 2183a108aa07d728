"""Out of memory on a CUDA device in a real shell: explained under the traceback, in time, for free."""

import gc
import time

import pytest

torch = pytest.importorskip("torch")

from failing_sources import LAYERS, MORE_MIB, SOURCES, allocations, limit  # noqa: E402

from memtrack.reports.diagnosispayload import MIME_TYPE  # noqa: E402

pytestmark = pytest.mark.gpu
LONGEST_S = 1.0
TIMED = """
def timed():
    import time
    try:
        train()
    finally:
        global failed_at
        failed_at = time.perf_counter()
"""


@pytest.fixture
def failing(notebook, monkeypatch):
    """A notebook that tells when each explanation was shown and what had been allocated by then."""
    torch.cuda.init()
    torch.cuda.empty_cache()
    publish = notebook.shell.display_pub.publish
    notebook.shown_at = []

    def watched(data, *arguments, **options):
        if MIME_TYPE in data:
            notebook.shown_at.append((time.perf_counter(), allocations(torch)))
        publish(data, *arguments, **options)

    monkeypatch.setattr(notebook.shell.display_pub, "publish", watched)
    yield notebook
    torch.cuda.set_per_process_memory_fraction(1.0)
    notebook.shell.reset()
    gc.collect()
    torch.cuda.empty_cache()


def explanations(notebook):
    return [bundle[MIME_TYPE] for bundle in notebook.shown if MIME_TYPE in bundle]


def prepare(notebook, phase):
    assert notebook.run(SOURCES[phase] + TIMED).success
    limit(torch, MORE_MIB[phase])


@pytest.mark.parametrize("phase", SOURCES)
def test_phase_and_layer_are_named_without_a_model_attached(failing, phase):
    prepare(failing, phase)
    assert not failing.run("timed()").success
    (payload,) = explanations(failing)
    assert payload["kind"] == "cuda_oom"
    assert (payload["place"]["phase"], payload["place"]["layer"]) == (phase, LAYERS[phase])
    assert payload["place"]["site"].startswith("In [")
    shown_at, _ = failing.shown_at[0]
    assert shown_at - failing.shell.user_ns["failed_at"] <= LONGEST_S
    assert failing.err == ""


@pytest.mark.parametrize("phase", SOURCES)
def test_with_a_model_attached_the_recording_adds_to_it(failing, phase):
    prepare(failing, phase)
    failing.run("%memtrack model --optimizer optimizer")
    assert not failing.run("timed()").success
    (payload,) = explanations(failing)
    place = payload["place"]
    assert (place["phase"], place["layer"], place["step"]) == (phase, LAYERS[phase], 1)
    assert any(one["name"]["en"] == "parameters" for one in payload["holders"])
    shown_at, _ = failing.shown_at[0]
    assert shown_at - failing.shell.user_ns["failed_at"] <= LONGEST_S
    report = next(text for text in failing.texts() if text.startswith("Peak "))
    assert "The run ended with an exception" in report


@pytest.mark.parametrize("phase", SOURCES)
def test_explaining_takes_nothing_of_the_device(failing, phase):
    prepare(failing, phase)
    failing.run("timed()")
    _, when_shown = failing.shown_at[0]
    failing.shell.user_ns["error"] = failing.shell.last_execution_result.error_in_exec
    before = allocations(torch)
    failing.run("%memtrack explain error")
    failing.run("%memtrack explain")
    assert allocations(torch) == before
    assert when_shown["allocated_bytes.all.peak"] == before["allocated_bytes.all.peak"]
    assert when_shown["allocation.all.allocated"] == before["allocation.all.allocated"]


def test_a_failure_that_a_cell_handles_is_not_explained(failing):
    prepare(failing, "forward")
    assert failing.run("try:\n    train()\nexcept torch.cuda.OutOfMemoryError:\n    pass").success
    assert explanations(failing) == []


def test_the_second_failure_tells_what_the_first_one_holds(failing):
    source = (
        "import torch\ndef grow():\n    held = torch.empty(700 << 20, dtype=torch.uint8, device='cuda')\n"
        "    more = torch.empty(700 << 20, dtype=torch.uint8, device='cuda')\n"
    )
    assert failing.run(source).success
    limit(torch, 1024)
    failing.run("grow()")
    failing.run("torch.empty(700 << 20, dtype=torch.uint8, device='cuda')")
    first, second = explanations(failing)
    assert "exception_traceback_or_stale_reference" in [cause["id"] for cause in second["causes"]]
    assert first["causes"][0]["id"] != "exception_traceback_or_stale_reference"
