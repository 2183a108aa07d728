"""Fewer bytes a number: autocast, and 16-bit weights.

A recording has sizes, not operations, so which results are of 16 bits is told by the kind of layer
that made them (torch's lists for autocast on CUDA, `aten/src/ATen/autocast_mode.h`, torch 2.4 to 2.12):
matrix products and convolutions give 16 bits, norms, losses and softmax 32, and what follows takes
its inputs' type. Where that leaves something open the bounds are taken both ways.
"""

from __future__ import annotations

import numpy as np

from memtrack.i18n import Text, text
from memtrack.recording import Category, PhaseKind
from memtrack.recording.tables import Array
from memtrack.remedies.base import LASTING, after_cut
from memtrack.remedies.dtypes import LOW_TYPES, Flow, flows_of, is_byte_mask, is_float32
from memtrack.remedies.recipe import Bound, Cost, Recipe
from memtrack.remedies.scene import Scene
from memtrack.remedies.shapes import quadratic, softmax_results, with_16bit_kernel
from memtrack.remedies.words import NO_LAYERS, NO_PHASES, entry, measured


def refuse_autocast(scene: Scene) -> Text | None:
    """Tell why it does not apply: layers are not known, or the run is of 16 bits already."""
    ground = scene.ground
    if not ground.has_phases:
        return NO_PHASES
    if not len(ground.calls):
        return NO_LAYERS
    if scene.of_category(Category.CAST_WEIGHT).any():
        return text("Autocast is on already")
    return None if is_float32(ground) else text("The model is not in float32: nothing to cast")


def autocast(scene: Scene, bound: Bound) -> Scene:
    """Halve what 16-bit operations give, and add the copies that autocast makes of weights and inputs."""
    scene = with_16bit_kernel(scene, bound)
    flows = np.where(softmax_results(scene), int(Flow.FULL), flows_of(scene, bound))
    low = flows == Flow.LOW
    changed = scene.resized(low & ~is_byte_mask(scene), 0.5)
    return _with_upcasts(_with_cast_weights(_with_cast_inputs(changed, flows)))


def _with_cast_inputs(scene: Scene, flows: Array) -> Scene:
    """Give each 16-bit call a copy of what it saves of 32 bits; the original is then kept by others alone."""
    ground = scene.ground
    calls, leaf_low = ground.data.calls, low_calls(scene)
    wanted = (flows == Flow.FULL) & scene.is_saved & ~scene.of_category(Category.PARAMETER)
    start, until, like = [], [], []
    end = scene["end"].copy()
    for place in np.flatnonzero(wanted).tolist():
        readers = ground.savers(int(scene["row"][place]))
        low = [int(one) for one in readers if leaf_low[one]]
        if not low:
            continue
        start += [int(after_cut(calls["start"][one])) for one in low]
        until += [int(scene["end"][place])] * len(low)
        like += [place] * len(low)
        if len(low) == len(readers):
            end[place] = min(end[place], int(after_cut(_scope_end(scene, low[-1]))))
    rows = np.array(like, dtype=np.int64)
    return scene.having(end=end).adding(
        start=start,
        end=until,
        requested=scene["requested"][rows] // 2,
        category=int(Category.ACTIVATION),
        layer=scene["layer"][rows],
        call=scene["call"][rows],
    )


def _scope_end(scene: Scene, call: int) -> int:
    """Return the cut at which the caller of a call ends: until then a variable of its may hold a result."""
    calls = scene.ground.data.calls
    parent = int(calls["parent"][call])
    return int(calls["end"][parent if parent >= 0 else call])


def low_calls(scene: Scene) -> Array:
    """Return which calls (rows of calls) are of layers that autocast runs in 16 bits."""
    ground = scene.ground
    kinds = np.array(
        [name.startswith(LOW_TYPES) for name in ground.layer_type] or [False], dtype=bool
    )
    low = kinds[ground.data.calls["layer"]]
    return np.asarray(low & ground.is_leaf[ground.data.calls["layer"]])


