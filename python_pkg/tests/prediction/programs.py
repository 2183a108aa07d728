"""Ordinary CUDA training programs, each of its own kind, small, and written as people write them.

Each returns what it has trained, with the number of elements its parameters must have by arithmetic.
They run on a GPU as they stand; on the stage they run without one.
"""

from __future__ import annotations

import contextlib
import copy
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint
from torch.utils.data import DataLoader, Dataset, TensorDataset


@dataclass
class Trained:
    """What a program leaves: `elements` its distinct parameters hold, `state` Adam-like tensors each."""

    model: nn.Module
    optimizers: list[torch.optim.Optimizer]
    elements: int
    states: int = 2
    notes: dict[str, Any] = field(default_factory=dict)


STEPS = 2
MLP_ELEMENTS = (16 * 32 + 32) + (32 * 4 + 4)


def mlp() -> nn.Sequential:
    """Return a small multilayer perceptron of `MLP_ELEMENTS` parameters on the host."""
    return nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4))


def batch(count: int = 8) -> tuple[torch.Tensor, torch.Tensor]:
    """Return inputs and classes on the GPU."""
    return torch.randn(count, 16, device="cuda"), torch.randint(0, 4, (count,), device="cuda")


def moved_by_cuda() -> Trained:
    """`.cuda()` on model and batch, AdamW."""
    model = mlp().cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for _ in range(STEPS):
        optimizer.zero_grad()
        inputs, classes = batch()
        functional.cross_entropy(model(inputs), classes).backward()
        optimizer.step()
    return Trained(model, [optimizer], MLP_ELEMENTS)


def moved_by_device_object() -> Trained:
    """A device chosen by availability, data made on the host."""
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = mlp().to(device)
    optimizer = torch.optim.Adam(model.parameters())
    for _ in range(STEPS):
        inputs, classes = torch.randn(8, 16).to(device), torch.randint(4, (8,)).to(device)
        loss = nn.CrossEntropyLoss()(model(inputs), classes)
        optimizer.zero_grad(set_to_none=False)
        loss.backward()
        optimizer.step()
    return Trained(model, [optimizer], MLP_ELEMENTS)


def default_device() -> Trained:
    """Everything made under a default device."""
    with torch.device("cuda"):
        model = mlp()
        inputs, classes = torch.randn(8, 16), torch.randint(0, 4, (8,))
    optimizer = torch.optim.NAdam(model.parameters())
    for _ in range(STEPS):
        optimizer.zero_grad()
        functional.cross_entropy(model(inputs), classes).backward()
        optimizer.step()
    return Trained(model, [optimizer], MLP_ELEMENTS)


def mixed_precision() -> Trained:
    """Autocast in float16 with a scaler, clipping, and a schedule that reads the loss."""
    model = mlp().cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    scaler = torch.amp.GradScaler("cuda")
    schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer)
    scales = []
    for _ in range(STEPS):
        optimizer.zero_grad(set_to_none=True)
        inputs, classes = batch()
        with torch.autocast("cuda", dtype=torch.float16):
            loss = functional.cross_entropy(model(inputs), classes)
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        schedule.step(loss.item())
        scales.append((scaler.get_scale(), float(norm)))
    return Trained(model, [optimizer], MLP_ELEMENTS, notes={"scales": scales})


class Pairs(Dataset):  # type: ignore[type-arg]
    """Samples of numpy arrays, as a data set of files gives them."""

    def __len__(self) -> int:
        return 24

    def __getitem__(self, index: int) -> tuple[np.ndarray[Any, Any], int]:
        return np.ones(16, dtype=np.float32) * index, index % 4


def loaded() -> Trained:
    """A loader with workers and pinned memory, counting what it sees."""
    model = mlp().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    loader = DataLoader(Pairs(), batch_size=8, shuffle=True, num_workers=4, pin_memory=True)
    seen, correct, total = 0, 0, 0.0
    for inputs, classes in loader:
        inputs, classes = inputs.cuda(non_blocking=True), classes.cuda(non_blocking=True)
        outputs = model(inputs)
        loss = functional.cross_entropy(outputs, classes)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        seen += inputs.size(0)
        correct += (outputs.argmax(1) == classes).sum().item()
        total += loss.detach().cpu().numpy()
    return Trained(model, [optimizer], MLP_ELEMENTS, 1, {"seen": seen, "correct": correct})


