"""What each backend can tell, with fakes of those this build does not have."""

from types import SimpleNamespace

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("pynvml")

from capture.fake_cuda import FakeCuda  # noqa: E402
from devices.fake_nvml import ALLOCATOR, CUDA_TOTAL, USED  # noqa: E402

from memtrack.capture import torch_api  # noqa: E402
from memtrack.capture.backends import Backend, Figures, describe, figures, is_capturing  # noqa: E402
from memtrack.i18n import languages  # noqa: E402
from memtrack.recording import Notice  # noqa: E402
from memtrack.reports.notices import notice_sentences  # noqa: E402

CUDA = torch.device("cuda", 0)
NEITHER = ("PYTORCH_NO_CUDA_MEMORY_CACHING", "PYTORCH_NO_HIP_MEMORY_CACHING")


@pytest.fixture
def cuda(monkeypatch):
    for name in NEITHER:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(torch.version, "hip", None, raising=False)
    return FakeCuda(monkeypatch)


def test_the_native_allocator_has_a_history_and_misses_nothing(cuda):
    assert describe("cuda") == Backend("native", True, ())


@pytest.mark.parametrize(
    ("backend", "kind", "notice"),
    [
        ("cudaMallocAsync", "async", "no_history_async"),
        ("pluggable", "pluggable", "no_history_pluggable"),
    ],
)
def test_other_allocators_of_cuda_have_none(cuda, backend, kind, notice):
    cuda.backend = backend
    assert describe("cuda") == Backend(kind, False, (notice,))


@pytest.mark.parametrize("value", ["1", "0", ""])
@pytest.mark.parametrize("name", NEITHER)
def test_caching_is_off_when_its_variable_is_there(cuda, monkeypatch, name, value):
    monkeypatch.setenv(name, value)
    assert describe("cuda") == Backend("uncached", False, ("no_cache",))
    cuda.figures[0]["reserved"] = 0
    assert figures(CUDA) == Figures(used=USED, total=CUDA_TOTAL)


def test_caching_may_be_switched_off_at_run_time(cuda, monkeypatch):
    monkeypatch.setattr(torch_api, "caching_allocator_is_on", lambda: False)
    assert describe("cuda").kind == "uncached"


def test_rocm_is_cuda_without_its_processes(cuda, monkeypatch):
    monkeypatch.setattr(torch.version, "hip", "6.4", raising=False)
    assert describe("cuda") == Backend("rocm", True, ("no_process_rocm",))


@pytest.mark.parametrize(("version", "history"), [("2.1.2", False), ("2.2.0", True)])
def test_history_carries_times_since_2_2(cuda, monkeypatch, version, history):
    monkeypatch.setattr(torch, "__version__", version)
    notices = () if history else ("no_history_old",)
    assert describe("cuda") == Backend("native", history, notices)


def test_a_torch_without_the_history_has_none(cuda, monkeypatch):
    monkeypatch.delattr(torch.cuda.memory, "_snapshot")
    assert describe("cuda").has_history is False


def test_without_a_build_of_cuda_nothing_raises(monkeypatch):
    for name in NEITHER:
        monkeypatch.delenv(name, raising=False)
    assert describe("cuda").kind in ("native", "rocm")
    if not torch.cuda.is_available():
        assert figures(CUDA) == Figures()
        assert is_capturing() is False


@pytest.mark.parametrize(
    ("device_type", "kind"),
    [("cpu", "cpu"), ("xpu", "xpu"), ("mps", "mps"), ("hpu", "other"), ("privateuseone", "other")],
)
def test_other_devices_have_no_history(device_type, kind):
    found = describe(device_type)
    assert (found.kind, found.has_history) == (kind, False)
    assert bool(found.notices) == (device_type != "cpu")


NOTICES = (
    *("no_history_async", "no_history_pluggable", "no_cache", "no_history_old", "no_history_xpu"),
    *("no_history_mps", "no_history_other", "no_process_rocm", "no_driver", "driver_mismatch"),
    *("driver_no_permission", "driver_no_process", "driver_mig", "driver_failed", "device_lost"),
)


def test_every_notice_has_its_sentence_in_every_language():
    sentences = notice_sentences([Notice(identifier) for identifier in NOTICES])
    for language in languages():
        rendered = [sentence.render(language) for sentence in sentences]
        assert len(set(rendered)) == len(NOTICES)
        assert not [one for one in rendered if "does not know" in one or "{id}" in one]


def test_cuda_figures(cuda):
    assert figures(CUDA) == Figures(ALLOCATOR, -1, USED, CUDA_TOTAL)
    cuda.figures[0]["reserved"] = 0  # no allocation yet: no statistics
    assert figures(CUDA).reserved == 0
    cuda.figures[0]["reserved"] = RuntimeError("CUDAPluggableAllocator does not yet support this")
    assert figures(CUDA) == Figures(-1, -1, USED, CUDA_TOTAL)
    cuda.figures[0]["total"] = RuntimeError("CUDA error")
    assert figures(CUDA) == Figures()


def test_xpu_figures(monkeypatch):
    device = SimpleNamespace(type="xpu", index=0)
    fake = SimpleNamespace(
        is_initialized=lambda: True,
        memory_reserved=lambda device: 700,
        mem_get_info=lambda device: (1000, 5000),
    )
    monkeypatch.setattr(torch, "xpu", fake, raising=False)
    assert figures(device) == Figures(700, -1, 4000, 5000)
    del fake.mem_get_info  # before torch 2.6
    assert figures(device) == Figures(700)
    fake.is_initialized = lambda: False
    assert figures(device) == Figures()


def test_mps_figures(monkeypatch):
    device = SimpleNamespace(type="mps", index=0)
    monkeypatch.setattr(torch, "mps", SimpleNamespace(driver_allocated_memory=lambda: 700))
    assert figures(device) == Figures(process=700)
    torch.mps.recommended_max_memory = lambda: 9000
    assert figures(device) == Figures(process=700, total=9000)


def test_any_accelerator_by_the_common_interface(monkeypatch):
    device = SimpleNamespace(type="privateuseone", index=0)
    memory = SimpleNamespace(
        memory_reserved=lambda device: 700, get_memory_info=lambda device: (1000, 5000)
    )
    monkeypatch.setattr(torch, "accelerator", SimpleNamespace(memory=memory), raising=False)
    assert figures(device) == Figures(700, -1, 4000, 5000)

    def refuses(device):
        raise NotImplementedError("getMemoryInfo is not implemented for this allocator yet")

    memory.get_memory_info = refuses
    assert figures(device) == Figures(700)
    monkeypatch.delattr(torch, "accelerator")
    assert figures(device) == Figures()
