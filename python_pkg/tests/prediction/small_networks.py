"""Two small networks for the same figures everywhere. Usage: small_networks.py NAME [run | predict]

`predict` prints what is predicted for an H200 and whether CUDA was touched; `run` trains on the GPU that
is there and prints its peak. Both as one line of JSON; bytes.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.nn import functional

STEPS = 3


class Block(nn.Module):
    """A block of GPT-2: attention and a perceptron, each normalised and added, with dropout."""

    def __init__(self, width: int = 256, heads: int = 8) -> None:
        super().__init__()
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attend, self.project = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.rise, self.fall = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.heads = heads

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the states after the block."""
        batch, length, width = x.shape
        parts = self.attend(self.first(x)).view(batch, length, 3, self.heads, -1)
        query, key, value = parts.permute(2, 0, 3, 1, 4)
        seen = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        seen = seen.transpose(1, 2).reshape(batch, length, width)
        x = x + functional.dropout(self.project(seen), 0.1)
        return x + functional.dropout(self.fall(functional.gelu(self.rise(self.second(x)))), 0.1)


class Language(nn.Module):
    """Two blocks between an embedding and the scores of 4096 tokens."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens, self.blocks = nn.Embedding(4096, 256), nn.Sequential(Block(), Block())
        self.scores = nn.Linear(256, 4096, bias=False)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Return the scores of the tokens that follow."""
        return self.scores(self.blocks(self.tokens(tokens)))  # type: ignore[no-any-return]


def language() -> Callable[[], None]:
    """Return the step of a small GPT."""
    model = Language().cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    tokens = torch.randint(4096, (8, 256), device="cuda")

    def step() -> None:
        optimizer.zero_grad()
        functional.cross_entropy(model(tokens).flatten(0, 1), tokens.flatten()).backward()
        optimizer.step()

    return step


def pictures() -> Callable[[], None]:
    """Return the step of a small convolutional network."""
    layers: list[nn.Module] = []
    for one, other in ((3, 32), (32, 64), (64, 128)):
        layers += [nn.Conv2d(one, other, 3, 2, 1), nn.BatchNorm2d(other), nn.ReLU()]
    head = (nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(128, 10))
    model = nn.Sequential(*layers, *head).cuda()
    optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9)
    images, classes = (
        torch.randn(64, 3, 128, 128, device="cuda"),
        torch.arange(64, device="cuda") % 10,
    )

    def step() -> None:
        optimizer.zero_grad()
        functional.cross_entropy(model(images), classes).backward()
        optimizer.step()

    return step


NETWORKS: dict[str, Callable[[], Callable[[], None]]] = {"language": language, "pictures": pictures}


def predicted(name: str) -> dict[str, Any]:
    """Return the predicted peaks, and whether CUDA was initialised."""
    import memtrack

    found = memtrack.predict(NETWORKS[name], steps=STEPS, gpu="H200")
    return {
        "allocated": found.peak_allocated,
        "reserved": found.peak_reserved,
        "initialised": torch.cuda.is_initialized(),
    }


def run(name: str) -> dict[str, Any]:
    """Train on the GPU and return its peaks."""
    step = NETWORKS[name]()
    for _ in range(STEPS):
        step()
    return {
        "allocated": torch.cuda.max_memory_allocated(),
        "reserved": torch.cuda.max_memory_reserved(),
    }


if __name__ == "__main__":
    print(json.dumps({"predict": predicted, "run": run}[sys.argv[2]](sys.argv[1])))
