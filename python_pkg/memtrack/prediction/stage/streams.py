"""Streams and events of the predicted GPU: everything is done as soon as it is asked."""

from __future__ import annotations

from typing import Any

from memtrack.errors import PredictionError
from memtrack.i18n import text
from memtrack.prediction.stage.assumptions import refused


class FakeStream:
    """Stands for `torch.cuda.Stream`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.cuda_stream = self.stream_id = 0

    def __enter__(self) -> FakeStream:
        return self

    def __exit__(self, *exc: object) -> None:
        return None

    def query(self) -> bool:
        """Everything has been done."""
        return True

    def is_capturing(self) -> bool:
        """No graph is being captured."""
        return False

    def synchronize(self) -> None:
        """Wait for nothing."""

    def wait_event(self, event: Any) -> None:
        """Wait for nothing."""

    wait_stream = wait_event

    def record_event(self, event: Any = None) -> Any:
        """Return the event, which has happened."""
        return FakeEvent() if event is None else event


class FakeEvent:
    """Stands for `torch.cuda.Event`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.event_id = 0

    def record(self, stream: Any = None) -> None:
        """Happen at once."""

    def wait(self, stream: Any = None) -> None:
        """Wait for nothing."""

    def query(self) -> bool:
        """It has happened."""
        return True

    def synchronize(self) -> None:
        """Wait for nothing."""

    def elapsed_time(self, end: Any) -> float:
        """Return a millisecond, since programs divide by it."""
        return 1.0


class StreamBlock:
    """Stands for `torch.cuda.stream(…)`: everything runs on one stream here."""

    def __init__(self, stream: Any = None) -> None:
        self.stream = stream

    def __enter__(self) -> None:
        return None

    def __exit__(self, *exc: object) -> None:
        return None


class FakeGraph:
    """Stands for `torch.cuda.CUDAGraph`, which is refused where it is made."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise no_graphs()


class Runtime:
    """Stands for `torch.cuda.cudart()`: every function succeeds and does nothing."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *args, **kwargs: 0


def no_graphs() -> PredictionError:
    """Return the refusal of CUDA graphs."""
    hint = text(
        "Predict the step that is captured, called as it is: a graph keeps about as much in its own pool."
    )
    return refused("torch.cuda.CUDAGraph", text("graphs are not modelled"), hint)
