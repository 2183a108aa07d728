"""The field's words for phases and categories, how words are put in a row, and what several rooms say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from memtrack.i18n import Text, text

STEP_PHASES: Mapping[str, Text] = MappingProxyType(
    {
        "forward": text("forward"),
        "backward": text("backward"),
        "optimizer": text("the optimizer step"),
    }
)
CATEGORIES: Mapping[str, Text] = MappingProxyType(
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
    }
)


def in_utf8(words: str) -> str:
    """Return words as UTF-8 can hold them, `?` for the rest: names of files on Linux may be any bytes."""
    return words.encode("utf-8", "replace").decode("utf-8")


def all_in_utf8(value: Any) -> Any:
    """Return plain JSON with every string in it as `in_utf8` gives it, keys too."""
    if isinstance(value, str):
        return in_utf8(value)
    if isinstance(value, Mapping):
        return {all_in_utf8(key): all_in_utf8(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [all_in_utf8(item) for item in value]
    return value


def literal(name: str) -> Text:
    """Return a name of the user's or of code, which reads the same in every language."""
    return Text("{name}", {"name": name})


def not_kept(problem: str) -> Text:
    """Return the line that tells of a recording that did not become a run."""
    return text("memtrack: this run is not in the history. {problem}", problem=problem)


def joined(items: Sequence[Text]) -> Text:
    """Return the items as an enumeration in the language it is read in; at least one."""
    first, *rest = items
    for item in rest:
        first = text("{items}, {item}", items=first, item=item)
    return first
