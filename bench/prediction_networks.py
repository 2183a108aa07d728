"""Networks of plain torch for `bench/prediction_families.py`: what people write themselves."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812 - its name everywhere
from torch.utils.checkpoint import checkpoint

Losses = dict[str, torch.Tensor]


class Lora(nn.Module):
    """A frozen linear layer with a trained part of low rank beside it."""

    def __init__(self, inner: nn.Linear, rank: int = 16) -> None:
        super().__init__()
        self.inner = inner
        self.down = nn.Linear(inner.in_features, rank, bias=False)
        self.up = nn.Linear(rank, inner.out_features, bias=False)
        nn.init.zeros_(self.up.weight)
        self.drop = nn.Dropout(0.05)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return what the frozen layer gives and the trained part adds."""
        out: torch.Tensor = self.inner(x) + 2.0 * self.up(self.down(self.drop(x)))
        return out


def with_lora(model: Any, names: tuple[str, ...]) -> nn.Module:
    """Freeze a transformers model and give its layers of these names a part of low rank."""
    model.requires_grad_(False)
    for module in list(model.modules()):
        for name in names:
            if isinstance(getattr(module, name, None), nn.Linear):
                setattr(module, name, Lora(getattr(module, name)))
    model.enable_input_require_grads()
    frozen: nn.Module = model
    return frozen


class ResidualBlock(nn.Module):
    """Group norm, SiLU, convolution, twice, with the time added between."""

    def __init__(self, inside: int, outside: int, time: int) -> None:
        super().__init__()
        self.one, self.two = nn.GroupNorm(16, inside), nn.GroupNorm(16, outside)
        self.first = nn.Conv2d(inside, outside, 3, padding=1)
        self.second = nn.Conv2d(outside, outside, 3, padding=1)
        self.time = nn.Linear(time, outside)
        self.skip = nn.Conv2d(inside, outside, 1) if inside != outside else nn.Identity()

    def forward(self, x: torch.Tensor, time: torch.Tensor) -> torch.Tensor:
        """Return `x` changed."""
        h = self.first(F.silu(self.one(x))) + self.time(F.silu(time))[:, :, None, None]
        out: torch.Tensor = self.second(F.silu(self.two(h))) + self.skip(x)
        return out


