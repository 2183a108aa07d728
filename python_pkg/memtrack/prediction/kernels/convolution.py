"""Convolution: the workspaces of cuDNN's kernels for tensor cores.

They work on channels that lie last (NVIDIA's "Convolutional Layers User's Guide", tensor layouts in
memory): tensors that do not are converted in the workspace, input, weights and output. Fewer channels
than 16 bytes hold are padded to as many. What the gradient of the weights is summed in stands in
`convolutionslices.py`. cuDNN's choice among its kernels is not published: what is said here of an H200
with cuDNN 9.19 is checked by `bench/kernels_predicted.py`; elsewhere it widens the interval.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch._prims_common import suggest_memory_format

from memtrack.prediction.kernels.context import KernelContext
from memtrack.prediction.kernels.convolutionslices import slices_of_products, slices_of_weights
from memtrack.prediction.kernels.reductions import partial_results
from memtrack.prediction.kernels.registry import FP32, ceil_to, nbytes, row

ALIGNED = 16
"""Bytes of channels that tensor cores read at once."""
_FEW_CHANNELS, _FEW_PLACES = 64, 131_072
_CHECKED = (9, 0)
_UNCHECKED_GROUPS = 3
"""Of what is convolved: how much more groups in fp32 may need. A RegNet reserved 700 MiB more than said."""
_PICTURES = 4
_LARGE, _SPECTRUM, _COMPLEX = 5, (32, 17), 8


@dataclass(frozen=True)
class Shape:
    """One convolution: its tensors on meta, and what its arguments say."""

    x: torch.Tensor
    weight: torch.Tensor
    y: torch.Tensor
    stride: tuple[int, ...]
    transposed: bool
    groups: int

    @property
    def last(self) -> bool:
        """Whether the channels of the input lie last already."""
        return _lies_last(self.x) or _lies_last(self.weight)

    @property
    def point(self) -> bool:
        """Whether the kernel is one element: its weights are the same in both layouts."""
        return math.prod(self.weight.shape[2:]) == 1

    @property
    def product(self) -> bool:
        """Whether it is a plain product of matrices, with the tensors as they lie."""
        return self.point and not self.transposed and all(step == 1 for step in self.stride)

    @property
    def depthwise(self) -> bool:
        """Whether PyTorch's own kernels do it, without a workspace."""
        return self.groups > 1 and self.weight.shape[1] == 1

    @property
    def narrow(self) -> bool:
        """Whether a pixel of the input is less than tensor cores read: the first layer's colours."""
        return self.x.shape[1] * self.x.dtype.itemsize < ALIGNED and self.groups == 1

    @property
    def places(self) -> int:
        """Places of the side that is convolved to: products summed for each weight."""
        side = self.x if self.transposed else self.y
        return side.numel() // max(side.shape[1], 1)

    def padded(self) -> tuple[int, int]:
        """Return the bytes of input and weights with channels padded to what is read at once."""
        channels = self.weight.shape[1] if not self.transposed else self.x.shape[1]
        times = ceil_to(channels, ALIGNED // self.x.dtype.itemsize) / channels
        return round(nbytes(self.x) * times), round(nbytes(self.weight) * times)


@row("convolution")
def forward(op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], context: KernelContext) -> Any:
    """The output, and the workspace of the conversion."""
    x, weight = args[:2]
    layout = _layout(x, weight, context)
    outputs = torch.empty_like(op(*args, **kwargs), memory_format=layout)
    for one in (x, weight):
        context.scratch(0 if one.is_contiguous(memory_format=layout) else nbytes(one))
    shape = Shape(x, weight, outputs, tuple(args[3]), bool(args[6]), int(args[8]))
    needed = _of_forward(shape) if context.cudnn else 0
    context.scratch(needed)
    _uncertain(shape, needed, context)
    return outputs


@row("convolution_backward")
def backward(op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], context: KernelContext) -> Any:
    """Gradients of the input, then of the weights, each with its own workspace."""
    grad, x, weight = args[:3]
    shape = Shape(x, weight, grad, tuple(args[4]), bool(args[7]), int(args[9]))
    wanted = args[-1]
    layout = _layout(x, weight, context)
    outputs = tuple(
        one
        if one is None or one.dim() < weight.dim()
        else torch.empty_like(one, memory_format=layout)
        for one in op(*args, **kwargs)
    )
    for one in (grad, x, weight):
        context.scratch(0 if one.is_contiguous(memory_format=layout) else nbytes(one))
    if context.cudnn:
        pieces = [
            _of_input(shape) if wanted[0] else 0,
            _of_weights(shape, context.gpu.multiprocessors) if wanted[1] else 0,
        ]
        pieces.append(_of_bias(shape, context) if wanted[2] else 0)
        context.scratch_sequence(pieces)
        _uncertain(shape, max(pieces), context)
    return outputs


def _lies_last(tensor: torch.Tensor) -> bool:
    """Tell whether the channels of pictures or volumes lie last in memory."""
    return suggest_memory_format(tensor) in (torch.channels_last, torch.channels_last_3d)


