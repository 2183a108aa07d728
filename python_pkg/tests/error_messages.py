"""Error messages of every kind, made up: with figures of choice, and mangled as reports mangle them."""

import html
import json
import random
import re
from dataclasses import dataclass, field
from fractions import Fraction

UNITS = (("GiB", 30), ("MiB", 20), ("KiB", 10))


@dataclass
class Message:
    """A text and what must be read from it; sizes in bytes."""

    text: str
    kind: str
    device_memory: bool = True
    numbers: dict = field(default_factory=dict)
    processes: list = field(default_factory=list)


def size(number, unit):
    """Return a printed size and its bytes, as PyTorch prints: two decimals, `bytes` below 1 KiB."""
    if unit == "bytes":
        return f"{number} bytes", number
    printed = f"{number / 100:.2f}"
    return f"{printed} {unit}", round(Fraction(printed) * (1 << dict(UNITS)[unit]))


class Figures:
    """Draws sizes and keeps what was drawn under its name."""

    def __init__(self, draw):
        self._draw = draw
        self.numbers = {}

    def __call__(self, name):
        printed, exact = size(*self._draw())
        self.numbers[name] = exact
        return printed


HINTS = (
    "",
    (
        " If reserved memory is >> allocated memory try setting max_split_size_mb to avoid fragmentation."
        "  See documentation for Memory Management and PYTORCH_CUDA_ALLOC_CONF"
    ),
    (
        " If reserved but unallocated memory is large try setting PYTORCH_CUDA_ALLOC_CONF=expandable_seg"
        "ments:True to avoid fragmentation.  See documentation for Memory Management  (https://pytorch.o"
        "rg/docs/stable/notes/cuda.html#environment-variables)"
    ),
    (
        " If reserved but unallocated memory is large try setting PYTORCH_ALLOC_CONF=expandable_segments"
        ":True to avoid fragmentation."
    ),
)
CLASSES = ("", "RuntimeError: ", "torch.cuda.OutOfMemoryError: ", "torch.OutOfMemoryError: ")
DEVICES = (("CUDA", "cuda_oom"), ("HIP", "hip_oom"), ("XPU", "xpu_oom"), ("NPU", "npu_oom"))


def parenthesis(draw, choose):
    """The form until 2.0, with `cached` (1.0-1.3) or `reserved` and the optional limit (1.8+)."""
    figure = Figures(draw)
    name, kind = choose(DEVICES)
    text = (
        f"{choose(CLASSES)}{name} out of memory. Tried to allocate {figure('requested')} (GPU 3; "
    )
    text += f"{figure('total')} total capacity; {figure('allocated')} already allocated; "
    if choose((True, True, False)):
        text += f"{figure('free')} free; "
    if choose((True, False)):
        text += f"{figure('cached')} cached)"
        figure.numbers["reserved_unallocated"] = figure.numbers["cached"]
    else:
        if choose((True, False, False)):
            text += f"{figure('allowed')} allowed; "
        text += f"{figure('reserved')} reserved in total by PyTorch){choose(HINTS)}"
    return Message(text, kind, True, figure.numbers)


def sentences(draw, choose):
    """The form from 2.1 on, its clauses present or not, its processes before or after this one."""
    figure = Figures(draw)
    name, kind = choose(DEVICES)
    spelt = choose(("capacity", "capacty"))
    text = f"{choose(CLASSES)}{name} out of memory. Tried to allocate {figure('requested')}. "
    text += f"GPU 0 has a total {spelt} of {figure('total')}"
    text += f" of which {figure('free')} is free. " if choose((True, True, False)) else ". "
    processes = []
    own = choose((0, 1, 2, None))
    for index in range(choose((0, 1, 3))):
        if own == index:
            text += "Including non-PyTorch memory, this process has "
            text += f"{figure('process')} memory in use. "
        printed, exact = size(*draw())
        processes.append((1000 + index, exact))
        text += f"Process {1000 + index} has {printed} memory in use. "
    if choose((True, False, False)):
        text += f"{figure('allowed')} allowed; "
    text += f"Of the allocated memory {figure('allocated')} is allocated by PyTorch, "
    if choose((True, False)):
        text += f"with {figure('private_pools')} allocated in private pools (e.g., CUDA Graphs), "
    text += f"and {figure('reserved_unallocated')} is reserved by PyTorch but unallocated."
    return Message(text + choose(HINTS), kind, True, figure.numbers, processes)


