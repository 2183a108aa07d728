"""Advice that no diagnosis gives but a simulation can weigh: it joins the catalogue of `diagnosis.advice`.

Of the same id as there stands what was simulated, where the diagnosis leaves a number open.
"""

from __future__ import annotations

from collections.abc import Sequence

from memtrack.diagnosis.advice.entry import Entry
from memtrack.i18n import text

_NONE: frozenset[str] = frozenset()

MORE: Sequence[Entry] = (
    Entry(
        "fp16_autocast",
        text("float16 autocast with a GradScaler"),
        text("changed rounding and range; usually faster, also on GPUs before Ampere"),
        _NONE,
        code=(
            'scaler = torch.amp.GradScaler("cuda")\n'
            'with torch.autocast("cuda", dtype=torch.float16):\n'
            "    loss = model(batch)\n"
            "scaler.scale(loss).backward()\n"
            "scaler.step(optimizer)\n"
            "scaler.update()"
        ),
        caveats=(
            text("Without the GradScaler small gradients become 0 and large ones infinite"),
            text("Before clipping gradients: scaler.unscale_(optimizer)"),
            text("Autocast keeps 16-bit copies of the weights until it ends"),
        ),
    ),
    Entry(
        "bf16_weights",
        text("Weights, gradients and optimizer state in bfloat16"),
        text("small updates are rounded away: convergence may suffer; faster"),
        _NONE,
        code="model = model.to(torch.bfloat16)      # before the optimizer is made; and the batch",
        caveats=(
            text("bfloat16 has 8 bits of precision: updates below 1/256 of a weight are lost"),
            text("An optimizer with stochastic rounding or float32 master weights avoids that"),
            text("Fast from Ampere on (A100, RTX 30); before that use float16 with a GradScaler"),
        ),
    ),
    Entry(
        "load_in_bf16",
        text("The weights in bfloat16"),
        text("fewer digits in the weights; faster"),
        _NONE,
        code=(
            "model = model.to(torch.bfloat16)\n"
            "output = model(batch)      # numbers of the batch in bfloat16 too: batch.to(torch.bfloat16)"
        ),
        caveats=(
            text("Compare some outputs with those of float32 weights"),
            text("With transformers: from_pretrained(name, dtype=torch.bfloat16)"),
            text("Fast from Ampere on (A100, RTX 30); before that use float16"),
        ),
    ),
    Entry(
        "batch_in_parts",
        text("Half the batch at a time, the outputs joined"),
        text("slower, with more and smaller forwards"),
        _NONE,
        code="output = torch.cat([model(part) for part in batch.chunk(2)])",
        caveats=(
            text("The outputs of all parts stay: move them to the CPU where they are large"),
            text("Call model.eval() first: BatchNorm would see the small batches"),
        ),
    ),
    Entry(
        "accumulate_gradients",
        text("Half the batch at once, gradients accumulated over two"),
        text("slower, with more and smaller steps"),
        _NONE,
        code=(
            "n = 2\n"
            "for part in batch.chunk(n):\n"
            "    (model(part) / n).backward()        # divide, or the gradient is n times as large\n"
            "optimizer.step()\n"
            "optimizer.zero_grad(set_to_none=True)"
        ),
        caveats=(
            text("Divide the loss by the number of parts"),
            text("Parts of different lengths: weigh them by the tokens that count"),
            text("BatchNorm sees the small batches: not the same as one large batch"),
            text("Gradients stay through the later forwards: it saves less than a smaller batch"),
        ),
    ),
    Entry(
        "accumulate_gradients_4",
        text("A quarter of the batch at once, gradients accumulated over four"),
        text("slower, with more and smaller steps"),
        _NONE,
        code=(
            "n = 4\n"
            "for part in batch.chunk(n):\n"
            "    (model(part) / n).backward()        # divide, or the gradient is n times as large\n"
            "optimizer.step()\n"
            "optimizer.zero_grad(set_to_none=True)"
        ),
        caveats=(
            text("Divide the loss by the number of parts"),
            text("BatchNorm sees the small batches: not the same as one large batch"),
            text("Gradients stay through the later forwards: it saves less than a smaller batch"),
        ),
    ),
    Entry(
        "checkpoint_few",
        text("Activation checkpointing of some of the repeated layers"),
        text("less time than for all of them: only these are computed twice"),
        _NONE,
        code=(
            "from torch.utils.checkpoint import checkpoint\n"
            "for number, block in enumerate(self.blocks):\n"
            "    if number < few:\n"
            "        x = checkpoint(block, x, use_reentrant=False)\n"
            "    else:\n"
            "        x = block(x)"
        ),
        caveats=(
            text("BatchNorm updates its statistics twice: leave it outside"),
            text(
                "Dropout repeats its mask, since the random state is kept (preserve_rng_state=True)"
            ),
            text("What is checkpointed must not change its inputs in place"),
        ),
    ),
    Entry(
        "loop_optimizer",
        text("The optimizer as a loop over parameters"),
        text("a slower optimizer step on models with many small parameters"),
        _NONE,
        code="optimizer = torch.optim.AdamW(model.parameters(), lr=lr, foreach=False)",
        caveats=(
            text(
                "It saves the temporaries of optimizer.step(), not the state: helps where the peak "
                "lies there"
            ),
        ),
    ),
    Entry(
        "sgd_momentum",
        text("SGD with momentum"),
        text("converges differently: learning rate and schedule have to be tuned again"),
        _NONE,
        code="optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)",
        caveats=(
            text("Adam keeps 8 bytes a parameter, SGD with momentum 4, Adafactor nearly none"),
            text("Transformers seldom train as well with it"),
        ),
    ),
    Entry(
        "adafactor",
        text("Adafactor"),
        text("a slower optimizer step; other convergence: compare on a small run"),
        _NONE,
        code="optimizer = torch.optim.Adafactor(model.parameters(), lr=1e-2)",
        caveats=(
            text("Adam keeps 8 bytes a parameter, SGD with momentum 4, Adafactor nearly none"),
        ),
    ),
    Entry(
        "ddp",
        text("Several GPUs with DistributedDataParallel"),
        text("several GPUs; gradients are exchanged in backward"),
        _NONE,
        code=(
            "from torch.nn.parallel import DistributedDataParallel as DDP\n"
            "model = DDP(model, gradient_as_bucket_view=True)      # run with torchrun"
        ),
        caveats=(
            text("NCCL takes some hundred MiB of each GPU besides, outside of PyTorch's allocator"),
            text("A smaller batch on each GPU saves memory; DDP itself does not"),
        ),
    ),
    Entry(
        "zero_1",
        text("Optimizer state sharded over GPUs (ZeRO 1)"),
        text("several GPUs; parameters are exchanged after each step"),
        _NONE,
        code=(
            "from torch.distributed.optim import ZeroRedundancyOptimizer\n"
            "optimizer = ZeroRedundancyOptimizer(\n"
            "    model.parameters(), optimizer_class=torch.optim.AdamW, lr=lr)"
        ),
        caveats=(
            text("NCCL takes some hundred MiB of each GPU besides, outside of PyTorch's allocator"),
            text("Activations are not sharded: they shrink with the batch of each GPU"),
        ),
    ),
    Entry(
        "zero_2",
        text("Optimizer state and gradients sharded over GPUs (ZeRO 2)"),
        text("several GPUs; communication in every step"),
        _NONE,
        code=(
            "from torch.distributed.fsdp import fully_shard\n"
            "fully_shard(model, reshard_after_forward=False)      # run with torchrun"
        ),
        caveats=(
            text("NCCL takes some hundred MiB of each GPU besides, outside of PyTorch's allocator"),
            text("Activations are not sharded: they shrink with the batch of each GPU"),
        ),
    ),
    Entry(
        "freeze_parameters",
        text("Train the last repeated layers only, freeze the others"),
        text("less freedom to learn; faster"),
        _NONE,
        code=(
            "for block in model.blocks[:-2]:\n"
            "    block.requires_grad_(False)       # and the embedding below them\n"
            "optimizer = torch.optim.AdamW(p for p in model.parameters() if p.requires_grad)"
        ),
        caveats=(
            text("Only for a model that has learned before: what is frozen stays as it is"),
            text("What lies below the first trained layer keeps no activations either"),
            text("BatchNorm updates its statistics also when frozen: put it into eval()"),
        ),
    ),
)
