"""Remedies that change no result: let go of gradients, outputs and losses earlier; evaluate without a graph."""

from __future__ import annotations

import numpy as np

from memtrack.i18n import Text, text
from memtrack.recording import Category, PhaseKind
from memtrack.recording.tables import Array
from memtrack.remedies.base import LASTING, OLDER, before_cut
from memtrack.remedies.recipe import Bound, Cost, Recipe, of_training
from memtrack.remedies.scene import Scene
from memtrack.remedies.words import NO_PHASES, entry
from memtrack.units import format_bytes

NO_EARLIER: Text = text("Gradients are let go before the next forward already")


def _kept_gradients(scene: Scene) -> Array:
    """Return which gradients are there while a forward runs, after an optimizer step."""
    starts = scene.ground.phase_start[scene.ground.phase_kind == PhaseKind.FORWARD]
    optimizer = scene.ground.phase_end[scene.ground.phase_kind == PhaseKind.OPTIMIZER]
    mine = scene.of_category(Category.GRADIENT)
    kept = np.zeros(len(scene), dtype=bool)
    for forward in starts.tolist():
        stepped = optimizer[optimizer < forward]
        latest = int(stepped[-1]) if len(stepped) else OLDER
        through = (scene["start"] <= latest) & (scene["end"] > forward)
        kept |= mine & through
    return kept


@of_training
def refuse_set_to_none(scene: Scene) -> Text | None:
    """Tell why it does not apply: no steps are known, or no gradient outlives its step."""
    return None if _kept_gradients(scene).any() else NO_EARLIER


def set_to_none(scene: Scene, bound: Bound) -> Scene:
    """Let gradients live from their backward to the next forward; what was added to them becomes them."""
    del bound
    ground = scene.ground
    kept = _kept_gradients(scene)
    gone = kept.copy()
    backward = np.flatnonzero(ground.phase_kind == PhaseKind.BACKWARD)
    rows = np.flatnonzero(kept)
    born: dict[str, list[int]] = {"start": [], "end": [], "like": []}
    on_their_way = scene.is_weight_shaped
    for phase in backward.tolist():
        begin, until = int(ground.phase_start[phase]), int(ground.phase_end[phase])
        inside = on_their_way & (scene["start"] >= begin) & (scene["start"] <= until)
        waiting = _by_layer_and_size(scene, np.flatnonzero(inside))
        end = int(ground.next_start(np.array([until]), PhaseKind.FORWARD)[0])
        for row in rows.tolist():
            key = (int(scene["layer"][row]), int(scene["bytes"][row]))
            temporary = waiting.get(key, [])
            start = until
            if temporary:
                made = temporary.pop()
                gone[made] = True
                start = int(scene["start"][made])
            if scene["start"][row] < until:
                born["start"].append(start)
                born["end"].append(end)
                born["like"].append(row)
    like = np.array(born["like"], dtype=np.int64)
    more = {name: scene[name][like] for name in ("requested", "category", "layer", "row", "stream")}
    return scene.only(~gone).adding(start=born["start"], end=born["end"], **more)


def _by_layer_and_size(scene: Scene, rows: Array) -> dict[tuple[int, int], list[int]]:
    found: dict[tuple[int, int], list[int]] = {}
    for row in rows.tolist():
        found.setdefault((int(scene["layer"][row]), int(scene["bytes"][row])), []).append(row)
    return found


SET_TO_NONE = Recipe(entry("set_to_none"), Cost.NONE, 10, refuse_set_to_none, set_to_none)


def _overdue(scene: Scene) -> tuple[Array, Array]:
    """Return which results of the model are kept without need, and from where on."""
    ground = scene.ground
    results = scene.of_category(Category.OUTPUT, Category.ACTIVATION, Category.TEMPORARY)
    in_step = (scene.born_in == PhaseKind.FORWARD) | (scene.born_in == PhaseKind.OTHER)
    output = scene.of_category(Category.OUTPUT) & ~scene.is_saved
    backward = ground.next_start(scene["start"], PhaseKind.BACKWARD)
    after = ground.next_end(scene["start"], PhaseKind.BACKWARD)
    from_where = np.where(output, backward, after)
    kept = results & in_step & (scene["end"] > from_where) & (from_where < LASTING)
    # Of an earlier step, nothing but the window's beginning is known.
    older = scene.of_category(Category.OUTPUT, Category.ACTIVATION) & (scene["start"] <= OLDER)
    return kept | older, np.where(older, OLDER, from_where)