def metal(draw, choose):
    """Apple's backend, with and without a limit; older builds call the units GB."""
    figure = Figures(draw)
    text = f"MPS backend out of memory (MPS allocated: {figure('allocated')}, other allocations: "
    text += figure("other")
    text += f", max allowed: {figure('allowed')}" if choose((True, False)) else ""
    pool = choose(("private", "shared"))
    text += f"). Tried to allocate {figure('requested')} on {pool} pool."
    if choose((True, False)):
        text = re.sub(r"([GMK])iB", r"\1B", text)
    return Message(text, "mps_oom", True, figure.numbers)


def pooled(draw, choose):
    """The five lines of cudaMallocAsync, with or without a limit."""
    figure = Figures(draw)
    text = "Allocation on device 0 would exceed allowed memory. (out of memory)\n"
    text += f"Currently allocated     : {figure('allocated')}\n"
    text += f"Requested               : {figure('requested')}\n"
    text += f"Device limit            : {figure('total')}\n"
    text += f"Free (according to CUDA): {figure('free')}\n"
    limit = figure("allowed") if choose((True, False)) else "17179869184.00 GiB"
    text += (
        f"PyTorch limit (set by user-supplied memory fraction)\n                        : {limit}"
    )
    return Message(text, "cuda_malloc_async", True, figure.numbers)


def computer(draw, choose):
    """The allocator of the CPU, in whole bytes."""
    amount = draw()[0] * 4096
    where = choose(
        ("CPUAllocator.cpp:65", "alloc_cpu.cpp:127", "..\\c10\\core\\impl\\alloc_cpu.cpp:72")
    )
    words = choose(("can't allocate memory", "not enough memory"))
    text = f"RuntimeError: [enforce fail at {where}] . DefaultCPUAllocator: {words}: you tried to "
    text += f"allocate {amount} bytes. Error code 12 (Cannot allocate memory)"
    return Message(text, "cpu_oom", False, {"requested": amount})


def kernel(draw, choose):
    """Triton's shared memory, in bytes without a unit."""
    required, limit = draw()[0], draw()[0]
    comma = choose((", ", ""))
    text = f"triton.runtime.errors.OutOfResources: out of resource: shared memory{comma}Required: "
    text += f"{required}{comma}Hardware limit: {limit}"
    return Message(text, "triton", False, {"required": required, "limit": limit})


FIXED = (
    ("RuntimeError: CUDA error: out of memory", "cuda_error", True),
    (
        (
            "torch.AcceleratorError: CUDA error: out of memory\nSearch for `cudaErrorMemoryAllocation' in"
            " https://docs.nvidia.com/cuda/ for more information."
        ),
        "cuda_error",
        True,
    ),
    (
        "RuntimeError: cuda runtime error (2) : out of memory at /t/THC.cu:58",
        "cuda_runtime_error_2",
        True,
    ),
    (
        "RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`",
        "cublas",
        True,
    ),
    ("RuntimeError: cuDNN error: CUDNN_STATUS_ALLOC_FAILED", "cudnn", True),
    ("RuntimeError: cuFFT error: CUFFT_ALLOC_FAILED", "cufft", True),
    ("NCCL WARN Cuda failure 2 'out of memory'", "nccl", True),
    (
        'RuntimeError: NVML_SUCCESS == r INTERNAL ASSERT FAILED at "../c10/x.cpp":31',
        "not_oom_text",
        True,
    ),
    ("RuntimeError: CUDA error: invalid configuration argument", "not_oom", False),
    ("OSError: [Errno 28] No space left on device", "not_oom", False),
    ("OSError: [Errno 122] Disk quota exceeded: 'last.ckpt'", "not_oom", False),
    (
        "RuntimeError: level_zero backend failed with error: 20 (UR_RESULT_ERROR_DEVICE_LOST)",
        "not_oom",
        False,
    ),
    (
        "RuntimeError: synStatus=20 [Device already acquired] Device acquire failed.",
        "not_oom",
        False,
    ),
    ("OSError: [Errno 24] Too many open files", "not_oom", False),
    ("RuntimeError: parallel_for failed: out of memory", "third_party", True),
    ("Vulkan Error, code=-2: VK_ERROR_OUT_OF_DEVICE_MEMORY", "third_party", True),
    ("*** Error in `python3': free(): invalid pointer: 0x00007fe6609eab80 ***", "not_oom", False),
    ("RuntimeError: CUDA error: an illegal memory access was encountered", "not_oom", False),
    ("RuntimeError: CUDA error: device-side assert triggered", "not_oom", False),
    ("RuntimeError: CUDA error: unspecified launch failure", "not_oom", False),
    ("Failed to initialize NVML: Driver/library version mismatch", "not_oom", False),
    ("NVRM: Xid (PCI:0000:44:00): 79, GPU has fallen off the bus", "not_oom", False),
    (
        "RuntimeError: DataLoader worker (pid 99) is killed by signal: Bus error.",
        "shm_bus_error",
        False,
    ),
    ("exits with return code = -9", "host", False),
    (
        "RuntimeError: indice.cu 77 cuda execution failed with error 2",
        "third_party",
        True,
    ),
    ("MemoryError: std::bad_alloc: cudaErrorMemoryAllocation: out of memory", "third_party", True),
    ("MemoryError: std::bad_alloc: get_temporary_buffer failed", "third_party", True),
    (
        "RuntimeError: CUDA error: operation not permitted when stream is capturing",
        "not_oom",
        False,
    ),
    (
        "E1 api.py:9] failed (exitcode: -11) local_rank: 0 (pid: 28) of binary: python",
        "not_oom",
        False,
    ),
    ("RuntimeError: No executable batch size found, reached zero.", "placement", True),
    ("OSError: Memory mapping file failed: Cannot allocate memory", "host", False),
    ("The kernel appears to have died. It will restart automatically.", "jupyter", False),
    ("ValueError: No available memory for the cache blocks.", "vllm", True),
)