def tensors_loaded() -> Trained:
    """A data set of tensors, drawn with numpy's and Python's generators besides."""
    model = mlp().cuda()
    optimizer = torch.optim.RMSprop(model.parameters())
    data = TensorDataset(torch.from_numpy(np.random.rand(24, 16)).float(), torch.arange(24) % 4)
    for inputs, classes in DataLoader(data, batch_size=12, shuffle=True):
        scale = random.random()
        optimizer.zero_grad()
        (functional.cross_entropy(model(inputs.cuda()), classes.cuda()) * scale).backward()
        optimizer.step()
    return Trained(model, [optimizer], MLP_ELEMENTS, 1)


class Blocks(nn.Module):
    """Blocks with dropout that are checkpointed."""

    def __init__(self, reentrant: bool) -> None:
        super().__init__()
        self.first = nn.Linear(16, 16)
        self.blocks = nn.ModuleList(
            nn.Sequential(nn.Linear(16, 16), nn.GELU(), nn.Dropout(0.1)) for _ in range(3)
        )
        self.reentrant = reentrant

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        hidden = self.first(inputs)
        for block in self.blocks:
            hidden = checkpoint(block, hidden, use_reentrant=self.reentrant)
        return hidden.square().mean()


def _checkpointed(reentrant: bool) -> Trained:
    model = Blocks(reentrant).cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(STEPS):
        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = model(torch.randn(8, 16, device="cuda"))
        loss.backward()
        optimizer.step()
    return Trained(model, [optimizer], 4 * (16 * 16 + 16))


def checkpointed() -> Trained:
    """Checkpointing without reentering, random state kept."""
    return _checkpointed(reentrant=False)


def checkpointed_reentrant() -> Trained:
    """Checkpointing of the older kind."""
    return _checkpointed(reentrant=True)


