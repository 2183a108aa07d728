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
from memtrack.remedies.weigh import LEAST_GAIN, Rerun

MOST_SHOWN = 5
MOST_TRIED = 3
"""Sets that fit by simulation and are run again until one is proven to fit."""


class Combiner:
    """Puts remedies on one another; each set is simulated once."""

    def __init__(
        self, scene: Scene, base: Base, budget: int | None, rerun: Rerun | None = None
    ) -> None:
        self._scene, self._base, self._budget, self._rerun = scene, base, budget, rerun
        self._known: dict[tuple[str, ...], Combination] = {}
        self._proven: dict[tuple[str, ...], Combination] = {}

    def of(self, recipes: Sequence[Recipe]) -> Combination:
        """Return what some remedies save together by simulation, put on one another in the order of harm."""
        recipes = _in_order(recipes)
        ids = tuple(one.id for one in recipes)
        if ids not in self._known:
            self._known[ids] = self._combined(recipes, *self._simulate(recipes))
        return self._known[ids]

    def proven(self, recipes: Sequence[Recipe]) -> Combination:
        """Return the same by running the program again with them, where that can be done."""
        recipes = _in_order(recipes)
        ids = tuple(one.id for one in recipes)
        if self._rerun is None or not ids:
            return self.of(recipes)
        if ids not in self._proven:
            again = self._rerun(ids)
            self._proven[ids] = (
                self.of(recipes)
                if again is None
                else self._combined(recipes, again.peak, again.reserved)
            )
        return self._proven[ids]

    def _combined(self, recipes: Sequence[Recipe], peak: int, reserved: int | None) -> Combination:
        needed = Base(peak, reserved, self._base.context).needed
        return Combination(
            ids=tuple(one.id for one in recipes),
            titles=tuple(one.entry.title for one in recipes),
            peak=peak,
            saving_bytes=self._base.peak - peak,
            reserved=reserved,
            fits=self._budget is None or needed <= self._budget,
        )

    def _simulate(self, recipes: Sequence[Recipe]) -> tuple[int, int | None]:
        scene = self._scene
        for recipe in recipes:
            scene = recipe.change(scene, Bound.LIKELY)
        if self._base.reserved is None:
            return scene.peak, None
        grown = any(one.reserves for one in recipes)
        return scene.peak, reserved_peak(scene, with_expandable(scene) if grown else None)


def _in_order(recipes: Sequence[Recipe]) -> list[Recipe]:
    return sorted(recipes, key=lambda one: one.harm)


def combinations(
    combiner: Combiner, recipes: Sequence[Recipe], budget: int | None
) -> list[Combination]:
    """Return sets of `recipes`, those that apply, from mild to harsh.

    With a budget the first is the mildest set that fits, or else the one of the least peak; the
    others are what the guide would add step by step.
    """
    ladder = _ladder(combiner, _in_order([one for one in recipes if one.combines]))
    found = [] if budget is None else [_mildest(combiner, ladder)]
    for rung in ladder:
        if len(found) >= MOST_SHOWN:
            break
        made = combiner.proven(rung)
        if made.ids not in [one.ids for one in found]:
            found.append(made)
    return found


def _ladder(combiner: Combiner, recipes: Sequence[Recipe]) -> list[list[Recipe]]:
    """Return ever larger sets, a remedy more each time; of a group the harsher takes the place of the milder.

    A remedy that adds nothing to those before it is left out.
    """
    taken: list[Recipe] = []
    rungs: list[list[Recipe]] = []
    now = combiner.of(())
    least = LEAST_GAIN * now.peak
    for recipe in recipes:
        rest = [one for one in taken if not one.group or one.group != recipe.group]
        made = combiner.of([*rest, recipe])
        less = (now.reserved or 0) - (made.reserved or 0) >= least
        if now.peak - made.peak >= least or (recipe.reserves and less):
            taken, now = [*rest, recipe], made
            rungs.append(taken)
    return rungs


def _mildest(combiner: Combiner, ladder: Sequence[Sequence[Recipe]]) -> Combination:
    """Return the first rung that fits without what it does not need: harsh ones are dropped first.

    Where none fits it is the set of the least peak.
    """
    fitting = [rung for rung in ladder if combiner.of(rung).fits]
    for rung in fitting[:MOST_TRIED]:
        made = combiner.proven(_needed_of(combiner, rung))
        if made.fits:
            return made
    sets = [combiner.of(()), *(combiner.of(rung) for rung in ladder)]
    least = min(sets, key=lambda one: (one.peak, len(one.ids)))
    return next((combiner.proven(rung) for rung in ladder if combiner.of(rung) is least), least)


def _needed_of(combiner: Combiner, rung: Sequence[Recipe]) -> list[Recipe]:
    needed = list(rung)
    for recipe in sorted(rung, key=lambda one: -one.harm):
        fewer = [one for one in needed if one is not recipe]
        if combiner.of(fewer).fits:
            needed = fewer
    return needed
