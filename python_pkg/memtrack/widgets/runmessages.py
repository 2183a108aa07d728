"""What the view of a history asks of the kernel, and the answers. Safe on any thread.

{"type": "list", "request": int, "search": str, "deleted": bool, "offset": int}
{"type": "pin"|"unpin"|"delete"|"restore"|"baseline"|"unbaseline", "request": int, "id": int}
{"type": "rename", …, "name": str}, {"type": "tag", …, "tags": [str]}, {"type": "note", …, "note": str}
{"type": "diff", "request": int, "a": int, "b": int}           a before, b after

{"type": "list", "request": int, "history": payload}
{"type": "runs", "request": int, "runs": [run]}                the rows that changed
{"type": "diff", "request": int, "comparison": payload}, and its buffers
{"type": "error", "request": int, "sentence": Text}
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from memtrack.comparing import diff_of, opened, side_of
from memtrack.errors import MemtrackError
from memtrack.i18n import languages
from memtrack.reports.comparisonpayload import encode_comparison
from memtrack.reports.history import list_runs
from memtrack.reports.historypayload import MOST_RUNS, encode_history, encode_run
from memtrack.runs import History, Run

Answer = tuple[dict[str, Any], list[bytes]]
_Change = Callable[[History, Run, Mapping[str, Any]], object]


def answer(folder: Path, message: Any) -> Answer | None:
    """Return message and buffers that answer a message; None for what is none of ours."""
    kind = message.get("type") if isinstance(message, dict) else None
    if not isinstance(kind, str) or not _is_whole(message.get("request")):
        return None
    try:
        found = _found(folder, kind, message)
    except MemtrackError as error:
        sentence = {language: error.in_language(language) for language in languages()}
        found = {"type": "error", "sentence": sentence}, []
    if found is None:
        return None
    content, buffers = found
    return {**content, "request": message["request"]}, buffers


def _found(folder: Path, kind: str, message: Mapping[str, Any]) -> Answer | None:
    if kind == "list":
        return _listed(folder, message), []
    if kind == "diff":
        a, b = message.get("a"), message.get("b")
        if not (_is_whole(a) and _is_whole(b)):
            return None
        payload, buffers = encode_comparison(diff_of(side_of(a, folder), side_of(b, folder)))
        return {"type": "diff", "comparison": payload}, buffers
    change = _CHANGES.get(kind)
    if change is None or not _is_whole(message.get("id")):
        return None
    return {"type": "runs", "runs": _changed(folder, kind, change, message)}, []


def _listed(folder: Path, message: Mapping[str, Any]) -> dict[str, Any]:
    search, offset = message.get("search"), message.get("offset")
    with opened(folder) as kept:
        listed = list_runs(
            kept,
            search=search if isinstance(search, str) else "",
            deleted=message.get("deleted") is True,
            offset=max(0, int(offset)) if _is_whole(offset) and offset is not None else 0,
            most=MOST_RUNS,
        )
    return {"type": "list", "history": encode_history(listed)}


def _changed(
    folder: Path, kind: str, change: _Change, message: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Change a run and return it, and a run that is no longer the baseline because of it."""
    with opened(folder) as kept:
        run = kept.run(message["id"], deleted=kind == "restore")
        before = kept.baseline_for(run.label, run.id)
        change(kept, run, message)
        rows = [kept.run(run.id, deleted=kind == "delete")]
        if kind == "baseline" and before is not None and before.label == run.label:
            rows.append(kept.run(before.id))
    return [encode_run(row) for row in rows]


_CHANGES: Mapping[str, _Change] = MappingProxyType(
    {
        "pin": lambda kept, run, _: kept.pin(run),
        "unpin": lambda kept, run, _: kept.pin(run, False),
        "delete": lambda kept, run, _: kept.delete(run),
        "restore": lambda kept, run, _: kept.restore(run),
        "baseline": lambda kept, run, _: kept.make_baseline(run),
        "unbaseline": lambda kept, run, _: kept.make_baseline(run, False),
        "rename": lambda kept, run, asked: kept.name(run, str(asked.get("name", ""))),
        "note": lambda kept, run, asked: kept.note(run, str(asked.get("note", ""))),
        "tag": lambda kept, run, asked: kept.tag(run, map(str, _items(asked.get("tags")))),
    }
)


def _items(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _is_whole(value: Any) -> bool:
    return type(value) is int and value >= 0
