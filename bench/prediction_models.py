"""Training programs that predictions are checked against: as `build` functions, to run or to predict.

`program(model, variant)` gives a `build` in the sense of `memtrack.predict`: without arguments, it makes
model, optimizer and batch as on the GPU, and returns `step`. The very same function is run for real by
`bench/measure_models.py` on a GPU and predicted by `bench/predict.py` without one. The first eight
models are those of `peaks.jsonl`; `bench/prediction_families.py` has others, of other families.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn

Step = Callable[[], Any]
Build = Callable[[], Step]
Data = dict[str, torch.Tensor]


@dataclass(frozen=True)
class Options:
    """What a variant changes about a training step; the defaults are fp32 with AdamW."""

    autocast: str | None = None
    scaler: bool = False
    weights: str | None = None
    checkpoint: bool = False
    batch_scale: float = 1.0
    accumulate: int = 1
    optimizer: str = "adamw"
    set_to_none: bool = True
    attention: str | None = None
    no_grad: bool = False
    channels_last: bool = False


@dataclass(frozen=True)
class Model:
    """A model with its batch: `make(options)` gives the module, `data(batch)` a batch on the host."""

    make: Callable[[Options], nn.Module]
    data: Callable[[int], Data]
    batch: int
    variants: tuple[str, ...] = ()
    program: Callable[[Options, int], Build] | None = field(default=None)
    """A build of its own for what is not one model with one optimizer."""


VARIANTS: Mapping[str, Options] = {
    "base": Options(),
    "autocast-bf16": Options(autocast="bfloat16"),
    "autocast-fp16": Options(autocast="float16", scaler=True),
    "weights-bf16": Options(weights="bfloat16"),
    "checkpoint": Options(checkpoint=True),
    "bf16+checkpoint": Options(autocast="bfloat16", checkpoint=True),
    "half-batch": Options(batch_scale=0.5),
    "accumulate-2": Options(batch_scale=0.5, accumulate=2),
    "sgd-momentum": Options(optimizer="sgd"),
    "adafactor": Options(optimizer="adafactor"),
    "adamw-loop": Options(optimizer="adamw-loop"),
    "adamw-fused": Options(optimizer="adamw-fused"),
    "zero-not-none": Options(set_to_none=False),
    "eager-attention": Options(attention="eager"),
    "forward-no-grad": Options(no_grad=True),
    "channels-last+bf16": Options(autocast="bfloat16", channels_last=True),
}

_listeners: list[Callable[[str], None]] = []


@contextlib.contextmanager
def phases_told(listener: Callable[[str], None]) -> Any:
    """Have `listener` called with `forward`, `backward` or `step` as each of them ends."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


def ended(phase: str) -> None:
    """Tell who listens that a phase of the step is over."""
    for listener in _listeners:
        listener(phase)


def program(name: str, variant: str) -> Build:
    """Return the `build` of a model in a variant; KeyError for names that are not here."""
    model, options = every_model()[name], VARIANTS[variant]
    batch = max(int(model.batch * options.batch_scale), 1)
    if model.program is not None:
        return model.program(options, batch)
    return lambda: _built(model, options, batch)


def _built(model: Model, options: Options, batch: int) -> Step:
    torch.manual_seed(0)
    module = prepared(model.make(options), options)
    data = {name: tensor.cuda() for name, tensor in model.data(batch).items()}
    if options.weights is not None:
        dtype = getattr(torch, options.weights)
        data = {n: t.to(dtype) if t.is_floating_point() else t for n, t in data.items()}
    if options.channels_last:
        data = {
            n: t.to(memory_format=torch.channels_last) if t.dim() == 4 else t
            for n, t in data.items()
        }
    if options.no_grad:
        return _evaluation(module.eval(), data)
    return training_step(module, data, options)


