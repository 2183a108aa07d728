"""A stand-in for the module `pynvml` that gives recorded answers; its errors are the real ones."""

from types import SimpleNamespace

import pynvml

H200 = "GPU-5f2c6c7e-8f3b-4a43-9d6a-0f1b2c3d4e5f"
BUS = "00000000:3B:00.0"
TOTAL, RESERVED, USED = 150_754_820_096, 644_939_776, 6_395_068_416
"""An H200 with one training process, as NVML told it; CUDA's total is TOTAL - RESERVED."""
PROCESS, ALLOCATOR = 6_385_827_840, 5_586_812_928
CUDA_TOTAL = TOTAL - RESERVED


def entry(pid, size):
    return SimpleNamespace(pid=pid, usedGpuMemory=size)


# Older libraries have none.
MISMATCH = getattr(pynvml, "NVMLLibraryMismatchError", type("Mismatch", (Exception,), {}))


class FakeNvml:
    """`answers` maps a function to its answer, to an exception, or to a function of its arguments.

    What has no answer is not found in the driver, as with an older one.
    """

    NVMLError = pynvml.NVMLError
    NVMLLibraryMismatchError = MISMATCH
    nvmlMemory_v2 = pynvml.nvmlMemory_v2  # noqa: N815

    def __init__(self, **answers):
        self.asked = []
        self.answers = {"nvmlInit": None, **answers}
        for name in dir(pynvml):
            if name.startswith("NVML_ERROR_"):
                setattr(self, name, getattr(pynvml, name))

    def __getattr__(self, name):
        if not name.startswith("nvml"):
            raise AttributeError(name)

        def function(*arguments):
            self.asked.append(name)
            answer = self.answers.get(name, error("FUNCTION_NOT_FOUND"))
            answer = answer(*arguments) if callable(answer) else answer
            if isinstance(answer, Exception):
                raise answer
            return answer

        return function


def error(name):
    return pynvml.NVMLError(getattr(pynvml, f"NVML_ERROR_{name}"))


def h200(processes=(), **answers):
    """The recorded H200, MIG off."""

    def by_uuid(uuid):
        return "handle" if uuid == H200 else error("NOT_FOUND")

    def memory(handle, version=None):
        whole = {"total": TOTAL, "free": TOTAL - RESERVED - USED}
        if version is None:
            return SimpleNamespace(**whole, used=USED + RESERVED)
        return SimpleNamespace(**whole, used=USED, reserved=RESERVED)

    return FakeNvml(
        **{
            "nvmlDeviceGetHandleByUUID": by_uuid,
            "nvmlDeviceGetHandleByPciBusId": lambda bus: (
                "handle" if bus == BUS else error("INVALID_ARGUMENT")
            ),
            "nvmlDeviceGetUUID": lambda handle: H200.encode(),
            "nvmlDeviceGetMigMode": [0, 0],
            "nvmlDeviceGetMemoryInfo": memory,
            "nvmlDeviceGetComputeRunningProcesses_v3": list(processes),
            **answers,
        }
    )
