"""The Python door of predictions: `memtrack.predict`, `memtrack.largest_batch`, and what they give."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from memtrack.analysis.device import devices_in_order
from memtrack.analysis.nested import nested_peaks
from memtrack.analysis.predicted import FITS, Assumed, Predicted, predicted_of
from memtrack.api import Presentation, Recording, cell_namer, running_shell
from memtrack.errors import RecordingStateError, UnavailableError, UsageError
from memtrack.i18n import text
from memtrack.recording import PhaseKind, RecordingData
from memtrack.units import format_bytes

Build = Callable[[], Callable[[], Any]]
Progress = Callable[[int, int], None]


class Prediction(Recording):
    """What a run would do to memory: everything a recording has, and totals with an interval.

    `process_total` is (low, high) of what the whole process takes of the GPU, in bytes.
    """

    def __init__(
        self,
        data: RecordingData,
        presentation: Presentation | None = None,
        build: Build | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(data, presentation)
        told = predicted_of(data)
        if told is None:
            raise RecordingStateError(text("This recording is not a prediction."))
        self._told: Predicted = told
        self._options = dict(options or {})
        self.build = build
        """The program, where it can be predicted again; None for a prediction that was opened."""

    @property
    def peak_allocated(self) -> int:
        """Most bytes of tensors at a time."""
        return self._told.peak_allocated

    @property
    def peak_reserved(self) -> int:
        """Most bytes that the caching allocator holds at a time."""
        return self._told.peak_reserved

    @property
    def process_total(self) -> tuple[int, int]:
        """Least and most bytes that the process takes of the GPU, context and libraries included."""
        return self._told.process

    @property
    def fits(self) -> bool | None:
        """Whether it fits the GPU it was asked for; None where that is too close or was not asked."""
        return {FITS: True, "too_large": False}.get(self._told.verdict)

    @property
    def verdict(self) -> str:
        """`fits`, `too_large`, `close`, or "" where there was nothing to fit into."""
        return self._told.verdict

    @property
    def assumptions(self) -> Sequence[Assumed]:
        """What was taken for granted where the program asked for values."""
        return self._told.assumptions

    @property
    def told(self) -> Predicted:
        """All of these together, as data."""
        return self._told

    @property
    def limiting(self) -> tuple[str, str]:
        """Phase and layer ("" outside of any) of the peak, or of where memory would run out."""
        short = self._told.shortage
        if short is not None:
            return short.phase, short.layer
        return self.peak.phase, self.peak.layer_path

    @property
    def by_phase(self) -> list[dict[str, Any]]:
        """The most bytes of tensors in each phase of each step, in order."""
        data = self.data
        peaks = nested_peaks(data, devices_in_order(data)[0]).phases
        kinds, steps = data.phases["kind"], data.phases["step"]
        return [
            {
                "step": int(steps[row]) + 1,
                "phase": PhaseKind(int(kinds[row])).id,
                "peak": int(size),
            }
            for row, size in zip(peaks.row, peaks.bytes, strict=True)
        ]

    def predict_again(self, build: Build, steps: int) -> RecordingData:
        """Return the recording of another program, predicted as this one was, of `steps` steps at most."""
        from memtrack.prediction.predict import predict as predicted

        fewer = min(steps, self._options["steps"])
        return predicted(build, **{**self._options, "steps": fewer})

    def __repr__(self) -> str:
        low, high = (format_bytes(size) for size in self.process_total)
        peak = format_bytes(self.peak_allocated)
        return f"<memtrack.Prediction of {self.data.facts.label}: peak {peak}, process {low} to {high}>"


def opened(data: RecordingData, presentation: Presentation | None) -> Recording:
    """Return a prediction that was saved; a recording where it says nothing of itself."""
    if predicted_of(data) is None:
        return Recording(data, presentation)
    return Prediction(data, presentation)


def predict(
    build: Build,
    *,
    steps: int = 3,
    device: str = "cuda:0",
    capacity: int | str | None = None,
    allocator_conf: str | None = None,
    gpu: str | int | None = None,
    progress: Progress | None = None,
    presentation: Presentation | None = None,
) -> Prediction:
    """Predict the memory of a program on a GPU, without running it on one.

    `build` takes nothing, makes model, optimizer and batch as on the GPU, and returns a function that
    does one step. It runs without data; no GPU is needed or touched. `gpu` is a name such as
    `"RTX 4090"`, a size such as `"24GiB"`, or `"here"` for what this machine's driver tells; without
    one the kernels of an A100 80GB are assumed, on every machine, and nothing is fitted into.
    `allocator_conf` is as in `PYTORCH_CUDA_ALLOC_CONF`.

        def build():
            model, optimizer = Net().cuda(), ...
            def step(): ...
            return step

        found = memtrack.predict(build, gpu="RTX 4090")
        found.peak_allocated, found.process_total, found.fits
    """
    predicted = _loaded().predict
    shell = running_shell()
    options = {
        "names": None if shell is None else cell_namer(shell),
        "steps": steps,
        "device": device,
        "capacity": capacity,
        "allocator_conf": allocator_conf,
        "gpu": gpu,
    }
    data = predicted(build, progress=progress, **options)
    return Prediction(data, presentation, build, options)


def largest_batch(
    build_of_n: Callable[[int], Callable[[], Any]],
    *,
    gpu: str | int,
    low: int = 1,
    high: int | None = None,
    steps: int = 2,
    allocator_conf: str | None = None,
    progress: Callable[[int, bool], None] | None = None,
) -> Any:
    """Return the largest `n` for which the program of `build_of_n(n)` fits a GPU, by predictions.

    `build_of_n(n)` does what `build` of `memtrack.predict` does, for a batch (or a length) of `n`.
    `progress(n, fits)` is told of each that is tried. The answer has `size` (0: not even `low` fits),
    `limiting` (phase and layer where the next would run out), and `tried`.
    """
    from memtrack.prediction.search import find_largest

    _loaded()
    given: Any = build_of_n
    if not callable(given) or hasattr(given, "register_forward_hook"):  # a module can be called too
        kind = type(given).__name__
        raise UsageError(
            text("largest_batch takes a function of the batch size, not {kind}.", kind=kind)
        )
    if not _takes_a_number(given):
        name = getattr(given, "__name__", type(given).__name__)
        raise UsageError(
            text("largest_batch calls {name} with one number, which it does not take.", name=name)
        )

    def attempt(size: int) -> Prediction:
        return predict(
            lambda: build_of_n(size), steps=steps, gpu=gpu, allocator_conf=allocator_conf
        )

    return find_largest(attempt, low, high, progress)


def _takes_a_number(function: Callable[..., Any]) -> bool:
    """Tell whether a function can be called with one; of one that hides its parameters it may be."""
    try:
        inspect.signature(function).bind(1)
    except TypeError:
        return False
    except ValueError:
        return True
    return True


def _loaded() -> Any:
    """Return the module that predicts; UnavailableError where PyTorch is not installed."""
    try:
        from memtrack.prediction import predict as module
    except ModuleNotFoundError as missing:
        if missing.name != "torch":
            raise
    else:
        return module
    raise UnavailableError(
        text("Predicting needs PyTorch, which is not installed in this environment."),
        text("See https://pytorch.org/get-started, or run: pip install torch"),
    )
