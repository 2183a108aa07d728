"""Operations whose memory on CUDA is measured by `bench/kernels.py` and predicted by the tests.

A case is an ordinary piece of CUDA code: `make()` gives the function to measure and the tensors whose
gradients are asked for. The same code runs on a GPU and, without data, under a prediction.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import nn
from torch.nn import functional

Made = tuple[Callable[[], Any], list[torch.Tensor]]
Case = Callable[[], Made]

FP32, FP16, BF16 = torch.float32, torch.float16, torch.bfloat16
_SHORT = {FP32: "fp32", FP16: "fp16", BF16: "bf16"}


def tensor(*shape: int, dtype: torch.dtype = FP32, grad: bool = True) -> torch.Tensor:
    """Return random values on the GPU."""
    return torch.randn(*shape, device="cuda", dtype=dtype).requires_grad_(grad)


def integers(high: int, *shape: int) -> torch.Tensor:
    """Return random indices below `high` on the GPU."""
    return torch.randint(0, high, shape, device="cuda")


def module(made: nn.Module, dtype: torch.dtype = FP32) -> nn.Module:
    """Return a module on the GPU."""
    return made.to(device="cuda", dtype=dtype)


def applied(made: nn.Module, *inputs: torch.Tensor) -> Made:
    """Return a case that calls a module; gradients of its parameters and inputs are asked for."""
    wanted = [one for one in (*inputs, *made.parameters()) if one.requires_grad]
    return (lambda: made(*inputs)), wanted


def called(function: Callable[..., Any], *inputs: Any, **options: Any) -> Made:
    """Return a case that calls a function."""
    wanted = [one for one in inputs if isinstance(one, torch.Tensor) and one.requires_grad]
    return (lambda: function(*inputs, **options)), wanted


def _attention() -> Iterator[tuple[str, Case]]:
    shapes = {"512x64": (4, 8, 512, 64), "197x64": (8, 12, 197, 64), "256x128": (2, 8, 256, 128)}
    shapes |= {"256x40": (2, 8, 256, 40), "256x256": (2, 4, 256, 256), "1024x96": (1, 4, 1024, 96)}
    for dtype, (name, shape) in itertools.product((FP32, BF16), shapes.items()):
        for causal, dropout in ((False, 0.0), (True, 0.0), (True, 0.1)):
            title = f"sdpa {_SHORT[dtype]} {name} causal={causal} dropout={dropout}"
            yield (
                title,
                lambda d=dtype, s=shape, c=causal, p=dropout: called(
                    functional.scaled_dot_product_attention,
                    *(tensor(*s, dtype=d) for _ in range(3)),
                    is_causal=c,
                    dropout_p=p,
                ),
            )
    for dtype in (FP32, BF16, FP16):
        shape = (4, 8, 256, 64)
        masks = {"bool": (4, 1, 256, 256), "bool-1": (1, 1, 256, 256), "float": (4, 8, 256, 256)}
        for kind, mask in masks.items():
            yield (
                f"sdpa {_SHORT[dtype]} mask {kind}",
                lambda d=dtype, s=shape, k=kind, m=mask: called(
                    functional.scaled_dot_product_attention,
                    *(tensor(*s, dtype=d) for _ in range(3)),
                    attn_mask=torch.ones(m, device="cuda", dtype=torch.bool)
                    if k.startswith("bool")
                    else torch.zeros(m, device="cuda", dtype=d),
                ),
            )
        yield (
            f"sdpa {_SHORT[dtype]} gqa 16/4",
            lambda d=dtype: called(
                functional.scaled_dot_product_attention,
                tensor(2, 16, 512, 64, dtype=d),
                tensor(2, 4, 512, 64, dtype=d),
                tensor(2, 4, 512, 64, dtype=d),
                is_causal=True,
                enable_gqa=True,
            ),
        )
        yield (
            f"sdpa {_SHORT[dtype]} cross 256/777",
            lambda d=dtype: called(
                functional.scaled_dot_product_attention,
                tensor(2, 8, 256, 64, dtype=d),
                tensor(2, 8, 777, 64, dtype=d),
                tensor(2, 8, 777, 64, dtype=d),
            ),
        )
        yield (
            f"sdpa {_SHORT[dtype]} transposed",
            lambda d=dtype: called(
                functional.scaled_dot_product_attention,
                *(tensor(4, 512, 8, 64, dtype=d).transpose(1, 2) for _ in range(3)),
            ),
        )
        yield f"multihead attention {_SHORT[dtype]}", lambda d=dtype: _multihead(d)


def _multihead(dtype: torch.dtype) -> Made:
    made = module(nn.MultiheadAttention(512, 8, dropout=0.1, batch_first=True), dtype)
    x = tensor(8, 128, 512, dtype=dtype)
    wanted = [x, *made.parameters()]
    return (lambda: made(x, x, x, need_weights=False)[0]), wanted


def _normalization() -> Iterator[tuple[str, Case]]:
    for dtype in (FP32, BF16, FP16):
        short = _SHORT[dtype]
        for shape in ((32, 64, 56, 56), (8, 256, 14, 14)):
            yield (
                f"batch norm 2d {short} {shape}",
                lambda d=dtype, s=shape: applied(
                    module(nn.BatchNorm2d(s[1]), d), tensor(*s, dtype=d)
                ),
            )
            yield (
                f"batch norm 2d {short} {shape} channels_last",
                lambda d=dtype, s=shape: applied(
                    module(nn.BatchNorm2d(s[1]), d), _channels_last(*s, dtype=d)
                ),
            )
            yield (
                f"batch norm 2d fp32 weights {short} {shape}",
                lambda d=dtype, s=shape: applied(module(nn.BatchNorm2d(s[1])), tensor(*s, dtype=d)),
            )
        yield (
            f"batch norm 2d eval {short}",
            lambda d=dtype: applied(
                module(nn.BatchNorm2d(64).eval(), d), tensor(8, 64, 28, 28, dtype=d)
            ),
        )
        yield (
            f"batch norm 1d {short}",
            lambda d=dtype: applied(module(nn.BatchNorm1d(512), d), tensor(256, 512, dtype=d)),
        )
        yield (
            f"batch norm 3d {short}",
            lambda d=dtype: applied(
                module(nn.BatchNorm3d(32), d), tensor(2, 32, 8, 28, 28, dtype=d)
            ),
        )
        for rows, width in ((4096, 768), (128, 4096), (65536, 64)):
            yield (
                f"layer norm {short} {rows}x{width}",
                lambda d=dtype, r=rows, w=width: applied(
                    module(nn.LayerNorm(w), d), tensor(r, w, dtype=d)
                ),
            )
        yield (
            f"rms norm {short}",
            lambda d=dtype: applied(module(nn.RMSNorm(1024), d), tensor(2048, 1024, dtype=d)),
        )
        for shape in ((8, 320, 32, 32), (2, 64, 128, 128)):
            yield (
                f"group norm {short} {shape}",
                lambda d=dtype, s=shape: applied(
                    module(nn.GroupNorm(32, s[1]), d), tensor(*s, dtype=d)
                ),
            )
        yield (
            f"instance norm {short}",
            lambda d=dtype: applied(
                module(nn.InstanceNorm2d(64, affine=True), d), tensor(8, 64, 64, 64, dtype=d)
            ),
        )


def _channels_last(*shape: int, dtype: torch.dtype = FP32) -> torch.Tensor:
    made = tensor(*shape, dtype=dtype, grad=False)
    return made.contiguous(memory_format=torch.channels_last).requires_grad_()


_CONVOLUTIONS = {
    "1x1 64-256 56": (nn.Conv2d, (64, 256, 1), {}, (32, 64, 56, 56)),
    "1x1 s2 256-512 56": (nn.Conv2d, (256, 512, 1, 2), {"bias": False}, (16, 256, 56, 56)),
    "3x3 64-64 56": (nn.Conv2d, (64, 64, 3, 1, 1), {"bias": False}, (32, 64, 56, 56)),
    "3x3 128-128 28": (nn.Conv2d, (128, 128, 3, 1, 1), {"bias": False}, (32, 128, 28, 28)),
    "3x3 256-256 14": (nn.Conv2d, (256, 256, 3, 1, 1), {"bias": False}, (32, 256, 14, 14)),
    "3x3 512-512 7": (nn.Conv2d, (512, 512, 3, 1, 1), {"bias": False}, (32, 512, 7, 7)),
    "3x3 s2 256-256 28": (nn.Conv2d, (256, 256, 3, 2, 1), {"bias": False}, (32, 256, 28, 28)),
    "7x7 s2 3-64 224": (nn.Conv2d, (3, 64, 7, 2, 3), {"bias": False}, (32, 3, 224, 224)),
    "16x16 s16 3-768 224": (nn.Conv2d, (3, 768, 16, 16), {}, (32, 3, 224, 224)),
    "4x4 s4 3-96 224": (nn.Conv2d, (3, 96, 4, 4), {}, (16, 3, 224, 224)),
    "3x3 320-320 32 bias": (nn.Conv2d, (320, 320, 3, 1, 1), {}, (4, 320, 32, 32)),
    "3x3 32-32 256 bias": (nn.Conv2d, (32, 32, 3, 1, 1), {}, (2, 32, 256, 256)),
    "3x3 dilated 64": (nn.Conv2d, (64, 64, 3, 1, 2, 2), {}, (8, 64, 64, 64)),
    "depthwise 7x7 96 56": (nn.Conv2d, (96, 96, 7, 1, 3), {"groups": 96}, (16, 96, 56, 56)),
    "depthwise 3x3 s2 144": (nn.Conv2d, (144, 144, 3, 2, 1), {"groups": 144}, (16, 144, 56, 56)),
    "grouped 3x3 32 groups": (nn.Conv2d, (128, 128, 3, 1, 1), {"groups": 32}, (16, 128, 56, 56)),
    "transposed 2x2 128-64": (nn.ConvTranspose2d, (128, 64, 2, 2), {}, (8, 128, 64, 64)),
    "transposed 4x4 256-128": (nn.ConvTranspose2d, (256, 128, 4, 2, 1), {}, (8, 256, 16, 16)),
    "1d k3 80-384": (nn.Conv1d, (80, 384, 3, 1, 1), {}, (8, 80, 3000)),
    "1d k3 s2 384-384": (nn.Conv1d, (384, 384, 3, 2, 1), {}, (8, 384, 3000)),
    "1d depthwise k4": (nn.Conv1d, (512, 512, 4, 1, 3), {"groups": 512}, (8, 512, 512)),
    "3d k3 16-32": (nn.Conv3d, (16, 32, 3, 1, 1), {}, (2, 16, 16, 56, 56)),
}


def _convolution() -> Iterator[tuple[str, Case]]:
    for dtype, (name, (kind, places, options, shape)) in itertools.product(
        (FP32, BF16, FP16), _CONVOLUTIONS.items()
    ):
        title = f"convolution {_SHORT[dtype]} {name}"
        yield (
            title,
            lambda d=dtype, k=kind, p=places, o=options, s=shape: applied(
                module(k(*p, **o), d), tensor(*s, dtype=d)
            ),
        )
        if len(shape) == 4 and dtype is not FP16:
            yield (
                title + " channels_last",
                lambda d=dtype, k=kind, p=places, o=options, s=shape: applied(
                    module(k(*p, **o), d).to(memory_format=torch.channels_last),
                    _channels_last(*s, dtype=d),
                ),
            )
    for name in ("3x3 64-64 56", "1x1 64-256 56", "7x7 s2 3-64 224"):
        kind, places, options, shape = _CONVOLUTIONS[name]
        for batch in (1, 8, 64):
            yield (
                f"convolution fp32 {name} batch {batch}",
                lambda k=kind, p=places, o=options, s=shape, b=batch: applied(
                    module(k(*p, **o)), tensor(b, *s[1:])
                ),
            )


def _recurrent() -> Iterator[tuple[str, Case]]:
    for dtype, kind in itertools.product((FP32, FP16, BF16), (nn.LSTM, nn.GRU, nn.RNN)):
        for layers, both in ((1, False), (2, False), (2, True)):
            title = f"{kind.__name__} {_SHORT[dtype]} layers={layers} bidirectional={both}"
            yield title, lambda d=dtype, k=kind, n=layers, b=both: _rnn(d, k, n, b)
    yield (
        "LSTM fp32 dropout batch_first wide",
        lambda: _rnn(
            FP32, nn.LSTM, 2, False, hidden=1024, size=650, steps=35, batch=20, dropout=0.5
        ),
    )
    yield "LSTMCell fp32", lambda: _cell(nn.LSTMCell)
    yield "GRUCell fp32", lambda: _cell(nn.GRUCell)


def _rnn(
    dtype: torch.dtype,
    kind: Any,
    layers: int,
    both: bool,
    hidden: int = 512,
    size: int = 256,
    steps: int = 64,
    batch: int = 32,
    dropout: float = 0.0,
) -> Made:
    made = module(
        kind(size, hidden, layers, bidirectional=both, batch_first=True, dropout=dropout), dtype
    )
    x = tensor(batch, steps, size, dtype=dtype)
    return (lambda: made(x)[0]), [x, *made.parameters()]


def _cell(kind: Any) -> Made:
    made = module(kind(256, 512))
    x = tensor(32, 256)
    return (lambda: made(x)[0] if kind is nn.LSTMCell else made(x)), [x, *made.parameters()]


def _products() -> Iterator[tuple[str, Case]]:
    for dtype in (FP32, BF16, FP16):
        short = _SHORT[dtype]
        yield (
            f"linear {short} bias",
            lambda d=dtype: applied(module(nn.Linear(768, 3072), d), tensor(8, 512, 768, dtype=d)),
        )
        yield (
            f"linear {short} no bias",
            lambda d=dtype: applied(
                module(nn.Linear(768, 3072, bias=False), d), tensor(4096, 768, dtype=d)
            ),
        )
        yield (
            f"linear {short} odd",
            lambda d=dtype: applied(module(nn.Linear(777, 333), d), tensor(100, 777, dtype=d)),
        )
        yield (
            f"linear {short} vocabulary",
            lambda d=dtype: applied(
                module(nn.Linear(256, 50257, bias=False), d), tensor(512, 256, dtype=d)
            ),
        )
        yield (
            f"bmm {short}",
            lambda d=dtype: called(
                torch.bmm, tensor(32, 128, 64, dtype=d), tensor(32, 64, 128, dtype=d)
            ),
        )
        yield (
            f"baddbmm {short}",
            lambda d=dtype: called(
                torch.baddbmm,
                tensor(32, 128, 128, dtype=d),
                tensor(32, 128, 64, dtype=d),
                tensor(32, 64, 128, dtype=d),
            ),
        )
        yield (
            f"addmm {short} matrix",
            lambda d=dtype: called(
                torch.addmm,
                tensor(512, 256, dtype=d),
                tensor(512, 128, dtype=d),
                tensor(128, 256, dtype=d),
            ),
        )
        yield (
            f"einsum {short}",
            lambda d=dtype: called(
                torch.einsum,
                "bhid,bhjd->bhij",
                tensor(4, 8, 128, 64, dtype=d),
                tensor(4, 8, 100, 64, dtype=d),
            ),
        )
        yield (
            f"matmul broadcast {short}",
            lambda d=dtype: called(
                torch.matmul, tensor(4, 8, 128, 64, dtype=d), tensor(64, 96, dtype=d)
            ),
        )
    yield "addmv fp32", lambda: called(torch.addmv, tensor(512), tensor(512, 256), tensor(256))


def _losses() -> Iterator[tuple[str, Case]]:
    for dtype in (FP32, BF16, FP16):
        short = _SHORT[dtype]
        yield (
            f"cross entropy {short}",
            lambda d=dtype: called(
                functional.cross_entropy, tensor(2048, 32000, dtype=d), integers(32000, 2048)
            ),
        )
        yield (
            f"cross entropy smoothing {short}",
            lambda d=dtype: called(
                functional.cross_entropy,
                tensor(256, 1000, dtype=d),
                integers(1000, 256),
                label_smoothing=0.1,
            ),
        )
        yield (
            f"cross entropy spatial {short}",
            lambda d=dtype: called(
                functional.cross_entropy,
                tensor(4, 21, 128, 128, dtype=d),
                integers(21, 4, 128, 128),
            ),
        )
        yield f"cross entropy of float {short}", lambda d=dtype: _upcast_loss(d)
        yield (
            f"log softmax {short}",
            lambda d=dtype: called(functional.log_softmax, tensor(1024, 4096, dtype=d), dim=-1),
        )
        yield (
            f"log softmax to fp32 {short}",
            lambda d=dtype: called(
                functional.log_softmax, tensor(1024, 4096, dtype=d), dim=-1, dtype=FP32
            ),
        )
        yield (
            f"softmax {short}",
            lambda d=dtype: called(functional.softmax, tensor(64, 128, 128, dtype=d), dim=-1),
        )
        yield (
            f"softmax to fp32 {short}",
            lambda d=dtype: called(
                functional.softmax, tensor(64, 128, 128, dtype=d), dim=-1, dtype=FP32
            ),
        )
        yield (
            f"mse {short}",
            lambda d=dtype: called(
                functional.mse_loss,
                tensor(512, 512, dtype=d),
                tensor(512, 512, dtype=d, grad=False),
            ),
        )
        yield (
            f"binary cross entropy with logits {short}",
            lambda d=dtype: called(
                functional.binary_cross_entropy_with_logits,
                tensor(512, 512, dtype=d),
                torch.ones(512, 512, device="cuda", dtype=d),
            ),
        )
    yield (
        "smooth l1",
        lambda: called(functional.smooth_l1_loss, tensor(512, 512), tensor(512, 512, grad=False)),
    )
    yield (
        "kl div",
        lambda: called(
            functional.kl_div, tensor(512, 512), tensor(512, 512, grad=False), reduction="batchmean"
        ),
    )
    yield "ctc", _ctc


def _upcast_loss(dtype: torch.dtype) -> Made:
    logits, target = tensor(1024, 8192, dtype=dtype), integers(8192, 1024)
    return (lambda: functional.cross_entropy(logits.float(), target)), [logits]


def _ctc() -> Made:
    raw = tensor(100, 16, 40)
    targets = torch.randint(1, 40, (16, 20), device="cuda")
    lengths = (torch.full((16,), 100), torch.full((16,), 20))
    return (lambda: functional.ctc_loss(functional.log_softmax(raw, -1), targets, *lengths)), [raw]


def _lookups() -> Iterator[tuple[str, Case]]:
    for dtype, (rows, width, shape) in itertools.product(
        (FP32, BF16), ((50257, 768, (8, 512)), (1024, 64, (16,)), (32000, 256, (2, 3000)))
    ):
        yield (
            f"embedding {_SHORT[dtype]} {rows}x{width} {shape}",
            lambda d=dtype, r=rows, w=width, s=shape: applied(
                module(nn.Embedding(r, w), d), integers(r, *s)
            ),
        )
    yield (
        "embedding padded",
        lambda: applied(module(nn.Embedding(30000, 512, padding_idx=0)), integers(30000, 16, 128)),
    )
    yield (
        "embedding bag",
        lambda: applied(module(nn.EmbeddingBag(1000, 64)), integers(1000, 128, 10)),
    )
    yield (
        "index select",
        lambda: called(torch.index_select, tensor(4096, 256), 0, integers(4096, 1000)),
    )
    yield "advanced indexing", lambda: _indexed()
    yield "gather", lambda: called(torch.gather, tensor(512, 1000), 1, integers(1000, 512, 10))
    yield (
        "scatter add",
        lambda: called(
            torch.scatter_add, tensor(512, 1000), 1, integers(1000, 512, 10), tensor(512, 10)
        ),
    )
    yield (
        "index add",
        lambda: called(
            torch.index_add, tensor(4096, 256), 0, integers(4096, 1000), tensor(1000, 256)
        ),
    )
    yield "index put", lambda: _put()
    yield (
        "where",
        lambda: called(
            torch.where, tensor(512, 512, grad=False) > 0, tensor(512, 512), tensor(512, 512)
        ),
    )
    yield "masked fill", lambda: _filled()
    yield "one hot", lambda: called(functional.one_hot, integers(8, 4096), 8)


def _indexed() -> Made:
    x, at = tensor(4096, 256), integers(4096, 1000)
    return (lambda: x[at]), [x]


def _put() -> Made:
    x, at, values = tensor(4096, 256), integers(4096, 1000), tensor(1000, 256)
    return (lambda: x.index_put((at,), values, accumulate=True)), [x, values]


def _filled() -> Made:
    x = tensor(8, 8, 256, 256)
    mask = torch.ones(256, 256, device="cuda", dtype=torch.bool).triu(1)
    return (lambda: x.masked_fill(mask, float("-inf"))), [x]


def _pointwise() -> Iterator[tuple[str, Case]]:
    functions: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
        "relu": functional.relu,
        "gelu": functional.gelu,
        "gelu tanh": lambda x: functional.gelu(x, approximate="tanh"),
        "silu": functional.silu,
        "sigmoid": torch.sigmoid,
        "tanh": torch.tanh,
        "softplus": functional.softplus,
        "leaky relu": functional.leaky_relu,
        "elu": functional.elu,
        "hardswish": functional.hardswish,
        "mish": functional.mish,
        "glu": functional.glu,
        "pow": lambda x: x.pow(2),
        "pow 3": lambda x: x.pow(3),
        "rsqrt mean": lambda x: x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6),
        "exp": torch.exp,
        "log1p": lambda x: torch.log1p(x.abs()),
        "std": lambda x: x.std(-1),
        "var mean": lambda x: x.var(-1) + x.mean(-1),
        "cumsum": lambda x: x.cumsum(-1),
        "cumprod": lambda x: x.cumprod(-1),
        "sort": lambda x: x.sort(-1).values,
        "argsort": lambda x: x.detach().argsort(-1),
        "topk": lambda x: x.topk(8, -1).values,
        "max": lambda x: x.max(-1).values,
        "amax": lambda x: x.amax(-1),
        "sum all": lambda x: x.sum(),
        "mean all": lambda x: x.mean(),
        "norm": lambda x: x.norm(),
        "logsumexp": lambda x: x.logsumexp(-1),
        "cat": lambda x: torch.cat([x, x], -1),
        "stack": lambda x: torch.stack([x, x]),
        "chunk": lambda x: x.chunk(2, -1)[0] * x.chunk(2, -1)[1],
        "roll": lambda x: x.roll(3, -1),
        "pad": lambda x: functional.pad(x, (1, 2)),
        "transpose contiguous": lambda x: x.transpose(0, 1).contiguous(),
        "repeat": lambda x: x.repeat(2, 1),
        "dropout": lambda x: functional.dropout(x, 0.1),
        "alpha dropout": lambda x: functional.alpha_dropout(x, 0.1, training=True),
        "feature dropout": lambda x: functional.dropout1d(x[None], 0.1)[0],
        "clamp": lambda x: x.clamp(-1, 1),
        "to fp32": lambda x: x.float(),
        "to bf16": lambda x: x.bfloat16(),
        "unique": lambda x: x.detach().round().unique(),
        "nonzero": lambda x: x.detach().nonzero(),
        "masked select": lambda x: x[x > 0],
        "multinomial": lambda x: torch.multinomial(x.detach().float().softmax(-1), 1),
        "fft": lambda x: torch.fft.rfft(x.float()).abs(),
        "quantile": lambda x: x.detach().float().quantile(0.5, -1),
        "bernoulli": lambda x: torch.bernoulli(x.detach().sigmoid()),
        "isnan any": lambda x: x.isnan().any(),
    }
    for dtype, (name, function) in itertools.product((FP32, BF16), functions.items()):
        yield (
            f"{name} {_SHORT[dtype]}",
            lambda d=dtype, f=function: called(f, tensor(1024, 768, dtype=d)),
        )


def _spatial() -> Iterator[tuple[str, Case]]:
    functions: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
        "max pool": lambda x: functional.max_pool2d(x, 3, 2, 1),
        "avg pool": lambda x: functional.avg_pool2d(x, 2),
        "adaptive avg pool 1": lambda x: functional.adaptive_avg_pool2d(x, 1),
        "adaptive avg pool 7": lambda x: functional.adaptive_avg_pool2d(x, 7),
        "adaptive max pool": lambda x: functional.adaptive_max_pool2d(x, 7),
        "upsample nearest": lambda x: functional.interpolate(x, scale_factor=2),
        "upsample bilinear": lambda x: functional.interpolate(x, scale_factor=2, mode="bilinear"),
        "upsample bicubic": lambda x: functional.interpolate(x, scale_factor=2, mode="bicubic"),
        "pixel shuffle": lambda x: functional.pixel_shuffle(x, 2),
        "unfold": lambda x: functional.unfold(x, 3, padding=1),
        "reflection pad": lambda x: functional.pad(x, (1, 1, 1, 1), mode="reflect"),
    }
    for dtype, (name, function) in itertools.product((FP32, BF16), functions.items()):
        yield (
            f"{name} {_SHORT[dtype]}",
            lambda d=dtype, f=function: called(f, tensor(8, 64, 56, 56, dtype=d)),
        )
    yield (
        "grid sample",
        lambda: called(
            functional.grid_sample, tensor(8, 64, 56, 56), tensor(8, 28, 28, 2), align_corners=False
        ),
    )


def _optimizers() -> Iterator[tuple[str, Case]]:
    makers: dict[str, Callable[[list[torch.Tensor]], torch.optim.Optimizer]] = {
        "AdamW": lambda p: torch.optim.AdamW(p),
        "AdamW loop": lambda p: torch.optim.AdamW(p, foreach=False),
        "AdamW fused": lambda p: torch.optim.AdamW(p, fused=True),
        "AdamW amsgrad": lambda p: torch.optim.AdamW(p, amsgrad=True),
        "AdamW capturable": lambda p: torch.optim.AdamW(p, capturable=True),
        "Adam": lambda p: torch.optim.Adam(p, weight_decay=0.1),
        "SGD": lambda p: torch.optim.SGD(p, 0.1),
        "SGD momentum": lambda p: torch.optim.SGD(p, 0.1, momentum=0.9),
        "SGD momentum decay": lambda p: torch.optim.SGD(p, 0.1, momentum=0.9, weight_decay=1e-4),
        "SGD nesterov": lambda p: torch.optim.SGD(p, 0.1, momentum=0.9, nesterov=True),
        "SGD loop": lambda p: torch.optim.SGD(p, 0.1, momentum=0.9, foreach=False),
        "SGD fused": lambda p: torch.optim.SGD(p, 0.1, momentum=0.9, fused=True),
        "Adafactor": lambda p: torch.optim.Adafactor(p),
        "RMSprop": lambda p: torch.optim.RMSprop(p),
        "Adagrad": lambda p: torch.optim.Adagrad(p),
        "Adadelta": lambda p: torch.optim.Adadelta(p),
        "Adamax": lambda p: torch.optim.Adamax(p),
        "NAdam": lambda p: torch.optim.NAdam(p),
        "RAdam": lambda p: torch.optim.RAdam(p),
    }
    for dtype, (name, make) in itertools.product((FP32, BF16), makers.items()):
        for first in (True, False):
            when = "first" if first else "later"
            yield (
                f"optimizer {name} {_SHORT[dtype]} {when} step",
                lambda d=dtype, m=make, f=first: _stepping(m, d, f),
            )
    yield "clip grad norm", lambda: _clipped(None)
    yield "clip grad norm loop", lambda: _clipped(False)
    yield "unscale and update", _unscaled
    yield "zero grad to zero", _zeroed


def _weights(dtype: torch.dtype = FP32) -> list[torch.Tensor]:
    shapes = [(1024, 1024)] * 4 + [(4096, 1024), (1024, 4096), (32000, 256)] + [(1024,)] * 8
    made = [tensor(*shape, dtype=dtype) for shape in shapes]
    for one in made:
        one.grad = torch.randn_like(one)
    return made


def _stepping(make: Any, dtype: torch.dtype, first: bool) -> Made:
    weights = _weights(dtype)
    optimizer = make(weights)
    if not first:
        optimizer.step()
    return (lambda: optimizer.step()), []


def _clipped(foreach: bool | None) -> Made:
    weights = _weights()
    return (lambda: nn.utils.clip_grad_norm_(weights, 1.0, foreach=foreach)), []


def _unscaled() -> Made:
    weights = _weights()
    optimizer = torch.optim.SGD(weights, 0.1)
    scaler = torch.amp.GradScaler("cuda")
    scaler.scale(torch.ones((), device="cuda"))

    def run() -> None:
        scaler.unscale_(optimizer)
        scaler.step(optimizer)
        scaler.update()

    return run, []


def _zeroed() -> Made:
    weights = _weights()
    optimizer = torch.optim.SGD(weights, 0.1)
    return (lambda: optimizer.zero_grad(set_to_none=False)), []


def _autocast() -> Iterator[tuple[str, Case]]:
    for dtype in (BF16, FP16):
        short = _SHORT[dtype]
        blocks: dict[str, Callable[[], tuple[nn.Module, torch.Tensor]]] = {
            "linear gelu linear": lambda: (
                nn.Sequential(nn.Linear(768, 3072), nn.GELU(), nn.Linear(3072, 768)),
                tensor(4096, 768),
            ),
            "linear norm": lambda: (
                nn.Sequential(nn.Linear(768, 768), nn.LayerNorm(768), nn.Linear(768, 768)),
                tensor(4096, 768),
            ),
            "convolution norm": lambda: (
                nn.Sequential(nn.Conv2d(64, 64, 3, 1, 1), nn.BatchNorm2d(64), nn.ReLU()),
                tensor(16, 64, 56, 56),
            ),
            "group norm convolution": lambda: (
                nn.Sequential(nn.GroupNorm(8, 64), nn.SiLU(), nn.Conv2d(64, 64, 3, 1, 1)),
                tensor(16, 64, 56, 56),
            ),
            "lstm": lambda: (_Output(nn.LSTM(256, 512, 2, batch_first=True)), tensor(32, 64, 256)),
            "encoder layer": lambda: (
                nn.TransformerEncoderLayer(512, 8, 2048, batch_first=True),
                tensor(8, 128, 512),
            ),
        }
        for name, make in blocks.items():
            yield f"autocast {short} {name}", lambda d=dtype, m=make: _cast(d, *m())
        yield f"autocast {short} cross entropy", lambda d=dtype: _cast_loss(d)


class _Output(nn.Module):
    """The first output of a module with several."""

    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the first output."""
        return self.inner(x)[0]  # type: ignore[no-any-return]


def _cast(dtype: torch.dtype, made: nn.Module, x: torch.Tensor) -> Made:
    made = module(made)

    def run() -> torch.Tensor:
        with torch.autocast("cuda", dtype):
            return made(x)  # type: ignore[no-any-return]

    return run, [x, *made.parameters()]


def _cast_loss(dtype: torch.dtype) -> Made:
    made, x, target = module(nn.Linear(256, 8192)), tensor(1024, 256), integers(8192, 1024)

    def run() -> torch.Tensor:
        with torch.autocast("cuda", dtype):
            return functional.cross_entropy(made(x), target)

    return run, [x, *made.parameters()]


CASES: dict[str, Case] = dict(
    itertools.chain(
        _products(),
        _attention(),
        _normalization(),
        _pointwise(),
        _losses(),
        _lookups(),
        _spatial(),
        _recurrent(),
        _optimizers(),
        _autocast(),
        _convolution(),
    )
)
"""Every case by its name."""
