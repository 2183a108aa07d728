"""Two recordings side by side: which layer is which, what changed, and what moved the peak."""

from memtrack.comparison.compare import Comparison, compare
from memtrack.comparison.matching import LayerMatches, match_layers
from memtrack.comparison.shapes import structure_hash

__all__ = ["Comparison", "LayerMatches", "compare", "match_layers", "structure_hash"]