def _with_cast_weights(scene: Scene) -> Scene:
    """Add a 16-bit copy of each weight from its first use in a forward; backward keeps it until it is done."""
    ground = scene.ground
    calls, layers = ground.data.calls, ground.data.layers
    low = low_calls(scene)
    window = [int(row) for row in ground.calls if low[row]]
    copies: dict[str, list[int]] = {
        name: [] for name in ("start", "end", "requested", "layer", "call")
    }
    seen: dict[tuple[int, int], int] = {}
    for row in window:
        owner, phase = int(calls["layer"][row]), int(calls["phase"][row])
        parameters = _weight_bytes(scene, owner) or int(layers["parameter_bytes"][owner])
        if not parameters:
            continue
        until = calls["backward_end"][row]
        over = int(after_cut(until)) if until >= 0 else LASTING
        begin = int(after_cut(calls["start"][row]))
        over = min(over, int(ground.next_end(np.array([begin]), PhaseKind.BACKWARD)[0]))
        place = seen.get((owner, phase))
        if place is not None:
            copies["end"][place] = max(copies["end"][place], over)
            continue
        seen[owner, phase] = len(copies["start"])
        row_of_copy = (begin, over, parameters // 2, owner, row)
        for column, value in zip(copies.values(), row_of_copy, strict=True):
            column.append(value)
    return scene.adding(**copies, category=int(Category.CAST_WEIGHT))


def _weight_bytes(scene: Scene, layer: int) -> int:
    """Return the bytes of the parameters of a layer that are there."""
    mine = scene.of_category(Category.PARAMETER) & (scene["layer"] == layer)
    return int(scene["bytes"][mine].sum())


def _with_upcasts(scene: Scene) -> Scene:
    """Add the float32 copy of 16-bit results that a loss works on, until the forward has ended."""
    ground = scene.ground
    results = scene.of_category(Category.OUTPUT) & (scene.born_in == PhaseKind.FORWARD)
    large = results & (scene["bytes"] >= scene.peak // 100)
    rows = np.flatnonzero(large)
    end = ground.next_end(scene["start"][rows], PhaseKind.FORWARD)
    return scene.adding(
        start=np.maximum(end - 1, scene["start"][rows] + 1),
        end=end,
        requested=scene["requested"][rows] * 2,
        layer=scene["layer"][rows],
        call=scene["call"][rows],
    )


BF16_AUTOCAST = Recipe(
    entry("bf16_autocast"),
    Cost.NONE,
    40,
    refuse_autocast,
    autocast,
    group="precision",
    measured=measured("bf16_autocast"),
)
FP16_AUTOCAST = Recipe(
    entry("fp16_autocast"),
    Cost.NONE,
    45,
    refuse_autocast,
    autocast,
    group="precision",
    measured=measured("fp16_autocast"),
)


def refuse_weights(scene: Scene) -> Text | None:
    """Tell why it does not apply."""
    if not len(scene.ground.data.layers):
        return NO_LAYERS
    if not is_float32(scene.ground):
        return text("The weights are not in float32: nothing to cast")
    return None


def weights_16bit(scene: Scene, bound: Bound) -> Scene:
    """Halve all that is of float32 but what is upcast on purpose: norms written out and losses."""
    scene = with_16bit_kernel(scene, bound)
    masks = is_byte_mask(scene)
    whole = scene.of_category(Category.INPUT, Category.WORKSPACE, Category.OTHER) & ~scene.is_saved
    upcast = np.zeros(len(scene), dtype=bool)
    if bound is not Bound.LEAST:
        upcast = _is_upcast(scene, bound)
    return scene.resized(~(masks | whole | upcast), 0.5)


def _is_upcast(scene: Scene, bound: Bound) -> Array:
    """Return what stays of float32: inside norms that are written out, and what the loss makes of outputs."""
    ground = scene.ground
    owner = scene["layer"]
    kinds = ground.layer_type
    rms = np.array([name.endswith("RMSNorm") and name != "RMSNorm" for name in kinds] + [False])
    result = _call_outputs(scene)
    inside = rms[owner] & ~result & (scene.born_in == PhaseKind.FORWARD)
    outside = (ground.block_of[owner] < 0) & ~scene.of_category(Category.OUTPUT)
    outermost = ground.data.layers["parent"] < 0
    losses = np.array(["Loss" in name for name in kinds], dtype=bool)  # of the inputs' own type
    outer = np.append(outermost & ~(losses & (bound is Bound.LIKELY)), True)[owner]
    loss = outside & outer & scene.grows_with_batch
    if bound is Bound.MOST:
        loss |= outside & scene.grows_with_batch & (scene.born_in == PhaseKind.BACKWARD)
        loss |= _beside_matrices(
            scene
        )  # attention that is written out works in float32 on some devices
    return np.asarray(inside | loss | softmax_results(scene))


def _beside_matrices(scene: Scene) -> Array:
    """Return the blocks of layers that keep attention matrices, these included."""
    matrices = quadratic(scene)
    return np.isin(scene["layer"], np.unique(scene["layer"][matrices])) & scene.grows_with_batch


def _call_outputs(scene: Scene) -> Array:
    """Return which blocks are the last that a call of a layer made and left: its output."""
    left = scene["call"] >= 0
    calls = scene.ground.data.calls
    ends = np.append(after_cut(calls["end"]), 0)[scene["call"]]
    left &= scene["end"] > ends
    found = np.zeros(len(scene), dtype=bool)
    rows = np.flatnonzero(left)
    order = rows[np.argsort(scene["start"][rows], kind="stable")]
    last = dict(zip(scene["call"][order].tolist(), order.tolist(), strict=True))
    found[list(last.values())] = True
    return found


BF16_WEIGHTS = Recipe(
    entry("bf16_weights"),
    Cost.NONE,
    110,
    refuse_weights,
    weights_16bit,
    group="precision",
    measured=measured("bf16_weights"),
)
