"""Sentences of libraries that could not get device memory: CUDA's own, collectives, others.

Sources: the vendors' status codes, as the notes on error messages list them (3.8 and 4). Patterns are
in small letters without spaces.
"""

from __future__ import annotations

from memtrack.diagnosis.reading.failure import Severity
from memtrack.diagnosis.reading.sizes import GROUPED
from memtrack.diagnosis.reading.wording import Field, Wording, count, size

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
        "unabletofindanengine",
        r"(?:find|get)wasunabletofindanenginetoexecutethiscomputation",
    ),
    Wording(
        "cudnn.execution",
        "cudnn",
        "cudnn_status_execution_failed",
        "(?P<status>cudnn_status_execution_failed)",
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
    # The words of ONNX Runtime and CNTK, which otherwise are those of NCCL.
    Wording(
        "third_party.onnx",
        "third_party",
        "cudafailure2:outofmemory;gpu=",
    ),
    Wording(
        "nccl.oom",
        "nccl",
        "ncclerrorin:",
        r"ncclerrorin:\S{0,500}?cudafailure2?\W{0,2}outofmemory'?",
    ),
    Wording(
        "nccl.oom",
        "nccl",
        "cudafailure",
        r"(?:ncclwarn)?cudafailure(?:2|'|:|\(2\)){0,3}'?outofmemory'?"
        r"(?:.{0,80}?failedtocuda(?:host)?calloc(?:async)?\d+bytes)?",
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
        "third_party.cudamalloc",
        "third_party",
        "cudamallocfailed:outofmemory",
        r"(?:allocating[\d.]+mibondevice\d+:)?cudamallocfailed:outofmemory",
        fields=(size("requested", "allocating"),),
        reach=60,
    ),
    Wording(
        "third_party.xla",
        "third_party",
        "exhausted:outofmemory",
        r"resource_?exhausted:outofmemory(?:whiletryingto)?allocat(?:e|ing)",
        reach=120,
        fields=(size("requested", "allocat(?:e|ing)"),),
    ),
    Wording(
        "third_party.xla",
        "third_party",
        "failedtoallocaterequestfor",
        r"(?:resource_?exhausted:)?failedtoallocaterequestfor",
        reach=100,
        fields=(size("requested", r"requestfor[\d.]+[kmgt]?i?b\("),),
    ),
    Wording(
        "third_party.tensorflow",
        "third_party",
        "ranoutofmemorytryingtoallocate",
        r"allocator\(\w+\)ranoutofmemorytryingtoallocate",
        severity=Severity.WARNING,  # what could not be made without it is told below
        reach=80,
        fields=(size("requested", "tryingtoallocate"),),
    ),
    Wording(
        "third_party.tensorrt",
        "third_party",
        "couldnotbeallocated",
        r"requestedamountof(?:gpu)?memory\(\d+bytes\)couldnotbeallocated",
        reach=80,
        fields=(size("requested", r"memory\("),),
    ),
    Wording(
        "third_party.tensorrt",
        "third_party",
        "(outofmemory)",
        r"cudaruntime\(outofmemory\)|cudaerrorin[\w:.]{1,80}:2\(outofmemory\)",
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
        r"(?<!exhausted:)outofmemoryallocating(?=[\d,]+bytes)",
        reach=120,
        fields=(
            Field("requested", "outofmemoryallocating" + GROUPED),
            Field("allocated", "allocatedsofar:" + GROUPED),
            Field("allowed", "limitsetto:" + GROUPED),
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
LIBRARY = (*LIBRARIES, *COLLECTIVES, *OTHERS)
