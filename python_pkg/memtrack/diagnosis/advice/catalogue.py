"""All advice, in the order of least harm: what changes no result first, what costs most last."""

from __future__ import annotations

from collections.abc import Sequence

from memtrack.diagnosis.advice.entry import Entry
from memtrack.diagnosis.advice.references import REFERENCES

CATALOGUE: Sequence[Entry] = (*REFERENCES,)
