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
from memtrack.remedies import attention16
from memtrack.remedies.base import LASTING, after_cut
from memtrack.remedies.dtypes import (
    LOW_TYPES,
    RECURRENT,
    Flow,
    flows_of,
    is_float32,
    keeps_its_size,
)
from memtrack.remedies.recipe import Bound, Cost, Recipe
from memtrack.remedies.scene import Scene
from memtrack.remedies.shapes import shape_of
from memtrack.remedies.upcasts import (
    norm_inputs,
    of_loss,
    upcasts_logits,
    with_loss_of_16_bits,
    written_norms,
)
from memtrack.remedies.words import NO_LAYERS, NOT_TRAINED, entry, measured, without_training


def refuse_autocast(scene: Scene) -> Text | None:
    """Tell why it does not apply: layers are not known, or the run is of 16 bits already."""
    ground = scene.ground
    refused = without_training(ground)
    if refused is NOT_TRAINED:
        return text("Nothing is trained here: weights of 16 bits save more than copies of them")
    if refused is not None:
        return refused
    if not len(ground.calls):
        return NO_LAYERS
    if scene.of_category(Category.CAST_WEIGHT).any():
        return text("Autocast is on already")
    return None if is_float32(ground) else text("The model is not in float32: nothing to cast")


def autocast(scene: Scene, bound: Bound) -> Scene:
    """Halve what 16-bit operations give, and add the copies that autocast makes of weights and inputs."""
    full = attention16.stays_full(scene, bound)
    same = keeps_its_size(scene)
    scene = attention16.in_16_bits(scene, bound)
    full &= attention16.stays_full(scene, bound)
    flows = np.where(full, int(Flow.FULL), flows_of(scene, bound))
    changed = scene.resized((flows == Flow.LOW) & ~same, 0.5)
    changed = _with_cast_inputs(changed, np.where(same, int(Flow.SAME), flows))
    if upcasts_logits(scene.ground, bound):
        changed = _with_upcasts(changed)
    else:
        changed = with_loss_of_16_bits(changed)
    changed = attention16.with_cast_results(changed, bound)
    return _with_cast_gradients(_with_cast_weights(changed))


def _with_cast_inputs(scene: Scene, flows: Array) -> Scene:
    """Give each 16-bit call a copy of what it saves of 32 bits; the original is then kept by others alone."""
    ground = scene.ground
    calls, leaf_low = ground.data.calls, low_calls(scene)
    wanted = flows == Flow.FULL
    wanted = wanted | (scene.of_category(Category.INPUT) & (flows[: len(scene)] != Flow.LOW))
    wanted = wanted & scene.is_saved & ~scene.of_category(Category.PARAMETER)
    start, until, like = [], [], []
    end, over = scene["end"].copy(), calls["backward_end"]
    for place in np.flatnonzero(wanted).tolist():
        readers = ground.savers(int(scene["row"][place]))
        low = [int(one) for one in readers if leaf_low[one]]
        if not low:
            continue
        start += [int(after_cut(calls["start"][one])) for one in low]
        gone = np.where(over[low] >= 0, after_cut(over[low]), LASTING)
        until += np.minimum(gone, scene["end"][place]).tolist()
        like += [place] * len(low)
        if len(low) == len(readers) and scene["category"][place] != Category.INPUT:
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
    return np.append(_low_layers(scene), False)[ground.data.calls["layer"]]


def _low_layers(scene: Scene) -> Array:
    ground = scene.ground
    kinds = [name.startswith(LOW_TYPES) for name in ground.layer_type]
    return np.array(kinds, dtype=bool) & ground.is_leaf


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
    weights, tables = _weight_bytes(scene), _embeddings(scene)
    for row in window:
        owner, phase = int(calls["layer"][row]), int(calls["phase"][row])
        parameters = int(weights[owner]) or int(layers["parameter_bytes"][owner])
        parameters += _tied_bytes(scene, row, parameters, tables)
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


def _weight_bytes(scene: Scene) -> Array:
    """Return the bytes of the parameters that are there, for each layer; last those of none."""
    mine = scene.of_category(Category.PARAMETER)
    sums = np.zeros(len(scene.ground.data.layers) + 1, dtype=np.int64)
    np.add.at(sums, scene["layer"][mine], scene["bytes"][mine])
    return sums


def _embeddings(scene: Scene) -> list[int]:
    """Return the bytes of each embedding that is there."""
    tables = np.array([*(name.startswith("Embedding") for name in scene.ground.layer_type), False])
    found = scene.of_category(Category.PARAMETER) & tables[scene["layer"]]
    sizes: list[int] = scene["requested"][found].tolist()
    return sizes


def _tied_bytes(scene: Scene, call: int, own: int, embeddings: list[int]) -> int:
    """Return the bytes of the embedding that the last layer shares: it has no matrix of its own."""
    data = scene.ground.data
    shapes = shape_of(data.string(int(data.calls["output_shape"][call])))
    width = 4 * shapes[0][-1] if shapes else 0
    if not width or own > width:
        return 0
    return max((size for size in embeddings if size % width == 0), default=0)


