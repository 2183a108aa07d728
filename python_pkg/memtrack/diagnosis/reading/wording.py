"""How a sentence of an error is described: what is looked for, and what it says."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from memtrack.diagnosis.reading.failure import Severity
from memtrack.diagnosis.reading.sizes import COUNT, SIZE


@dataclass(frozen=True)
class Field:
    """A figure near a wording: its name in the contract, and its pattern with SIZE or COUNT."""

    name: str
    pattern: str

    @cached_property
    def search(self) -> re.Pattern[str]:
        """The compiled pattern."""
        return re.compile(self.pattern)


@dataclass(frozen=True)
class Wording:
    """A sentence by which an error is known.

    Patterns are matched on the text in small letters without spaces. `needle` is a piece of the
    sentence that is looked for first, since that is quick. The group `status`, where a pattern has
    one, is kept. `fields` are looked for from the sentence on, `reach` characters far, and up to the
    next sentence of the same kind.
    """

    id: str
    kind: str
    needle: str
    pattern: str = ""
    device_memory: bool = True
    severity: Severity = Severity.FATAL
    fields: Sequence[Field] = field(default_factory=tuple)
    reach: int = 0

    @cached_property
    def search(self) -> re.Pattern[str]:
        """The compiled pattern; the needle itself where there is none."""
        return re.compile(self.pattern or re.escape(self.needle))


def size(name: str, before: str, after: str = "") -> Field:
    """Return a field for a figure with a unit, between two patterns."""
    return Field(name, before + SIZE + after)


def count(name: str, before: str, after: str = "") -> Field:
    """Return a field for a whole number of bytes without a unit."""
    return Field(name, before + COUNT + after)
