"""A `Diagnosis` as the browser gets it, plain JSON, and its MIME bundle.

    {"schema": "memtrack.diagnosis/1", "kind": str, "device_memory": bool,
     "headline": Text, "place": {"phase", "layer": str, "step": int, "site": str},
     "numbers": {name: int}, "other_processes": [{"pid", "bytes": int, -1 if not told}],
     "causes": [{"id": str, "confidence": 0…1, "title": Text, "evidence": [Text]}],
     "contradictions": [Text], "checks": [{"id": str, "text": Text, "code": str, "codes": Text}],
     "remedies": [{"id": str, "title": Text, "saving_bytes": int|null, "cost": Text, "code": str,
        "codes": Text, "caveats": [Text]}],
     "needed": {"requested", "segment", "largest_free", "cached", "device_free", "others": int|null},
     "holders": [{"name": Text, "bytes", "allocations": int}],
     "parts": [{"id": str, "bytes": int, "certainty": "measured"|"estimated"}],
     "message": str, "later": [Text]}

    "codes" is the code with its comments in each language; earlier payloads have "code" alone.

    Text     {"en": str, "zh_CN": str, …}: one string in every shipped language

Bytes are integers. Lists are bounded, so that a notebook file grows by some tens of kB at most. A
reader ignores keys it does not know and refuses another major number in `schema`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from memtrack.diagnosis.advice.comments import in_each_language
from memtrack.diagnosis.diagnosis import SCHEMA, Advice, Cause, Diagnosis, Needed
from memtrack.i18n import ENGLISH, Text, in_every_language
from memtrack.reports.diagnosishtml import diagnosis_html
from memtrack.reports.diagnosistext import render_diagnosis
from memtrack.words import all_in_utf8

MIME_TYPE = "application/vnd.memtrack.diagnosis.v1+json"
MOST = 40
"""Entries of one list."""
LONGEST_MESSAGE = 8_000
"""Characters of the message as it was raised."""


def diagnosis_bundle(diagnosis: Diagnosis, language: str = ENGLISH) -> dict[str, Any]:
    """Return the MIME bundle of a diagnosis: plain text, static HTML and our own type."""
    shown = {
        "text/plain": render_diagnosis(diagnosis, language),
        "text/html": diagnosis_html(diagnosis, language),
        MIME_TYPE: encode_diagnosis(diagnosis),
    }
    return dict(all_in_utf8(shown))


def encode_diagnosis(diagnosis: Diagnosis) -> dict[str, Any]:
    """Return the JSON of `diagnosis`, as the module's docstring lays out."""
    place = diagnosis.place
    return {
        "schema": SCHEMA,
        "kind": diagnosis.kind,
        "device_memory": diagnosis.device_memory,
        "headline": in_every_language(diagnosis.headline),
        "place": {
            "phase": place.phase,
            "layer": place.layer,
            "step": place.step,
            "site": place.site,
        },
        "numbers": dict(diagnosis.numbers),
        "other_processes": [
            {"pid": one.pid, "bytes": one.bytes} for one in diagnosis.others[:MOST]
        ],
        "causes": [_cause(cause) for cause in diagnosis.causes[:MOST]],
        "contradictions": _texts(diagnosis.contradictions),
        "checks": [
            {"id": one.id, "text": in_every_language(one.text), **_code(one.code)}
            for one in diagnosis.checks[:MOST]
        ],
        "remedies": [_remedy(advice) for advice in diagnosis.advice[:MOST]],
        "needed": {field.name: getattr(diagnosis.needed, field.name) for field in fields(Needed)},
        "holders": [
            {
                "name": in_every_language(one.name),
                "bytes": one.bytes,
                "allocations": one.allocations,
            }
            for one in diagnosis.holders[:MOST]
        ],
        "parts": [
            {"id": part.id, "bytes": part.bytes, "certainty": part.certainty}
            for part in diagnosis.parts
        ],
        "message": diagnosis.message[:LONGEST_MESSAGE],
        "later": _texts(diagnosis.later),
    }


def _texts(texts: Sequence[Text]) -> list[dict[str, str]]:
    return [in_every_language(text) for text in texts[:MOST]]


def _code(code: str) -> dict[str, Any]:
    """Return code, and with its comments in each language."""
    return {"code": code, "codes": in_each_language(code)}


def _cause(cause: Cause) -> dict[str, Any]:
    return {
        "id": cause.id,
        "confidence": round(cause.confidence, 2),
        "title": in_every_language(cause.title),
        "evidence": _texts(cause.evidence),
    }


def _remedy(advice: Advice) -> dict[str, Any]:
    return {
        "id": advice.id,
        "title": in_every_language(advice.title),
        "saving_bytes": advice.saving_bytes,
        "cost": in_every_language(advice.cost),
        **_code(advice.code),
        "caveats": _texts(advice.caveats),
    }
