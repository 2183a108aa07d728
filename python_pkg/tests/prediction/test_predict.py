"""A program predicted as a whole: exact bytes, the laws of recordings, the user's process untouched."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import memtrack
from memtrack.allocator.replay import recorded_reserved, replay
from memtrack.analysis.pace import phase_ns, step_ns
from memtrack.analysis.totals import allocated
from memtrack.errors import UsageError
from memtrack.prediction.overheads import Doubts

torch = pytest.importorskip("torch")

PARAMETERS = 256 * 512 + 512 + 512 * 16 + 16
LINE = 512


def build(batch: int = 64) -> Callable[[], float]:
    model = torch.nn.Sequential(
        torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 16)
    ).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), foreach=False)
    x = torch.randn(batch, 256, device="cuda")
    y = torch.randint(0, 16, (batch,), device="cuda")

    def step() -> float:
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return float(loss.item())

    return step


def rounded(count: int) -> int:
    return -(-count * 4 // LINE) * LINE


@pytest.fixture(scope="module")
def found() -> Any:
    return memtrack.predict(build, gpu="RTX 4090")


def cuda_row(data: Any) -> int:
    kinds = [data.string(int(kind)) for kind in data.devices["kind"]]
    return kinds.index("cuda")


def test_a_prediction_is_a_recording_that_obeys_its_laws(found: Any) -> None:
    data = found.data
    data.self_check()
    assert data.facts.evidence == "predicted"
    assert data.steps_run == 3
    row = cuda_row(data)
    held, used = recorded_reserved(data, row), allocated(data, row)
    assert held is not None
    settled = np.flatnonzero(data.events["kind"] < 2) + 1
    assert (held[settled] >= used[settled]).all()
    assert found.peak_allocated == used.max()
    assert found.peak_reserved == held.max()


def test_weights_gradients_and_states_are_exact(found: Any) -> None:
    data = found.data
    cut = int(data.phases["end"][np.flatnonzero(data.phases["kind"] == 2)[-1]])
    blocks = data.allocations
    alive = (blocks["start"] < cut) & (blocks["end"] >= cut) & (blocks["device"] == cuda_row(data))
    by_category = {
        name: int(blocks["bytes"][alive & (blocks["category"] == code)].sum())
        for name, code in (("parameter", 1), ("optimizer_state", 4), ("gradient", 3))
    }
    weights = sum(rounded(n) for n in (256 * 512, 512, 512 * 16, 16))
    assert by_category["parameter"] == weights
    assert by_category["gradient"] == weights
    assert by_category["optimizer_state"] == 2 * weights


def test_the_recorded_segments_are_those_of_a_replay(found: Any) -> None:
    data = found.data
    again = replay(data, cuda_row(data))
    assert again.error == 0


def test_totals_and_verdict(found: Any) -> None:
    low, high = found.process_total
    assert found.peak_reserved < low < high
    assert found.fits is True
    assert memtrack.predict(build, gpu="64MiB").fits is False
    assert memtrack.predict(build).fits is None


def test_what_runs_out_is_named() -> None:
    found = memtrack.predict(lambda: build(200_000), gpu="1GiB", steps=1)
    assert found.fits is False
    short = found.told.shortage
    assert short is not None and short.step == 1
    assert found.limiting == (short.phase, short.layer)
    assert short.requested >= 200_000 * 16 * 4


def test_a_saved_prediction_reopens_as_one(found: Any, tmp_path: Path) -> None:
    path = found.save(tmp_path / "run")
    again = memtrack.open(path)
    assert isinstance(again, memtrack.Prediction)
    assert again.told == found.told
    assert again.by_phase == found.by_phase
    assert again.report().views[0].headline == found.report().views[0].headline


def test_the_process_is_left_as_it_was() -> None:
    torch.manual_seed(3)
    random.seed(3)
    before = torch.get_rng_state(), random.getstate(), torch.cuda.is_available
    memtrack.predict(build, steps=1)
    assert torch.equal(torch.get_rng_state(), before[0])
    assert random.getstate() == before[1]
    assert torch.cuda.is_available is before[2]


def test_an_exception_of_the_program_passes_as_it_is() -> None:
    def failing() -> Callable[[], None]:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        memtrack.predict(failing)
    assert memtrack.predict(build, steps=1).peak_allocated > 0


def test_a_recording_that_is_on_does_not_see_the_prediction() -> None:
    model = torch.nn.Linear(4, 4)
    with memtrack.track(model) as recording:
        memtrack.predict(build, steps=1)
        model(torch.ones(2, 4)).sum().backward()
    paths = {recording.data.string(int(p)) for p in recording.data.layers["path"]}
    assert paths == {"model"}
    assert recording.data.steps_run == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"build": 3}, "not int"),
        ({"build": torch.nn.Linear(2, 2)}, "not Linear"),
        ({"build": lambda: None}, "not NoneType"),
        ({"build": build, "steps": 0}, "steps"),
        ({"build": build, "device": "cpu"}, "CUDA"),
        ({"build": build, "gpu": "RTX 4091"}, "RTX 4090"),
    ],
)
def test_wrong_use_is_one_line(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words) as raised:
        memtrack.predict(**arguments)
    assert "\n" not in str(raised.value)


def test_memory_questions_are_answered_by_the_allocator() -> None:
    told: list[int] = []

    def asking() -> Callable[[], None]:
        kept = torch.empty(3 << 20, dtype=torch.uint8, device="cuda")

        def step() -> None:
            told.append(torch.cuda.memory_allocated())
            told.append(torch.cuda.memory_reserved())
            assert kept.is_cuda

        return step

    memtrack.predict(asking, steps=1)
    assert told == [3 << 20, 20 << 20]


def test_expandable_segments_are_pages() -> None:
    found = memtrack.predict(build, steps=1, allocator_conf="expandable_segments:True")
    data = found.data
    data.self_check()
    assert data.segments["expandable"].all()
    assert replay(data, cuda_row(data)).error == 0


def test_how_long_predicting_took_is_no_pace_of_the_run(found: Any) -> None:
    assert step_ns(found.data) is None
    assert phase_ns(found.data) == {}
    assert found.report().step_ns is None


@pytest.mark.parametrize(
    ("ask", "sizes"),
    [(torch.sum, False), (lambda x: float(x.sum()), False), (lambda x: x[x > 0], True)],
)
def test_only_assumed_sizes_widen_the_interval(ask: Callable[[Any], Any], sizes: bool) -> None:
    def asking() -> Callable[[], None]:
        kept = torch.randn(64 << 20, device="cuda")
        return lambda: ask(kept)

    told = memtrack.predict(asking, gpu="H200", steps=1).told
    apart = Doubts(sizes=sizes).apart(told.peak_reserved)
    held = told.peak_reserved
    assert told.process == (held - apart + told.context[0], held + apart + told.context[1])
