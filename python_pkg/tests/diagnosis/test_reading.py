"""Texts to failures: wordings one by one, logs with several errors, and logs without end."""

import time
import tracemalloc

import pytest

from memtrack.diagnosis.reading import Severity, read_lines, read_text
from memtrack.units import GIB, KIB, MIB

OLD = (
    "RuntimeError: CUDA out of memory. Tried to allocate 30.00 MiB (GPU 1; 10.00 GiB total capacity;"
    " 8.50 GiB already allocated; 12.00 MiB free; {last})"
)
SENTENCES = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.50 GiB. GPU 2 has a total"
    " capacity of 24.00 GiB of which 512.00 MiB is free. Process 77 has 2.00 GiB memory in use."
    " Including non-PyTorch memory, this process has 21.50 GiB memory in use. Of the allocated memory"
    " 20.00 GiB is allocated by PyTorch, and 256.00 MiB is reserved by PyTorch but unallocated."
)


def only(text):
    (failure,) = read_text(text).failures
    return failure


def test_cached_was_the_unused_part_and_reserved_includes_what_is_allocated():
    before = only(OLD.format(last="100.00 MiB cached"))
    assert before.numbers["cached"] == before.numbers["reserved_unallocated"] == 100 * MIB
    assert "reserved" not in before.numbers
    after = only(OLD.format(last="9.00 GiB reserved in total by PyTorch"))
    assert after.numbers["reserved"] == 9 * GIB
    assert (after.device, after.exception) == (1, "RuntimeError")


def test_sentences_with_processes_in_any_order():
    failure = only(SENTENCES)
    assert failure.numbers == {
        "requested": 3 * GIB // 2,
        "total": 24 * GIB,
        "free": 512 * MIB,
        "process": 43 * GIB // 2,
        "allocated": 20 * GIB,
        "reserved_unallocated": 256 * MIB,
    }
    assert [(one.pid, one.bytes) for one in failure.processes] == [(77, 2 * GIB)]
    assert failure.device == 2
    assert failure.message == SENTENCES


@pytest.mark.parametrize("shown", ["17179869184.00 GiB", "17179869183.95 GiB"])
def test_sizes_of_2_to_the_64_are_no_sizes(shown):
    failure = only(
        SENTENCES.replace("2.00 GiB memory", f"{shown} memory").replace("1.50 GiB.", f"{shown}.")
    )
    assert "requested" not in failure.numbers
    assert set(failure.sentinels) == {"requested", "process"}
    assert failure.processes[0].bytes == -1


def test_a_message_that_ends_after_gpu_is_read():
    failure = only(
        "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU "
    )
    assert failure.numbers == {"requested": 2 * GIB}


