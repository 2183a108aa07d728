"""Sentences for memory that is not on the device: RAM, pinned and shared memory, killed processes.

Also the budgets of serving engines and the shared memory inside a kernel. Patterns are in small
letters without spaces.
"""

from __future__ import annotations

from memtrack.diagnosis.reading.failure import Severity
from memtrack.diagnosis.reading.wording import Field, Wording, count, size

_YOU_TRIED = (size("requested", "youtriedtoallocate"),)
_NUMBER = r"(\d+(?:\.\d+)?)"

HOST = (
    Wording(
        "cpu_oom",
        "cpu_oom",
        "defaultcpuallocator:",
        r"defaultcpuallocator:(?:can'?tallocatememory|notenoughmemory)?(?::?youtriedtoallocate\d+bytes\.?)?",
        device_memory=False,
        fields=_YOU_TRIED,
        reach=140,
    ),
    Wording(
        "cpu_oom.legacy",
        "cpu_oom",
        "cpuallocator.cpp",
        r"enforcefailatcpuallocator\.cpp:\d+\]posix_memalign\([^)]*\)==0\.?12vs\.?0",
        device_memory=False,
    ),
    Wording(
        "cpu_oom.torch7",
        "cpu_oom",
        "torch:notenoughmemory:",
        r"\$?torch:notenoughmemory:youtriedtoallocate\d+[gmk]?b?",
        device_memory=False,
        fields=_YOU_TRIED,
        reach=100,
    ),
    Wording(
        "host.numpy_memory",
        "host",
        "arraymemoryerror",
        r"(?:arraymemoryerror|memoryerror):unabletoallocate[\d.]+[kmgtp]?i?b(?:ytes)?",
        device_memory=False,
        fields=(size("requested", "unabletoallocate"),),
        reach=80,
    ),
    Wording(
        "host.numpy_memory",
        "host",
        "unabletoallocate",
        r"unabletoallocate[\d.]+[kmgtp]i?bforanarraywithshape",
        device_memory=False,
        fields=(size("requested", "unabletoallocate"),),
        reach=80,
    ),
    Wording(
        "host.opencv",
        "host",
        "insufficientmemory",
        r"insufficientmemory\W{0,3}failedtoallocate\d+bytes",
        device_memory=False,
        fields=(size("requested", "failedtoallocate"),),
        reach=80,
    ),
    Wording(
        "host.bad_alloc",
        "host",
        "std::bad_alloc",
        r"std::bad_alloc(?!:out_of_memory)",
        device_memory=False,
    ),
    Wording(
        "host.enomem",
        "host",
        "errno12",
        r"\[?errno12\]?\W{0,3}cannotallocatememory",
        device_memory=False,
    ),
    Wording(
        "host.memory_error",
        "host",
        "memoryerror",
        r"(?<![a-z_.])memoryerror(?::|$)",
        device_memory=False,
    ),
    Wording(
        "host_pinned.code",
        "host_pinned",
        "cudahostalloc",
        r"cudahost(?:alloc|register)\S{0,60}?(?:outofmemory|failed)",
        device_memory=False,
    ),
    Wording(
        "host_pinned.thread",
        "host_pinned",
        "inpinmemorythread",
        r"caught\w*errorinpinmemorythread",
        device_memory=False,
    ),
)

SHARED = (
    Wording(
        "shm_bus_error",
        "shm_bus_error",
        "unexpectedbuserrorencounteredinworker",
        r"unexpectedbuserrorencounteredinworker(?:\.thismightbecausedbyinsufficientsharedmemory\(shm\))?",
        device_memory=False,
    ),
    Wording(
        "shm_bus_error.worker",
        "shm_bus_error",
        "killedbysignal:buserror",
        r"killedbysignal:buserror(?:\.itispossiblethatdataloader'sworkersareoutofsharedmemory)?",
        device_memory=False,
    ),
    Wording(
        "shm_bus_error.mmap",
        "shm_bus_error",
        "unabletommap",
        r"unabletommap\d+bytesfromfile\S{0,80}?cannotallocatememory",
        device_memory=False,
        fields=(size("requested", "unabletommap"),),
        reach=60,
    ),
    Wording(
        "shm_bus_error.open",
        "shm_bus_error",
        "sharedmemoryobject",
        r"unableto(?:open|write|resize)(?:to)?(?:the)?sharedmemoryobject",
        device_memory=False,
    ),
    Wording(
        "shm_bus_error.space",
        "shm_bus_error",
        "nospaceleftondevice",
        r"(?:/dev/shm|torch_\d+)\S{0,120}?nospaceleftondevice|nospaceleftondevice\S{0,60}?/dev/shm",
        device_memory=False,
    ),
)