class Tied(nn.Module):
    """A language model whose head is its embedding."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(50, 16)
        self.hidden = nn.Linear(16, 16, bias=False)
        self.head = nn.Linear(16, 50, bias=False)
        self.head.weight = self.embedding.weight

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        logits: torch.Tensor = self.head(torch.tanh(self.hidden(self.embedding(tokens))))
        return functional.cross_entropy(logits.view(-1, 50), tokens.view(-1))


def tied() -> Trained:
    """Tied weights stay one storage after `.cuda()`."""
    model = Tied().cuda()
    assert model.head.weight is model.embedding.weight
    optimizer = torch.optim.Adam(model.parameters())
    for _ in range(STEPS):
        optimizer.zero_grad()
        model(torch.randint(0, 50, (4, 10)).cuda()).backward()
        optimizer.step()
    return Trained(model, [optimizer], 50 * 16 + 16 * 16)


class Doubled(torch.autograd.Function):
    """A custom function that saves its input."""

    @staticmethod
    def forward(ctx: Any, inputs: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(inputs)
        return inputs * 2

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        (inputs,) = ctx.saved_tensors
        return gradients[0] * 2 + inputs.new_zeros(inputs.shape)


def custom_function() -> Trained:
    """A custom autograd function, hooks on tensors and modules, changes in place."""
    model = mlp().cuda()
    calls: list[str] = []
    model[0].register_forward_hook(lambda *args: calls.append("forward"))
    model[0].weight.register_hook(lambda gradient: gradient * 0.5)
    optimizer = torch.optim.Adagrad(model.parameters())
    for _ in range(STEPS):
        optimizer.zero_grad()
        inputs, classes = batch()
        hidden = Doubled.apply(model(inputs))  # type: ignore[no-untyped-call]
        hidden.add_(1).relu_()
        functional.cross_entropy(hidden, classes).backward()
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.grad.clamp_(-1, 1)  # type: ignore[union-attr]
                parameter.data = parameter.data.clone()
        optimizer.step()
    return Trained(model, [optimizer], MLP_ELEMENTS, 1, {"calls": calls})


def averaged() -> Trained:
    """An exponential moving average kept in a deep copy, evaluated in inference mode."""
    model = mlp().cuda()
    average = copy.deepcopy(model).requires_grad_(False)
    optimizer = torch.optim.Adamax(model.parameters())
    for _ in range(STEPS):
        optimizer.zero_grad()
        inputs, classes = batch()
        functional.cross_entropy(model(inputs), classes).backward()
        optimizer.step()
        with torch.no_grad():
            for kept, new in zip(average.parameters(), model.parameters(), strict=True):
                kept.lerp_(new, 0.1)
        model.eval()
        with torch.inference_mode():
            accuracy = (average(inputs).argmax(-1) == classes).float().mean().item()
        model.train()
    devices = {str(one.device) for one in average.parameters()}
    return Trained(model, [optimizer], MLP_ELEMENTS, notes={"devices": devices, "was": accuracy})


def several_optimizers() -> Trained:
    """A generator and a discriminator with an optimizer each, as in a GAN."""
    model = nn.ModuleDict({"make": nn.Linear(8, 16), "judge": nn.Linear(16, 1)}).to("cuda:0")
    makes = torch.optim.Adam(model["make"].parameters(), betas=(0.5, 0.999), foreach=True)
    judges = torch.optim.Adam(model["judge"].parameters(), foreach=False)
    for _ in range(STEPS):
        made = model["make"](torch.randn(8, 8, device="cuda"))
        real = torch.ones(8, 1, device="cuda")
        judges.zero_grad()
        judged = model["judge"](made.detach())
        functional.binary_cross_entropy_with_logits(judged, real * 0).backward()
        judges.step()
        makes.zero_grad()
        functional.binary_cross_entropy_with_logits(model["judge"](made), real).backward()
        makes.step()
    return Trained(model, [makes, judges], (8 * 16 + 16) + (16 + 1))


def fused() -> Trained:
    """The fused optimizer with a scaler, whose found infinity it takes itself."""
    model = mlp().cuda()
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)
    scaler = torch.amp.GradScaler()
    for _ in range(STEPS):
        optimizer.zero_grad()
        inputs, classes = batch()
        with torch.autocast("cuda"):
            loss = functional.cross_entropy(model(inputs), classes)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
    return Trained(model, [optimizer], MLP_ELEMENTS)


class Recurrent(nn.Module):
    """An LSTM over embeddings, with packed sequences."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(20, 8)
        self.lstm = nn.LSTM(8, 12, num_layers=2, batch_first=True)
        self.head = nn.Linear(12, 4)

    def forward(self, tokens: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        packed = nn.utils.rnn.pack_padded_sequence(
            self.embedding(tokens), lengths, batch_first=True, enforce_sorted=False
        )
        outputs, _ = nn.utils.rnn.pad_packed_sequence(self.lstm(packed)[0], batch_first=True)
        head: torch.Tensor = self.head(outputs.mean(1))
        return head


def recurrent() -> Trained:
    """An LSTM whose lengths are known on the host."""
    model = Recurrent().cuda()
    optimizer = torch.optim.Adam(model.parameters())
    lengths = torch.tensor([9, 5, 3, 7])
    for _ in range(STEPS):
        optimizer.zero_grad()
        tokens = torch.randint(0, 20, (4, int(lengths.max())), device="cuda")
        functional.cross_entropy(
            model(tokens, lengths), torch.zeros(4, dtype=torch.long).cuda()
        ).backward()
        optimizer.step()
    elements = 20 * 8 + 4 * 12 * (8 + 12 + 2) + 4 * 12 * (12 + 12 + 2) + 12 * 4 + 4
    return Trained(model, [optimizer], elements)


class Experts(nn.Module):
    """Mixture of experts: the best two of four, each run on the rows routed to it."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = nn.Linear(16, 4, bias=False)
        self.experts = nn.ModuleList(nn.Linear(16, 16) for _ in range(4))
        self.rows: list[int] = []

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        weights, chosen = torch.topk(self.gate(inputs).softmax(-1), 2, dim=-1)
        mask = functional.one_hot(chosen, num_classes=4).permute(2, 1, 0)
        output = torch.zeros_like(inputs)
        for number, expert in enumerate(self.experts):
            place, row = torch.where(mask[number])
            self.rows.append(row.shape[0])
            output.index_add_(0, row, expert(inputs[row]) * weights[row, place, None])
        return output


def experts() -> Trained:
    """Data-dependent routing, taken to be balanced."""
    model = Experts().cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(STEPS):
        optimizer.zero_grad()
        model(torch.randn(40, 16, device="cuda").detach()).square().mean().backward()
        optimizer.step()
    return Trained(model, [optimizer], 16 * 4 + 4 * (16 * 16 + 16), notes={"rows": model.rows})


class Pictures(nn.Module):
    """Convolutions, batch norm and pooling."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(3, 8, 3, padding=1, bias=False),
            nn.BatchNorm2d(8),
            nn.ReLU(inplace=True),
            nn.MaxPool2d(2),
            nn.Conv2d(8, 8, 3, groups=8),
            nn.AdaptiveAvgPool2d(1),
            nn.Flatten(),
            nn.Linear(8, 4),
        )

    def forward(self, pictures: torch.Tensor) -> torch.Tensor:
        output: torch.Tensor = self.layers(pictures)
        return output