@of_training
def refuse_delete(scene: Scene) -> Text | None:
    """Tell why nothing is to be let go."""
    if _overdue(scene)[0].any():
        return None
    return text("No output, loss or activation is kept longer than backward needs it")


def delete_results(scene: Scene, bound: Bound) -> Scene:
    """Let outputs go when backward begins, and all else of a step when its backward has ended."""
    del bound
    kept, position = _overdue(scene)
    return scene.ending(kept, position)


DELETE_RESULTS = Recipe(entry("delete_before_next"), Cost.NONE, 20, refuse_delete, delete_results)


def evaluated(scene: Scene, bound: Bound) -> Scene:
    """Run the forwards alone, without a graph: what they make lives until its reader has run."""
    del bound
    stays = scene.of_category(Category.PARAMETER, Category.BUFFER, Category.INPUT)
    stays |= scene.of_category(Category.WORKSPACE)
    stays |= scene.of_category(Category.OTHER) & (scene["start"] <= OLDER)
    mine = scene.only(stays | (scene.born_in == PhaseKind.FORWARD))
    forward = mine.born_in == PhaseKind.FORWARD
    mine = mine.ending(forward, mine.ground.next_end(mine["start"], PhaseKind.FORWARD))
    forward = mine.born_in == PhaseKind.FORWARD
    return _read_once(mine, forward & mine.is_saved & ~mine.of_category(Category.OUTPUT))


def _read_once(scene: Scene, chosen: Array) -> Scene:
    """Let blocks go when the call that made them and those that saved them have run."""
    calls, end = scene.ground.data.calls, scene["end"].copy()
    for place in np.flatnonzero(chosen).tolist():
        readers = [
            *scene.ground.savers(int(scene["row"][place])).tolist(),
            int(scene["call"][place]),
        ]
        ends = [int(calls["end"][one]) for one in readers if one >= 0]
        if ends:
            end[place] = min(int(end[place]), int(before_cut(max(ends))))
    return scene.having(end=end)


def refuse_inference(scene: Scene) -> Text | None:
    """Tell that every forward had its backward; what an evaluation would need is told besides."""
    ground = scene.ground
    if not ground.has_forwards:
        return NO_PHASES
    if _evaluations(scene).any():
        return None
    if not ground.has_phases:
        return text("No forward keeps anything for a backward: no graph is made")
    return text(
        "Every forward was followed by its backward; an evaluation of such a batch without a graph"
        " would peak at {peak}",
        peak=format_bytes(evaluated(scene, Bound.LIKELY).peak),
    )


def _evaluations(scene: Scene) -> Array:
    """Return which blocks were saved in a forward that no backward follows before the next one."""
    ground = scene.ground
    backward = ground.next_start(scene["start"], PhaseKind.BACKWARD)
    following = ground.next_start(scene["start"], PhaseKind.FORWARD)
    # Of the last forward it is not known what comes, unless no backward ever does.
    alone = (following < LASTING) & (backward > following)
    if not ground.has_phases:
        alone = np.ones(len(scene), dtype=bool)
    kept = scene.is_saved & (scene.born_in == PhaseKind.FORWARD)
    return np.asarray(alone & kept & ~_of_a_later_backward(scene))


def _of_a_later_backward(scene: Scene) -> Array:
    """Return which blocks a backward was seen to read, be there other forwards before it, as of a generator."""
    data = scene.ground.data
    seen = data.calls["backward_start"][data.saved["call"]] >= 0
    found = np.zeros(len(data.allocations) + 1, dtype=bool)
    found[data.saved["allocation"][seen]] = True
    return np.asarray(found[scene["row"]])


def without_graph(scene: Scene, bound: Bound) -> Scene:
    """Let what evaluations save go when its readers have run."""
    del bound
    return _read_once(scene, _evaluations(scene))


INFERENCE = Recipe(entry("inference_mode"), Cost.NONE, 15, refuse_inference, without_graph)
