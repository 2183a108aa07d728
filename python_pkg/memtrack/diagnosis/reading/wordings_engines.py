"""Sentences of serving engines, kernels and warnings. In small letters without spaces."""

from __future__ import annotations

from memtrack.diagnosis.reading.failure import Severity
from memtrack.diagnosis.reading.wording import Field, Wording, count, size

_NUMBER = r"(\d+(?:\.\d+)?)"

SERVING = (
    Wording("vllm.no_cache_blocks", "vllm", "noavailablememoryforthecacheblocks"),
    Wording(
        "vllm.free_less_than_desired",
        "vllm",
        "lessthandesiredgpumemoryutilization",
        r"freememoryondevice\S{0,60}?onstartupislessthandesiredgpumemoryutilization(?:\([^)]*\))?",
        reach=220,
        fields=(
            Field("free", r"\(" + _NUMBER + r"/[\d.]+(gib|gb|mib)\)"),
            Field("total", r"\([\d.]+/" + _NUMBER + r"(gib|gb|mib)\)"),
            size("desired", r"utilization\([\d.]+,"),
        ),
    ),
    Wording(
        "vllm.kv_cache_too_small",
        "vllm",
        "kvcache",
        r"maxseqlen(?:\(\d+\))?(?:islargerthanthemaximumnumberoftokens|\S{0,60}?kvcacheisneeded)",
        reach=320,
        fields=(
            size("requested", r"\(", "kvcacheisneeded"),
            size("free", r"availablekvcachememory\("),
        ),
    ),
    Wording("vllm.sglang", "vllm", "notenoughmemorytoallocatekvcache"),
    Wording("vllm.sglang", "vllm", "leavenogpumemoryforthekvcache"),
    Wording("vllm.profiling", "vllm", "errorinmemoryprofiling"),
    Wording(
        "vllm.sglang",
        "vllm",
        "--mem-fraction-static",
        r"notenoughmemory\.?pleasetrytoincrease--mem-fraction-static",
    ),
    Wording("vllm.tgi", "vllm", "prefilltokens", r"notenoughmemorytohandle\d+prefilltokens"),
)

PLANS = (
    Wording(
        "placement.does_not_fit",
        "placement",
        "gpuramtofit",
        r"somemodulesaredispatchedonthecpuorthedisk\.?makesureyouhaveenoughgpuramtofitthequantizedmodel",
    ),
    Wording("placement.every_batch_size", "placement", "noexecutablebatchsizefound"),
)

KERNELS = (
    Wording(
        "triton.out_of_resources",
        "triton",
        "outofresource",
        r"outofresources?:(?P<status>sharedmemory|tensormemory|threads|registers)",
        reach=120,
        device_memory=False,
        fields=(count("required", "required:"), count("limit", "hardwarelimit:")),
    ),
    Wording(
        # The place is told and the reason is not: seen where the device was full (c190).
        "triton.compile_without_reason",
        "triton",
        "triton.compiler",
        r"triton\.compiler\.\w*\.?compilationerror:at\d+:\d+:$",
    ),
    Wording(
        "triton.compile",
        "triton",
        "triton.compiler",
        r"triton\.compiler\.\w*\.?compilationerror:",
        device_memory=False,
    ),
    Wording(
        "triton.shared_memory",
        "triton",
        "toomuchshareddata",
        r"usestoomuchshareddata(?:\(0x[0-9a-f]+bytes)?",
        device_memory=False,
    ),
)

WARNINGS = (
    Wording(
        "story.checkpoint_no_grad",
        "story",
        "haverequires_grad=true",
        r"noneoftheinputshaverequires_grad=true\.?(?:gradientswillbenone)?",
        device_memory=False,
        severity=Severity.WARNING,
    ),
)
ENGINES = (*SERVING, *PLANS, *KERNELS, *WARNINGS)