class Attention2d(nn.Module):
    """Self-attention over the places of a picture."""

    def __init__(self, channels: int, heads: int = 4) -> None:
        super().__init__()
        self.norm, self.heads = nn.GroupNorm(16, channels), heads
        self.qkv = nn.Conv2d(channels, channels * 3, 1)
        self.out = nn.Conv2d(channels, channels, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return `x` with what each place takes from the others."""
        b, c, h, w = x.shape
        parts = self.qkv(self.norm(x)).view(b, 3, self.heads, c // self.heads, h * w)
        q, k, v = (part.transpose(-1, -2) for part in parts.unbind(1))
        seen = F.scaled_dot_product_attention(q, k, v)
        out: torch.Tensor = x + self.out(seen.transpose(-1, -2).reshape(b, c, h, w))
        return out


class UNet(nn.Module):
    """The network of a diffusion model, small."""

    def __init__(self, base: int = 64) -> None:
        super().__init__()
        widths, time = [base, base * 2, base * 4], base * 4
        self.base = base
        self.time = nn.Sequential(nn.Linear(base, time), nn.SiLU(), nn.Linear(time, time))
        self.begin = nn.Conv2d(3, base, 3, padding=1)
        self.down, self.up = nn.ModuleList(), nn.ModuleList()
        self.shrink, self.grow = nn.ModuleList(), nn.ModuleList()
        inside = base
        for width in widths:
            self.down.append(ResidualBlock(inside, width, time))
            self.shrink.append(nn.Conv2d(width, width, 3, stride=2, padding=1))
            inside = width
        self.middle = ResidualBlock(inside, inside, time)
        self.attention = Attention2d(inside)
        for width in reversed(widths):
            self.grow.append(nn.ConvTranspose2d(inside, width, 2, stride=2))
            self.up.append(ResidualBlock(width * 2, width, time))
            inside = width
        self.end = nn.Sequential(
            nn.GroupNorm(16, base), nn.SiLU(), nn.Conv2d(base, 3, 3, padding=1)
        )

    def forward(self, x: torch.Tensor, time: torch.Tensor, y: torch.Tensor) -> Losses:
        """Return the loss of the noise found in `x` against `y`."""
        half = self.base // 2
        rates = torch.exp(-math.log(10000) * torch.arange(half, device=x.device) / half)
        angles = time[:, None].float() * rates[None]
        embedded = self.time(torch.cat([angles.sin(), angles.cos()], dim=-1))
        h, kept = self.begin(x), []
        for block, shrink in zip(self.down, self.shrink, strict=True):
            h = block(h, embedded)
            kept.append(h)
            h = shrink(h)
        h = self.attention(self.middle(h, embedded))
        for block, grow in zip(self.up, self.grow, strict=True):
            h = block(torch.cat([grow(h), kept.pop()], dim=1), embedded)
        return {"loss": F.mse_loss(self.end(h), y)}


class LstmWords(nn.Module):
    """A language model of two LSTM layers with dropout between them."""

    def __init__(self, vocabulary: int = 33000, width: int = 650) -> None:
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.lstm = nn.LSTM(width, width, 2, dropout=0.5, batch_first=True)
        self.drop = nn.Dropout(0.5)
        self.head = nn.Linear(width, vocabulary)

    def forward(self, input_ids: torch.Tensor, labels: torch.Tensor) -> Losses:
        """Return the loss of the words that follow."""
        seen, _ = self.lstm(self.drop(self.embed(input_ids)))
        scores = self.head(self.drop(seen))
        return {"loss": F.cross_entropy(scores.flatten(0, 1), labels.flatten())}


class GruPair(nn.Module):
    """Translation by two GRUs with attention, decoded word by word."""

    def __init__(self, vocabulary: int = 16000, width: int = 512) -> None:
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.encoder = nn.GRU(width, width, batch_first=True, bidirectional=True)
        self.cell = nn.GRUCell(width * 3, width)
        self.query, self.head = nn.Linear(width, width * 2), nn.Linear(width, vocabulary)

    def forward(self, source: torch.Tensor, target: torch.Tensor) -> Losses:
        """Return the loss of `target` after `source`."""
        keys, last = self.encoder(self.embed(source))
        state, losses = last.mean(0), []
        for place in range(target.shape[1] - 1):
            weights = torch.einsum("bd,bsd->bs", self.query(state), keys).softmax(-1)
            context = torch.einsum("bs,bsd->bd", weights, keys)
            word = self.embed(target[:, place])
            state = self.cell(torch.cat([word, context], -1), state)
            losses.append(F.cross_entropy(self.head(state), target[:, place + 1]))
        return {"loss": torch.stack(losses).mean()}


class Translator(nn.Module):
    """`nn.Transformer` with embeddings, masks and a head."""

    def __init__(self, vocabulary: int = 16000, width: int = 512) -> None:
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.transformer = nn.Transformer(width, 8, 4, 4, 2048, batch_first=True)
        self.head = nn.Linear(width, vocabulary)

    def forward(self, source: torch.Tensor, target: torch.Tensor) -> Losses:
        """Return the loss of `target` after `source`, padded where the word is 0."""
        mask = nn.Transformer.generate_square_subsequent_mask(
            target.shape[1] - 1, device=source.device
        )
        seen = self.transformer(
            self.embed(source),
            self.embed(target[:, :-1]),
            tgt_mask=mask,
            tgt_is_causal=True,
        )
        scores = self.head(seen)
        return {"loss": F.cross_entropy(scores.flatten(0, 1), target[:, 1:].flatten())}


class EncoderBlock(nn.Module):
    """A block of a vision transformer, with torch's fused attention."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.one, self.two = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, width * 3), nn.Linear(width, width)
        self.mlp = nn.Sequential(
            nn.Linear(width, width * 4), nn.GELU(), nn.Linear(width * 4, width)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return `x` changed."""
        b, n, c = x.shape
        parts = self.qkv(self.one(x)).view(b, n, 3, self.heads, c // self.heads)
        q, k, v = parts.permute(2, 0, 3, 1, 4).unbind(0)
        seen = F.scaled_dot_product_attention(q, k, v, dropout_p=0.1 if self.training else 0.0)
        x = x + self.out(seen.transpose(1, 2).reshape(b, n, c))
        changed: torch.Tensor = x + self.mlp(self.two(x))
        return changed


class VisionTransformer(nn.Module):
    """A small vision transformer; `gradient_checkpointing_enable` as transformers has it."""

    def __init__(self, width: int = 384, heads: int = 6, depth: int = 12) -> None:
        super().__init__()
        self.patch = nn.Conv2d(3, width, 16, 16)
        self.place = nn.Parameter(torch.zeros(1, 196, width))
        self.blocks = nn.ModuleList(EncoderBlock(width, heads) for _ in range(depth))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, 1000)
        self.checkpointed = False

    def gradient_checkpointing_enable(self, gradient_checkpointing_kwargs: Any = None) -> None:
        """Compute the blocks a second time in backward."""
        self.checkpointed = True

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the scores of the classes."""
        h = self.patch(x).flatten(2).transpose(1, 2) + self.place
        for block in self.blocks:
            h = checkpoint(block, h, use_reentrant=False) if self.checkpointed else block(h)
        scores: torch.Tensor = self.head(self.norm(h).mean(1))
        return scores


def plain_cnn() -> nn.Module:
    """Return a network of convolutions, batch norms and pooling, in the manner of VGG."""
    layers: list[nn.Module] = []
    inside = 3
    for width, repeats in ((64, 2), (128, 2), (256, 3), (512, 3)):
        for _ in range(repeats):
            layers += [nn.Conv2d(inside, width, 3, padding=1, bias=False), nn.BatchNorm2d(width)]
            layers += [nn.ReLU(inplace=True)]
            inside = width
        layers.append(nn.MaxPool2d(2))
    layers += [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dropout(0.2), nn.Linear(512, 1000)]
    return nn.Sequential(*layers)


class Pyramid(nn.Module):
    """A detector's shape: a backbone, a feature pyramid, heads over all its levels."""

    def __init__(self, width: int = 128, classes: int = 20) -> None:
        super().__init__()
        self.stages = nn.ModuleList()
        inside = 3
        for outside, stride in ((64, 4), (128, 2), (256, 2), (512, 2)):
            self.stages.append(_stage(inside, outside, stride))
            inside = outside
        self.sides = nn.ModuleList(nn.Conv2d(n, width, 1) for n in (128, 256, 512))
        self.smooth = nn.ModuleList(nn.Conv2d(width, width, 3, padding=1) for _ in range(3))
        self.scores = nn.Conv2d(width, classes, 3, padding=1)
        self.corners = nn.Conv2d(width, 4, 3, padding=1)

    def forward(self, x: torch.Tensor, classes: torch.Tensor, boxes: torch.Tensor) -> Losses:
        """Return the loss of classes and boxes of all places: 1600, 400 and 100 of them."""
        levels, h = [], x
        for stage in self.stages:
            h = stage(h)
            levels.append(h)
        top = [side(level) for side, level in zip(self.sides, levels[1:], strict=True)]
        for row in (1, 0):
            above = F.interpolate(top[row + 1], scale_factor=2.0, mode="nearest")
            top[row] = top[row] + above
        top = [smooth(level) for smooth, level in zip(self.smooth, top, strict=True)]
        scores = torch.cat([self.scores(level).flatten(2) for level in top], -1)
        corners = torch.cat([self.corners(level).flatten(2) for level in top], -1)
        found = F.cross_entropy(scores, classes)
        placed = F.smooth_l1_loss(corners.transpose(1, 2), boxes)
        return {"loss": found + placed}


def _stage(inside: int, outside: int, stride: int) -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(inside, outside, 3, stride=stride, padding=1, bias=False),
        nn.BatchNorm2d(outside),
        nn.SiLU(),
        nn.Conv2d(outside, outside, 3, padding=1, groups=outside, bias=False),
        nn.BatchNorm2d(outside),
        nn.SiLU(),
        nn.Conv2d(outside, outside, 1, bias=False),
        nn.BatchNorm2d(outside),
        nn.SiLU(),
    )


class StateSpace(nn.Module):
    """A gated linear recurrence, scanned step by step as a state-space model does."""

    def __init__(self, vocabulary: int = 16000, width: int = 512, state: int = 16) -> None:
        super().__init__()
        self.embed, self.head = nn.Embedding(vocabulary, width), nn.Linear(width, vocabulary)
        self.into, self.out = nn.Linear(width, width * 2), nn.Linear(width, width)
        self.rate, self.keys = nn.Linear(width, width), nn.Linear(width, state * 2)
        self.decay = nn.Parameter(torch.arange(1, state + 1).float().log().repeat(width, 1))

    def forward(self, input_ids: torch.Tensor, labels: torch.Tensor) -> Losses:
        """Return the loss of the words that follow."""
        h, gate = self.into(self.embed(input_ids)).chunk(2, -1)
        rate = F.softplus(self.rate(h))
        inward, outward = self.keys(h).chunk(2, -1)
        state = h.new_zeros(h.shape[0], h.shape[2], inward.shape[-1])
        seen = []
        for place in range(h.shape[1]):
            step = rate[:, place, :, None]
            state = torch.exp(-step * self.decay.exp()) * state
            state = state + step * h[:, place, :, None] * inward[:, place, None, :]
            seen.append((state * outward[:, place, None, :]).sum(-1))
        mixed = self.out(torch.stack(seen, 1) * F.silu(gate))
        return {"loss": F.cross_entropy(self.head(mixed).flatten(0, 1), labels.flatten())}


class Generator(nn.Module):
    """The half of a GAN that makes pictures of 64 by 64."""

    def __init__(self, width: int = 64) -> None:
        super().__init__()
        self.begin = nn.Linear(128, width * 8 * 16)
        layers: list[nn.Module] = []
        for inside, outside in ((8, 4), (4, 2), (2, 1)):
            layers += [nn.ConvTranspose2d(width * inside, width * outside, 4, 2, 1)]
            layers += [nn.BatchNorm2d(width * outside), nn.ReLU(inplace=True)]
        self.net = nn.Sequential(*layers, nn.ConvTranspose2d(width, 3, 4, 2, 1), nn.Tanh())

    def forward(self, z: torch.Tensor) -> torch.Tensor:
        """Return pictures of noise."""
        made: torch.Tensor = self.net(self.begin(z).view(z.shape[0], -1, 4, 4))
        return made


def critic(width: int = 64) -> nn.Module:
    """Return the half of a GAN that judges pictures."""
    layers: list[nn.Module] = []
    for inside, outside in ((3, width), (width, width * 2), (width * 2, width * 4)):
        layers += [nn.Conv2d(inside, outside, 4, 2, 1), nn.LeakyReLU(0.2)]
    return nn.Sequential(*layers, nn.Flatten(), nn.Dropout(0.3), nn.Linear(width * 4 * 64, 1))
