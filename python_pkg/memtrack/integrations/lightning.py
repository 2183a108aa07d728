"""For Lightning's Trainer: a callback that records its first steps and shows where the memory went.

from memtrack.integrations.lightning import MemtrackCallback

trainer = Trainer(max_epochs=1, callbacks=[MemtrackCallback(steps=5)])
trainer.fit(model, loader)
"""

from __future__ import annotations

import os
import sys
import weakref
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

from memtrack.i18n import text
from memtrack.integrations.trainrun import TrainRun

if TYPE_CHECKING:
    from memtrack.api import Recording


def _callback_class() -> Any:
    """Return the base class of the Lightning in use: `lightning` or `pytorch_lightning`."""
    names = ["lightning.pytorch", "pytorch_lightning"]
    for name in sorted(names, key=lambda name: name not in sys.modules):
        try:
            return import_module(f"{name}.callbacks").Callback
        except ImportError as error:
            missing = error
    raise ImportError(
        str(text("memtrack.integrations.lightning needs Lightning: pip install lightning"))
    ) from missing


_Callback: Any = _callback_class()


def _called_within(module: Any) -> Callable[[Any], str]:
    """Return what modules inside a LightningModule are called, as in `Model.net`; "" for others.

    Nothing is kept alive by it.
    """
    kept, label = weakref.ref(module), type(module).__name__

    def called(model: Any) -> str:
        whole = kept()
        named = () if whole is None else whole.named_modules()
        path = next((path for path, one in named if one is model), None)
        return "" if path is None else f"{label}.{path}" if path else label

    return called


class MemtrackCallback(_Callback):  # type: ignore[misc] # which class it is, is known when it runs
    """Records `steps` optimizer steps from the beginning of training (None: all of it), then stops.

    The report appears when the recording ends, unless `show` is False; `out` is a file or folder for
    it. Epochs, validations and checkpoints are marks in its timeline. A memory error of training is
    explained. With several processes each records itself, and the first shows its report.

    `recording` is there from the beginning of training on.
    """

    def __init__(
        self,
        steps: int | None = 3,
        *,
        out: str | os.PathLike[str] | None = None,
        show: bool = True,
    ) -> None:
        super().__init__()
        self._run = TrainRun(steps, out, show)
        self._from = 0

    @property
    def recording(self) -> Recording | None:
        """The recording of the latest training, None before the first."""
        return self._run.recording

    def on_train_start(self, trainer: Any, pl_module: Any) -> None:
        """Start to record."""
        self._from = trainer.global_step
        label = type(pl_module).__name__
        # Lightning calls `training_step`, not the module: what that calls is what runs.
        first = trainer.is_global_zero
        self._run.begin(None, label, first=first, watch=False, called=_called_within(pl_module))

    def on_train_epoch_start(self, trainer: Any, pl_module: Any) -> None:
        """Mark it."""
        self._run.mark(text("epoch {number}", number=trainer.current_epoch + 1))

    def on_train_batch_end(self, trainer: Any, pl_module: Any, *_: Any) -> None:
        """Stop after the last step that was asked for."""
        self._run.steps_done(trainer.global_step - self._from)

    def on_validation_start(self, trainer: Any, pl_module: Any) -> None:
        """Mark it."""
        self._run.mark(text("validation"))

    def on_save_checkpoint(self, trainer: Any, pl_module: Any, checkpoint: Any) -> None:
        """Mark that a checkpoint is written."""
        self._run.mark(text("saved"))

    def on_train_end(self, trainer: Any, pl_module: Any) -> None:
        """Stop, if training was shorter."""
        self._run.end()

    def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:
        """End the recording and explain an error of memory."""
        self._run.failed(exception)
