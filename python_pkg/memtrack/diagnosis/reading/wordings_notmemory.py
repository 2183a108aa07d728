"""Sentences of errors that are often taken for memory and are none.

Patterns are in small letters without spaces; `status` is kept and decides the cause.
"""

from __future__ import annotations

from memtrack.diagnosis.reading.failure import Severity
from memtrack.diagnosis.reading.wording import Wording


def _not_memory(
    name: str, needle: str, pattern: str = "", severity: Severity = Severity.FATAL
) -> Wording:
    return Wording(f"not_oom.{name}", "not_oom", needle, pattern, False, severity)


KERNEL_ERRORS = (
    _not_memory(
        "illegal_access", "illegalmemoryaccess", r"(?:an)?illegalmemoryaccess(?:wasencountered)?"
    ),
    _not_memory("illegal_access", "cuda_error_illegal_address"),
    _not_memory("illegal_access", "cudaerrorillegaladdress", r"(?<!for`)cudaerrorillegaladdress"),
    _not_memory("illegal_access", "cudaruntimeerror(77)", r"cudaruntimeerror\((?:77|700)\)"),
    _not_memory("illegal_access", "failedwitherror", r"failedwitherror(?:77|700)(?!\d)"),
    _not_memory("illegal_access", "memoryaccessfaultbygpu"),
    _not_memory("illegal_access", "ddraddressofthemteinstructionisoutofrange"),
    _not_memory("misaligned", "misalignedaddress"),
    _not_memory("illegal_instruction", "anillegalinstructionwasencountered"),
    _not_memory("device_assert", "device-sideasserttriggered"),
    _not_memory("device_assert", "cudaruntimeerror(59)", r"cudaruntimeerror\((?:59|710)\)"),
    _not_memory(
        "device_assert",
        "assertion`",
        r"(?:\[\d+,\d+,\d+\],?thread:?\[\d+,\d+,\d+\])?assertion`[^`']{1,120}['`]failed",
    ),
    _not_memory("bad_index", "indexerror:indexoutofrangeinself"),
    _not_memory("bad_index", "isoutofbounds", r"(?:target|index)-?\d+isoutofbounds"),
    _not_memory("launch_resources", "toomanyresourcesrequestedforlaunch"),
    _not_memory("launch_resources", "launch_out_of_resources"),
    _not_memory("launch_config", "invalidconfigurationargument"),
    _not_memory("launch_failure", "unspecifiedlaunchfailure"),
    _not_memory("launch_failure", "cudaruntimeerror(4)"),
    _not_memory("launch_timeout", "launchtimedoutandwasterminated"),
)

DRIVER = (
    _not_memory(
        "busy_unavailable",
        "busyorunavailable",
        r"(?:allcuda-capabledevicesare|cuda-capabledevice\(s\)is/are)busyorunavailable",
    ),
    _not_memory("gpu_lost", "gpuislost", r"gpuislost(?:\.rebootthesystem\w*)?"),
    _not_memory(
        "gpu_lost",
        "unabletodeterminethedevicehandle",
        r"unabletodeterminethedevicehandleforgpu\S{0,40}?:(?:gpuislost|unknownerror)",
    ),
    _not_memory("gpu_lost", "nodeviceswerefound"),
    _not_memory("gpu_lost", "devicelosterror", r"vk::devicelosterror"),
    _not_memory("gpu_lost", "vk_error_device_lost"),
    _not_memory("xpu_lost", "_error_device_lost", "(?:ur_result|ze_result|pi)_error_device_lost"),
    _not_memory("hsa_resources", "hsa_status_error_out_of_resources"),
    _not_memory("hpu_busy", "devicealreadyacquired"),
    _not_memory("xid", "nvrm:xid", r"nvrm:xid\(pci:[^)]*\):(?P<status>\d+)"),
    # NVML only tells of devices: a program goes on without it, and fails of something else.
    _not_memory("nvml_mismatch", "driver/libraryversionmismatch", severity=Severity.WARNING),
    _not_memory("nvml_blocked", "gpuaccessblockedbytheoperatingsystem", severity=Severity.WARNING),
    _not_memory(
        "nvml",
        "failedtoinitializenvml",
        r"failedtoinitializenvml:(?P<status>[a-z/]{3,40})",
        Severity.WARNING,
    ),
    _not_memory(
        "mps_server", "mpsclientfailedtoconnect", r"(?:error805:)?mpsclientfailedtoconnect"
    ),
    _not_memory(
        "device_count",
        "unexpectederrorfromcudagetdevicecount",
        r"unexpectederrorfromcudagetdevicecount\S{0,160}?error(?P<status>\d+)",
    ),
    _not_memory("forked", "cannotre-initializecudainforkedsubprocess"),
    _not_memory("peers", "peermappingresourcesexhausted"),
    _not_memory("ecc", "uncorrectableecc", r"uncorrectableecc(?:error)?"),
    _not_memory("hardware", "cudaerror:hardware", r"cudaerror:hardware\w*"),
    _not_memory("capture", "operationnotpermittedwhenstreamiscapturing"),
    _not_memory("capture", "previouserrorduringcapture"),
    _not_memory("capture", "cudaerrorstreamcapture", "(?<!for`)cudaerrorstreamcapture"),
    _not_memory("no_kernel_image", "nokernelimageisavailable"),
    _not_memory(
        "no_kernel_image", "failedwitherror", r"cuda(?:execution)?failedwitherror(?:98|209)(?!\d)"
    ),
    _not_memory(
        "unknown_error",
        "failedwitherror",
        r"cuda(?:execution)?failedwitherror(?P<status>(?!(?:2|77|700)(?!\d))\d+)",
    ),
    _not_memory("no_kernel_image", "cudaerror:invaliddevicefunction"),
    _not_memory("no_device", "nocuda-capabledeviceisdetected"),
    _not_memory("no_device", "nocudagpusareavailable"),
    _not_memory("hpu_busy", "]deviceacquirefailed"),
    _not_memory("no_device", "invaliddeviceordinal"),
    _not_memory("no_device", "foundnonvidiadriver"),
    _not_memory("old_driver", "nvidiadriveronyoursystemistooold"),
    _not_memory("old_driver", "cudadriverversionisinsufficient"),
    _not_memory("old_driver", "systemhasunsupporteddisplaydriver"),
    _not_memory("built_without", "torchnotcompiledwithcudaenabled"),
    _not_memory(
        "unknown_error", "cudaruntimeerror(", r"cudaruntimeerror\((?!2\))(?P<status>\d+)\)"
    ),
    _not_memory(
        "unknown_error",
        "cudaerror:",
        r"(?<!unhandled)cudaerror:(?!outofmemory|cublas|cusparse)(?P<status>[a-z-]{4,60})",
    ),
    _not_memory("unknown_error", "hiperror:", r"hiperror:(?!outofmemory)(?P<status>[a-z-]{4,60})"),
)