def prepared(module: nn.Module, options: Options) -> nn.Module:
    """Return a module as the options want it, on the GPU and in training mode."""
    if options.weights is not None:
        module = module.to(getattr(torch, options.weights))
    if options.checkpoint:
        enable: Any = getattr(module, "gradient_checkpointing_enable", None)
        if enable is None:
            raise SystemExit("no checkpointing")
        enable(gradient_checkpointing_kwargs={"use_reentrant": False})
        config: Any = getattr(module, "config", None)
        if config is not None:
            config.use_cache = False
    if options.channels_last:
        module = module.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    return module.cuda().train()


def loss_of(output: Any) -> torch.Tensor:
    """Return the loss of a model's output, a dictionary or one of transformers' outputs."""
    loss: torch.Tensor = output["loss"] if isinstance(output, dict) else output.loss
    return loss


def _evaluation(module: nn.Module, data: Data) -> Step:
    def step() -> None:
        with torch.no_grad():
            loss_of(module(**data)).item()
        ended("forward")

    return step


def training_step(module: nn.Module, data: Data, options: Options) -> Step:
    """Return one training step, as people write it; the loss lives until the next one replaces it."""
    optimizer = optimizer_of(module, options.optimizer)
    scaler = torch.amp.GradScaler("cuda") if options.scaler else None
    kept: dict[str, torch.Tensor] = {}

    def step() -> float:
        optimizer.zero_grad(set_to_none=options.set_to_none)
        for _ in range(options.accumulate):
            with casting(options):
                kept["loss"] = loss_of(module(**data)) / options.accumulate
            ended("forward")
            (scaler.scale(kept["loss"]) if scaler else kept["loss"]).backward()
            ended("backward")
        if scaler:
            scaler.step(optimizer)
            scaler.update()
        else:
            optimizer.step()
        ended("step")
        return float(kept["loss"])

    return step


def casting(options: Options) -> Any:
    """Return the autocast of a variant."""
    if options.autocast is None:
        return torch.autocast("cuda", enabled=False)
    return torch.autocast("cuda", getattr(torch, options.autocast))


def optimizer_of(module: nn.Module, kind: str) -> Any:
    """Return the optimizer of a variant over what needs a gradient."""
    some = [parameter for parameter in module.parameters() if parameter.requires_grad]
    if kind == "sgd":
        return torch.optim.SGD(some, lr=1e-3, momentum=0.9)
    if kind == "adafactor":
        return torch.optim.Adafactor(some, lr=1e-3)
    if kind == "adamw-loop":
        return torch.optim.AdamW(some, lr=1e-5, foreach=False)
    if kind == "adamw-fused":
        return torch.optim.AdamW(some, lr=1e-5, fused=True)
    return torch.optim.AdamW(some, lr=1e-5)


class Lossy(nn.Module):
    """A network with its loss in its forward."""

    def __init__(self, net: nn.Module, loss: nn.Module) -> None:
        super().__init__()
        self.net, self.loss_fn = net, loss

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> dict[str, torch.Tensor]:
        """Return the loss of `x` against `y`."""
        return {"loss": self.loss_fn(self.net(x), y)}


def words(vocabulary: int, length: int, labels: int | None = None) -> Callable[[int], Data]:
    """Return batches of random words, with labels of `labels` words or as many as there are inputs."""

    def batch(size: int) -> Data:
        inputs = torch.randint(0, vocabulary, (size, length))
        return {
            "input_ids": inputs,
            "labels": torch.randint(0, vocabulary, (size, labels or length)),
        }

    return batch


def pictures(side: int, classes: int = 1000) -> Callable[[int], Data]:
    """Return batches of random pictures with a class each."""
    return lambda size: {
        "pixel_values": torch.randn(size, 3, side, side),
        "labels": torch.randint(0, classes, (size,)),
    }


def _attention(options: Options) -> dict[str, str]:
    return {"attn_implementation": options.attention} if options.attention else {}


def _gpt2(options: Options) -> nn.Module:
    import transformers as tf

    return tf.GPT2LMHeadModel(tf.GPT2Config(**_attention(options)))


def _bert(options: Options) -> nn.Module:
    import transformers as tf

    return tf.BertForMaskedLM(tf.BertConfig(**_attention(options)))


