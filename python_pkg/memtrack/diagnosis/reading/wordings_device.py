"""Sentences for a device that is out of memory, other than those of PyTorch's own allocator.

Sources: PyTorch's c10 and the vendors' status codes, as the notes on error messages list them (3.8
and 4). Patterns are in small letters without spaces.
"""

from __future__ import annotations

from memtrack.diagnosis.reading.failure import Severity
from memtrack.diagnosis.reading.wording import Wording, count, size

_MPS = r"mpsbackendoutofmemory(?:\(mpsallocated:[^()]*\)\.?triedtoallocate.{0,40}?pool)?"
_RETRY = (
    r"memoryallocationfailedwithoomondevice\d*(?:whiletryingtoallocate\d+bytes)?(?:\(free:[^)]*\))?"
)
_ASYNC_FIELDS = (
    size("allocated", "currentlyallocated:"),
    size("requested", "requested:"),
    size("total", "devicelimit:"),
    size("free", r"free\(accordingtocuda\):"),
    size("allowed", r"pytorchlimit\(setbyuser-suppliedmemoryfraction\)(?:\D{0,3}|.{0,80}?:)"),
)

BACKENDS = (
    Wording(
        "mps_oom",
        "mps_oom",
        "mpsbackendoutofmemory",
        _MPS,
        reach=260,
        fields=(
            size("allocated", "mpsallocated:"),
            size("other", "otherallocations:"),
            size("allowed", "maxallowed:"),
            size("requested", "triedtoallocate"),
        ),
    ),
    Wording(
        "mps_oom.buffer",
        "mps_oom",
        "invalidbuffersize:",
        reach=60,
        fields=(size("requested", "invalidbuffersize:"),),
    ),
    Wording("mps_oom.metal", "mps_oom", "callbackerroroutofmemory"),
    Wording(
        "xpu_oom.status",
        "xpu_oom",
        "_error_out_of_",
        r"(?P<status>(?:ur_result|ze_result|pi)_error_out_of_(?:device_memory|resources))",
    ),
    Wording(
        "hpu_oom.device",
        "hpu_oom",
        "pt_devmem",
        r"pt_devmem\S{0,20}?allocationfailedforsize:*\d+",
        reach=80,
        fields=(count("requested", "size:*"),),
    ),
    Wording(
        "npu_oom.runtime",
        "npu_oom",
        "rtmallocfail",
        r"callrtmallocfail\S{0,60}?size:\d+",
        fields=(count("requested", "size:"),),
        reach=120,
    ),
    Wording("npu_oom.runtime", "npu_oom", "memory_allocation_failure"),
    Wording(
        "npu_oom.resource",
        "npu_oom",
        "resource[devicememory]",
        r"failedtoallocateresource\[devicememory\](?:withinfo\[size:\d+\])?",
        reach=100,
        fields=(count("requested", r"\[size:"),),
    ),
    # TensorFlow asks for more than it needs, and says that it does without.
    Wording(
        "not_oom.recoverable_warning",
        "not_oom",
        "thisisnotafailure",
        r"allocator\(\w+\)ranoutofmemorytryingtoallocate\S{0,120}?thisisnotafailure",
        device_memory=False,
        severity=Severity.WARNING,
        reach=120,
        fields=(size("requested", "tryingtoallocate"),),
    ),
    # A warning that is printed on every failed attempt, also when the next one succeeds.
    Wording(
        "not_oom.recoverable_warning",
        "not_oom",
        "memoryallocationfailedwithoom",
        _RETRY,
        device_memory=False,
        severity=Severity.WARNING,
        reach=240,
        fields=(
            size("requested", "tryingtoallocate"),
            count("free", r"\(free:"),
            count("total", "total:"),
        ),
    ),
    Wording(
        "cuda_malloc_async",
        "cuda_malloc_async",
        "allocationondevice",
        r"(?<!memory)allocationondevice(?:\d*wouldexceedallowedmemory(?:\.\(outofmemory\))?|\d*)",
        fields=_ASYNC_FIELDS,
        reach=420,
    ),
    Wording(
        "directml_oom",
        "directml_oom",
        "thereisnotenoughgpuvideomemory",
        r"(?:couldnotallocatetensorwith\d+bytes\.?)?thereisnotenoughgpuvideomemory",
        reach=90,
        fields=(size("requested", "allocatetensorwith"),),
    ),
    Wording(
        "jetson.nvmap",
        "jetson",
        "nvmapmem",
        r"nvmapmem[a-z]{0,60}",
    ),
    Wording(
        "not_oom_text.nvml_assert",
        "not_oom_text",
        "nvml_success==r",
        "nvml_success==rinternalassertfailed",
    ),
)

