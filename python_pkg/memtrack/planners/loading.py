"""The peaks of loading a checkpoint, in the computer's memory and on the GPU, by the way it is done.

Sources: PyTorch's *Tips for Loading an nn.Module from a Checkpoint* (mmap, meta device, assign) and
documentation of `torch.load`; safetensors' documentation of `load_file`; transformers' *Big model
inference* (a model on the meta device, weights moved in one by one). What is the computer's is
measured in tests/planners/test_loading_measured.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memtrack.planners.inputs import LoadingInputs
from memtrack.planners.quantities import bytes_of

LARGEST_SHARE = 16
"""The largest tensor is taken to be this part of the model where it is not told: the embedding of an
8 B model with 128 k words."""


@dataclass(frozen=True, slots=True)
class LoadingWay:
    """One way to load, by `id`.

    `host` is private memory of the process at the worst moment, `mapped` pages of the file that
    the system may drop again, `device` the peak on the GPU and `device_after` what stays there.
    """

    id: str
    host: int
    mapped: int
    device: int
    device_after: int


def loading_ways(inputs: LoadingInputs) -> Sequence[LoadingWay]:
    """Return every way, the one with the least memory first.

    `file` is all of the checkpoint, `built` the model as its class makes it, `model` as it is to be, and
    `tensor` the largest tensor of the checkpoint, which is read by itself.
    """
    count = inputs.parameters
    file, built = bytes_of(count, inputs.stored), bytes_of(count, inputs.built)
    model = bytes_of(count, inputs.dtype)
    largest = inputs.largest or -(-count // LARGEST_SHARE)
    tensor, cast = bytes_of(largest, inputs.stored), bytes_of(largest, inputs.dtype)
    # A dtype that is changed on the way exists beside the other for one tensor at a time: on the computer
    # where a tensor goes from there to the GPU (ATen/native/cuda/Copy.cu).
    change = cast if inputs.dtype != inputs.stored else 0
    as_stored = _changed_there(file, model, tensor, change)
    as_built = _changed_there(
        built,
        model,
        bytes_of(largest, inputs.built),
        cast if inputs.dtype != inputs.built else 0,
    )
    ways = (
        LoadingWay("load_cpu", built + file, 0, model, model),
        LoadingWay("load_cuda", max(built, tensor), 0, max(built + file, as_built), model),
        LoadingWay("mmap", built, file, model, model),
        LoadingWay("assign", built + file, 0, model, model),
        LoadingWay("meta", file + change, 0, model, model),
        LoadingWay("meta_mmap", change, file, model, model),
        LoadingWay("safetensors", built, file, model, model),
        LoadingWay("safetensors_cuda", tensor, file, as_stored, model),
        LoadingWay("pretrained_old", bytes_of(count, "fp32") + file, 0, model, model),
        LoadingWay("pretrained", model + tensor, file, model, model),
        LoadingWay("pretrained_device_map", tensor + change, file, model, model),
    )
    return sorted(ways, key=lambda way: (way.host + way.device, way.mapped, way.id))


def _changed_there(before: int, after: int, tensor: int, change: int) -> int:
    """Return the peak of a model that changes its dtype where it is, one tensor at a time.

    `tensor` and `change` are the largest tensor before and after, `change` 0 where the dtype stays. It
    may be the first, when all is still as before, or the last, when all else has changed.
    """
    return max(before + change, after + tensor) if change else before
