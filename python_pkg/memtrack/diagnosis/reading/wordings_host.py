"""Sentences for memory that is not on the device: RAM, pinned and shared memory, killed processes.

Patterns are in small letters without spaces.
"""

from __future__ import annotations

from collections.abc import Sequence

from memtrack.diagnosis.reading.failure import Severity
from memtrack.diagnosis.reading.wording import Field, Wording, count, size


def _host(
    name: str,
    needle: str,
    pattern: str = "",
    fields: Sequence[Field] = (),
    reach: int = 0,
    severity: Severity = Severity.FATAL,
) -> Wording:
    """Return a wording of no device memory; its kind is the part of its name before the dot."""
    kind = name.partition(".")[0]
    return Wording(name, kind, needle, pattern, False, severity, fields, reach)


_OF_A_DEVICE = (
    r"[a-z]{2,12}outofmemory|std::bad_alloc:(?:out_of_memory|(?:get_)?temporary_buffer)"
    r"|(?:std::)?bad_?alloc(?:ation)?:\S{0,200}?cudaerror"
)
"""How libraries go on after Python's `MemoryError` where it was the device that refused."""
_YOU_TRIED = (size("requested", "youtriedtoallocate"),)

HOST = (
    _host(
        "cpu_oom",
        "defaultcpuallocator:",
        r"defaultcpuallocator:(?:can'?tallocatememory|notenoughmemory)?(?::?youtriedtoallocate\d+bytes\.?)?"
        r"(?:errorcode12\(cannotallocatememory\))?",
        fields=_YOU_TRIED,
        reach=140,
    ),
    _host(
        "cpu_oom.legacy",
        "cpuallocator.cpp",
        r"enforcefailatcpuallocator\.cpp:\d+\]posix_memalign\([^)]*\)==0\.?12vs\.?0",
    ),
    _host(
        "cpu_oom.torch7",
        "torch:notenoughmemory:",
        r"\$?torch:notenoughmemory:youtriedtoallocate\d+[gmk]?b?",
        fields=_YOU_TRIED,
        reach=100,
    ),
    _host(
        "host.numpy_memory",
        "arraymemoryerror",
        r"(?:arraymemoryerror|memoryerror):unabletoallocate[\d.]+[kmgtp]?i?b(?:ytes)?",
        fields=(size("requested", "unabletoallocate"),),
        reach=80,
    ),
    _host(
        "host.numpy_memory",
        "unabletoallocate",
        r"unabletoallocate[\d.]+[kmgtp]i?bforanarraywithshape",
        fields=(size("requested", "unabletoallocate"),),
        reach=80,
    ),
    _host("host.numpy_memory", "unabletoallocatearraywithshape"),
    _host(
        "host.tensorflow",
        "oomwhenallocatingtensorwithshape",
        r"oomwhenallocatingtensorwithshape\[?[\d,]*\]?\S{0,160}?device:cpu:\d+",
    ),
    _host(
        "host.opencv",
        "insufficientmemory",
        r"insufficientmemory\W{0,3}failedtoallocate\d+bytes",
        fields=(size("requested", "failedtoallocate"),),
        reach=80,
    ),
    _host(
        "host.bad_alloc",
        "std::bad_alloc",
        r"std::bad_alloc(?!:(?:out_of_memory|cuda|(?:get_)?temporary_buffer))",
    ),
    _host(
        "host.cache",
        "notenoughhostmemoryavailable",
        fields=(size("requested", "requesting"), size("free", "onlyhave")),
        reach=120,
    ),
    # Windows says it in the language of the system; its number is the same in all.
    _host("host.paging_file", "winerror1455", r"winerror1455\](?:thepagingfileistoosmall)?"),
    _host("host.paging_file", "pagingfileistoosmall"),
    _host("host.windows", "winerror", r"winerror(?:8|14|1450)\]"),
    _host("host.level_zero", "_error_out_of_host_memory", "[a-z]{2,9}_error_out_of_host_memory"),
    _host("host.oom_killed.shell", "killed", r"line\d+:\d+killed"),
    _host(
        "host.enomem",
        "errno12",
        r"\[?errno12\]?\W{0,3}cannotallocatememory",
    ),
    _host(
        "host.memory_error",
        "memoryerror",
        r"(?<![a-z_.])memoryerror(?::(?!" + _OF_A_DEVICE + ")|$)",
    ),
    _host(
        "host.arrow",
        "allocofsize",
        r"(?:arrowmemoryerror:|outofmemory:)?(?:m|re)allocofsize\d+failed",
        fields=(count("requested", "ofsize"),),
        reach=60,
    ),
    _host(
        "host.mapping",
        "memorymappingfilefailed",
        r"memorymappingfilefailed(?::cannotallocatememory)?",
    ),
    _host(
        "host_pinned.code",
        "cudahostalloc",
        r"cudahost(?:alloc|register)\S{0,60}?(?:outofmemory|failed)",
    ),
    _host(
        "host_pinned.ggml",
        "ofpinnedmemory",
        r"failedtoallocate[\d.,]+[kmg]i?bofpinnedmemory",
        fields=(size("requested", "failedtoallocate"),),
        reach=60,
        severity=Severity.WARNING,  # it goes on with memory that is not pinned
    ),
    _host(
        "host_pinned.thread",
        "inpinmemorythread",
        r"caught\w*errorinpinmemorythread",
        severity=Severity.WARNING,  # what failed in the thread is told below it
    ),
)

