"""Sentences of other frameworks and runtimes that share a device or a process with PyTorch, and of programs.

Patterns are in small letters without spaces.
"""

from __future__ import annotations

from memtrack.diagnosis.reading.failure import Severity
from memtrack.diagnosis.reading.sizes import GROUPED
from memtrack.diagnosis.reading.wording import Field, Wording, count, size

FRAMEWORKS = (
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
        "third_party.cudamalloc",
        "third_party",
        "failedtocudamalloc",
        r"failedtocudamalloc\d+bytes(?:ondevice\d+)?(?:\(error2outofmemory\)?)?",
        fields=(size("requested", "cudamalloc"),),
        reach=60,
    ),
    Wording(
        "third_party.cudamalloc",
        "third_party",
        "cudamallocerroroutofmemory",
        r"(?:size\d+bytes\()?cudamallocerroroutofmemory(?:\[2\]\))?",
        fields=(size("requested", "size"),),
        reach=40,
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
        r"oomwhenallocatingtensorwithshape\[?[\d,]*\]?(?!\S{0,160}?device:cpu)",
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
            size("free", "availablememoryis(?:only)?"),
        ),
    ),
    Wording(
        "third_party.paddle",
        "third_party",
        "enforceallocating<=availablefailed",
        reach=100,
        fields=(count("requested", "failed,"), count("free", r"failed,\d+>")),
    ),
    Wording(
        "third_party.mindspore",
        "third_party",
        "ismorethantotalmemsize:",
        r"totalusedmemstatistics:\d+\S{0,80}?allocsize:\d+ismorethantotalmemsize:\d+",
        reach=200,
        fields=(
            count("allocated", "totalusedmemstatistics:"),
            count("requested", "allocsize:"),
            count("total", "totalmemsize:"),
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
    Wording(
        "third_party.thrust",
        "third_party",
        "get_temporary_bufferfailed",
        r"(?:std::bad_alloc:)?(?:temporary_buffer::allocate:)?get_temporary_bufferfailed",
    ),
    Wording(
        "third_party.thrust",
        "third_party",
        "parallel_forfailed:",
        r"parallel_forfailed:(?:cudaerrormemoryallocation:)?outofmemory",
    ),
    Wording(
        "third_party.vulkan",
        "third_party",
        "devicememoryallocationofsize",
        r"devicememoryallocationofsize\d+failed",
        reach=60,
        fields=(count("requested", "ofsize"),),
    ),
    Wording("third_party.vulkan", "third_party", "erroroutofdevicememory"),
    Wording("third_party.vulkan", "third_party", "vk_error_out_of_device_memory"),
)

TPU = (
    Wording(
        "tpu_oom.program",
        "tpu_oom",
        "memoryspacehbm",
        r"ranoutofmemoryinmemoryspacehbm\.?(?:used[\d.]+[kmgt]of[\d.]+[kmgt]hbm)?",
        reach=100,
        fields=(
            Field("requested", r"used([\d.]+)([kmgt])of"),
            Field("total", r"of([\d.]+)([kmgt])hbm"),
        ),
    ),
    Wording(
        "tpu_oom.reserve",
        "tpu_oom",
        "atthebottomofmemory",
        r"attemptingtoreserve[\d.]+[kmgt]atthebottomofmemory",
        reach=140,
        fields=(
            Field("requested", r"reserve([\d.]+)([kmgt])atthe"),
            Field("free", r"thereare([\d.]+)([kmgt])free"),
        ),
    ),
    Wording(
        "triton.tpu_vmem",
        "triton",
        "memoryspacevmem",
        r"ranoutofmemoryinmemoryspacevmem\.?(?:used[\d.]+[kmgt]of[\d.]+[kmgt]vmem)?",
        device_memory=False,
        reach=100,
        fields=(
            Field("required", r"used([\d.]+)([kmgt])of"),
            Field("limit", r"of([\d.]+)([kmgt])vmem"),
        ),
    ),
)

PROGRAMS = (
    # What a program says after it has asked the device itself.
    Wording(
        "cuda_oom.resolution",
        "cuda_oom",
        "uselowerresolution",
        r"notenoughmemory,uselowerresolution(?:\(max[^)]{1,30}\))?",
        reach=140,
        fields=(size("requested", "need:"), size("free", "have:")),
    ),
)

OTHERS = (*FRAMEWORKS, *TPU, *PROGRAMS)
