"""Advice where another library asked for the memory, another runtime failed, or a file could not be written."""

from __future__ import annotations

from collections.abc import Sequence

from memtrack.diagnosis.advice.entry import Entry
from memtrack.i18n import text

BESIDE_PYTORCH = frozenset(
    {"third_party", "cublas", "cudnn", "cufft", "cusolver", "cusparse", "nccl", "bitsandbytes"}
)
"""Kinds of failures in libraries that ask the driver themselves, outside PyTorch's cache."""

OTHER_LIBRARIES: Sequence[Entry] = (
    Entry(
        "give_back_cache",
        text("Give PyTorch's cache back before the library asks"),
        text("the next allocations of PyTorch are slower"),
        frozenset({"capacity", "memory_outside_allocator", "cudnn_workspace"}),
        kinds=BESIDE_PYTORCH,
        code="torch.cuda.empty_cache()       # what is reserved is not free for others",
        caveats=(text("It returns only what is in no tensor"),),
    ),
    Entry(
        "other_library_less",
        text("Let the other library hold less"),
        text("shorter contexts, smaller batches or less speed there"),
        frozenset({"capacity", "memory_outside_allocator"}),
        kinds=frozenset({"third_party"}),
        code=(
            "llama_cpp.Llama(path, n_gpu_layers=20, n_ctx=4096)\n"
            "faiss_resources.setTempMemory(256 << 20)\n"
            'onnx_options = {"gpu_mem_limit": 4 << 30}               # CUDAExecutionProvider\n'
            "trt_config.set_memory_pool_limit(trt.MemoryPoolType.WORKSPACE, 1 << 30)\n"
            'os.environ["XLA_PYTHON_CLIENT_MEM_FRACTION"] = "0.5"    # before jax is imported'
        ),
        caveats=(text("What PyTorch saves helps it only after the cache was given back"),),
    ),
    Entry(
        "plan_with_room",
        text("Give the plan of the layers more room"),
        text("fewer bits per weight, or layers on the CPU, which are slow"),
        frozenset({"capacity"}),
        wordings=frozenset({"placement.does_not_fit"}),
        kinds=frozenset({"placement"}),
        code=(
            "bits = BitsAndBytesConfig(load_in_4bit=True)\n"
            'AutoModelForCausalLM.from_pretrained(name, quantization_config=bits, device_map="auto",\n'
            '                                     max_memory={0: "22GiB", "cpu": "48GiB"})'
        ),
        caveats=(
            text("A model that this kernel loaded before counts as well: restart it"),
            text("In 8 bits llm_int8_enable_fp32_cpu_offload=True lets the rest stay on the CPU"),
        ),
    ),
    Entry(
        "fresh_attempts",
        text("Let each attempt begin with nothing"),
        text("the model is built again for each size"),
        frozenset({"capacity", "exception_traceback_or_stale_reference"}),
        wordings=frozenset({"placement.every_batch_size"}),
        kinds=frozenset({"placement"}),
        code=(
            "@find_executable_batch_size(starting_batch_size=32)\n"
            "def train(batch_size):\n"
            "    accelerator.free_memory()       # gives back what the last attempt prepared\n"
            "    model = build_model()           # within, so that nothing outlives an attempt"
        ),
    ),
    Entry(
        "graph_without_waits",
        text("Keep waits and new memory out of what is recorded"),
        text("without graphs small kernels start slower"),
        frozenset({"not_oom_hardware_driver_env"}),
        wordings=frozenset({"capture"}),
        kinds=frozenset({"not_oom"}),
        code=(
            "for _ in range(3):\n"
            "    run(static_input)               # before: what is made on first use is made now\n"
            "with torch.cuda.graph(graph):\n"
            "    run(static_input)               # no .item(), .cpu() or print of a tensor in it"
        ),
        caveats=(
            text("Another thread or device in use at that time ends the recording too"),
            text("vLLM goes without graphs with --enforce-eager"),
        ),
    ),
    Entry(
        "room_on_disk",
        text("Make room on the disk, or save less"),
        text("older checkpoints"),
        frozenset({"not_oom_hardware_driver_env"}),
        wordings=frozenset({"disk_full"}),
        kinds=frozenset({"not_oom"}),
        code=(
            "TrainingArguments(output_dir, save_total_limit=2, save_only_model=True)\n"
            "torch.save(model.state_dict(), path)      # without the optimizer's state"
        ),
        caveats=(
            text("A quota of the user may be full while the disk is not"),
            text("The file that was being written is cut short: do not load it"),
        ),
    ),
    Entry(
        "spawn_workers",
        text("Spawn the processes that use CUDA, instead of forking them"),
        text("they start slower, and each imports the script again"),
        frozenset({"not_oom_hardware_driver_env"}),
        wordings=frozenset({"forked"}),
        kinds=frozenset({"not_oom"}),
        code=(
            'torch.multiprocessing.set_start_method("spawn")     # under if __name__ == "__main__":\n'
            "loader = DataLoader(ds, num_workers=4)              # and no .cuda() inside the dataset"
        ),
        caveats=(text("In a notebook nothing may touch CUDA before notebook_launcher"),),
    ),
    Entry(
        "more_open_files",
        text("Share tensors between processes by name, or allow more open files"),
        text("shared memory of a process that is killed stays"),
        frozenset({"not_oom_hardware_driver_env"}),
        wordings=frozenset({"open_files"}),
        kinds=frozenset({"not_oom"}),
        code=(
            'torch.multiprocessing.set_sharing_strategy("file_system")\n'
            "ulimit -n 65536                 # before Python starts"
        ),
        caveats=(
            text("A list that keeps tensors of a DataLoader keeps their files open: copy them"),
        ),
    ),
    Entry(
        "rocm_runtime",
        text("See who else uses ROCm, and whether this user may"),
        text("nothing"),
        frozenset({"not_oom_hardware_driver_env"}),
        wordings=frozenset({"hsa_resources"}),
        kinds=frozenset({"not_oom"}),
        code="sudo fuser -v /dev/kfd\ngroups                        # has to name render and video",
        caveats=(text("Two runtimes of ROCm in one process get into each other's way"),),
    ),
    Entry(
        "intel_again",
        text("Restart the process, and ask for less than the device has free"),
        text("what is only in memory is lost"),
        frozenset({"not_oom_hardware_driver_env"}),
        wordings=frozenset({"xpu_lost"}),
        kinds=frozenset({"not_oom"}),
        code="free, total = torch.xpu.mem_get_info()\ntorch.xpu.empty_cache()",
        caveats=(text("A newer driver reports a full device instead of losing it"),),
    ),
    Entry(
        "gaudi_is_held",
        text("See which process holds the Gaudi device"),
        text("nothing"),
        frozenset({"not_oom_hardware_driver_env"}),
        wordings=frozenset({"hpu_busy"}),
        kinds=frozenset({"not_oom"}),
        code="hl-smi\nsudo fuser -v /dev/accel/accel*",
        caveats=(text("One process has the device for itself"),),
    ),
)
