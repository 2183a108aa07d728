"""Limits of a recording, by the id the capture gives them, as sentences."""

from __future__ import annotations

from collections.abc import Sequence

from memtrack.i18n import Text, text
from memtrack.recording import Notice

_SENTENCES = {
    "compiled": text("A compiled part ran: what happens inside it is counted, but not by layer."),
    "subclass": text("Tensor subclasses are counted by the storages inside them."),
    "scripted": text("The layers inside a ScriptModule are not seen; it counts as one layer."),
    "unclosed": text("The recording ended with an exception; its last step is not complete."),
    "threads": text("Layers that ran on other threads were not seen."),
    "no_steps": text("No forward pass was seen, so nothing is told by layer or step."),
    "checkpoint_sac": text(
        "Selective checkpointing is on: what it computes again counts as backward."
    ),
    "saved_hooks_disabled": text(
        "What was saved for backward was not seen: hooks on saved tensors are disabled here."
    ),
    "gave_up": text("memtrack failed while it recorded and stopped there; the run went on."),
    "full": text("The recording was full and ended by itself."),
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