def fixed(draw, choose):
    """A sentence without figures."""
    return Message(*choose(FIXED))


# Sentences of other libraries and runtimes with one size in bytes, under the names that they go by.
IN_BYTES = (
    (
        "XlaRuntimeError: RESOURCE_EXHAUSTED: Failed to allocate request for 1.23GiB ({0}B) on device ordinal 1",
        "third_party",
        True,
    ),
    (
        "RuntimeError: Resource exhausted: Out of memory while trying to allocate {0} bytes.",
        "third_party",
        True,
    ),
    (
        (
            "cuda_driver.cc:831] failed to allocate 4.00G ({0} bytes) from device: CUDA_ERROR_OUT_OF_MEMORY:"
            " out of memory"
        ),
        "third_party",
        True,
    ),
    (
        (
            "[TRT] Requested amount of GPU memory ({0} bytes) could not be allocated. There may not be enough"
            " free memory for allocation to succeed."
        ),
        "third_party",
        True,
    ),
    (
        "RuntimeError: [Rank:2] FATAL ERROR :: MODULE:PT_DEVMEM Allocation failed for size::{0} (12)MB",
        "hpu_oom",
        True,
    ),
    (
        "misc/shmutils.cc:71 NCCL WARN Error: failed to extend /dev/shm/nccl-a1B2c3 to {0} bytes",
        "shm_bus_error",
        False,
    ),
    (
        (
            "misc/shmutils.cc:114 NCCL WARN Error while creating shared memory segment /dev/shm/nccl-Zz0Yx9"
            " (size {0})"
        ),
        "shm_bus_error",
        False,
    ),
)


IN_BYTES += (
    (
        (
            "Error in allocMemory at a.cpp:9: Error: 'err == cudaSuccess' failed: alloc fail type Flat dev 2"
            " space Device stream 0 size {0} bytes (cudaMalloc error out of memory [2])"
        ),
        "third_party",
        True,
    ),
    (
        "RuntimeError: Failed to cudaMalloc {0} bytes on device 1 (error 2 out of memory",
        "third_party",
        True,
    ),
    ("pyarrow.lib.ArrowMemoryError: realloc of size {0} failed", "host", False),
    (
        "result.cc:28: ValueOrDie called on an error: Out of memory: malloc of size {0} failed",
        "host",
        False,
    ),
    (
        "include/shm.h:48 NCCL WARN Error while creating shared memory segment nccl-shm-recv-1a2b-1-2-3 (size {0})",
        "shm_bus_error",
        False,
    ),
    (
        (
            "ggml_vulkan: Device memory allocation of size {0} failed.\nggml_vulkan:"
            " vk::Device::allocateMemory: ErrorOutOfDeviceMemory"
        ),
        "third_party",
        True,
    ),
)


def in_bytes(draw, choose):
    """A sentence of another library, with what it asked for in whole bytes."""
    text, kind, device_memory = choose(IN_BYTES)
    _, exact = size(*draw())
    return Message(text.format(exact), kind, device_memory, {"requested": exact})


def three_digits(draw, choose):
    """NumPy's sizes, which have three digits: `1.50 GiB`, `58.0 GiB`, `926. GiB`."""
    number, _ = draw()
    unit, power = choose(UNITS)
    value = 1 + number % 999
    point = choose((0, 1, 2))
    printed = (f"{value}.", f"{value / 10:.1f}", f"{value / 100:.2f}")[point]
    exact = round(Fraction(printed.rstrip(".")) * (1 << power))
    text = f"MemoryError: Unable to allocate {printed} {unit} for an array with shape (3, 4) and data type float32"
    return Message(text, "host", False, {"requested": exact})