def _layout(x: torch.Tensor, weight: torch.Tensor, context: KernelContext) -> torch.memory_format:
    """Return the layout all tensors are brought to (`cudnn_conv_suggest_memory_format`)."""
    if context.cudnn and x.dtype is not torch.float64 and (_lies_last(x) or _lies_last(weight)):
        return torch.channels_last if x.dim() == _PICTURES else torch.channels_last_3d
    return torch.contiguous_format


def _of_forward(shape: Shape) -> int:
    """Return the workspace of the output.

    Kernels for fp32 with few output channels, or of one element, write the output as it shall lie.
    """
    if shape.product or shape.depthwise:
        return 0
    x, weight, y = (nbytes(one) for one in (shape.x, shape.weight, shape.y))
    full = shape.x.dtype is FP32
    if shape.narrow:
        x, weight = (x, weight) if full else shape.padded()
        if shape.last:
            return x + weight
        return 0 if full and _patches(shape) else x + weight + y
    if shape.last:
        return 0
    few = shape.y.shape[1] == _FEW_CHANNELS and shape.places < _FEW_PLACES
    if full and not shape.transposed and (few or shape.point):
        return x + weight
    return x + y + (0 if shape.point else weight)


def _of_input(shape: Shape) -> int:
    """Return the workspace of the gradient of the input; that of a transposed one is a forward."""
    if shape.product or shape.depthwise:
        return 0
    x, weight, y = (nbytes(one) for one in (shape.x, shape.weight, shape.y))
    full = shape.x.dtype is FP32
    if shape.narrow and not shape.last and full:
        return 0
    if shape.last and not shape.narrow:
        return 0
    if shape.narrow and not full and not _patches(shape):
        x, weight = shape.padded()
        y = 0 if shape.last else y
    if full and shape.transposed and _patches(shape):
        return weight + y
    return x + y + (0 if shape.point else weight)


def _of_weights(shape: Shape, multiprocessors: int) -> int:
    """Return the workspace of the gradient of the weights: conversions, and slices to be summed."""
    if shape.depthwise:
        return _transforms(shape)
    if shape.product and not shape.last:
        return slices_of_products(
            shape.weight, shape.x.shape[0], math.prod(shape.y.shape[2:]), multiprocessors
        )
    x, weight, y = (nbytes(one) for one in (shape.x, shape.weight, shape.y))
    if shape.narrow:
        x, weight = shape.padded()
    converted = x + y + (0 if shape.point else weight)
    full = shape.x.dtype is FP32
    if shape.last:
        grouped = shape.groups > 1 and full
        converted = converted if grouped or (shape.narrow and full) else 0
        if shape.narrow and not full:
            converted = x + weight
    if shape.groups > 1:
        return converted
    narrow = ALIGNED // shape.x.dtype.itemsize if shape.narrow else 0
    return converted + slices_of_weights(shape.weight, shape.places, multiprocessors, narrow)


def _transforms(shape: Shape) -> int:
    """Return what the gradient of large depthwise kernels needs in fp32 with channels last.

    Input, gradient and weights are converted, and transformed in tiles of 32 x 32 that overlap by a
    kernel (cuDNN's API reference, `CUDNN_CONVOLUTION_BWD_FILTER_ALGO_FFT_TILING`): half a spectrum of
    complex numbers each. Pictures smaller than a tile are not.
    """
    sides, kernel = shape.y.shape[2:], shape.weight.shape[2:]
    large = len(kernel) == len(_SPECTRUM) and min(kernel) >= _LARGE and min(sides) >= _SPECTRUM[0]
    if not (shape.last and large and shape.x.dtype is FP32 and set(shape.stride) == {1}):
        return 0
    tiles = math.prod(
        -(-side // (_SPECTRUM[0] - size + 1)) for side, size in zip(sides, kernel, strict=True)
    )
    images = shape.x.shape[0] * (shape.x.shape[1] + shape.y.shape[1])
    spectra = images * tiles + shape.weight.shape[0]
    converted = nbytes(shape.x) + nbytes(shape.weight) + nbytes(shape.y)
    return converted + spectra * math.prod(_SPECTRUM) * _COMPLEX


def _of_bias(shape: Shape, context: KernelContext) -> int:
    """Return the partial sums of the bias's gradient: a sum over rows where channels lie last."""
    channels = shape.y.shape[1]
    if not shape.last:
        return 0
    return partial_results(shape.y.numel() // channels, channels, context.gpu.multiprocessors)


def _patches(shape: Shape) -> bool:
    """Tell whether the kernel's windows neither overlap nor leave anything out."""
    return tuple(shape.weight.shape[2:]) == shape.stride


def _uncertain(shape: Shape, needed: int, context: KernelContext) -> None:
    """Widen the interval where the choice of a kernel was not checked, as that of a search for the fastest."""
    if not context.cudnn:
        return
    whole = nbytes(shape.x) + nbytes(shape.weight) + nbytes(shape.y)
    if context.benchmark:
        context.widen(whole)
    elif shape.groups > 1 and not shape.depthwise and shape.x.dtype is FP32:
        context.widen(_UNCHECKED_GROUPS * whole)
    elif context.gpu.capability != _CHECKED or shape.narrow:
        context.widen(whole // 2)
    elif needed:
        context.widen(nbytes(shape.y) // 2 if shape.x.dtype is FP32 else needed // 8)
