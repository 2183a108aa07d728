"""For `transformers.Trainer`: a callback that records its first steps and shows where the memory went.

from memtrack.integrations.huggingface import MemtrackCallback

trainer = Trainer(model, arguments, train_dataset=data, callbacks=[MemtrackCallback(steps=5)])
trainer.train()
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from memtrack.i18n import text
from memtrack.integrations.trainrun import TrainRun

try:
    from transformers import TrainerCallback
except ImportError as missing:
    raise ImportError(
        str(text("memtrack.integrations.huggingface needs transformers: pip install transformers"))
    ) from missing

if TYPE_CHECKING:
    from memtrack.api import Recording


class MemtrackCallback(TrainerCallback):
    """Records `steps` optimizer steps from the beginning of training (None: all of it), then stops.

    The report appears when the recording ends, unless `show` is False; `out` is a file or folder for
    it. Epochs, evaluations and checkpoints are marks in its timeline. An evaluation between two steps
    counts as a step of the recording. With several processes each records itself, and the first shows
    its report.

    Transformers tells callbacks of no error. A memory error that ends the script or the cell ends the
    recording and is explained under its traceback. One that the program catches is not heard of: the
    recording goes on until `end`, the next training or the end of the program, and is `failed` then.

        try:
            trainer.train()
        except torch.OutOfMemoryError:
            callback.end()

    `recording` is there from the beginning of training on.
    """

    def __init__(
        self,
        steps: int | None = 3,
        *,
        out: str | os.PathLike[str] | None = None,
        show: bool = True,
    ) -> None:
        self._run = TrainRun(steps, out, show)
        self._from = 0

    @property
    def recording(self) -> Recording | None:
        """The recording of the latest training, None before the first."""
        return self._run.recording

    def end(self) -> None:
        """End the recording, as after an error of training that the program has caught."""
        self._run.end("failed")

    def on_train_begin(self, args: Any, state: Any, control: Any, **rest: Any) -> None:
        """Start to record."""
        model = rest.get("model")
        self._from = state.global_step
        self._run.begin(model, type(model).__name__, first=state.is_world_process_zero, watch=True)

    def on_epoch_begin(self, args: Any, state: Any, control: Any, **rest: Any) -> None:
        """Mark it."""
        self._run.mark(text("epoch {number}", number=int(state.epoch or 0) + 1))

    def on_step_end(self, args: Any, state: Any, control: Any, **rest: Any) -> None:
        """Stop after the last step that was asked for."""
        self._run.steps_done(state.global_step - self._from)

    def on_evaluate(self, args: Any, state: Any, control: Any, **rest: Any) -> None:
        """Mark that an evaluation is over."""
        self._run.mark(text("evaluated"))

    def on_save(self, args: Any, state: Any, control: Any, **rest: Any) -> None:
        """Mark that a checkpoint is written."""
        self._run.mark(text("saved"))

    def on_train_end(self, args: Any, state: Any, control: Any, **rest: Any) -> None:
        """Stop, if training was shorter."""
        self._run.end()
