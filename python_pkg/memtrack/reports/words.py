"""The field's words for the codes of a report, the same in every sentence and table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from memtrack.i18n import Text, text

PARTS: Mapping[str, Text] = MappingProxyType(
    {
        "parameter": text("parameters"),
        "buffer": text("buffers"),
        "gradient": text("gradients"),
        "optimizer_state": text("optimizer state"),
        "cast_weight": text("autocast copies"),
        "activation": text("activations"),
        "recomputed": text("recomputed activations"),
        "output": text("outputs"),
        "input": text("batch"),
        "temporary": text("temporaries"),
        "communication": text("communication buffers"),
        "workspace": text("workspaces"),
        "other": text("other tensors"),
        "unknown": text("unknown"),
        "cache": text("allocator cache"),
        "context": text("CUDA context"),
        "process": text("rest of this process"),
        "outside": text("CUDA context and other processes"),
        "others": text("other processes"),
        "free": text("free"),
    }
)
"""Categories and the other parts of a ledger."""

DETAILS: Mapping[str, Text] = MappingProxyType(
    {
        "cache.small": text("free, small blocks"),
        "cache.large": text("free, large blocks"),
        "cache.splinters": text("splinters"),
        "cache.private": text("in private pools"),
        "cache.pending": text("awaiting a stream"),
        "temporary.forward": text("forward"),
        "temporary.backward": text("backward"),
        "temporary.optimizer": text("optimizer"),
        "temporary.other": text("between"),
    }
)
"""What some parts are made of."""

PHASES: Mapping[str, Text] = MappingProxyType(
    {
        "forward": text("forward"),
        "backward": text("backward"),
        "optimizer": text("the optimizer step"),
        "other": text("other code"),
    }
)


def part_name(part: str) -> Text:
    """Return the words for a part of a ledger; an id of a later version is shown as it is."""
    return PARTS.get(part) or DETAILS.get(part) or literal(part)


def literal(name: str) -> Text:
    """Return a name of the user's or of code, which reads the same in every language."""
    return Text("{name}", {"name": name})


def joined(items: Sequence[Text]) -> Text:
    """Return the items as an enumeration in the language it is read in; at least one."""
    first, *rest = items
    for item in rest:
        first = text("{items}, {item}", items=first, item=item)
    return first