CUDA = (
    Wording(
        "cuda_runtime_error_2",
        "cuda_runtime_error_2",
        "cudaruntimeerror(2)",
        r"cudaruntimeerror\(2\)(?::outofmemory)?",
    ),
    Wording(
        "cuda_runtime_error_2.check",
        "cuda_runtime_error_2",
        "error=2:outofmemory",
        r"(?:thcudacheckfail\S{0,200}?)?error=2:outofmemory",
    ),
    Wording("cuda_error.oom", "cuda_error", "cudaerror:outofmemory"),
    Wording("hip_oom.error", "hip_oom", "hiperror:outofmemory"),
    Wording("hip_oom.code", "hip_oom", "hiperroroutofmemory"),
    Wording(
        "cuda_driver.oom",
        "cuda_driver",
        "cudadrivererror:outofmemory",
    ),
    Wording(
        "cuda_driver.expandable_corrupt",
        "cuda_driver",
        "handles_.at(i)",
        r"!?handles_\.at\(i\)internalassertfailed",
    ),
    Wording(
        "cuda_driver.not_ready",
        "cuda_driver",
        "cudadrivererror:devicenotready",
    ),
    Wording(
        "cuda_driver.unknown",
        "cuda_driver",
        "cudadrivererror:",
        r"cudadrivererror:(?P<status>[a-z]{2,40})",
        device_memory=False,
    ),
    Wording(
        "cuda_driver.curesult_2",
        "cuda_driver",
        "curesult",
        r"curesult(?:error)?(?:result)?[=:(]?2(?!\d)",
    ),
    Wording(
        "host_pinned.driver",
        "host_pinned",
        "onhost:cuda_error_out_of_memory",
        r"failedtoalloc\d+bytesonhost:cuda_error_out_of_memory",
        device_memory=False,
        fields=(size("requested", "failedtoalloc"),),
        reach=60,
    ),
    Wording(
        "host_pinned.tensorflow",
        "host_pinned",
        "couldnotallocatepinnedhostmemory",
        r"couldnotallocatepinnedhostmemory(?:ofsize:\d+)?",
        device_memory=False,
        fields=(count("requested", "ofsize:"),),
        reach=80,
    ),
    Wording(
        "third_party.driver",
        "third_party",
        "cuda_error_out_of_memory",
        r"failedtoallocate(?:[\d.]+[kmg]\()?\d+bytes\)?(?:fromdevice)?:[a-z_:]{0,30}?cuda_error_out_of_memory"
        r"(?::outofmemory)?",
        reach=220,
        fields=(
            size("requested", r"failedtoallocate(?:[\d.]+[kmg]\()?"),
            count("free", "freememory/totalmemory:"),
            count("total", r"freememory/totalmemory:\d+/"),
        ),
    ),
    Wording("cuda_driver.code", "cuda_driver", "cuda_error_out_of_memory"),
    Wording(
        "third_party.cuda_2",
        "third_party",
        "cudaerror2",
        r"cudaerror2(?!\d)(?:at[\w./\\-]{1,80}:\d+)?:outofmemory",
    ),
    Wording(
        "third_party.cuda_2",
        "third_party",
        "failedwitherror2",
        r"cuda(?:execution)?failedwitherror2(?!\d)(?:outofmemory)?",
    ),
    Wording(
        "third_party.thrust",
        "third_party",
        "cudaerrormemoryallocation",
        r"bad_?alloc(?:ation)?:\S{0,200}?cudaerrormemoryallocation:?(?:outofmemory)?",
    ),
    Wording(
        "cuda_error.code",
        "cuda_error",
        "cudaerrormemoryallocation",
        r"(?<!for`)(?<!for')cudaerrormemoryallocation",
    ),
)

DEVICE = (*BACKENDS, *CUDA)
