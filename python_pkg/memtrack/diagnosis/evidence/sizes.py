"""Rules on the size of the request alone: absurd sizes, and tensors that grow with a square."""

from __future__ import annotations

import re

from memtrack.diagnosis.diagnosis import Cause
from memtrack.diagnosis.evidence.place import names_around
from memtrack.diagnosis.evidence.situation import Situation
from memtrack.diagnosis.titles import title
from memtrack.i18n import Text, text
from memtrack.units import TIB, format_bytes, format_percent

NO_DEVICE_HAS = TIB
"""Bytes that no single accelerator has, for where the device is not known."""
ABSURD_TIMES = 4
"""A request of so many devices is no question of memory."""
QUADRATIC_SHARE = 0.15
QUADRATIC = re.compile(r"attention|attn|softmax|sdpa|logits|lm_head|cross_entropy|einsum|bmm", re.I)
FLOAT32 = 4


def absurd(now: Situation) -> Cause | None:
    """A request of several whole devices is a mistake in a shape, or a number that overflowed."""
    asked, total = now.requested or now.needed, now.total
    if not asked:
        return None
    if total is None:
        if asked < NO_DEVICE_HAS:
            return None
        lines = [
            text("{asked} were asked for in one piece: no device has as much", asked=_size(asked))
        ]
        return _absurd(asked, 0.9, lines)
    if asked <= total:
        return None
    times = asked / total
    lines = [
        text(
            "{asked} were asked for in one piece, {times} times the whole device ({total})",
            asked=_size(asked),
            times=_times(times),
            total=_size(total),
        )
    ]
    return _absurd(asked, 0.95 if times >= ABSURD_TIMES else 0.5, lines)


def _absurd(asked: int, confidence: float, lines: list[Text]) -> Cause:
    elements = text("That is {count} elements of float32", count=f"{asked // FLOAT32:,}")
    cause = "integer_overflow_or_garbage_size"
    return Cause(cause, confidence, title(cause), (*lines, elements))


def quadratic(now: Situation) -> Cause | None:
    """One tensor that takes a good part of the memory, made where attention or logits are."""
    asked, room = now.requested or now.needed, now.limit or now.total
    word = QUADRATIC.search(names_around(now))
    if not asked or room is None or word is None or asked < QUADRATIC_SHARE * room:
        return None
    lines = (
        text(
            "One tensor of {asked} is {percent} of all there is ({room})",
            asked=_size(asked),
            percent=format_percent(asked, room),
            room=_size(room),
        ),
        text("It was made in code named {word}", word=word[0]),
    )
    cause = "logits_or_attention_quadratic"
    return Cause(cause, 0.7 if asked >= 0.5 * room else 0.5, title(cause), lines)


def _size(size: int) -> str:
    return format_bytes(size)


def _times(ratio: float) -> str:
    return f"{ratio:.1f}" if ratio < 10 else f"{ratio:,.0f}"