KILLED = (
    Wording(
        "host.oom_killed.kernel_log",
        "host",
        "killedprocess",
        r"(?:outofmemory|memorycgroupoutofmemory)\W{0,2}killedprocess\d*",
        device_memory=False,
        fields=(size("process", "anon-rss:"),),
        reach=160,
    ),
    Wording(
        "host.oom_killed.cgroup", "host", "oom-kill", r"oom[-_]kill(?:er|ed)?", device_memory=False
    ),
    Wording("host.oom_killed.slurm", "host", "oom_kill", r"oom[-_]kill\w*", device_memory=False),
    Wording("host.oom_killed.kubernetes", "host", "oomkilled", device_memory=False),
    Wording(
        "host.oom_killed.worker",
        "host",
        "killedbysignal:killed",
        r"dataloaderworker\(pid\S{0,20}?\)iskilledbysignal:killed",
        device_memory=False,
    ),
    Wording(
        "host.oom_killed.code",
        "host",
        "exit",
        r"exit(?:s|ed)?(?:with)?(?:return)?(?:code|status)[=:]?-9(?!\d)",
        device_memory=False,
    ),
    Wording(
        "host.oom_killed.code",
        "host",
        "returncode",
        r"returncode[=:]?-9(?!\d)",
        device_memory=False,
    ),
    Wording(
        "host.oom_killed.137",
        "host",
        "137",
        r"(?:exit(?:ed)?(?:with)?(?:code|status)|non-zeroexitstatus)[=:]?137(?!\d)",
        device_memory=False,
    ),
    Wording(
        "host.oom_killed.signal",
        "host",
        "sigkill",
        r"(?:exitcode:?-9\S{0,40}?)?signal:?9\(sigkill\)|died.{0,40}<?sigkill",
        device_memory=False,
    ),
    Wording(
        "host.oom_killed.launcher",
        "host",
        "killingsubprocess",
        r"killingsubprocess\d*",
        device_memory=False,
    ),
    Wording("host.oom_killed.ray", "host", "duetothenoderunninglowonmemory", device_memory=False),
    Wording(
        "host.ram_session",
        "host",
        "availableram",
        r"sessioncrashedafterusingallavailableram",
        device_memory=False,
    ),
    Wording(
        "host.ram_session",
        "host",
        "morememorythanisavailable",
        r"notebooktriedtoallocatemorememorythanisavailable",
        device_memory=False,
    ),
    Wording(
        "host.exited_unexpectedly",
        "host",
        "exitedunexpectedly",
        r"dataloaderworker\(pid(?:\(s\))?[\d,]*\)exitedunexpectedly",
        device_memory=False,
    ),
    Wording(
        "jupyter.kernel_died",
        "jupyter",
        "appearstohavedied",
        r"kernelappearstohavedied",
        device_memory=False,
    ),
    Wording(
        "jupyter.kernel_died",
        "jupyter",
        "kerneldied",
        r"(?:deadkernelerror:)?kerneldied(?:beforereplying)?",
        device_memory=False,
    ),
    Wording(
        "jupyter.kernel_died",
        "jupyter",
        "thekernelcrashed",
        "thekernelcrashedwhileexecutingcode",
        device_memory=False,
    ),
    Wording(
        "jupyter.kernel_died",
        "jupyter",
        "kernelrestarter",
        r"kernelrestarter:restartingkernel",
        device_memory=False,
    ),
)

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
    Wording("vllm.profiling", "vllm", "errorinmemoryprofiling"),
    Wording(
        "vllm.sglang",
        "vllm",
        "--mem-fraction-static",
        r"notenoughmemory\.?pleasetrytoincrease--mem-fraction-static",
    ),
    Wording("vllm.tgi", "vllm", "prefilltokens", r"notenoughmemorytohandle\d+prefilltokens"),
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
OUTSIDE = (*HOST, *SHARED, *KILLED, *SERVING, *KERNELS, *WARNINGS)
