"""What to look at next, by cause: a command or a line of code that decides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memtrack.diagnosis.diagnosis import Check

CHECKS: Mapping[str, Sequence[Check]] = {}
