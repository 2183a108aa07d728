"""One remedy on one run: whether it applies, the peak it leads to, and how sure that is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from memtrack.i18n import Text, text
from memtrack.remedies.allocator import with_expandable
from memtrack.remedies.recipe import Bound, Change, Recipe
from memtrack.remedies.remedy import Base, Remedy
from memtrack.remedies.rerun import reserved_peak
from memtrack.remedies.scene import Scene
from memtrack.units import format_bytes, format_percent
from memtrack.words import STEP_PHASES

LEAST_GAIN = 0.002
"""Share of the peak: what saves less saves nothing worth a change."""
_OPEN = 0.01
"""Share of the peak that bounds may differ by before a figure is called an estimate."""


@dataclass(frozen=True, slots=True)
class Exact:
    """What a run again with the change has shown: its peaks in bytes."""

    peak: int
    reserved: int | None = None


Rerun = Callable[[Sequence[str]], Exact | None]
"""Runs the program again with the remedies of these ids; None where that cannot be done."""


@dataclass(frozen=True, slots=True)
class Weighing:
    """A run on the scales: its scene and base, and what runs it again with a remedy, if anything does."""

    scene: Scene
    base: Base
    rerun: Rerun | None = None
    _changed: dict[tuple[Change, Bound], Scene] = field(default_factory=dict)
    _held: dict[tuple[Change, bool], int | None] = field(default_factory=dict)

    def remedy(self, recipe: Recipe) -> Remedy:
        """Return what is said of one remedy."""
        refused = recipe.refuse(self.scene)
        if refused is not None:
            return _said(recipe, False, refused)
        if recipe.unknown is not None:
            return _said(recipe, True, recipe.unknown)
        return self._weighed(recipe)

    def _weighed(self, recipe: Recipe) -> Remedy:
        peaks = {bound: self.changed(recipe, bound).peak for bound in Bound}
        known = None if self.rerun is None else self.rerun([recipe.id])
        if known is not None:
            peaks = dict.fromkeys(Bound, known.peak)
        peak, low, high = peaks[Bound.LIKELY], min(peaks.values()), max(peaks.values())
        saving = self.base.peak - peak
        least = LEAST_GAIN * self.base.peak
        # Where nothing is saved what the allocator would hold is of no use, and takes its time.
        wanted = recipe.reserves or saving >= least
        reserved = self._reserved(recipe, known) if wanted else None
        saved = None if reserved is None else (self.base.reserved or 0) - reserved
        doubt = recipe.doubt(self.scene) if known is None and recipe.doubt is not None else None
        evidence = "predicted" if known is not None else "simulated"
        if doubt is not None or (known is None and high - low > _OPEN * self.base.peak):
            evidence = "estimated"
        gain = max(saving, saved or 0) if recipe.reserves else saving
        applies = gain >= least
        why = self._reason(recipe, saving, saved) if applies else self._no_gain(saving)
        figures = (saving, peak, low, high, reserved, saved)
        return _said(recipe, applies, why, figures, evidence, doubt)

    def _reserved(self, recipe: Recipe, known: Exact | None) -> int | None:
        if known is not None:
            return known.reserved
        if self.base.reserved is None:
            return None
        key = (recipe.change, recipe.reserves)
        if key not in self._held:
            settings = with_expandable(self.scene) if recipe.reserves else None
            self._held[key] = reserved_peak(self.changed(recipe, Bound.LIKELY), settings)
        return self._held[key]

    def changed(self, recipe: Recipe, bound: Bound) -> Scene:
        """Return the scene with one remedy; several remedies share a change, as both autocasts do."""
        key = (recipe.change, bound)
        if key not in self._changed:
            self._changed[key] = recipe.change(self.scene, bound)
        return self._changed[key]

    def _reason(self, recipe: Recipe, saving: int, saved: int | None) -> Text:
        if recipe.reserves:
            return text(
                "{bytes} less would be reserved; what is in use stays",
                bytes=format_bytes(saved or 0),
            )
        held = text(
            "{share} of the peak, which lies in {phase}",
            share=format_percent(saving, self.base.peak),
            phase=self._phase(),
        )
        if recipe.measured is None:
            return held
        return text("{first}; {second}", first=held, second=recipe.measured)

    def _no_gain(self, saving: int) -> Text:
        if saving < -LEAST_GAIN * self.base.peak:
            return text("It would need {bytes} more", bytes=format_bytes(-saving))
        if saving > 0:
            return text(
                "It would save {bytes} only; the peak lies in {phase}",
                bytes=format_bytes(saving),
                phase=self._phase(),
            )
        return text("It saves nothing here: the peak lies in {phase}", phase=self._phase())

    def _phase(self) -> Text:
        return STEP_PHASES.get(self.scene.peak_phase.id, text("what lies between the phases"))


_NONE = (None,) * 6


def _said(
    recipe: Recipe,
    applies: bool,
    why: Text,
    figures: tuple[int | None, ...] = _NONE,
    evidence: str = "unknown",
    doubt: Text | None = None,
) -> Remedy:
    saving, peak, low, high, reserved, saved = figures
    entry = recipe.entry
    return Remedy(
        id=recipe.id,
        title=entry.title,
        applies=applies,
        why=why,
        cost=entry.cost,
        cost_class=recipe.cost_class.value,
        harm=recipe.harm,
        saving_bytes=saving,
        peak=peak,
        low=low,
        high=high,
        reserved=reserved,
        reserved_saving_bytes=saved,
        evidence=evidence,
        caveats=entry.caveats if doubt is None else (doubt, *entry.caveats),
        code=entry.code,
    )
