"""Several remedies at once: the mildest set that fits a budget, or the steps of the guide without one.

The guide (section 3.4) takes first what harms neither training nor speed: precision, then smaller
batches with accumulation, then computing activations again; other optimizers change results and come
after that. `Recipe.harm` has this order.
"""

from __future__ import annotations

from collections.abc import Sequence

from memtrack.remedies.allocator import with_expandable
from memtrack.remedies.recipe import Bound, Change, Recipe
from memtrack.remedies.remedy import Base, Combination
from memtrack.remedies.rerun import reserved_peak
from memtrack.remedies.scene import Scene
from memtrack.remedies.weigh import LEAST_GAIN, Rerun

MOST_SHOWN = 7
MOST_TRIED = 3
"""Sets that fit by simulation and are run again until one is proven to fit."""


class Combiner:
    """Puts remedies on one another; each set is simulated once."""

    def __init__(
        self, scene: Scene, base: Base, budget: int | None, rerun: Rerun | None = None
    ) -> None:
        self._scene, self._base, self._budget, self._rerun = scene, base, budget, rerun
        self._known: dict[tuple[str, ...], Combination] = {}
        self._scenes: dict[tuple[Change, ...], Scene] = {}
        self._proven: dict[tuple[str, ...], Combination] = {}

    def peak_of(self, recipes: Sequence[Recipe]) -> int:
        """Return the peak with some remedies put on one another in the order of harm."""
        return self._scene_of(recipes).peak

    def of(self, recipes: Sequence[Recipe]) -> Combination:
        """Return what some remedies save together by simulation."""
        recipes = _in_order(recipes)
        ids = tuple(one.id for one in recipes)
        if ids not in self._known:
            scene = self._scene_of(recipes)
            reserved = None
            if self._base.reserved is not None:
                grown = any(one.reserves for one in recipes)
                reserved = reserved_peak(scene, with_expandable(scene) if grown else None)
            self._known[ids] = self._combined(recipes, scene.peak, reserved)
        return self._known[ids]

    def fits(self, recipes: Sequence[Recipe]) -> bool:
        """Tell whether some remedies fit by simulation; reserved bytes, never fewer, only where these decide."""
        needed = self.peak_of(recipes) + self._base.context
        if self._budget is not None and needed > self._budget:
            return False
        return self.of(recipes).fits

    def _scene_of(self, recipes: Sequence[Recipe]) -> Scene:
        recipes = _in_order(recipes)
        changes = tuple(one.change for one in recipes)
        if changes not in self._scenes:
            before = self._scene_of(recipes[:-1]) if recipes else self._scene
            self._scenes[changes] = changes[-1](before, Bound.LIKELY) if recipes else before
        return self._scenes[changes]

    def proven(self, recipes: Sequence[Recipe]) -> Combination:
        """Return the same by running the program again with them, where that can be done."""
        recipes = _in_order(recipes)
        ids = tuple(one.id for one in recipes)
        if ids not in self._proven:
            self._proven[ids] = self._run_again(recipes) or self.of(recipes)
        return self._proven[ids]

    def _run_again(self, recipes: Sequence[Recipe]) -> Combination | None:
        """Return the same from a run again; where segments grow, what these hold besides is as simulated."""
        of_program = [one.id for one in recipes if not one.reserves]
        again = self._rerun(of_program) if self._rerun is not None and of_program else None
        if again is None:
            return None
        reserved = again.reserved
        if reserved is not None and len(of_program) < len(recipes):
            simulated = self.of(recipes)
            reserved = again.peak + max((simulated.reserved or 0) - simulated.peak, 0)
        return self._combined(recipes, again.peak, reserved)

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


def _in_order(recipes: Sequence[Recipe]) -> list[Recipe]:
    return sorted(recipes, key=lambda one: one.harm)


def combinations(
    combiner: Combiner, recipes: Sequence[Recipe], budget: int | None
) -> list[Combination]:
    """Return sets of `recipes`, those that apply, from mild to harsh.

    With a budget the first is the mildest set that fits, or else one remedy that fits alone and goes
    into no set, or else the set of the least peak; the others are what the guide would add step by step.
    """
    ladder = _ladder(combiner, _in_order([one for one in recipes if one.combines]))
    alone = _in_order([one for one in recipes if not one.combines])
    found = [] if budget is None else [_mildest(combiner, ladder, alone)]
    for rung in _shown(ladder):
        if len(found) >= MOST_SHOWN:
            break
        made = combiner.proven(rung)
        if not any(_adds_nothing(made, one, recipes) for one in found):
            found.append(made)
    return found


def _adds_nothing(made: Combination, other: Combination, recipes: Sequence[Recipe]) -> bool:
    """Tell whether a set is another one, or has more than one that fits and is as harsh."""
    harm = {one.id: one.harm for one in recipes}
    worst, others = (max((harm[name] for name in one.ids), default=0) for one in (made, other))
    has_more = other.fits and worst == others and set(other.ids) < set(made.ids)
    return made.ids == other.ids or has_more


def _ladder(combiner: Combiner, recipes: Sequence[Recipe]) -> list[list[Recipe]]:
    """Return ever larger sets, a remedy more each time; of a group the harsher takes the place of the milder.

    A remedy that adds nothing to those before it is left out.
    """
    taken: list[Recipe] = []
    rungs: list[list[Recipe]] = []
    peak = combiner.peak_of(())
    least = LEAST_GAIN * peak
    for recipe in recipes:
        tried = [*(one for one in taken if not one.group or one.group != recipe.group), recipe]
        reached = combiner.peak_of(tried)
        if peak - reached >= least or (recipe.reserves and _holds_less(combiner, taken, tried)):
            taken, peak = tried, reached
            rungs.append(taken)
    return rungs


def _shown(ladder: Sequence[list[Recipe]]) -> list[list[Recipe]]:
    """Return the rungs whose newest remedy does not give way to a harsher of its group in the next one."""
    newest = [max(rung, key=lambda one: one.harm) for rung in ladder]
    followers = [*newest, None][1:]
    return [
        rung
        for rung, last, after in zip(ladder, newest, followers, strict=True)
        if after is None or not last.group or after.group != last.group
    ]


def _holds_less(combiner: Combiner, taken: Sequence[Recipe], tried: Sequence[Recipe]) -> bool:
    before, after = combiner.of(taken).reserved or 0, combiner.of(tried).reserved or 0
    return before - after >= LEAST_GAIN * before


def _mildest(
    combiner: Combiner, ladder: Sequence[Sequence[Recipe]], alone: Sequence[Recipe]
) -> Combination:
    """Return the first rung that fits without what it does not need: harsh ones are dropped first.

    Where none fits it is the first of `alone` that does, else the set of the least peak.
    """
    tried = 0
    for rung in ladder:
        if tried < MOST_TRIED and combiner.fits(rung):
            tried += 1
            made = combiner.proven(_needed_of(combiner, rung))
            if made.fits:
                return made
    fitting = [recipe for recipe in alone if combiner.fits([recipe])]
    for recipe in fitting[:MOST_TRIED]:
        made = combiner.proven([recipe])
        if made.fits:
            return made
    least = min([[], *ladder], key=lambda rung: (combiner.peak_of(rung), len(rung)))
    return combiner.proven(least)


def _needed_of(combiner: Combiner, rung: Sequence[Recipe]) -> list[Recipe]:
    needed = list(rung)
    for recipe in sorted(rung, key=lambda one: -one.harm):
        fewer = [one for one in needed if one is not recipe]
        if combiner.fits(fewer):
            needed = fewer
    return needed
