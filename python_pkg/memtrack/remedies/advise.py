"""From a recording to advice: every remedy weighed on the device with the most at stake, and ranked."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from memtrack.analysis.device import devices_in_order
from memtrack.errors import UnavailableError, UsageError
from memtrack.i18n import text
from memtrack.recording import RecordingData
from memtrack.remedies import sharding
from memtrack.remedies.base import Ground
from memtrack.remedies.budget import checked_budget
from memtrack.remedies.catalogue import recipes
from memtrack.remedies.combine import Combiner, combinations
from memtrack.remedies.remedy import Advised, Base, Remedy
from memtrack.remedies.rerun import reserved_peak
from memtrack.remedies.scene import Scene
from memtrack.remedies.weigh import Rerun, Weighing

Progress = Callable[[int, int], None]
"""Called with how many remedies are weighed, and of how many."""
MOST_GPUS = 100_000


def advise(
    data: RecordingData,
    *,
    budget: int | str | None = None,
    gpus: int = sharding.GPUS,
    rerun: Rerun | None = None,
    progress: Progress | None = None,
) -> Advised:
    """Return what every remedy would save in this run, best first, and combinations.

    `budget` is in bytes what the device has for the process; `rerun` runs the
    program again with some remedies where it can: its peaks take the place of simulated ones. Raises UnavailableError for a recording without memory.
    """
    budget = checked_budget(budget)
    if type(gpus) is not int or not 1 <= gpus <= MOST_GPUS:
        raise UsageError(text("The number of GPUs is between 1 and {most}.", most=MOST_GPUS))
    scene = scene_of(data)
    base = base_of(scene)
    weighing = Weighing(scene, base, rerun)
    all_recipes = recipes(gpus)
    found: list[Remedy] = []
    for number, recipe in enumerate(all_recipes):
        if progress is not None:
            progress(number, len(all_recipes))
        found.append(weighing.remedy(recipe))
    applying = {one.id for one in found if one.applies and one.peak is not None}
    usable = [one for one in all_recipes if one.id in applying]
    sets = combinations(Combiner(scene, base, budget, rerun), usable, budget)
    if progress is not None:
        progress(len(all_recipes), len(all_recipes))
    return Advised(base, ranked(found), sets, budget)


def scene_of(data: RecordingData) -> Scene:
    """Return the blocks of the device with the most at stake, around its peak."""
    devices = devices_in_order(data)
    if not devices or not len(data.allocations):
        raise UnavailableError(
            text("This recording saw no memory, so there is nothing to save."),
            text("Record a training step with %memtrack MODEL."),
        )
    return Scene.of(Ground.of(data, devices[0]))


def ranked(found: Sequence[Remedy]) -> list[Remedy]:
    """Return remedies by what they save: those that apply first, then unknown ones, then the others."""
    return sorted(found, key=lambda one: (not one.applies, one.peak is None, -one.gain, one.harm))


def base_of(scene: Scene) -> Base:
    """Return the run as it is."""
    return Base(scene.peak, reserved_peak(scene), _context(scene))


def _context(scene: Scene) -> int:
    return max(int(scene.ground.data.devices["context"][scene.ground.device]), 0)