@pytest.mark.parametrize(
    ("text", "kind", "numbers"),
    [
        ("CUDA out of memory : tried to allocate 512.00 Gib (only 10.00 Gib free)", "cuda_oom",
         {"requested": 512 * GIB, "free": 10 * GIB}),
        (("MLU out of memory. Tried to allocate 64.00 MiB (MLU 0; 8.00 GiB total capacity; 7.00 GiB"
         " already allocated; 0 bytes free; 7.50 GiB reserved in total by PyTorch)"), "mlu_oom",
         {"requested": 64 * MIB, "total": 8 * GIB, "allocated": 7 * GIB, "free": 0,
          "reserved": 15 * GIB // 2}),
        ("Invalid buffer size: 21.50 GB", "mps_oom", {"requested": 43 * GIB // 2}),
        ("Could not allocate tensor with 4096 bytes. There is not enough GPU video memory available!",
         "directml_oom", {"requested": 4096}),
        (("numpy.core._exceptions._ArrayMemoryError: Unable to allocate 1.50 GiB for an array with"
         " shape (1,) and data type float64"), "host", {"requested": 3 * GIB // 2}),
        ("Out of memory: Killed process 31 (python) total-vm:9kB, anon-rss:2048kB, file-rss:1kB",
         "host", {"process": 2048 * KIB}),
        ("NCCL WARN Cuda failure 2 'out of memory'\nNCCL WARN Failed to CUDA calloc 6291456 bytes",
         "nccl", {"requested": 6291456}),
        (("ValueError: Free memory on device cuda:1 (10.00/24.00 GiB) on startup is less than desired GPU"
         " memory utilization (0.9, 21.50 GiB)."), "vllm",
         {"free": 10 * GIB, "total": 24 * GIB, "desired": 43 * GIB // 2}),
        (("cupy.cuda.memory.OutOfMemoryError: Out of memory allocating 1,024 bytes (allocated so far: 2,048"
         " bytes)."), "third_party", {"requested": 1024, "allocated": 2048}),
        (("jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate"
         " 4096 bytes."), "third_party", {"requested": 4096}),
        ("OSError: [WinError 1455] The paging file is too small", "host", {}),
        (("MemoryError: std::bad_alloc: CUDA error at: /opt/rmm/managed_memory_resource.hpp:73:"
         " cudaErrorMemoryAllocation out of memory"), "third_party", {}),
        ("MemoryError: bad allocation: cudaErrorMemoryAllocation: out of memory", "third_party", {}),
        ("MemoryError: std::bad_alloc", "host", {}),
        ("a.cu 120 cuda execution failed with error 98", "not_oom", {}),
        ("a.cu(190)\ncuda execution failed with error 700", "not_oom", {}),
        ("a.h 168\ncuda failed with error 2 out of memory. use CUDA_LAUNCH_BLOCKING=1", "third_party", {}),
        ("include/shm.h:28 NCCL WARN Call to posix_fallocate failed : No space left on device",
         "shm_bus_error", {}),
        ("  exitcode  : -7 (pid: 34)\n  traceback : Signal 7 (SIGBUS) received by PID 34", "shm_bus_error", {}),
        ("  traceback : Signal 11 (SIGSEGV) received by PID 34", "not_oom", {}),
        ("CalledProcessError: Command '['python3']' died with <Signals.SIGSEGV: 11>.", "not_oom", {}),
        ("CalledProcessError: Command '['python3']' died with <Signals.SIGKILL: 9>.", "host", {}),
        ("./run.sh: line 3: 12345 Killed                  python train.py", "host", {}),
        ("loss 0.1\nKilled\n", "host", {}),
        ("RuntimeError: UR error: 39 (UR_RESULT_ERROR_OUT_OF_DEVICE_MEMORY)", "xpu_oom", {}),
        ("alloc_buffer: allocating 512.00 MiB on device 0: cudaMalloc failed: out of memory", "third_party",
         {"requested": 512 * MIB}),
        ("RuntimeError: DataLoader worker (pid 2) is killed by signal: Segmentation fault", "not_oom", {}),
        ("RuntimeError: DataLoader worker (pid 2) is killed by signal: Terminated.", "host", {}),
        ("E cuda_driver.cc:802] failed to alloc 4096 bytes on host: CUDA_ERROR_OUT_OF_MEMORY: out of memory",
         "host_pinned", {"requested": 4096}),
        ("Call rtMalloc fail, purpose: page caching, type = 2, size:4096, device_id:0", "npu_oom",
         {"requested": 4096}),
        ("ValueError: Loaded weights leave no GPU memory for the KV cache", "vllm", {}),
        ("RuntimeError: CUDA error: too many resources requested for launch", "not_oom", {}),
        ("RuntimeError: CUDA error: peer mapping resources exhausted", "not_oom", {}),
        ("ValueError: Not enough host memory available. Requesting 40.00 GB but only have 44.50 GB free.",
         "host", {"requested": 40 * GIB, "free": 89 * GIB // 2}),
        ("Exception: CUresult error result=2 file=csrc/x.cpp func=cu_mem_create", "cuda_driver", {}),
        ("RuntimeError: unable to mmap 8192 bytes from file </torch_1_2>: Cannot allocate memory (12)",
         "shm_bus_error", {"requested": 8192}),
        ("E: NvMapMemAllocInternalTagged: 1075072515 error 12", "jetson", {}),
        (("cuMemAllocAsync failed to allocate 4096 bytes: RESOURCE_EXHAUSTED: : CUDA_ERROR_OUT_OF_MEMORY: out of"
         " memory\n Reported by CUDA: Free memory/Total memory: 1024/8192"), "third_party",
         {"requested": 4096, "free": 1024, "total": 8192}),
        ("host_malloc: failed to allocate 1900,00 MiB of pinned memory: invalid argument", "host_pinned",
         {"requested": 1900 * MIB}),
        (("XlaRuntimeError: RESOURCE_EXHAUSTED: XLA:TPU compile permanent error. Ran out of memory in memory space"
         " hbm. Used 24.00G of 15.50G hbm. Exceeded hbm capacity by 8.50G."), "tpu_oom",
         {"requested": 24 * GIB, "total": 31 * GIB // 2}),
        (("Attempting to reserve 3.50G at the bottom of memory. That was not possible. There are 2.00G free, 0B"
         " reserved"), "tpu_oom", {"requested": 7 * GIB // 2, "free": 2 * GIB}),
        ("Ran out of memory in memory space vmem. Used 32.00M of 16.00M vmem.", "triton",
         {"required": 32 * MIB, "limit": 16 * MIB}),
        (("RuntimeError: Not enough memory, use lower resolution (max approx. 640x640). Need: 1.5GB free, Have:0.5GB"
         " free"), "cuda_oom", {"requested": 3 * GIB // 2, "free": GIB // 2}),
        ("MemoryError: std::bad_alloc: out_of_memory: CUDA error at: rmm/cuda_memory_resource.hpp", "third_party",
         {}),
        ("tmp.h:32: error: ops.h: Cannot allocate memory", "host", {}),
        ("Training task exit with status code 137", "host", {}),
        ("Check failed: cusolverDnCreate(&handle) == CUSOLVER_STATUS_SUCCESS Failed to create cuSolverDN instance.",
         "cusolver", {}),
        ("what():  vk::Queue::submit: ErrorDeviceLost (vk::DeviceLostError)", "not_oom", {}),
        ("RuntimeError: Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, use spawn",
         "not_oom", {}),
        ("Out of memory error on GPU 0. Cannot allocate 145.500000MB GPU memory, available memory is 72.500000MB.",
         "third_party", {"requested": 291 * MIB // 2, "free": 145 * MIB // 2}),
        ("EnforceNotMet: enforce allocating <= available failed, 4096 > 1024", "third_party",
         {"requested": 4096, "free": 1024}),
        (("TotalUsedMemStatistics : 900 plus TotalUsedByEventMemStatistics : 0 and plus alloc size : 300 is more"
         " than total mem size : 1000."), "third_party", {"allocated": 900, "requested": 300, "total": 1000}),
        ("EL0004: Failed to allocate memory.\nFailed to allocate resource[DeviceMemory] with info [size:4096].",
         "npu_oom", {"requested": 4096}),
        ("The DDR address of the MTE instruction is out of range.", "not_oom", {}),
        (("Resource exhausted: OOM when allocating tensor with shape[1,4] and type float on /job:localhost/device:CPU:0"
         " by allocator cpu"), "host", {}),
        (("Resource exhausted: OOM when allocating tensor with shape[1,4] and type float on /job:localhost/device:GPU:0"
         " by allocator GPU_0_bfc"), "third_party", {}),
        ("CUDA error 2 at ggml-cuda.cu:7: out of memory", "third_party", {}),
        ("CUDA failure 2: out of memory ; GPU=0 ; hostname=me ; expr=cudaMalloc(&p, n);", "third_party", {}),
        ("[E] [defaultAllocator.cpp::allocate::3] Error Code 1: Cuda Runtime (out of memory)", "third_party",
         {}),
        ("safeRuntime.cpp (25) - Cuda Error in allocate: 2 (out of memory)", "third_party", {}),
        ("OSError: [WinError 1455] \u9875\u9762\u6587\u4ef6\u592a\u5c0f. Error loading \"C:\\a.dll\"", "host", {}),
        ("MemoryError: Unable to allocate array with shape (8, 8) and data type float64", "host", {}),
        (("(raylet) node_manager.cc:9: 3 Workers (tasks / actors) killed due to memory pressure (OOM), 0 Workers"
         " crashed due to other reasons"), "host", {}),
        ("RayOutOfMemoryError: More than 95% of the memory on node a1 is used (9.5 / 10.0 GB).", "host", {}),
        ("WARNING:root:kernel 01234567-89ab-cdef-0123-456789abcdef restarted", "jupyter", {}),
        (("Allocator (GPU_0_bfc) ran out of memory trying to allocate 2.00MiB with freed_by_count=0. The caller"
         " indicates that this is not a failure, but more memory would help."), "not_oom",
         {"requested": 2 * MIB}),
        (("RuntimeError: NCCL error in: p.cpp:3, unhandled cuda error, NCCL version 2.26.2\nncclUnhandledCudaError"
         ": Call to CUDA function failed.\nLast error:\nCuda failure 2 'out of memory'"), "nccl", {}),
        (("RuntimeError: cusolver error: CUSOLVER_STATUS_INTERNAL_ERROR, when calling"
         " `cusolverDnCreate(handle)`"), "cusolver", {}),
    ],
)  # fmt: skip
def test_other_wordings(text, kind, numbers):
    failure = read_text(text).first
    assert (failure.kind, failure.numbers) == (kind, numbers)


@pytest.mark.parametrize(
    "text",
    [
        "INFO 01-02 10:00:01 [runner.py:5] Capturing graphs. If out-of-memory error occurs, consider decreasing x",
        "2026-01-02 10:00:00 | INFO | engine: 2.50GiB/4.00GiB of the GPU memory are used for the cache",
        "[I:onnxruntime:log, arena.cc:26] Creating an arena for Cuda with memory limit: 18446744073709551615",
        "[22:32:48] [  0.57s] VRAM before cleanup: 0.24GB allocated, 0.25GB reserved\n[22:32:49] Sampling",
        "NCCL INFO Allocated 9637892 bytes of shared memory in /dev/shm/nccl-a1B2c3",
    ],
)
def test_what_a_log_tells_of_memory_is_no_failure(text):
    assert read_text(text).first is None


@pytest.mark.parametrize("code", ["-11 (pid: 9)", "-6 (pid: 9)", "-9 (pid: 9)"])
def test_how_a_process_ended_says_less_than_what_it_failed_of(code):
    text = f"CUDA out of memory. Tried to allocate 2.00 MiB\nfailed (exitcode: {code})"
    assert read_text(text).first.kind == "cuda_oom"


def test_a_block_that_the_platform_refuses_is_intels():
    failure = read_text(
        "RuntimeError: Current platform can NOT allocate memory block with size larger than 4GB! Tried to allocate"
        " 5.00 GB (GPU 0; 15.50 GiB total capacity; 1.00 GiB already allocated; 1.50 GiB reserved in total by PyTorch)"
    ).first
    assert failure.kind == "xpu_oom"
    assert failure.numbers == {
        "requested": 5 * GIB,
        "total": 31 * GIB // 2,
        "allocated": GIB,
        "reserved": 3 * GIB // 2,
    }


def test_a_class_that_is_not_there_is_no_lack_of_memory():
    text = "AttributeError: module 'torch.cuda' has no attribute 'OutOfMemoryError'"
    assert read_text(text).first is None


def test_memory_that_no_computer_lacks_is_not_the_computers():
    told = "ImportError: libgomp.so.1: cannot allocate memory in static TLS block"
    assert read_text(told).first is None


def test_frames_of_colab_are_links():
    text = (
        "[/usr/lib/python3/dist-packages/transformers/trainer_pt_utils.py](https://localhost:8080/#) in"
        " pad_and_concatenate(tensor1, tensor2)\n"
        "     87     # fill it\n"
        "---> 88     result = tensor1.new_full(shape, index)\n"
        "OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB"
    )
    frame = read_text(text).first.frames[-1]
    assert (frame.function, frame.line) == ("pad_and_concatenate", 88)
    assert frame.path.endswith("trainer_pt_utils.py")


def test_no_worker_was_killed_for_memory():
    told = (
        "(raylet) 0 Workers (tasks / actors) killed due to memory pressure (OOM), 2 Workers crashed"
    )
    assert read_text(told).first.kind != "host"


def test_the_error_counts_and_not_what_its_launcher_says_of_it():
    text = (
        "[INFO] [launch.py:316:sigkill_handler] Killing subprocess 40\n"
        "[ERROR] [launch.py:322:sigkill_handler] ['python', 'train.py'] exits with return code = -9"
    )
    assert read_text(text).first.wording == "host.oom_killed.code"


def test_the_reason_is_told_and_not_the_error_that_hides_it():
    text = (
        "NCCL error in: p.cpp:3, unhandled cuda error\nLast error:\nCuda failure 2 'out of memory'"
    )
    reading = read_text(text)
    assert [one.wording for one in reading.failures] == ["nccl.oom"]


def test_a_line_before_the_traceback_has_the_frames_of_the_error_after_it():
    text = (
        "THCudaCheck FAIL file=/p/THCStorage.cu line=5 error=2 : out of memory\n"
        "Traceback (most recent call last):\n"
        '  File "train.py", line 8, in evaluate\n'
        "    output = model(batch)\n"
        "RuntimeError: cuda runtime error (2) : out of memory at /p/THCStorage.cu:5"
    )
    assert [one.function for one in read_text(text).first.frames] == ["evaluate"]


def test_the_kernel_log_is_no_message_of_cuda():
    reading = read_text("[ 12.345678] Out of memory: Killed process 31 (python)")
    assert {one.kind for one in reading.failures} == {"host"}


def test_the_first_cause_comes_before_its_consequences():
    reading = read_text(
        "[rank0]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n"
        "RuntimeError: !handles_.at(i) INTERNAL ASSERT FAILED at x.cpp:487\n"
        "exits with return code = -9\n"
    )
    assert [one.kind for one in reading.failures] == ["cuda_oom", "cuda_driver", "host"]
    assert reading.first.kind == "cuda_oom"


def test_a_warning_gives_way_to_what_ended_the_run():
    attempt = (
        "[W922 05:15:28.1 CUDACachingAllocator.cpp:9] memory allocation failed with OOM on device 0"
        " while trying to allocate 4096 bytes (free: 1024, total: 8192)."
    )
    alone = read_text(attempt)
    assert alone.first.numbers == {"requested": 4096, "free": 1024, "total": 8192}
    assert (alone.first.kind, alone.first.severity) == ("not_oom", Severity.WARNING)
    assert read_text(f"{attempt}\n{SENTENCES}").first.kind == "cuda_oom"


def test_equal_messages_are_counted_and_source_lines_are_no_errors():
    reading = read_text(f'{SENTENCES}\n    if "out of memory" in str(error):\n{SENTENCES}\n')
    assert [one.count for one in reading.failures] == [2]
    source = read_text('    if "CUDA out of memory" in str(error):\n')
    assert all(one.severity is Severity.SYMPTOM for one in source.failures)


@pytest.mark.parametrize(
    "source",
    [
        '    raise RuntimeError("{}")\n    ^^^^^^^^^^^^^^^',
        "    fail('{}')",
        "    raise RuntimeError(\n    ...<3 lines>...\n        '{}'\n    )",
        "----> 3     fail('{}')",
        "      3     raise torch.cuda.OutOfMemoryError('{}')",
    ],
)
def test_a_message_in_the_source_of_its_own_traceback_is_not_another(source):
    frame = 'Traceback (most recent call last):\n  File "train.py", line 3, in step\n'
    message = "CUDA out of memory. Tried to allocate 2.00 GiB"
    told = f"{frame}{source.format(message)}\nRuntimeError: {message}\n"
    (failure,) = read_text(told).failures
    assert (failure.count, failure.exception) == (1, "RuntimeError")
    assert failure.frames[-1].path == "train.py"
    (twice,) = read_text(told + told).failures
    assert twice.count == 2
    assert read_text(f"{frame}{source.format(message)}\nValueError: shapes\n").first is None


def test_an_error_below_a_frame_without_source_is_one():
    frame = 'Traceback (most recent call last):\n  File "<stdin>", line 1, in <module>\n'
    told = f"{frame}RuntimeError: layer 'head': CUDA out of memory. Tried to allocate 2.00 GiB"
    assert only(told).numbers == {"requested": 2 << 30}
    assert only('{"error": "CUDA out of memory. Tried to allocate 2.00 GiB"}').count == 1


def test_frames_of_python_and_of_a_notebook():
    python = only(
        "Traceback (most recent call last):\n"
        '  File "/home/me/train.py", line 12, in main\n'
        "    loss.backward()\n"
        '  File "/usr/lib/python3/site-packages/torch/_tensor.py", line 5, in backward\n'
        f"{SENTENCES}"
    )
    assert [(one.path, one.line, one.function) for one in python.frames] == [
        ("/home/me/train.py", 12, "main"),
        ("/usr/lib/python3/site-packages/torch/_tensor.py", 5, "backward"),
    ]
    assert python.frames[0].source == "loss.backward()"
    notebook = only(f"Cell In[3], line 7\n----> 7 optimizer.step()\n\n{SENTENCES}")
    assert [(one.path, one.line) for one in notebook.frames] == [("Cell In[3]", 7)]


def test_the_last_error_is_told_where_none_is_of_memory():
    reading = read_text("Traceback (most recent call last):\n  x\nValueError: no luck\nbye\n")
    assert (reading.first, reading.last_error) == (None, "ValueError: no luck")


def test_a_log_of_any_length_is_read_once_with_bounded_memory():
    lines = 60_000

    def log():
        for number in range(lines):
            yield f"INFO step {number} loss 0.5 and some more words that fill the line up\n"
            if number == 41_234:
                yield from (f"{line}\n" for line in SENTENCES.split(". "))

    tracemalloc.start()
    reading = read_lines(log())
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert reading.lines == lines + len(SENTENCES.split(". "))
    (failure,) = reading.failures
    assert failure.line == 41_236
    assert failure.numbers["requested"] == 3 * GIB // 2
    assert peak < 8 * MIB


def test_a_line_without_end_is_read_in_pieces():
    reading = read_text("x" * 100_000 + SENTENCES + "y" * 100_000)
    assert reading.first.numbers["total"] == 24 * GIB


def test_many_different_messages_keep_the_first_and_the_last():
    texts = [
        OLD.replace("30.00", f"{index}.00").format(last="1.00 GiB cached") for index in range(2, 90)
    ]
    reading = read_text("\n".join(texts))
    assert reading.failures[0].numbers["requested"] == 2 * MIB
    assert reading.failures[-1].numbers["requested"] == 89 * MIB
    assert len(reading.failures) + reading.left_out == len(texts)


@pytest.mark.parametrize(
    "piece",
    [
        "\\",
        "CUDA error: ",
        "NvMapMem",
        "MPS backend out of memory (MPS allocated: ",
        "(a pid=1",
        "1.",
    ],
)
def test_hostile_texts_take_no_time(piece):
    text = piece * (100_000 // len(piece))
    begin = time.perf_counter()
    read_text(text)
    assert time.perf_counter() - begin < 5


def test_json_with_windows_paths():
    text = (
        '{"log": "Traceback (most recent call last):\\n  File \\"C:\\\\new\\\\train.py\\", line 3, in <module>'
        f'\\n{SENTENCES}"}}'
    )
    failure = only(text)
    assert [(one.path, one.line) for one in failure.frames] == [("C:\\new\\train.py", 3)]
    assert failure.numbers["total"] == 24 * GIB


def test_a_log_line_in_json_below_a_frame_is_no_source():
    text = (
        'Traceback (most recent call last):\n  File "train.py", line 12, in main\n'
        '{"error": "CUDA error: out of memory"}\n    loss.backward()\n'
    )
    first = read_text(text).first
    assert first is not None and first.kind == "cuda_error"