SHARED = (
    _host(
        "shm_bus_error",
        "unexpectedbuserrorencounteredinworker",
        r"unexpectedbuserrorencounteredinworker(?:\.thismightbecausedbyinsufficientsharedmemory\(shm\))?",
    ),
    _host(
        "shm_bus_error.worker",
        "killedbysignal:buserror",
        r"killedbysignal:buserror(?:\.itispossiblethatdataloader'sworkersareoutofsharedmemory)?",
    ),
    _host(
        "shm_bus_error.mmap",
        "unabletommap",
        r"unabletommap\d+bytesfromfile\S{0,80}?cannotallocatememory",
        fields=(size("requested", "unabletommap"),),
        reach=60,
    ),
    _host(
        "shm_bus_error.open",
        "sharedmemoryobject",
        r"unableto(?:open|write|resize)(?:to)?(?:the)?sharedmemoryobject",
    ),
    _host(
        "shm_bus_error.nccl",
        "nccl-",
        r"(?:failedto(?:extend|open|mmap)|sharedmemorysegment)(?:/dev/shm/)?nccl-[\w-]+(?:,error:nospaceleftondevice)?",
        fields=(
            size("requested", r"shm/nccl-\w{1,12}?to"),
            count("requested", r"nccl-[\w-]+\(size"),
        ),
        reach=100,
    ),
    _host(
        "shm_bus_error.nccl",
        "posix_fallocatefailed",
        r"posix_fallocatefailed(?::nospaceleftondevice)?",
    ),
    _host(
        "shm_bus_error.worker",
        "bus",
        r"exitcode:?-7(?!\d)|signal:?7\(sigbus\)|died.{0,40}<?signals\.sigbus",
    ),
    _host(
        "shm_bus_error.space",
        "nospaceleftondevice",
        r"(?:/dev/shm|torch_\d+)\S{0,120}?nospaceleftondevice|nospaceleftondevice\S{0,60}?/dev/shm",
    ),
)

KILLED = (
    _host(
        "host.oom_killed.kernel_log",
        "killedprocess",
        r"(?:outofmemory|memorycgroupoutofmemory)\W{0,2}killedprocess\d*",
        fields=(size("process", "anon-rss:"),),
        reach=160,
    ),
    _host("host.oom_killed.cgroup", "oom-kill", r"oom[-_]kill(?:er|ed)?"),
    _host("host.oom_killed.slurm", "oom_kill", r"detected\d*oom_killevents?|oom_killed?"),
    _host("host.oom_killed.kubernetes", "oomkilled"),
    _host(
        "host.oom_killed.worker",
        "killedbysignal:killed",
        r"dataloaderworker\(pid\S{0,20}?\)iskilledbysignal:killed",
    ),
    _host(
        "host.exited_unexpectedly",
        "iskilledbysignal:",
        r"dataloaderworker\(pid\S{0,20}?\)iskilledbysignal:(?:terminated|aborted|hangup|unknown)",
    ),
    _host(
        "host.oom_killed.code",
        "exit",
        r"exit(?:s|ed)?(?:with)?(?:return)?(?:code|status)[=:]?-9(?!\d)",
    ),
    _host(
        "host.oom_killed.code",
        "returncode",
        r"returncode[=:]?-9(?!\d)",
    ),
    _host(
        "host.oom_killed.137",
        "137",
        r"(?:exit(?:ed)?(?:with)?(?:status)?(?:code|status)|non-zeroexitstatus)[=:]?137(?!\d)",
    ),
    _host(
        "host.oom_killed.signal",
        "sigkill",
        r"(?:exitcode:?-9\S{0,40}?)?signal:?9\(sigkill\)|died.{0,40}<?sigkill",
    ),
    _host(
        "host.oom_killed.launcher",
        "killingsubprocess",
        r"killingsubprocess\d*",
        severity=Severity.WARNING,  # said in whatever order the streams were joined
    ),
    _host("host.oom_killed.ray", "duetothenoderunninglowonmemory"),
    _host(
        "host.oom_killed.ray",
        "killedduetomemorypressure",
        r"(?<!\d)[1-9]\d*workers\S{0,20}?killedduetomemorypressure",
    ),
    _host(
        "host.oom_killed.ray",
        "rayoutofmemoryerror:",
        r"rayoutofmemoryerror:morethan\d+%ofthememory",
    ),
    _host(
        "host.ram_session",
        "availableram",
        r"sessioncrashedafterusingallavailableram",
    ),
    _host(
        "host.ram_session",
        "morememorythanisavailable",
        r"notebooktriedtoallocatemorememorythanisavailable",
    ),
    _host(
        "host.exited_unexpectedly",
        "exitedunexpectedly",
        r"dataloaderworker\(pid(?:\(s\))?[\d,]*\)exitedunexpectedly",
    ),
    _host(
        "jupyter.kernel_died",
        "appearstohavedied",
        r"kernelappearstohavedied",
    ),
    _host(
        "jupyter.kernel_died",
        "kerneldied",
        r"(?:deadkernelerror:)?kerneldied(?:beforereplying)?",
    ),
    _host(
        "jupyter.kernel_died",
        "thekernelcrashed",
        "thekernelcrashedwhileexecutingcode",
    ),
    _host(
        "jupyter.kernel_died",
        "kernelrestarter",
        r"kernelrestarter:restartingkernel",
    ),
    _host("jupyter.kernel_died", "restarted", r"kernel[0-9a-f]{8}-[0-9a-f-]{27}restarted"),
)

SHELL_KILLED = _host("host.oom_killed.shell", "killed")
"""A line of its own, which only the lines can show."""
SYSTEM = (
    # The words of the system for `ENOMEM`, whoever passes them on: after all that says more.
    _host(
        "host.enomem",
        "cannotallocatememory",
        r"(?<!,error12\()cannotallocatememory(?!instatictls|block)",
    ),
)
OUTSIDE = (*HOST, *SHARED, *KILLED, *SYSTEM)
