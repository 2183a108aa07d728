"""One colour per category and part, the same that the browser's side uses."""

from __future__ import annotations

_FALLBACK = {
    "parameter": "#355cbe",
    "buffer": "#58c4e3",
    "gradient": "#8f378a",
    "optimizer_state": "#e6aa41",
    "cast_weight": "#5543a1",
    "activation": "#26be9e",
    "recomputed": "#0e624c",
    "output": "#b9bb39",
    "input": "#675313",
    "temporary": "#fe828b",
    "communication": "#971a32",
    "workspace": "#72b7b0",
    "other": "#565656",
    "unknown": "#babbba",
    "cache": "#585e69",
    "context": "#a6b8d9",
    "process": "#6c5840",
    "outside": "#cbafcb",
    "others": "#dcad96",
}
"""Where the page does not define ours: tones between those for light and for dark themes."""

_LINES = (
    "parameter",
    "activation",
    "gradient",
    "optimizer_state",
    "cast_weight",
    "temporary",
    "input",
)
_FALLBACK |= {f"group-{number + 1}": _FALLBACK[part] for number, part in enumerate(_LINES)}
_FALLBACK["group-rest"] = _FALLBACK["unknown"]


def colour_of(part: str) -> str:
    """Return the CSS colour of a category, part or group of lines: the page's where it has memtrack's style."""
    fallback = _FALLBACK.get(part, "transparent")
    return f"var(--memtrack-{part.replace('_', '-')},{fallback})"
