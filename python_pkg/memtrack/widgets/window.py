"""Answers to zooms: the timeline of a window, from a finished recording. Safe on any thread."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from memtrack.analysis.device import devices_in_order
from memtrack.recording import RecordingData
from memtrack.reports import window_report
from memtrack.reports.payload import encode_timeline

MOST_BUCKETS = 4000
"""As many as the widest screen has columns of pixels."""


def answer_window(
    data: RecordingData, request: Mapping[str, Any]
) -> tuple[dict[str, Any], list[bytes]] | None:
    """Return message and buffers for `{"request", "view", "start", "end", "buckets"}`.

    None where the request is not one; cuts outside the recording are moved to its ends.
    """
    values = [request.get(name) for name in ("request", "view", "start", "end", "buckets")]
    if not all(_is_number(value) for value in values):
        return None
    number, view, start, end, buckets = (int(value) for value in values if value is not None)
    if not 0 <= view < len(devices_in_order(data)):
        return None
    window = window_report(data, view, start, end, min(max(buckets, 1), MOST_BUCKETS))
    payload, buffers = encode_timeline(window)
    return {"type": "window", "request": number, "view": view, "json": payload}, buffers


def _is_number(value: Any) -> bool:
    return type(value) is int or (type(value) is float and math.isfinite(value))