def pictures() -> Trained:
    """A convolutional network in channels-last."""
    model = Pictures().to("cuda", memory_format=torch.channels_last)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, nesterov=True)
    for _ in range(STEPS):
        optimizer.zero_grad()
        images = torch.rand(2, 3, 16, 16).to("cuda", memory_format=torch.channels_last)
        functional.cross_entropy(model(images), torch.tensor([0, 3], device="cuda")).backward()
        optimizer.step()
    counted = int(model.layers[1].num_batches_tracked)  # type: ignore[arg-type]
    elements = 8 * 3 * 9 + 16 + 8 * 9 + 8 + 8 * 4 + 4
    return Trained(model, [optimizer], elements, 1, {"counted": counted})


def transformer_layer() -> Trained:
    """Torch's own encoder with a padding mask."""
    layer = nn.TransformerEncoderLayer(16, 4, 32, batch_first=True)
    model = nn.TransformerEncoder(layer, 2).cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(STEPS):
        optimizer.zero_grad()
        inputs = torch.randn(4, 6, 16, device="cuda")
        padding = torch.zeros(4, 6, dtype=torch.bool, device="cuda")
        padding[:, 4:] = True
        model(inputs, src_key_padding_mask=padding).mean().backward()
        optimizer.step()
    attention = 4 * (16 * 16 + 16)
    elements = 2 * (attention + 16 * 32 + 32 + 32 * 16 + 16 + 2 * 32)
    return Trained(model, [optimizer], elements)


def accumulated() -> Trained:
    """Gradients accumulated over micro-batches, weights in 16 bits, statistics of memory printed."""
    torch.cuda.reset_peak_memory_stats()
    model = mlp().to(device="cuda", dtype=torch.bfloat16)
    optimizer = torch.optim.AdamW(model.parameters())
    for step in range(2 * STEPS):
        inputs, classes = batch()
        (functional.cross_entropy(model(inputs.bfloat16()), classes) / 2).backward()
        if step % 2:
            optimizer.step()
            optimizer.zero_grad()
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    line = f"{torch.cuda.max_memory_allocated() / 2**20:.0f} MiB on {torch.cuda.get_device_name()}"
    return Trained(model, [optimizer], MLP_ELEMENTS, notes={"line": line})


def frozen() -> Trained:
    """A frozen part, a low-rank part beside it, and a metric without gradient."""
    base = nn.Linear(16, 4).requires_grad_(False)
    model = nn.ModuleDict(
        {"base": base, "down": nn.Linear(16, 2, bias=False), "up": nn.Linear(2, 4, bias=False)}
    ).cuda()
    trained = [one for one in model.parameters() if one.requires_grad]
    optimizer = torch.optim.AdamW(trained)
    for _ in range(STEPS):
        optimizer.zero_grad()
        inputs, classes = batch()
        outputs = model["base"](inputs) + model["up"](model["down"](inputs))
        functional.cross_entropy(outputs, classes).backward()
        optimizer.step()
    return Trained(model, [optimizer], 16 * 4 + 4 + 16 * 2 + 2 * 4)


