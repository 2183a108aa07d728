"""Advice on PyTorch's own allocator and its settings."""

from __future__ import annotations

from collections.abc import Sequence

from memtrack.diagnosis.advice.entry import Entry
from memtrack.i18n import text

ALLOCATOR: Sequence[Entry] = (
    Entry(
        "expandable_segments",
        text("Segments that grow: expandable_segments:True"),
        text("the process has to be restarted; some operations are a little slower"),
        frozenset({"fragmentation"}),
        code=(
            "export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True\n"
            "# in a notebook, before the first import of torch:\n"
            'import os; os.environ["PYTORCH_CUDA_ALLOC_CONF"] = "expandable_segments:True"'
        ),
        caveats=(
            text("It does not help where tensors in use fill the device"),
            text("It has no effect once CUDA is in use: restart the kernel"),
            text(
                "Not supported everywhere: not by CUDA IPC of older versions, some ROCm cards, Windows"
            ),
        ),
        saves="gaps",
    ),
    Entry(
        "warm_up_largest",
        text("Begin with the largest batch"),
        text("one step more"),
        frozenset({"fragmentation", "huge_input_or_boxes"}),
        code=(
            "loss = model(largest_batch).loss\n"
            "loss.backward()\n"
            "optimizer.zero_grad(set_to_none=True)      # no optimizer.step()"
        ),
        caveats=(text("BatchNorm's statistics see that batch"),),
    ),
    Entry(
        "long_lived_first",
        text("Create what stays before what is temporary"),
        text("nothing"),
        frozenset({"fragmentation"}),
        code=(
            'model.to("cuda"); buffer = torch.empty(size, device="cuda")   # before the loop\n'
            "kept.append(x.cpu())                                        # small things that "
            "stay: not here"
        ),
        caveats=(text("A small tensor that is kept holds its whole segment"),),
    ),
    Entry(
        "raise_limit",
        text("Raise or drop the limit of this process"),
        text("others on the same device have less"),
        frozenset({"per_process_fraction_limit"}),
        code="torch.cuda.set_per_process_memory_fraction(1.0)      # default: no limit",
        caveats=(
            text("On a shared card the limit may be there for others"),
            text("Engines set it too: vLLM's gpu_memory_utilization"),
        ),
    ),
    Entry(
        "share_graph_pool",
        text("Let CUDA graphs share one pool"),
        text("the graphs must be replayed in the order they were captured in"),
        frozenset({"cuda_graph_memory"}),
        code=("pool = torch.cuda.graph_pool_handle()\nwith torch.cuda.graph(g, pool=pool): ..."),
        caveats=(
            text(
                'With torch.compile: mode="reduce-overhead" makes graphs for every shape; '
                "dynamic=True or fewer shapes"
            ),
            text("`del g` gives its pool back, once no output of it is in use"),
        ),
    ),
    Entry(
        "smaller_workspace",
        text("Smaller workspaces of cuDNN and cuBLAS"),
        text("convolutions and matrix products may be slower"),
        frozenset({"cudnn_workspace"}),
        code=(
            "torch.backends.cudnn.benchmark = False\n"
            'os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:2"     # before CUDA starts'
        ),
        caveats=(
            text("benchmark=True tries algorithms with large workspaces for every new shape"),
        ),
    ),
    Entry(
        "default_allocator_options",
        text("Try without allocator options, then another version of PyTorch"),
        text("a restart"),
        frozenset({"allocator_bug_or_option", "platform_allocation_limit"}),
        code=(
            "unset PYTORCH_CUDA_ALLOC_CONF PYTORCH_ALLOC_CONF PYTORCH_HIP_ALLOC_CONF\n"
            'python -c "import torch; print(torch.__version__, torch.version.cuda)"'
        ),
        caveats=(text("PYTORCH_NO_CUDA_MEMORY_CACHING switches the cache off whatever its value"),),
    ),
    Entry(
        "smaller_pieces",
        text("Ask for smaller pieces"),
        text("more calls"),
        frozenset({"platform_allocation_limit"}),
        code="out = torch.cat([f(x) for x in inputs.split(1024)])",
        caveats=(text("Some platforms limit one allocation below the whole device"),),
    ),
)
