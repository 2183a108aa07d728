"""Advice as the browser gets it: the optional member `advice` of a report's payload.

    {"budget": int|null, "base": {"peak": int, "reserved": int|null},
     "remedies": [{"id", "title": Text, "applies": bool, "why": Text, "saving", "peak", "low", "high",
        "reserved": int|null, "evidence": "simulated"|"predicted"|"estimated"|"unknown",
        "cost": Text, "cost_class": "none"|"low"|"medium"|"high", "caveats": [Text], "code": str, "codes": Text}],
     "combinations": [{"ids": [str], "peak", "saving": int, "reserved": int|null, "fits": bool}]}

Bytes are integers; Text is one string in every shipped language. Remedies come ranked.
"""

from __future__ import annotations

from typing import Any

from memtrack.diagnosis.advice.comments import in_each_language, in_language
from memtrack.i18n import in_every_language
from memtrack.remedies import Advised, Combination, Remedy

SCHEMA = "memtrack.advice/1"


def encode_advice(advised: Advised) -> dict[str, Any]:
    """Return the JSON of advice, as the module's docstring lays out."""
    return {
        "budget": advised.budget,
        "base": {"peak": advised.base.peak, "reserved": advised.base.reserved},
        "remedies": [_remedy(remedy) for remedy in advised.remedies],
        "combinations": [_combination(one) for one in advised.combinations],
    }


def with_advice(packed: dict[str, Any], advised: Advised | None) -> dict[str, Any]:
    """Return a report packed for a notebook with advice among its members."""
    if advised is None:
        return packed
    return {**packed, "report": {**packed["report"], "advice": encode_advice(advised)}}


def advice_json(advised: Advised, language: str) -> dict[str, Any]:
    """Return what `memtrack advise --json` prints: the same with every sentence in one language."""
    rows = []
    for remedy in advised.remedies:
        row = _remedy(remedy)
        for name in ("title", "why", "cost"):
            row[name] = getattr(remedy, name).render(language)
        row["caveats"] = [one.render(language) for one in remedy.caveats]
        row["code"] = in_language(remedy.code, language)
        del row["codes"]
        rows.append(row)
    return {"schema": SCHEMA, **encode_advice(advised), "remedies": rows}


def _remedy(remedy: Remedy) -> dict[str, Any]:
    return {
        "id": remedy.id,
        "title": in_every_language(remedy.title),
        "applies": remedy.applies,
        "why": in_every_language(remedy.why),
        "saving": remedy.saving_bytes,
        "peak": remedy.peak,
        "low": remedy.low,
        "high": remedy.high,
        "reserved": remedy.reserved,
        "evidence": remedy.evidence,
        "cost": in_every_language(remedy.cost),
        "cost_class": remedy.cost_class,
        "harm": remedy.harm,
        "caveats": [in_every_language(one) for one in remedy.caveats],
        "code": remedy.code,
        "codes": in_each_language(remedy.code),
    }


def _combination(one: Combination) -> dict[str, Any]:
    return {
        "ids": list(one.ids),
        "peak": one.peak,
        "saving": one.saving_bytes,
        "reserved": one.reserved,
        "fits": one.fits,
    }
