"""Workspaces of convolutions: reasons that hold for every shape, and bytes measured on an H200."""

from dataclasses import replace

import pytest
import torch
from prediction.tested_gpu import GPU

from memtrack.prediction.kernels.context import KernelContext
from memtrack.prediction.kernels.convolutionslices import slices_of_products, slices_of_weights
from memtrack.prediction.kernels.table import CudaKernels

aten = torch.ops.aten
MIB = 1 << 20
MULTIPROCESSORS = 132


def _tensor(*shape, dtype=torch.float32, last=False):
    made = torch.empty(*shape, device="meta", dtype=dtype)
    return made.contiguous(memory_format=torch.channels_last) if last else made


def _forward(x, weight, stride=1, padding=1, **settings):
    """Return the context of a convolution's forward, on an H200 unless said otherwise."""
    context = KernelContext(**{"gpu": GPU, **settings})
    args = (x, weight, None, [stride] * 2, [padding] * 2, [1, 1], False, [0, 0], 1)
    CudaKernels().run(aten.convolution.default, args, {}, context)
    return context


def _backward(grad, x, weight, wanted, stride=1, padding=1):
    context = KernelContext(gpu=GPU)
    rest = ([stride] * 2, [padding] * 2, [1, 1], False, [0, 0], 1, wanted)
    args = (grad, x, weight, [weight.shape[0]], *rest)
    CudaKernels().run(aten.convolution_backward.default, args, {}, context)
    return context.effects.sequences


def test_tensors_whose_channels_do_not_lie_last_are_converted_in_the_workspace():
    x, weight = _tensor(32, 128, 28, 28), _tensor(128, 128, 3, 3)
    converted = 4 * (2 * x.numel() + weight.numel())
    assert _forward(x, weight).effects.scratch == [converted]
    assert converted == pytest.approx(26_279_952, abs=1024)  # measured


def test_tensors_whose_channels_lie_last_are_not():
    x = _tensor(32, 128, 28, 28, last=True)
    weight = _tensor(128, 128, 3, 3, last=True)
    assert _forward(x, weight).effects.scratch == []


def test_colours_are_padded_to_the_bytes_that_are_read_at_once():
    x = _tensor(32, 3, 224, 224, dtype=torch.bfloat16)
    weight = _tensor(64, 3, 7, 7, dtype=torch.bfloat16)
    (found,) = _forward(x, weight, 2, 3).effects.scratch
    assert found == pytest.approx(77_120_528, abs=1024)  # measured


def test_without_cudnn_there_is_no_workspace():
    x, weight = _tensor(32, 128, 28, 28), _tensor(128, 128, 3, 3)
    assert not _forward(x, weight, cudnn=False).effects


def test_a_search_for_the_fastest_kernel_widens_the_interval():
    x, weight = _tensor(32, 128, 28, 28), _tensor(128, 128, 3, 3)
    effects = _forward(x, weight, benchmark=True).effects
    assert effects.uncertain == 4 * (2 * x.numel() + weight.numel())


@pytest.mark.parametrize("capability", [(8, 0), (8, 9), (10, 0)])
def test_on_other_gpus_than_the_measured_the_interval_is_wider(capability):
    x, weight = _tensor(32, 128, 28, 28), _tensor(128, 128, 3, 3)
    measured = _forward(x, weight).effects
    other = _forward(x, weight, gpu=replace(GPU, capability=capability)).effects
    assert other.scratch == measured.scratch
    assert other.uncertain > measured.uncertain > 0


@pytest.mark.parametrize(
    ("shape", "places", "measured"),
    [
        ((128, 128, 3, 3), 32 * 28 * 28, 8_258_199),
        ((256, 256, 3, 3), 32 * 14 * 14, 7_078_479),
        ((64, 64, 3, 3), 32 * 56 * 56, 2_065_047),
        ((384, 80, 1, 3), 8 * 3000, 8_258_199),
        ((384, 384, 1, 3), 8 * 1500, 7_078_387),
        ((320, 320, 3, 3), 4 * 32 * 32, 0),
        ((512, 512, 3, 3), 32 * 7 * 7, 5_505_519),
    ],
)
def test_slices_of_the_gradient_of_weights_fill_the_multiprocessors_once(shape, places, measured):
    found = slices_of_weights(_tensor(*shape), places, MULTIPROCESSORS)
    assert found == pytest.approx(measured, abs=1024)


@pytest.mark.parametrize(
    ("dtype", "shape", "places", "measured"),
    [
        (torch.bfloat16, (64, 64, 3, 3), 32 * 56 * 56, 1_917_591),
        (torch.float16, (64, 64, 3, 3), 8 * 64 * 64, 1_917_591),
        (torch.bfloat16, (128, 128, 3, 3), 32 * 28 * 28, 2_359_671),
        (torch.float16, (128, 128, 3, 3), 32 * 28 * 28, 3_539_535),
        (torch.float16, (512, 256, 1, 1), 16 * 28 * 28, 1_573_407),
        (torch.bfloat16, (256, 256, 3, 3), 32 * 14 * 14, 0),
        (torch.float16, (512, 512, 3, 3), 32 * 7 * 7, 0),
    ],
)
def test_slices_of_16_bits_sum_more_places_each(dtype, shape, places, measured):
    found = slices_of_weights(_tensor(*shape, dtype=dtype), places, MULTIPROCESSORS)
    assert found == pytest.approx(measured, abs=1024)


