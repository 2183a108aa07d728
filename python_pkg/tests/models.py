"""Small real models with one training step each: what recording is tested on.

Each builder returns (model, step): `step()` runs forward, loss and backward and returns the loss;
the optimizer is the test's. Weights are random, nothing is downloaded.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import nn

os.environ.setdefault("HF_HUB_OFFLINE", "1")
Step = Callable[[], torch.Tensor]


def gpt2() -> tuple[nn.Module, Step]:
    from transformers import GPT2Config, GPT2LMHeadModel

    config = GPT2Config(
        vocab_size=211,
        n_positions=32,
        n_embd=32,
        n_layer=3,
        n_head=2,
        bos_token_id=0,
        eos_token_id=0,
    )
    model = GPT2LMHeadModel(config)
    tokens = torch.randint(0, 211, (2, 16))
    return model, lambda: model(input_ids=tokens, labels=tokens).loss


def resnet() -> tuple[nn.Module, Step]:
    from transformers import ResNetConfig, ResNetForImageClassification

    config = ResNetConfig(embedding_size=8, hidden_sizes=[8, 16], depths=[1, 1], num_labels=5)
    model = ResNetForImageClassification(config)
    images, labels = torch.randn(2, 3, 32, 32), torch.randint(0, 5, (2,))
    return model, lambda: model(images, labels=labels).loss


def t5() -> tuple[nn.Module, Step]:
    from transformers import T5Config, T5ForConditionalGeneration

    config = T5Config(
        vocab_size=97,
        d_model=16,
        d_kv=8,
        d_ff=32,
        num_layers=2,
        num_heads=2,
        decoder_start_token_id=0,
    )
    model = T5ForConditionalGeneration(config)
    tokens = torch.randint(1, 97, (2, 9))
    return model, lambda: model(input_ids=tokens, labels=tokens).loss


def mixtral() -> tuple[nn.Module, Step]:
    from transformers import MixtralConfig, MixtralForCausalLM

    config = MixtralConfig(
        vocab_size=101,
        hidden_size=16,
        intermediate_size=24,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=1,
        num_local_experts=3,
        num_experts_per_tok=2,
    )
    model = MixtralForCausalLM(config)
    tokens = torch.randint(0, 101, (2, 8))
    return model, lambda: model(input_ids=tokens, labels=tokens, use_cache=False).loss


class Tagger(nn.Module):
    """An LSTM whose head is tied to its embedding and whose output is a dataclass."""

    @dataclass
    class Output:
        """What the tagger returns."""

        scores: torch.Tensor
        state: tuple[torch.Tensor, torch.Tensor]

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(53, 12)
        self.lstm = nn.LSTM(12, 12, batch_first=True)
        self.head = nn.Linear(12, 53, bias=False)
        self.head.weight = self.embedding.weight
        self.scale = nn.Parameter(torch.ones(12))
        self.frozen = nn.Linear(12, 12).requires_grad_(False)

    def forward(self, tokens: torch.Tensor) -> Tagger.Output:
        hidden, state = self.lstm(self.embedding(tokens))
        return self.Output(self.head(self.frozen(hidden) * self.scale), state)


def lstm() -> tuple[nn.Module, Step]:
    model = Tagger()
    tokens = torch.randint(0, 53, (3, 7))
    return model, lambda: nn.functional.cross_entropy(
        model(tokens=tokens).scores.flatten(0, 1), tokens.flatten()
    )


MODELS = {"gpt2": gpt2, "resnet": resnet, "t5": t5, "mixtral": mixtral, "lstm": lstm}
