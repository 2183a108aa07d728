"""Figures as people read them; the cases are shared with src/base/__tests__/bytes.spec.ts."""

import json
from pathlib import Path

import pytest

from memtrack import units

CASES = json.loads((Path(__file__).parent / "fixtures" / "units.json").read_text(encoding="utf-8"))
FORMATS = {
    "bytes": units.format_bytes,
    "change": units.format_change,
    "duration": units.format_duration,
    "count": units.format_count,
    "percent": units.format_percent,
}


@pytest.mark.parametrize("kind", FORMATS)
def test_figures_read_as_in_the_browser(kind):
    assert [FORMATS[kind](*case[:-1]) for case in CASES[kind]] == [case[-1] for case in CASES[kind]]
