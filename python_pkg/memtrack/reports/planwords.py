"""The sentences of plans that text and HTML share: names of parts, how each is found, verdicts, notes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from memtrack.i18n import Text, text
from memtrack.planners.capacity import Capacity
from memtrack.planners.inputs import Inputs, KvInputs, LedgerInputs, LoadingInputs
from memtrack.planners.parts import PlanPart
from memtrack.reports.words import literal, part_name
from memtrack.units import format_bytes, format_count

WAY, HOST, MAPPED, DEVICE = (
    text("way"),
    text("computer's memory"),
    text("mapped file"),
    text("GPU"),
)
OPTIMIZER_TITLES: Mapping[str, str] = MappingProxyType(
    {
        "adamw": "AdamW",
        "adam": "Adam",
        "adam8bit": "8-bit Adam",
        "adafactor": "Adafactor",
        "lion": "Lion",
        "momentum": "SGD + momentum",
        "rmsprop": "RMSprop",
        "adagrad": "Adagrad",
        "sgd": "SGD",
    }
)
_FORMULAS: Mapping[str, Text] = MappingProxyType(
    {
        "output": text("tokens × vocabulary × 4 bytes"),
    }
)
_KV_FORMULAS: Mapping[str, Text] = MappingProxyType(
    {
        "cache_kv": text("(key + value) × KV heads × layers × tokens × batch"),
        "output": text("of one token, and an fp32 copy"),
        "workspace": text("reading the prompt, growing a layer, cuBLAS; estimated"),
    }
)
WAYS: Mapping[str, Text] = MappingProxyType(
    {
        "load_cpu": text("torch.load, load_state_dict, then .to('cuda', dtype)"),
        "load_cuda": text(
            "torch.load(map_location='cuda') into a model on the GPU, then .to(dtype)"
        ),
        "mmap": text("torch.load(mmap=True), load_state_dict, then .to('cuda', dtype)"),
        "assign": text("torch.load, load_state_dict(assign=True), then .to('cuda', dtype)"),
        "meta": text("model on meta, torch.load, assign=True, then .to('cuda', dtype)"),
        "meta_mmap": text(
            "model on meta, torch.load(mmap=True), assign=True, then .to('cuda', dtype)"
        ),
        "safetensors": text("safetensors load_file, load_state_dict, then .to('cuda', dtype)"),
        "safetensors_cuda": text(
            "model on meta, safetensors load_file(device='cuda'), assign=True, then .to(dtype)"
        ),
        "pretrained_old": text(
            "from_pretrained(name) of transformers 4, which makes fp32, then .to('cuda', dtype)"
        ),
        "pretrained": text(
            "from_pretrained(name, dtype=dtype), then .cuda(); transformers 4: low_cpu_mem_usage=True"
        ),
        "pretrained_device_map": text("from_pretrained(name, dtype=dtype, device_map='cuda')"),
    }
)


_TORCH_NAMES = MappingProxyType({"fp32": "float32", "bf16": "bfloat16", "fp16": "float16"})


def name_of(part: str) -> Text:
    """Return the words for a part of a plan."""
    return text("KV cache") if part == "cache_kv" else part_name(part)


def part_title(part: str, inputs: Inputs) -> Text:
    """Return the words for a part, more exact where the inputs tell."""
    if isinstance(inputs, LedgerInputs):
        if part == "cast_weight" and inputs.mixed == "master":
            return text("fp32 master weights")
        if part == "communication" and inputs.zero == 3:
            return text("gathered layers")
    if part == "output":
        return text("logits")
    return name_of(part)


def subject(inputs: Inputs) -> Text:
    """Return in one line what is planned."""
    if isinstance(inputs, LedgerInputs):
        return _training(inputs)
    if isinstance(inputs, KvInputs):
        return text(
            "Generation with {count} parameters in {dtype}, tokens: {length}, batch: {batch}",
            count=format_count(inputs.parameters),
            dtype=inputs.dtype,
            length=inputs.length,
            batch=inputs.batch,
        )
    return text(
        "Loading {count} parameters: {stored} in the file, {built} as the class builds them, {dtype} wanted",
        count=format_count(inputs.parameters),
        stored=inputs.stored,
        built=inputs.built,
        dtype=inputs.dtype,
    )


def _training(inputs: LedgerInputs) -> Text:
    kind: str | Text = inputs.dtype
    if inputs.mixed == "autocast":
        kind = text("fp32 with autocast")
    elif inputs.mixed == "master":
        kind = text("{dtype} with fp32 master weights", dtype=inputs.dtype)
    values = {"count": format_count(inputs.parameters), "dtype": kind}
    if inputs.optimizer == "none":
        line = text("{count} parameters, {dtype}, without training", **values)
    else:
        optimizer = OPTIMIZER_TITLES[inputs.optimizer]
        line = text("{count} parameters, {dtype}, {optimizer}", optimizer=optimizer, **values)
    if inputs.lora > 0:
        line = text("{line}, LoRA of {share} %", line=line, share=f"{100 * inputs.lora:g}")
    if inputs.gpus > 1:
        stage = f"ZeRO {inputs.zero}" if inputs.zero else "DDP"
        line = text("{line}, {stage} on {gpus} GPUs", line=line, stage=stage, gpus=inputs.gpus)
    return line


def how(part: PlanPart, inputs: Inputs) -> Text:
    """Return how the bytes of a part are found."""
    if isinstance(inputs, KvInputs):
        return _KV_FORMULAS.get(part.id) or _per_parameter(part, inputs.parameters, 1)
    if not isinstance(inputs, LedgerInputs):
        return literal("")
    if part.id == "activation":
        return _activations(inputs)
    if part.id in _FORMULAS:
        return _FORMULAS[part.id]
    if part.id == "communication":
        return _communication(inputs)
    is_cast = part.id == "cast_weight" and inputs.mixed == "autocast"
    if is_cast and inputs.zero >= 3 and inputs.gpus > 1:
        return text("the weights of the running layer × 2 bytes")
    least = {"parameter": 3, "gradient": 2}.get(part.id, 1)
    adapters = int(inputs.parameters * inputs.lora + 0.5)
    is_whole = part.id == "parameter" or is_cast
    count = inputs.parameters + adapters if is_whole else adapters or inputs.parameters
    is_shared = inputs.zero >= least and not is_cast
    return _per_parameter(part, count, inputs.gpus if is_shared else 1)


def _activations(inputs: LedgerInputs) -> Text:
    """Return the formula of `activations.py` with its numbers; s, b, a, h as the paper has them."""
    width = 4 if inputs.dtype == "fp32" and inputs.mixed == "none" else 2
    layer = f"{16 * width + 2} sbh" + ("" if inputs.flash else f" + {2 * width + 1} as²b")
    if inputs.checkpointing:
        return text(
            "{width} sbh a layer, and {layer} once (Korthikanti et al. 2022); estimated",
            width=width,
            layer=layer,
        )
    return text("{layer} a layer (Korthikanti et al. 2022); estimated", layer=layer)


def _per_parameter(part: PlanPart, count: int, shards: int) -> Text:
    each = f"{part.bytes * shards / max(count, 1):.3g}"
    line = text("{count} × {each} bytes", count=format_count(count), each=each)
    return line if shards == 1 else text("{line} ÷ {gpus} GPUs", line=line, gpus=shards)


def _communication(inputs: LedgerInputs) -> Text:
    if inputs.zero == 0:
        return text("DDP's buckets; none with gradient_as_bucket_view=True")
    if inputs.zero < 3:
        return text("a bucket of up to 500 M gradients")
    return text("the running layer whole, and the next one")


def verdict_line(total: int, gpu: Capacity, verdict: str) -> Text:
    """Return whether it fits, with what is left or missing."""
    size = format_bytes(gpu.usable)
    where = text("{name} ({size})", name=gpu.name, size=size) if gpu.name else literal(size)
    if verdict == "fits":
        left = format_bytes(gpu.usable - total)
        return text(
            "It fits {gpu}: {left} left for the CUDA context and more.", gpu=where, left=left
        )
    if verdict == "close":
        return text(
            "Too close to call on {gpu}: the CUDA context may not fit beside it.", gpu=where
        )
    over = format_bytes(max(0, total - gpu.usable))
    return text(
        "It does not fit {gpu}: {over} too much, and the CUDA context.", gpu=where, over=over
    )


def notes(inputs: Inputs) -> Sequence[Text]:
    """Return what has to be known to read the figures."""
    if isinstance(inputs, LoadingInputs):
        return (
            text("Mapped pages of a file are dropped when memory runs short: they need not fit."),
            text(
                "dtype stands for the one that is wanted, torch.{dtype}.",
                dtype=_TORCH_NAMES.get(inputs.dtype, inputs.dtype),
            ),
        )
    if isinstance(inputs, KvInputs):
        return ()
    found = [text("Per GPU, without the CUDA context, the allocator's cache and fragmentation.")]
    if not inputs.sequence and inputs.optimizer != "none":
        shape = "--layers --hidden --heads --sequence --batch"
        found.append(text("Activations come on top: they depend on {shape}.", shape=shape))
    return found
