"""Two recordings side by side: which layer is which, what changed, and what moved the peak."""

from memtrack.comparison.matching import LayerMatches, match_layers

__all__ = ["LayerMatches", "match_layers"]
