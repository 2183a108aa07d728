"""Sentences of libraries that could not get device memory: CUDA's own, collectives, others.

Sources: the vendors' status codes, as the notes on error messages list them (3.8 and 4). Patterns are
in small letters without spaces.
"""

from __future__ import annotations

from memtrack.diagnosis.reading.wording import Wording, size
from memtrack.diagnosis.reading.wordings_others import OTHERS

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
        "cusolver.create_failed",
        "cusolver",
        "failedtocreatecusolverdninstance",
        r"(?:checkfailed:cusolverdncreate\(&?\w+\)==cusolver_status_success)?failedtocreatecusolverdninstance",
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

LIBRARY = (*LIBRARIES, *COLLECTIVES, *OTHERS)