def llama(options: Options) -> nn.Module:
    import transformers as tf

    config = tf.LlamaConfig(
        hidden_size=1024,
        num_hidden_layers=16,
        num_attention_heads=16,
        num_key_value_heads=4,
        intermediate_size=2816,
        vocab_size=32000,
        **_attention(options),
    )
    return tf.LlamaForCausalLM(config)


def _qwen2(options: Options) -> nn.Module:
    import transformers as tf

    config = tf.Qwen2Config(
        hidden_size=896,
        num_hidden_layers=24,
        num_attention_heads=14,
        num_key_value_heads=2,
        intermediate_size=4864,
        vocab_size=151936,
        tie_word_embeddings=True,
        **_attention(options),
    )
    return tf.Qwen2ForCausalLM(config)


def _t5(options: Options) -> nn.Module:
    import transformers as tf

    tf.AttentionInterface.register("sdpa-strided", _with_strided_bias)
    config = tf.T5Config(decoder_start_token_id=0, pad_token_id=0, **_attention(options))
    config.decoder_start_token_id = 0
    module = tf.T5ForConditionalGeneration(config)
    if options.attention is None:
        for part in (module.config, module.encoder.config, module.decoder.config):
            part._attn_implementation = "sdpa-strided"
    return module


def _with_strided_bias(
    module: Any,
    query: Any,
    key: Any,
    value: Any,
    attention_mask: Any,
    dropout: float = 0.0,
    scaling: float | None = None,
    position_bias: Any = None,
    **kwargs: Any,
) -> tuple[torch.Tensor, None]:
    """Attend as transformers 5.17 does, which `peaks.jsonl` was measured with.

    Later versions make a bias of positions contiguous, whereupon CUDA takes another kernel.
    """
    mask = position_bias
    if attention_mask is not None:
        mask = torch.where(attention_mask, position_bias, torch.finfo(key.dtype).min)
    elif getattr(module, "is_causal", False) and query.shape[2] > 1:
        after = torch.ones(query.shape[2], key.shape[2], dtype=torch.bool, device=key.device).tril()
        mask = torch.where(after, position_bias, torch.finfo(key.dtype).min)
    found = nn.functional.scaled_dot_product_attention(
        query, key, value, mask, dropout_p=dropout, scale=scaling
    )
    return found.transpose(1, 2).contiguous(), None


def _vit(options: Options) -> nn.Module:
    import transformers as tf

    return tf.ViTForImageClassification(tf.ViTConfig(num_labels=1000, **_attention(options)))


def _resnet(options: Options) -> nn.Module:
    import transformers as tf

    return tf.ResNetForImageClassification(tf.ResNetConfig(num_labels=1000))


def _mlp(options: Options) -> nn.Module:
    net = nn.Sequential(
        nn.Linear(1024, 4096),
        nn.ReLU(),
        nn.Linear(4096, 4096),
        nn.GELU(),
        nn.Dropout(0.1),
        nn.Linear(4096, 4096),
        nn.ReLU(),
        nn.Linear(4096, 1000),
    )
    return Lossy(net, nn.CrossEntropyLoss())


def _vectors(size: int) -> Data:
    return {"x": torch.randn(size, 1024), "y": torch.randint(0, 1000, (size,))}


MEASURED: Mapping[str, Model] = {
    "gpt2-124m": Model(_gpt2, words(50257, 512), 8),
    "bert-base": Model(_bert, words(30522, 128), 32),
    "llama-300m": Model(llama, words(32000, 1024), 4),
    "qwen2-500m": Model(_qwen2, words(151936, 512), 4),
    "t5-small": Model(_t5, words(32128, 512, 128), 16),
    "vit-base": Model(_vit, pictures(224), 32),
    "resnet-50": Model(_resnet, pictures(224), 32),
    "mlp": Model(_mlp, _vectors, 4096),
}
"""The models of `peaks.jsonl`, built and batched as `measure_peaks.py` does."""


def every_model() -> Mapping[str, Model]:
    """Return all models by name: those of `peaks.jsonl`, the further families, the zoo."""
    from prediction_families import FAMILIES
    from prediction_zoo import ZOO

    return {**MEASURED, **FAMILIES, **ZOO}
