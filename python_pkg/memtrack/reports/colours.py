"""One colour per category and part, the same that the browser's side uses."""

from __future__ import annotations

_FALLBACK = {
    "parameter": "#4a7fd6",
    "buffer": "#7fa9e6",
    "gradient": "#d98a2b",
    "optimizer_state": "#9a6bc9",
    "cast_weight": "#5aa6c4",
    "activation": "#2f9e83",
    "input": "#b09a2c",
    "temporary": "#d0566b",
    "workspace": "#8d7358",
    "other": "#7d8a99",
    "unknown": "#9aa0a6",
    "cache": "#8f9bb3",
    "context": "#a58fa8",
    "process": "#a39b8b",
    "others": "#8b8f94",
}
"""Where the page does not define ours: middle tones that stand out on light and on dark."""


def colour_of(part: str) -> str:
    """Return the CSS colour of a category or part: the page's where it has memtrack's style."""
    fallback = _FALLBACK.get(part, "transparent")
    return f"var(--memtrack-{part.replace('_', '-')},{fallback})"