def layer_drop() -> Trained:
    """Layers left out by draws on the host, as `torch.rand(1) < p` decides."""
    torch.manual_seed(0)
    model = nn.ModuleList(nn.Linear(16, 16) for _ in range(8)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    ran = 0
    for _ in range(STEPS):
        hidden = torch.randn(4, 16, device="cuda")
        for layer in model:
            if torch.rand(1) < 0.5:
                continue
            hidden, ran = layer(hidden), ran + 1
        if hidden.requires_grad:
            optimizer.zero_grad()
            hidden.sum().backward()
            optimizer.step()
    return Trained(model, [optimizer], 8 * (16 * 16 + 16), 1, {"ran": ran})


def second_order() -> Trained:
    """Gradients of gradients, as a penalty takes them."""
    model = nn.Sequential(nn.Linear(16, 8), nn.Softplus(), nn.Linear(8, 1)).cuda()
    optimizer = torch.optim.Adam(model.parameters())
    for _ in range(STEPS):
        optimizer.zero_grad()
        inputs = torch.randn(4, 16, device="cuda", requires_grad=True)
        (gradient,) = torch.autograd.grad(model(inputs).sum(), inputs, create_graph=True)
        (gradient.norm(2, dim=1) - 1).square().mean().backward()
        optimizer.step()
    return Trained(model, [optimizer], 16 * 8 + 8 + 8 + 1)


@contextlib.contextmanager
def _timed() -> Iterator[Any]:
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    yield start
    end.record()
    torch.cuda.synchronize()
    start.elapsed_time(end)


def streams() -> Trained:
    """Streams, events, devices as contexts, seeds of the GPU, a generator of its own."""
    torch.cuda.manual_seed_all(1)
    generator = torch.Generator(device="cuda").manual_seed(3)
    with torch.cuda.device(0):
        model = mlp().cuda()
    optimizer = torch.optim.Adam(model.parameters())
    side = torch.cuda.Stream()
    for _ in range(STEPS):
        with torch.cuda.stream(side), _timed():
            inputs = torch.randn(8, 16, device="cuda", generator=generator)
            inputs.record_stream(torch.cuda.current_stream())
        torch.cuda.current_stream().wait_stream(side)
        optimizer.zero_grad()
        model(inputs).logsumexp(-1).mean().backward()
        optimizer.step()
    return Trained(model, [optimizer], MLP_ELEMENTS)


def compiled() -> Trained:
    """A compiled model, which runs as it is written."""
    model = mlp().cuda()
    fast = torch.compile(model)
    optimizer = torch.optim.AdamW(fast.parameters())
    for _ in range(STEPS):
        optimizer.zero_grad()
        inputs, classes = batch()
        functional.cross_entropy(fast(inputs), classes).backward()
        optimizer.step()
    return Trained(model, [optimizer], MLP_ELEMENTS)


def masked() -> Trained:
    """Boolean masks over known labels, selections, sorting and counting."""
    model = nn.Linear(16, 4).cuda()
    optimizer = torch.optim.Adam(model.parameters())
    kept = 0
    for _ in range(STEPS):
        optimizer.zero_grad()
        labels = torch.tensor([0, 1, -100, 3, -100, 2]).cuda()
        outputs = model(torch.randn(6, 16, device="cuda"))
        valid = labels != -100
        chosen = outputs[valid]
        kept = chosen.shape[0]
        order = torch.argsort(labels[valid])
        counts = torch.bincount(labels[valid], minlength=4)
        loss = functional.cross_entropy(chosen[order], labels[valid][order]) / counts.sum()
        loss.backward()
        optimizer.step()
        print(loss, outputs[:1], f"{loss:.3f} {loss.item():.3f}")
    return Trained(model, [optimizer], 16 * 4 + 4, notes={"kept": kept})


def lazily() -> Trained:
    """Lazy modules that take their shapes from the first batch, and buffers made on meta."""
    layers = nn.LazyLinear(8), nn.LazyBatchNorm1d(), nn.LayerNorm(8), nn.LazyLinear(4)
    model = nn.Sequential(*layers).cuda()
    inputs, classes = batch()
    model(inputs)
    with torch.device("meta"):
        more = nn.Linear(4, 4)
    model.append(more.to_empty(device="cuda"))
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(STEPS):
        optimizer.zero_grad()
        functional.cross_entropy(model(inputs), classes).backward()
        optimizer.step()
    return Trained(model, [optimizer], 16 * 8 + 8 + 2 * 16 + 8 * 4 + 4 + 4 * 4 + 4)


def offloaded() -> Trained:
    """Saved tensors kept on the host, and a loss computed there."""
    model = mlp().cuda()
    optimizer = torch.optim.Adam(model.parameters())
    for _ in range(STEPS):
        optimizer.zero_grad()
        inputs, classes = batch()
        with torch.autograd.graph.save_on_cpu(pin_memory=True):
            outputs = model(inputs)
        functional.cross_entropy(outputs.cpu(), classes.cpu()).backward()
        optimizer.step()
    grads = {str(one.grad.device) for one in model.parameters() if one.grad is not None}
    return Trained(model, [optimizer], MLP_ELEMENTS, notes={"grads": grads})


PROGRAMS: dict[str, Callable[[], Trained]] = {
    one.__name__: one
    for one in (
        moved_by_cuda,
        moved_by_device_object,
        default_device,
        mixed_precision,
        loaded,
        tensors_loaded,
        checkpointed,
        checkpointed_reentrant,
        tied,
        custom_function,
        averaged,
        several_optimizers,
        fused,
        recurrent,
        experts,
        pictures,
        transformer_layer,
        accumulated,
        frozen,
        layer_drop,
        second_order,
        streams,
        compiled,
        masked,
        lazily,
        offloaded,
    )
}
