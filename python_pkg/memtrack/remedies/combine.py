"""Several remedies at once: the mildest set that fits a budget, or the steps of the guide without one.

The guide (section 3.4) takes first what harms neither training nor speed: precision, then smaller
batches with accumulation, then computing activations again; other optimizers change results and come
after that. `Recipe.harm` has this order.
"""

from __future__ import annotations

from collections.abc import Sequence

from memtrack.remedies.allocator import with_expandable
from memtrack.remedies.recipe import Bound, Recipe
from memtrack.remedies.remedy import Base, Combination
from memtrack.remedies.rerun import reserved_peak
from memtrack.remedies.scene import Scene
from memtrack.remedies.weigh import LEAST_GAIN

MOST_SHOWN = 5


class Combiner:
    """Puts remedies on one another; each set is simulated once."""

    def __init__(self, scene: Scene, base: Base, budget: int | None) -> None:
        self._scene, self._base, self._budget = scene, base, budget
        self._known: dict[tuple[str, ...], Combination] = {}

    def of(self, recipes: Sequence[Recipe]) -> Combination:
        """Return what some remedies save together, put on one another in the order of harm."""
        recipes = sorted(recipes, key=lambda one: one.harm)
        ids = tuple(one.id for one in recipes)
        if ids not in self._known:
            self._known[ids] = self._simulated(recipes)
        return self._known[ids]

    def _simulated(self, recipes: Sequence[Recipe]) -> Combination:
        scene = self._scene
        for recipe in recipes:
            scene = recipe.change(scene, Bound.LIKELY)
        reserved = None
        if self._base.reserved is not None:
            grown = any(one.reserves for one in recipes)
            reserved = reserved_peak(scene, with_expandable(scene) if grown else None)
        needed = Base(scene.peak, reserved, self._base.context).needed
        return Combination(
            ids=tuple(one.id for one in recipes),
            titles=tuple(one.entry.title for one in recipes),
            peak=scene.peak,
            saving_bytes=self._base.peak - scene.peak,
            reserved=reserved,
            fits=self._budget is None or needed <= self._budget,
        )


def combinations(
    scene: Scene, base: Base, recipes: Sequence[Recipe], budget: int | None
) -> list[Combination]:
    """Return sets of `recipes`, those that apply, from mild to harsh.

    With a budget the first is the mildest set that fits, or else the one of the least peak; the
    others are what the guide would add step by step.
    """
    usable = sorted((one for one in recipes if one.combines), key=lambda one: one.harm)
    combiner = Combiner(scene, base, budget)
    ladder = _ladder(combiner, usable)
    found: list[Combination] = []
    if budget is not None:
        found.append(_mildest(combiner, usable, ladder))
    for rung in ladder:
        made = combiner.of(rung)
        if made.ids not in [one.ids for one in found]:
            found.append(made)
    return found[:MOST_SHOWN]


def _ladder(combiner: Combiner, recipes: Sequence[Recipe]) -> list[list[Recipe]]:
    """Return ever larger sets, a remedy more each time; of a group the harsher takes the place of the milder.

    A remedy that adds nothing to those before it is left out.
    """
    taken: list[Recipe] = []
    rungs: list[list[Recipe]] = []
    peak = combiner.of(()).peak
    least = LEAST_GAIN * peak
    reserved = combiner.of(()).reserved
    for recipe in recipes:
        rest = [one for one in taken if not one.group or one.group != recipe.group]
        tried = [*rest, recipe]
        made = combiner.of(tried)
        less = (
            made.reserved is not None and reserved is not None and reserved - made.reserved >= least
        )
        if peak - made.peak < least and not (recipe.reserves and less):
            continue
        taken, peak, reserved = tried, made.peak, made.reserved
        rungs.append(taken)
    return rungs


def _mildest(
    combiner: Combiner, recipes: Sequence[Recipe], ladder: Sequence[Sequence[Recipe]]
) -> Combination:
    """Return the first rung that fits without what it does not need: harsh ones are dropped first."""
    fitting = next((list(rung) for rung in ladder if combiner.of(rung).fits), None)
    if fitting is None:
        sets = [combiner.of(rung) for rung in ladder] or [combiner.of(())]
        return min(sets, key=lambda one: (one.peak, len(one.ids)))
    for recipe in sorted(fitting, key=lambda one: -one.harm):
        fewer = [one for one in fitting if one is not recipe]
        if combiner.of(fewer).fits:
            fitting = fewer
    del recipes
    return combiner.of(fitting)