def test_a_convolution_of_channels_that_lie_last_gives_such_an_output_and_such_gradients():
    for x_last, weight_last in ((True, True), (True, False), (False, True)):
        x = _tensor(8, 64, 32, 32, last=x_last)
        weight = _tensor(128, 64, 3, 3, last=weight_last)
        context = KernelContext(gpu=GPU)
        args = (x, weight, None, [1, 1], [1, 1], [1, 1], False, [0, 0], 1)
        output = CudaKernels().run(aten.convolution.default, args, {}, context)
        assert output.is_contiguous(memory_format=torch.channels_last)
        copied = sum(
            one.numel() * 4 for one, last in ((x, x_last), (weight, weight_last)) if not last
        )
        assert sum(context.effects.scratch) == copied
        rest = ([128], [1, 1], [1, 1], [1, 1], False, [0, 0], 1, [True, True, False])
        args = (output, x, weight, *rest)
        found = CudaKernels().run(aten.convolution_backward.default, args, {}, context)
        assert all(one.is_contiguous(memory_format=torch.channels_last) for one in found[:2])


@pytest.mark.parametrize("images", [8, 32, 64])
def test_a_kernel_of_one_element_is_summed_image_by_image(images):
    weight = _tensor(256, 64, 1, 1, dtype=torch.bfloat16)
    assert (
        slices_of_products(weight, images, 56 * 56, MULTIPROCESSORS) == images * weight.numel() * 4
    )


@pytest.mark.parametrize(
    ("outside", "inside", "places", "dtype", "slices"),
    [
        (1280, 320, 49, torch.bfloat16, 32),  # the last one of MobileNet, measured
        (1280, 320, 49, torch.float32, 4),
        (1280, 320, 196, torch.bfloat16, 4),
        (2048, 512, 49, torch.bfloat16, 2),  # ResNet's, measured
        (1088, 272, 1, torch.bfloat16, 4),
    ],
)
def test_odd_rows_of_sixteen_bits_are_summed_image_by_image(outside, inside, places, dtype, slices):
    weight = _tensor(outside, inside, 1, 1, dtype=dtype)
    found = slices_of_products(weight, 32, places, MULTIPROCESSORS)
    assert found == slices * weight.numel() * 4


def test_slices_never_need_more_than_a_tile_for_each_multiprocessor():
    for outside in (16, 64, 200, 512, 2048):
        for inside in (16, 64, 200, 512):
            for side in (1, 3, 7):
                weight = _tensor(outside, inside, side, side)
                found = slices_of_weights(weight, 1 << 20, MULTIPROCESSORS)
                assert 0 <= found <= MULTIPROCESSORS * 128 * 128 * 4


def test_gradients_have_a_workspace_each_and_none_where_they_are_not_wanted():
    x, weight = _tensor(32, 128, 28, 28), _tensor(128, 128, 3, 3)
    grad = torch.empty_like(x)
    ((of_input, of_weights),) = _backward(grad, x, weight, [True, True, False])
    assert (of_input, of_weights) == pytest.approx((26_279_952, 34_538_151), abs=1024)  # measured
    assert _backward(grad, x, weight, [False, True, False]) == [[of_weights]]


def test_a_bias_is_summed_in_parts_where_channels_lie_last():
    x = _tensor(4, 320, 32, 32, last=True)
    weight = _tensor(320, 320, 3, 3, last=True)
    grad = torch.empty_like(x)
    assert _backward(grad, x, weight, [False, False, True]) == [[10 * MIB]]  # measured


@pytest.mark.parametrize(
    ("side", "kernel", "last", "transformed"),
    [(56, 7, True, True), (56, 7, False, False), (56, 3, True, False), (14, 7, True, False)],
)
def test_only_large_depthwise_kernels_over_large_pictures_are_transformed(
    side, kernel, last, transformed
):
    x = _tensor(16, 96, side, side, last=last)
    weight = _tensor(96, 1, kernel, kernel)
    grad = torch.empty_like(x)
    context = KernelContext(gpu=GPU)
    half = kernel // 2
    rest = ([96], [1, 1], [half, half], [1, 1], False, [0, 0], 96, [False, True, False])
    CudaKernels().run(aten.convolution_backward.default, (grad, x, weight, *rest), {}, context)
    found = sum(sum(pieces) for pieces in context.effects.sequences)
    assert found == (pytest.approx(164_079_223, rel=0.03) if transformed else 0)  # measured


def test_groups_in_fp32_are_doubted_by_several_times_what_they_convolve():
    x, weight = _tensor(8, 64, 28, 28), _tensor(64, 16, 3, 3)
    context = KernelContext(gpu=GPU)
    args = (x, weight, None, [1] * 2, [1] * 2, [1, 1], False, [0, 0], 4)
    CudaKernels().run(aten.convolution.default, args, {}, context)
    assert context.effects.uncertain == 3 * 4 * (2 * x.numel() + weight.numel())
