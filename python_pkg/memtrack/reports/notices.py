"""Limits of a recording, by the id the capture gives them, as sentences."""

from __future__ import annotations

from collections.abc import Sequence

from memtrack.i18n import Text, text
from memtrack.recording import Notice

_SENTENCES = {
    "compiled": text("A compiled region ran: what happens inside it is counted, but not by layer."),
    "subclass": text("Tensor subclasses are counted by the storages inside them."),
    "scripted": text("The layers inside a ScriptModule are not seen; it counts as one layer."),
    "unclosed": text("The recording ended with an exception; the last step is not complete."),
    "threads": text("Work on other threads is not seen."),
    "no_steps": text("No training step was seen, so everything counts as one step."),
    "checkpoint_sac": text(
        "Selective checkpointing is on: recomputed operations are counted as backward."
    ),
}


def notice_sentences(notices: Sequence[Notice]) -> list[Text]:
    """Return a sentence for each notice, each once, in order."""
    return list({_key(notice): _sentence(notice) for notice in notices}.values())


def _key(notice: Notice) -> tuple[str, str]:
    return notice.id, str(sorted(notice.values.items()))


def _sentence(notice: Notice) -> Text:
    known = _SENTENCES.get(notice.id)
    if known is not None:
        return Text(known.template, notice.values)
    return text("This recording has a limit that this version does not know: {id}.", id=notice.id)
