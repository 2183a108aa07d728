"""The gradient of a convolution's weights: sums over all places, in slices that run beside each other.

A product of matrices whose result is small and whose sum is long does not fill a GPU tile by tile
(CUTLASS, "Efficient GEMM in CUDA", parallelized reductions): the sum is cut into as many slices as
multiprocessors are left, each with its own result in fp32 in the workspace. A tile has 128 or, for
fewer channels, 64 of each; every element of the kernel has tiles of its own. Of 16 bits one slice is
added where the result is written. Where there are more tiles than multiprocessors, those of fp32 that
are left for a last wave are cut.
"""

from __future__ import annotations

import math

import torch

from memtrack.prediction.kernels.registry import FP32

TILE, SMALL_TILE, WIDE_TILE = 128, 64, 256
_BYTES = 4
_LEAST_SUM = 512
"""A slice sums at least so many places in fp32."""
_MOST_OF_IMAGES = 64 << 20
"""Bytes of products of all images: 50 MiB were taken so (1280 of 320 channels, 32 images, 7 x 7 places), 128 were not."""
_LEAST_SUM_OF_FEW, _LEAST_SUM_OF_TAIL = 2048, 224


def slices_of_weights(
    weight: torch.Tensor, places: int, multiprocessors: int, narrow: int = 0
) -> int:
    """Return the bytes of the slices for weights summed over `places` places, 0 for one slice.

    `narrow` is how many channels those of the first layer are padded to; the elements of its kernel
    share tiles then.
    """
    outside, inside = weight.shape[:2]
    elements = math.prod(weight.shape[2:])
    if narrow:
        columns = elements * narrow
        tiles = -(-outside // _tile(outside)) * -(-columns // WIDE_TILE)
        count = min(multiprocessors // tiles, places // _LEAST_SUM_OF_FEW)
        return count * outside * columns * _BYTES if count > 1 else 0
    high, wide = _tile(outside), _tile(inside)
    tiles = -(-outside // high) * -(-inside // wide) * elements
    if tiles > multiprocessors and weight.dtype is FP32:
        tiles %= multiprocessors
        count = min(multiprocessors // max(tiles, 1), places // _LEAST_SUM_OF_TAIL)
        return count * tiles * high * wide * _BYTES if count > 1 else 0
    room = multiprocessors // tiles - (0 if weight.dtype is FP32 else 1)
    count = min(room, places // _least(weight.dtype, high * wide))
    return count * tiles * high * wide * _BYTES if count > 1 else 0


def slices_of_products(weight: torch.Tensor, images: int, places: int, multiprocessors: int) -> int:
    """Return the bytes of the slices of a kernel of one element: a product for each image at most.

    Of 16 bits each image has one where its `places` are odd, so that no two rows of its matrix begin at
    whole words, as long as all of them together are small.
    """
    outside, inside = weight.shape[:2]
    each = weight.numel() * _BYTES
    odd = places > 1 and places % 2 == 1
    if weight.dtype is not FP32 and odd and images * each <= _MOST_OF_IMAGES:
        return images * each if images > 1 else 0
    tiles = -(-outside // TILE) * -(-inside // TILE)
    count = min(multiprocessors // tiles, images)
    return count * each if count > 1 else 0


def _tile(channels: int) -> int:
    return SMALL_TILE if channels <= SMALL_TILE else TILE


def _least(dtype: torch.dtype, tile: int) -> int:
    """Return how many places a slice sums at least: 4,096 of fp16 and 6,144 of bf16 for large tiles."""
    if dtype is FP32:
        return _LEAST_SUM
    return tile // 4 if dtype is torch.float16 else tile * 3 // 8
