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
    size("allowed", r"pytorchlimit\(setbyuser-suppliedmemoryfraction\):"),
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
        r"nvmapmem\w*(?:tagged|alloc|handle)\w*[^e]{0,40}(?:error)?",
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
    Wording("cuda_driver.code", "cuda_driver", "cuda_error_out_of_memory"),
    Wording(
        "third_party.cuda_2",
        "third_party",
        "cudafailedwitherror2",
        r"cudafailedwitherror2(?!\d)(?:outofmemory)?",
    ),
    Wording("third_party.cudamalloc", "third_party", "cudamallocfailed:outofmemory"),
    Wording(
        "cuda_error.code",
        "cuda_error",
        "cudaerrormemoryallocation",
        r"(?<!for`)(?<!for')cudaerrormemoryallocation",
    ),
)

LIBRARIES = (
    Wording(
        "cublas.alloc_failed",
        "cublas",
        "cublas_status_alloc_failed",
        "(?P<status>cublas_status_alloc_failed)(?:whencalling`?[a-z_0-9]+)?",
    ),
    Wording(
        "cublas.create_failed",
        "cublas",
        "cublas_status_not_initialized",
        "(?P<status>cublas_status_not_initialized)(?:whencalling`?[a-z_0-9]+)?",
    ),
    Wording(
        "cublas.create_failed_other_framework",
        "cublas",
        "createcublashandlefailed",
        r"(?:err==cublas_status_success\([13]vs\.0\):?)?createcublashandlefailed",
    ),
    Wording(
        "cublas.failed",
        "cublas",
        "cublas_status_",
        r"(?P<status>cublas_status_(?!success)[a-z]+(?:_(?:error|failed|value|supported|mismatch))?)",
        device_memory=False,
    ),
    Wording(
        "cudnn.alloc_failed",
        "cudnn",
        "cudnn_status_alloc_failed",
        "(?P<status>cudnn_status_alloc_failed)",
    ),
    Wording(
        "cudnn.alloc_failed",
        "cudnn",
        "cudnn_status_internal_error_device_allocation_failed",
        "(?P<status>cudnn_status_internal_error_device_allocation_failed)",
    ),
    Wording(
        "cudnn.not_initialized",
        "cudnn",
        "cudnn_status_not_initialized",
        "(?P<status>cudnn_status_not_initialized)",
    ),
    Wording(
        "cudnn.internal",
        "cudnn",
        "cudnn_status_internal_error",
        "(?P<status>cudnn_status_internal_error)",
    ),
    Wording(
        "cudnn.no_engine",
        "cudnn",
        "unabletofindavalidcudnnalgorithm",
        r"unabletofindavalidcudnnalgorithmtorunconvolution",
    ),
    Wording(
        "cudnn.no_engine",
        "cudnn",
        "findwasunabletofindanengine",
        r"findwasunabletofindanenginetoexecutethiscomputation",
    ),
    Wording(
        "cudnn.failed",
        "cudnn",
        "cudnn_status_",
        r"(?P<status>cudnn_status_(?!success)[a-z]+(?:_(?:error|failed|param|supported|mismatch))?)",
        device_memory=False,
    ),
    Wording("cufft.alloc_failed", "cufft", "cufft_alloc_failed", "(?P<status>cufft_alloc_failed)"),
    Wording(
        "cufft.failed",
        "cufft",
        "cufft_",
        r"(?P<status>cufft_(?!success)[a-z]+_(?:error|failed|plan|size|value|data))",
        device_memory=False,
    ),
    Wording(
        "cusolver.alloc_failed",
        "cusolver",
        "cusolver_status_alloc_failed",
        "(?P<status>cusolver_status_alloc_failed)",
    ),
    Wording(
        "cusolver.internal",
        "cusolver",
        "cusolver_status_internal_error",
        "(?P<status>cusolver_status_internal_error)(?:whencalling`?[a-z_0-9]+)?",
    ),
    Wording(
        "cusolver.failed",
        "cusolver",
        "cusolver_status_",
        r"(?P<status>cusolver_status_(?!success)[a-z]+(?:_(?:error|failed|value|supported|mismatch))?)",
        device_memory=False,
    ),
    Wording(
        "cusparse.alloc_failed",
        "cusparse",
        "cusparse_status_",
        "(?P<status>cusparse_status_(?:alloc_failed|insufficient_resources))",
    ),
)

COLLECTIVES = (
    Wording(
        "nccl.oom",
        "nccl",
        "cudafailure",
        r"(?:ncclwarn)?cudafailure(?:2|'|:|\(2\)){0,3}'?outofmemory'?",
        reach=200,
        fields=(size("requested", "failedtocuda(?:host)?calloc(?:async)?"),),
    ),
    Wording(
        "nccl.calloc",
        "nccl",
        "failedtocudacalloc",
        r"failedtocudacalloc(?:async)?\d+bytes",
        reach=60,
        fields=(size("requested", "calloc(?:async)?"),),
    ),
    Wording(
        "nccl.internal",
        "nccl",
        "ncclerrorin:",
        r"ncclerrorin:\S{0,200}?(?P<status>internalerror|unhandledcudaerror)",
    ),
    Wording(
        "nccl.system",
        "nccl",
        "ncclerrorin:",
        r"ncclerrorin:\S{0,200}?(?P<status>unhandledsystemerror|invalidusage|invalidargument|remoteprocess|"
        r"connectionclosed)",
        device_memory=False,
    ),
)

OTHERS = (
    Wording(
        "bitsandbytes.oom",
        "bitsandbytes",
        "erroroutofmemoryatline",
        r"erroroutofmemoryatline\d+infile\S{0,120}?\.(?:c|cu|cpp|cuh)(?![a-z])",
    ),
    Wording(
        "third_party.xla",
        "third_party",
        "resource_exhausted:outofmemory",
        r"resource_exhausted:outofmemory(?:whiletryingto)?allocat(?:e|ing)",
        reach=120,
        fields=(size("requested", "allocat(?:e|ing)"),),
    ),
    Wording(
        "third_party.tensorflow",
        "third_party",
        "oomwhenallocatingtensorwithshape",
        r"oomwhenallocatingtensorwithshape\[?[\d,]*\]?",
    ),
    Wording(
        "third_party.cupy",
        "third_party",
        "outofmemoryallocating",
        r"(?<!resource_exhausted:)outofmemoryallocating(?=[\d,]+bytes)",
        reach=120,
        fields=(
            size("requested", "outofmemoryallocating"),
            size("allocated", r"allocatedsofar:"),
            size("allowed", r"limitsetto:"),
        ),
    ),
    Wording(
        "third_party.paddle",
        "third_party",
        "outofmemoryerrorongpu",
        r"outofmemoryerrorongpu\d+\.?",
        reach=260,
        fields=(
            size("requested", "cannotallocate"),
            size("allocated", "", "memoryhasbeenallocated"),
            size("free", "availablememoryisonly"),
        ),
    ),
    Wording(
        "third_party.onnx",
        "third_party",
        "failedtoallocatememoryforrequestedbuffer",
        "failedtoallocatememoryforrequestedbufferofsize",
        reach=80,
        fields=(count("requested", "bufferofsize"),),
    ),
    Wording(
        "third_party.rmm",
        "third_party",
        "bad_alloc:out_of_memory:cuda",
        "bad_alloc:out_of_memory:cudaerror",
    ),
    Wording("third_party.rmm", "third_party", "maximumpoolsizeexceeded"),
)
DEVICE = (*BACKENDS, *CUDA, *LIBRARIES, *COLLECTIVES, *OTHERS)