KINDS = (parenthesis, sentences, metal, pooled, computer, kernel, fixed, in_bytes, three_digits)

_NOISE = (
    "INFO: epoch 3/10 step 1234 loss 0.4321 lr 1e-4",
    "Loading checkpoint shards: 100%|##########| 3/3 [00:12<00:00,  4.1s/it]",
    '  File "train.py", line 12, in main',
    "    loss.backward()",
    "Traceback (most recent call last):",
    "[W socket.cpp:663] [c10d] The client socket has failed to connect",
    "warnings.warn('something else entirely')",
)


def _each_line(prefix):
    return lambda text, random: "\n".join(prefix(random) + line for line in text.split("\n"))


def _wrapped(text, random):
    """Wrap at words, as mail does."""
    width, lines = random.randint(30, 100), [""]
    for word in text.split(" "):
        if len(lines[-1]) + len(word) > width:
            lines.append("")
        lines[-1] += (" " if lines[-1] else "") + word
    return "\n".join(lines)


def _cut_lines(text, random):
    """Wrap at a column, in the middle of words and figures, as terminals do."""
    width = random.randint(50, 120)
    return "\n".join(text[i : i + width] for i in range(0, len(text), width))


def _coloured(text, random):
    at = random.randrange(len(text) + 1)
    return f"\x1b[36m{text[:at]}\x1b[0m{text[at:]}"


def _among_noise(text, random):
    before = "\n".join(random.choices(_NOISE, k=random.randint(0, 8)))
    after = "\n".join(random.choices(_NOISE, k=random.randint(0, 8)))
    return f"{before}\n{text}\n{after}"


MANGLINGS = {
    "rank": _each_line(lambda _: "[rank3]: "),
    "quoted": _each_line(lambda _: "> "),
    "comment": _each_line(lambda _: "# "),
    "ray": _each_line(
        lambda r: f"(Trainer pid={r.randint(1, 99999)}, ip=10.0.0.{r.randint(1, 9)}) "
    ),
    "ray colours": _each_line(lambda r: f"\x1b[36m(TaskRunner pid={r.randint(1, 9999)})\x1b[0m "),
    "vllm": _each_line(lambda r: f"ERROR 04-01 23:46:{r.randint(10, 59)} [engine.py:160] "),
    "time": _each_line(lambda r: f"2026-03-04 12:13:{r.randint(10, 59)},123 ERROR: "),
    "iso": _each_line(lambda _: "2026-03-04T12:13:14.1234567Z "),
    "logger": _each_line(lambda _: "ERROR    | 2024-08-21 22:56:04 | app.common:wrapper:121 - "),
    "compose": _each_line(lambda _: "worker_1  | "),
    "pytest": _each_line(lambda _: "E       "),
    "container": _each_line(lambda _: "2026-03-04T12:13:14.123456789Z stderr F "),
    "journal": _each_line(
        lambda r: f"Mar  4 12:13:{r.randint(10, 59)} node7 python3.11[{r.randint(1, 99999)}]: "
    ),
    "syslog": _each_line(
        lambda r: f"2026-03-04T12:13:14+0000 gpu-1.lab train@2[{r.randint(1, 9)}]: "
    ),
    "wrapped": _wrapped,
    "cut": _cut_lines,
    "coloured": _coloured,
    "spaces": lambda text, _: re.sub(r" +", " ", text),
    "joined": lambda text, _: text.replace("\n", " "),
    "crlf": lambda text, _: text.replace("\n", "\r\n"),
    "tags": lambda text, _: f"<p><b>{text}</b></p>".replace("\n", "<br/>\n"),
    "bold": lambda text, _: text.replace("out of memory", "**out of memory**"),
    "wide": lambda text, _: text.replace("(", "（").replace(")", "）").replace(";", "；"),
    "html": lambda text, _: html.escape(text),
    "json": lambda text, _: json.dumps({"error": text}),
    "json twice": lambda text, _: json.dumps({"log": json.dumps({"error": text})}),
    "noise": _among_noise,
}


def mangled(text, names, seed):
    """Return a text mangled in several ways, one after the other."""
    dice = random.Random(seed)
    # Lines are joined before anything stands in them, and not cut twice in what stands in front.
    early = {"joined", "cut"} if "wrapped" in names else {"joined"}
    for name in sorted(names, key=lambda name: name not in early):
        text = MANGLINGS[name](text, dice)
    return text
