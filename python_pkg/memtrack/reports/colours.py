"""One colour per category and part, the same that the browser's side uses."""

from __future__ import annotations

_FALLBACK = {
    "parameter": "#355cbe",
    "buffer": "#58c4e3",
    "gradient": "#8d3688",
    "optimizer_state": "#e6aa41",
    "cast_weight": "#5644a2",
    "activation": "#26be9e",
    "recomputed": "#7fd6c2",
    "output": "#0f8a73",
    "input": "#8a8020",
    "temporary": "#fe828c",
    "communication": "#c25fa8",
    "workspace": "#1a7279",
    "other": "#a8a8a6",
    "unknown": "#74746d",
    "cache": "#abb5c3",
    "context": "#5d6f96",
    "process": "#c8ae90",
    "others": "#8d6a58",
}
"""Where the page does not define ours: tones between those for light and for dark themes."""


def colour_of(part: str) -> str:
    """Return the CSS colour of a category or part: the page's where it has memtrack's style."""
    fallback = _FALLBACK.get(part, "transparent")
    return f"var(--memtrack-{part.replace('_', '-')},{fallback})"
