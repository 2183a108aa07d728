"""Advice on several GPUs."""

from __future__ import annotations

from collections.abc import Sequence

from memtrack.diagnosis.advice.entry import Entry
from memtrack.i18n import text

DISTRIBUTED: Sequence[Entry] = (
    Entry(
        "shard_the_model",
        text("Shard parameters, gradients and optimizer state over GPUs (FSDP)"),
        text("several GPUs; communication in every step"),
        frozenset({"capacity"}),
        code=(
            "from torch.distributed.fsdp import fully_shard\n"
            "for block in model.blocks:\n"
            "    fully_shard(block)\n"
            "fully_shard(model)                 # run with torchrun"
        ),
        caveats=(
            text(
                "DistributedDataParallel saves nothing: each GPU holds all, and buckets for "
                "gradients besides"
            ),
            text("Activations are not sharded: they shrink with the batch of each GPU"),
        ),
    ),
    Entry(
        "offload_to_cpu",
        text("Offload parameters and optimizer state to the CPU"),
        text("often several times slower"),
        frozenset({"capacity"}),
        code=(
            "from torch.distributed.fsdp import CPUOffloadPolicy, fully_shard\n"
            "fully_shard(model, offload_policy=CPUOffloadPolicy())"
        ),
    ),
    Entry(
        "sharded_checkpoint",
        text("Save shards, not the whole model"),
        text("loading needs the same library"),
        frozenset({"fsdp_or_state_dict_save"}),
        code=(
            "import torch.distributed.checkpoint as dcp\n"
            'dcp.save({"model": model.state_dict()}, checkpoint_id="step_1000")'
        ),
        caveats=(
            text(
                "A full state dict gathers every parameter on one GPU; if it must be: on the CPU "
                "of rank 0"
            ),
        ),
    ),
    Entry(
        "one_gpu_per_rank",
        text("Give each process a device of its own"),
        text("nothing"),
        frozenset({"rank_device_mapping"}),
        code=(
            'torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))      # before anything else '
            "on CUDA\n"
            'state = torch.load(path, map_location="cpu")'
        ),
        caveats=(
            text("torch.load without map_location loads every rank's copy onto GPU 0"),
            text("A context on another GPU costs some hundred MiB there for each process"),
        ),
    ),
)
