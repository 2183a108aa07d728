"""Answers to a browser that asks for advice: what would help in the recording it shows. Safe on any thread."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memtrack.errors import MemtrackError, in_one_line
from memtrack.i18n import Text, in_every_language, languages, text
from memtrack.recording import RecordingData
from memtrack.reports.advice import advice_of
from memtrack.reports.advicepayload import encode_advice


def answer_advice(data: RecordingData | None, request: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the message for `{"request"}`: `json` with advice or, in its place, `problem` with a sentence.

    None where the request is not one. Takes seconds for the largest recordings.
    """
    number = request.get("request")
    if type(number) is not int:
        return None
    message = {"type": "advice", "request": number}
    if data is None:
        return {**message, "problem": in_every_language(_gone())}
    try:
        return {**message, "json": encode_advice(advice_of(data))}
    except MemtrackError as error:
        return {**message, "problem": {one: error.in_language(one) for one in languages()}}
    except Exception as error:  # noqa: BLE001 - a browser that waits for an answer has to get one
        problem = in_one_line(error)
        sentence = text("memtrack could not weigh remedies ({problem}).", problem=problem)
        return {**message, "problem": in_every_language(sentence)}


def _gone() -> Text:
    return text("This kernel no longer holds the recording: run %memtrack advise on it.")