def _with_cast_gradients(scene: Scene) -> Scene:
    """Have the gradients of 16-bit weights in 16 bits first, and of float32 once their layer is through."""
    low = np.append(_low_layers(scene), False)[scene["layer"]]
    gradients = scene.of_category(Category.GRADIENT) | scene.is_weight_shaped
    rows = np.flatnonzero(low & gradients & (scene.born_in == PhaseKind.BACKWARD))
    first = scene["start"][rows]
    cast = np.minimum(_leaving_layer(scene, rows), scene["end"][rows] - 1)
    start = scene["start"].copy()
    start[rows] = np.maximum(cast, first)
    return scene.having(start=start).adding(
        start=first - 1,
        end=start[rows] + 1,
        requested=scene["requested"][rows] // 2,
        layer=scene["layer"][rows],
        call=scene["call"][rows],
    )


def _leaving_layer(scene: Scene, rows: Array) -> Array:
    """Return, for each of some blocks, the position just before the next that another layer makes."""
    order = np.argsort(scene["start"], kind="stable")
    layer, start = scene["layer"][order], scene["start"][order]
    changes = np.flatnonzero(np.append(layer[1:] != layer[:-1], True)) + 1
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    following = changes[np.searchsorted(changes, place[rows], side="right")]
    return np.append(start, LASTING)[following] - 1


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


def doubt_recurrent(scene: Scene) -> Text | None:
    """Tell what bfloat16 does to results of recurrent layers, if there are any.

    Autocast runs cuDNN's in float16 whatever its dtype (`aten/src/ATen/cudnn/AutocastRNN.cpp`); what
    uses their results then casts them each time, and a recording does not tell how often.
    """
    if not set(scene.ground.layer_type) & set(RECURRENT):
        return None
    return text(
        "Recurrent layers give float16 under any autocast, and each use of that in bfloat16 may keep "
        "a copy: predict it, or try it, to know"
    )


BF16_AUTOCAST = Recipe(
    entry("bf16_autocast"),
    Cost.NONE,
    40,
    refuse_autocast,
    autocast,
    group="precision",
    measured=measured("bf16_autocast"),
    doubt=doubt_recurrent,
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
    """Tell why it does not apply to training."""
    refused = without_training(scene.ground)
    return refused if refused is NOT_TRAINED else _refuse_cast(scene)


def refuse_loading(scene: Scene) -> Text | None:
    """Tell why it does not apply to inference."""
    refused = without_training(scene.ground)
    if refused is NOT_TRAINED:
        return _refuse_cast(scene)
    return refused or text(
        "The model is trained here: gradients and optimizer state would be in bfloat16 as well"
    )


def _refuse_cast(scene: Scene) -> Text | None:
    if not len(scene.ground.data.layers):
        return NO_LAYERS
    if not is_float32(scene.ground):
        return text("The weights are not in float32: nothing to cast")
    return None


def weights_16bit(scene: Scene, bound: Bound) -> Scene:
    """Halve all that is of float32 but what is upcast on purpose: norms written out and losses."""
    same = keeps_its_size(scene) | attention16.stays_full(scene, bound)
    inputs, both = norm_inputs(scene)
    upcast = _upcast(scene, bound, inputs & ~both)
    scene = attention16.in_16_bits(scene, bound)
    same &= keeps_its_size(scene) | attention16.stays_full(scene, bound)
    whole = scene.of_category(Category.WORKSPACE, Category.OTHER) & ~scene.is_saved
    changed = scene.resized(~(same | whole | upcast), 0.5)
    return changed if bound is Bound.LEAST else _with_norm_copies(changed, both)


def _upcast(scene: Scene, bound: Bound, inputs: Array) -> Array:
    """Return what stays of float32: in norms that are written out, and what the loss makes of logits."""
    if bound is Bound.LEAST:
        return np.zeros(len(scene), dtype=bool)
    norms = written_norms(scene)[scene["layer"]] & ~_call_outputs(scene)
    inside = norms & (scene.born_in == PhaseKind.FORWARD) & ~scene.is_saved
    loss = of_loss(scene) & upcasts_logits(scene.ground, bound)
    if bound is Bound.MOST:
        inside = norms
    return np.asarray(inputs | inside | loss)


def _with_norm_copies(scene: Scene, chosen: Array) -> Scene:
    """Add the float32 copy of inputs that norms keep beside their 16-bit ones."""
    rows = np.flatnonzero(chosen)
    return scene.adding(
        start=scene["start"][rows] + 1,
        end=scene["end"][rows],
        requested=2 * scene["requested"][rows],
        category=int(Category.ACTIVATION),
        layer=scene["layer"][rows],
        call=scene["call"][rows],
    )


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
LOAD_IN_BF16 = Recipe(
    entry("load_in_bf16"),
    Cost.NONE,
    42,
    refuse_loading,
    weights_16bit,
    group="precision",
)
