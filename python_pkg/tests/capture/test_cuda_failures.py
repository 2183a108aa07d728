"""Out of memory on a CUDA device, without a shell: seen, placed, explained in time and for free."""

from __future__ import annotations

import gc
import time

import pytest

torch = pytest.importorskip("torch")

from failing_sources import LAYERS, MIB, MORE_MIB, SOURCES, allocations, limit  # noqa: E402

import memtrack  # noqa: E402
from memtrack.capture import failure  # noqa: E402
from memtrack.capture.failure import failure_like, ignore_failures, watch_failures  # noqa: E402

pytestmark = pytest.mark.gpu
WORKSPACES = 128 * MIB
"""At most: what cuBLAS keeps for each of two threads."""
LONGEST_S = 1.0
"""From the exception to its explanation."""


@pytest.fixture(autouse=True)
def device():
    gc.collect()
    torch.cuda.init()
    torch.cuda.empty_cache()
    watch_failures()
    yield
    ignore_failures()
    torch.cuda.set_per_process_memory_fraction(1.0)
    gc.collect()
    torch.cuda.empty_cache()


def explained(train):
    """Run what fails; return its explanation, the seconds that took and what it changed."""
    try:
        train()
    except torch.cuda.OutOfMemoryError as error:
        before, begun = allocations(torch), time.perf_counter()
        explanation = memtrack.explain(error)
        seconds = time.perf_counter() - begun
        after = allocations(torch)
    else:
        raise AssertionError("nothing failed")
    return explanation, seconds, {name for name in before if before[name] != after[name]}


def ready(phase):
    """Return the names of a training that fails in `phase`, its limit set."""
    names = {}
    exec(compile(SOURCES[phase], "train.py", "exec"), names)
    if phase == "forward":
        names["model"](torch.randn(2, 1024, device="cuda"))
    limit(torch, MORE_MIB[phase])
    return names


@pytest.fixture(scope="module", autouse=True)
def warm():
    """Import what explaining needs once, as a notebook has by then."""
    memtrack.explain("CUDA out of memory. Tried to allocate 2.00 GiB")


@pytest.mark.parametrize("phase", SOURCES)
def test_phase_and_layer_are_named_without_a_recording(phase):
    names = ready(phase)
    explanation, seconds, changed = explained(names["train"])
    assert (explanation.place.phase, explanation.place.layer) == (phase, LAYERS[phase])
    assert explanation.place.site.startswith("train.py:")
    assert seconds <= LONGEST_S
    assert changed == set()


@pytest.mark.parametrize("phase", SOURCES)
def test_the_figures_are_those_of_the_moment(phase):
    names = ready(phase)
    explanation, _, _ = explained(names["train"])
    caught = failure_like(None, None)
    assert explanation.numbers["allocated"] == caught.statistics["allocated_bytes.all.current"]
    assert explanation.numbers["reserved"] == caught.statistics["reserved_bytes.all.current"]
    assert explanation.needed.segment == caught.segment
    assert sum(part.bytes for part in explanation.parts) == torch.cuda.mem_get_info()[1]
    assert explanation.causes[0].id in ("per_process_fraction_limit", "capacity")


@pytest.mark.parametrize("phase", SOURCES)
def test_a_recording_of_the_run_is_found_and_tells_step_and_holders(phase):
    names = ready(phase)
    tracking = memtrack.track(names["model"], names["optimizer"])

    def train():
        with tracking as names["recording"]:
            names["train"]()

    explanation, _, changed = explained(train)
    assert (explanation.place.phase, explanation.place.step) == (phase, 1)
    assert explanation.place.layer == LAYERS[phase]
    held = {str(one.name): one.bytes for one in explanation.holders}
    weights = sum(p.nbytes for p in names["model"].parameters())
    assert held["parameters"] == pytest.approx(weights, rel=0.01)
    assert explanation.needed.requested > 0 and changed == set()


def test_in_time_with_a_history_of_a_hundred_thousand_entries():
    torch.cuda.memory._record_memory_history(max_entries=100_000, stacks="python")
    try:
        for _ in range(35_000):
            torch.empty(1024, device="cuda")
        names = ready("forward")
        explanation, seconds, changed = explained(names["train"])
    finally:
        torch.cuda.memory._record_memory_history(None)
    assert explanation.place.layer == LAYERS["forward"]
    assert seconds <= LONGEST_S
    assert changed == set()


def test_noting_a_failure_takes_milliseconds():
    torch.cuda.memory._record_memory_history(max_entries=100_000, stacks="python")
    try:
        kept = [torch.empty(1024, device="cuda") for _ in range(5_000)]
        for _ in range(30_000):
            torch.empty(1024, device="cuda")
        begun = time.perf_counter()
        failure._note(0, 2 * MIB, 1 << 40, 1 << 30)
        seconds = time.perf_counter() - begun
    finally:
        torch.cuda.memory._record_memory_history(None)
    assert len(kept) == 5_000 and seconds < 0.25


def test_what_is_caught_and_tried_again_is_not_explained():
    names = ready("forward")
    limit(torch, 64)
    with pytest.raises(torch.cuda.OutOfMemoryError):
        torch.empty(128 * MIB, device="cuda", dtype=torch.uint8)
    limit(torch, MORE_MIB["forward"])
    explanation, _, _ = explained(names["train"])
    assert explanation.needed.segment == 2048 * MIB


def test_nothing_of_the_run_is_kept():
    without = torch.cuda.memory_allocated()  # shells of other tests keep their last error
    names = ready("forward")
    before = torch.cuda.memory_allocated()
    explanation, _, _ = explained(names["train"])
    gc.collect()
    assert torch.cuda.memory_allocated() == before
    assert explanation.place.layer == LAYERS["forward"]
    names.clear()
    gc.collect()
    assert torch.cuda.memory_allocated() - without <= WORKSPACES


def test_a_failure_in_a_worker_thread_of_autograd_is_seen():
    names = ready("backward")
    with pytest.raises(torch.cuda.OutOfMemoryError):
        names["train"]()
    caught = failure_like(None, None)
    assert (caught.place.phase, caught.where().layer) == ("backward", LAYERS["backward"])