FILES = (
    _not_memory("corrupt_checkpoint", "storagehaswrongsize"),
    _not_memory("corrupt_checkpoint", "pytorchstreamreaderfailed"),
    _not_memory("corrupt_checkpoint", "invalidloadkey"),
    _not_memory("corrupt_checkpoint", "corruptedfile"),
    _not_memory("corrupt_checkpoint", "errorwhiledeserializingheader"),
    _not_memory("open_files", "toomanyopenfiles", r"(?:\[errno24\])?toomanyopenfiles"),
    _not_memory("open_files", "itemsofancdata", r"received0itemsofancdata"),
    _not_memory("disk_full", "nospaceleftondevice"),
    _not_memory("disk_full", "errno28]", r"\[errno28\]"),
    _not_memory("disk_full", "diskquotaexceeded"),
    _not_memory("disk_full", "notenoughspaceonthedisk"),
    _not_memory(
        "disk_full",
        "writerfailedwriting",
        r"pytorchstreamwriterfailedwriting(?:file\S{1,60}?:filewritefailed)?",
    ),
    _not_memory("disk_full", "write():fd", r"write\(\):fd\d+failedwith"),
)

CRASHES = (
    _not_memory(
        "crash", "killedbysignal:segmentation", r"killedbysignal:(?P<status>segmentationfault)"
    ),
    _not_memory(
        "crash",
        "coredumped",
        r"(?P<status>floatingpointexception|segmentationfault|aborted|illegalinstruction|buserror)\(coredumped\)",
    ),
    _not_memory("crash", "fatalpythonerror", r"fatalpythonerror:(?P<status>[a-z]{5,30})"),
    # How launchers tell by which signal a process ended. 9 is told as killed, 7 as shared memory.
    _not_memory("crash", "exitcode", r"exitcode:?(?P<status>-(?:4|6|8|11))(?!\d)"),
    _not_memory(
        "crash",
        "(sig",
        r"signal:?\d{1,2}\((?P<status>sig(?:segv|abrt|fpe|ill))\)(?:receivedbypid\d*)?",
    ),
    _not_memory(
        "crash", "signals.sig", r"died.{0,20}signals\.(?P<status>sig(?:segv|abrt|fpe|ill))"
    ),
    _not_memory("crash", "doublefreeorcorruption"),
    _not_memory(
        "crash", "():invalid", r"(?:free|munmap_chunk|realloc)\(\):invalid(?:pointer|size|nextsize)"
    ),
    _not_memory("crash", "corrupteddouble-linkedlist"),
)

VIEWER = (
    Wording(
        "viewer.unpickle_error", "viewer", "unsupportednumberbiggerthan8bytes", device_memory=False
    ),
)
NOT_MEMORY = (*KERNEL_ERRORS, *DRIVER, *FILES, *CRASHES, *VIEWER)
