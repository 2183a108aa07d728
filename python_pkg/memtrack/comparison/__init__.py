"""Two recordings side by side: which layer is which, what changed, and what moved the peak."""

from memtrack.comparison.compare import Comparison, compare
from memtrack.comparison.matching import LayerMatches, match_layers
from memtrack.comparison.shapes import Tree, structure_hash, tree_of
from memtrack.comparison.view import RunView, view_of

__all__ = [
    "Comparison",
    "LayerMatches",
    "RunView",
    "Tree",
    "compare",
    "match_layers",
    "structure_hash",
    "tree_of",
    "view_of",
]
