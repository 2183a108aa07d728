"""Which GPU is predicted for: named, by size, this machine's own, none; and what the report says of it."""

from dataclasses import replace

import pytest

from memtrack.analysis.predicted import Assumed, Predicted
from memtrack.devices.readings import DeviceReading, Readings
from memtrack.errors import UnavailableError, UsageError
from memtrack.prediction.target import DEFAULT_GPU, target_of
from memtrack.reports.predictions import (
    MOST_ASSUMPTIONS,
    assumption_sentences,
    gpu_sentences,
    predicted_details,
    predicted_headline,
)
from memtrack.reports.words import literal

GIB, MIB = 1 << 30, 1 << 20
ASSUMED = "NVIDIA A100 80GB"
TOLD = Predicted(
    gpu="NVIDIA GeForce RTX 4090",
    capacity=24080 * MIB,
    verdict="fits",
    peak_allocated=2 * GIB,
    peak_reserved=3 * GIB,
    process=(4 * GIB, 5 * GIB),
    context=(300 * MIB, 700 * MIB),
    uncertain=0,
    assumptions=[],
    shortage=None,
    calls=3,
    kernels="NVIDIA GeForce RTX 4090",
)


class Source:
    """Devices as a driver tells them."""

    def __init__(self, *devices):
        self.devices = devices
        self.closed = False

    def read(self):
        return Readings(self.devices)

    def close(self):
        self.closed = True


def said(told):
    return [sentence.render("en") for sentence in gpu_sentences(told)]


def test_no_gpu_is_the_default_ones_kernels_and_nothing_to_fit_into():
    found = target_of(None)
    assert DEFAULT_GPU in found.name
    assert (found.name, found.kernels, found.shown) == (ASSUMED, ASSUMED, ASSUMED)
    assert (found.capacity, found.named) == (-1, False)
    assert found.capability == (8, 0)


def test_a_size_has_no_name_but_the_default_ones_kernels():
    found = target_of("24GiB")
    assert (found.capacity, found.total, found.named) == (24 * GIB, 24 * GIB, False)
    assert (found.shown, found.kernels, found.multiprocessors) == ("GPU", ASSUMED, 108)


def test_a_name_brings_size_and_kernels():
    found = target_of("h100 sxm")
    assert (found.name, found.kernels) == ("NVIDIA H100 80GB", "NVIDIA H100 80GB")
    assert (found.capability, found.multiprocessors) == ((9, 0), 132)
    assert found.capacity == found.total == 81009 * MIB


def test_capacity_wins_over_the_gpus_own():
    found = target_of("4090", "8GiB")
    assert (found.name, found.capacity, found.capability) == (
        "NVIDIA GeForce RTX 4090",
        8 * GIB,
        (8, 9),
    )


def test_a_gpu_of_another_maker_keeps_its_size():
    found = target_of("mi300x")
    assert (found.name, found.kernels) == ("AMD Instinct MI300X", ASSUMED)
    assert (found.capacity, found.capability) == (196592 * MIB, (8, 0))
    with pytest.raises(UsageError, match=r"Only CUDA devices .* give the size: 21845MiB"):
        target_of("m2 max 32gb")


def test_here_is_what_the_driver_tells():
    h200 = DeviceReading("GPU-1", 0, "NVIDIA H200", total=150_754_820_096, reserved=645_000_000)
    source = Source(h200)
    found = target_of(" HERE ", source=source)
    assert source.closed
    assert (found.name, found.kernels) == ("NVIDIA H200", "NVIDIA H200")
    assert found.capacity == 150_754_820_096 - 645_000_000
    assert found.capability == (9, 0)


def test_here_may_be_one_that_the_table_does_not_know():
    found = target_of("here", source=Source(DeviceReading("GPU-1", 0, "NVIDIA X9", total=7 * GIB)))
    assert (found.name, found.kernels, found.capacity) == ("NVIDIA X9", ASSUMED, 7 * GIB)


def test_here_without_a_gpu_is_one_line():
    for source in (Source(), Source(DeviceReading("GPU-1", 0, "NVIDIA H200", refusal="lost"))):
        with pytest.raises(UnavailableError, match=r"no GPU on this machine. --gpu .* names one"):
            target_of("here", source=source)
        assert source.closed


def test_the_headline_has_interval_and_verdict():
    words = predicted_headline(literal("Peak 2.00 GiB"), TOLD).render("en")
    assert words == (
        "Predicted: Peak 2.00 GiB; needs 4.00 GiB to 5.00 GiB of the GPU: fits RTX 4090 (23.5 GiB)"
    )
    sized = replace(TOLD, named=False, capacity=8 * GIB, verdict="close")
    assert "too close to call for a GPU of 8.00 GiB" in str(predicted_headline(literal(""), sized))


def test_whose_kernels_were_assumed_is_said_where_it_is_not_plain():
    assert said(TOLD) == []
    (unnamed,) = said(replace(TOLD, capacity=-1, named=False, kernels=ASSUMED))
    assert unnamed.startswith("No GPU was named: the kernels of A100 80GB are assumed")
    assert "gpu='here'" in unnamed
    (sized,) = said(replace(TOLD, named=False, kernels=ASSUMED))
    assert sized.startswith("Only a size was given: the kernels of A100 80GB are assumed")
    (other,) = said(replace(TOLD, gpu="AMD Instinct MI300X", kernels=ASSUMED))
    assert other == "The kernels of MI300X are not modelled: those of A100 80GB are assumed"
    (unused,) = said(replace(TOLD, peak_allocated=0))
    assert unused.startswith("Nothing was put on the GPU")


def test_kernels_that_are_not_modelled_are_named():
    some = ["a", "b", "c", "d", "e"]
    told = replace(TOLD, uncertain=64 * MIB, unmodelled=some)
    assert (
        predicted_details(told)[-1]
        .render("en")
        .endswith("up to 64.0 MiB more or less: a, b, c, d, …")
    )
    assert len(predicted_details(TOLD)) == len(predicted_details(told)) - 1


def test_assumptions_are_listed_and_counted():
    many = [Assumed("item()", f"train.py:{line}", "1.0", "1.0") for line in range(12)]
    found = assumption_sentences(replace(TOLD, assumptions=many))
    assert len(found) == MOST_ASSUMPTIONS + 1
    assert found[0].render("en") == "Assumed at train.py:0: item() gives 1.0"
    assert found[-1].render("en") == "Assumed at 4 more places"


@pytest.mark.gpu
def test_here_is_this_machines_gpu_and_starts_no_cuda():
    torch = pytest.importorskip("torch")
    was_started = torch.cuda.is_initialized()
    found = target_of("here")
    assert torch.cuda.is_initialized() == was_started
    own = torch.cuda.get_device_properties(0)
    assert found.name == own.name
    assert found.capacity == pytest.approx(own.total_memory, abs=64 * MIB)
    assert found.capability == (own.major, own.minor)
    assert found.multiprocessors == own.multi_processor_count
