"""What a recording is to be, and the lines that say so before and after there is a report."""

from __future__ import annotations

from dataclasses import dataclass

from memtrack.i18n import Text, text
from memtrack.recording import RecordingData

Progress = tuple[int, int]
"""Calls of tracked models and events so far, as `Recorder.progress` gives them."""


@dataclass(frozen=True, slots=True)
class Plan:
    """`subject` is what is recorded, as the user called it; `steps` is None for no end."""

    subject: str | Text
    steps: int | None
    this_cell: bool
    language: str

    def is_worth_a_report(self, progress: Progress) -> bool:
        """Tell whether what was seen is more than the notebook's own tensors around the model."""
        calls, events = progress
        return calls > 0 or (self.this_cell and events > 0)

    def waiting(self) -> Text:
        """Say what is being watched and what to do."""
        if self.this_cell:
            return text("Recording this cell; its report comes here.")
        if self.steps is None:
            return text(
                "Watching {subject}: run your training, in any cell. %memtrack off ends it.",
                subject=self.subject,
            )
        return text(
            "Watching {subject}: run your training, in any cell. It ends by itself; steps: {steps}.",
            subject=self.subject,
            steps=self.steps,
        )

    def nothing_recorded(self) -> Text:
        """Say that there is no report, and why."""
        if self.this_cell:
            return text("Nothing was recorded: no tensor was made in this cell.")
        return text(
            "Nothing was recorded: {subject} did not run while it was watched.",
            subject=self.subject,
        )

    def ended(self, data: RecordingData) -> Text:
        """Say that nothing is being recorded and what the latest recording was."""
        return text(
            "Nothing is being recorded. Latest: {label}, steps: {steps}, {state}. %memtrack shows it.",
            label=data.facts.label,
            steps=data.steps_run,
            state=_STATES.get(data.facts.state, data.facts.state),
        )


_STATES = {
    "complete": text("complete"),
    "interrupted": text("interrupted"),
    "failed": text("ended by an exception"),
}
