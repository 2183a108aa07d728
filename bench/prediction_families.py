"""Further programs for `bench/prediction_models.py`: other families than those of `peaks.jsonl`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import prediction_networks as networks
import torch
from prediction_models import (
    Build,
    Data,
    Lossy,
    Model,
    Options,
    Step,
    casting,
    ended,
    llama,
    pictures,
    words,
)
from torch import nn

LANGUAGE = ("base", "autocast-bf16", "autocast-fp16", "checkpoint", "accumulate-2")
PLAIN = ("base", "autocast-bf16", "autocast-fp16", "accumulate-2")


def _convnext(options: Options) -> nn.Module:
    import transformers as tf

    return tf.ConvNextForImageClassification(tf.ConvNextConfig(num_labels=1000))


def _swin(options: Options) -> nn.Module:
    import transformers as tf

    return tf.SwinForImageClassification(tf.SwinConfig(num_labels=1000))


def _whisper(options: Options) -> nn.Module:
    import transformers as tf

    config = tf.WhisperConfig(
        d_model=512,
        encoder_layers=6,
        decoder_layers=6,
        encoder_attention_heads=8,
        decoder_attention_heads=8,
        encoder_ffn_dim=2048,
        decoder_ffn_dim=2048,
    )
    return tf.WhisperForConditionalGeneration(config)


def _speech(size: int) -> Data:
    return {
        "input_features": torch.randn(size, 80, 3000),
        "labels": torch.randint(0, 50000, (size, 128)),
    }


def _mixtral(options: Options) -> nn.Module:
    import transformers as tf

    config = tf.MixtralConfig(
        hidden_size=512,
        num_hidden_layers=6,
        num_attention_heads=8,
        num_key_value_heads=4,
        intermediate_size=1024,
        num_local_experts=8,
        num_experts_per_tok=2,
        vocab_size=32000,
        experts_implementation="eager",
    )
    return tf.MixtralForCausalLM(config)


def _gemma(options: Options) -> nn.Module:
    import transformers as tf

    config = tf.GemmaConfig(
        hidden_size=768,
        num_hidden_layers=6,
        num_attention_heads=6,
        num_key_value_heads=1,
        head_dim=128,
        intermediate_size=3072,
        vocab_size=256000,
    )
    return tf.GemmaForCausalLM(config)


def _bert_large(options: Options) -> nn.Module:
    import transformers as tf

    config = tf.BertConfig(
        hidden_size=1024, num_hidden_layers=24, num_attention_heads=16, intermediate_size=4096
    )
    return tf.BertForSequenceClassification(config)


def _padded(size: int) -> Data:
    mask = torch.ones(size, 256, dtype=torch.long)
    for row in range(size):
        mask[row, 256 - 16 * (row % 8) :] = 0
    return {
        "input_ids": torch.randint(0, 30522, (size, 256)),
        "attention_mask": mask,
        "labels": torch.randint(0, 2, (size,)),
    }


def _lora_llama(options: Options) -> nn.Module:
    return networks.with_lora(llama(options), ("q_proj", "v_proj"))


def _classified(make: Callable[[], nn.Module]) -> Callable[[Options], nn.Module]:
    return lambda _: Lossy(make(), nn.CrossEntropyLoss())


def _classes(side: int, classes: int = 1000) -> Callable[[int], Data]:
    def batch(size: int) -> Data:
        data = pictures(side, classes)(size)
        return {"x": data["pixel_values"], "y": data["labels"]}

    return batch


def _pair(vocabulary: int, source: int, target: int) -> Callable[[int], Data]:
    return lambda size: {
        "source": torch.randint(0, vocabulary, (size, source)),
        "target": torch.randint(0, vocabulary, (size, target)),
    }


def _noised(size: int) -> Data:
    return {
        "x": torch.randn(size, 3, 128, 128),
        "time": torch.randint(0, 1000, (size,)),
        "y": torch.randn(size, 3, 128, 128),
    }


def _boxes(size: int) -> Data:
    return {
        "x": torch.randn(size, 3, 320, 320),
        "classes": torch.randint(0, 20, (size, 2100)),
        "boxes": torch.randn(size, 2100, 4),
    }


def gan_program(options: Options, batch: int) -> Build:
    """Return the program of a GAN: two networks, two optimizers, two backward passes a step."""

    def build() -> Step:
        torch.manual_seed(0)
        generator, critic = networks.Generator().cuda(), networks.critic().cuda()
        of_generator = torch.optim.Adam(generator.parameters(), lr=2e-4, betas=(0.5, 0.999))
        of_critic = torch.optim.Adam(critic.parameters(), lr=2e-4, betas=(0.5, 0.999))
        real = torch.randn(batch, 3, 64, 64, device="cuda")
        loss_of: Any = nn.BCEWithLogitsLoss()
        ones = torch.ones(batch, 1, device="cuda")
        zeros = torch.zeros(batch, 1, device="cuda")

        def step() -> tuple[float, float]:
            of_critic.zero_grad()
            with casting(options):
                fake = generator(torch.randn(batch, 128, device="cuda"))
                seen = loss_of(critic(real).float(), ones)
                made_up = loss_of(critic(fake.detach()).float(), zeros)
            ended("forward")
            (seen + made_up).backward()
            ended("backward")
            of_critic.step()
            ended("step")
            of_generator.zero_grad()
            with casting(options):
                fooled = loss_of(critic(fake).float(), ones)
            ended("forward")
            fooled.backward()
            ended("backward")
            of_generator.step()
            ended("step")
            return seen.item() + made_up.item(), fooled.item()

        return step

    return build


FAMILIES: Mapping[str, Model] = {
    "convnext-tiny": Model(_convnext, pictures(224), 32, (*PLAIN, "channels-last+bf16")),
    "swin-tiny": Model(_swin, pictures(224), 32, (*PLAIN, "adamw-fused")),
    "whisper-base": Model(_whisper, _speech, 8, LANGUAGE),
    "mixtral-small": Model(_mixtral, words(32000, 512), 4, LANGUAGE),
    "gemma-vocabulary": Model(_gemma, words(256000, 512), 4, LANGUAGE),
    "bert-large-padded": Model(_bert_large, _padded, 8, LANGUAGE),
    "llama-lora": Model(_lora_llama, words(32000, 1024), 2, LANGUAGE),
    "unet": Model(lambda _: networks.UNet(), _noised, 8, PLAIN),
    "lstm-words": Model(
        lambda _: networks.LstmWords(), words(33000, 128), 32, (*PLAIN, "sgd-momentum")
    ),
    "gru-seq2seq": Model(lambda _: networks.GruPair(), _pair(16000, 48, 48), 32, PLAIN),
    "nn-transformer": Model(lambda _: networks.Translator(), _pair(16000, 128, 128), 16, PLAIN),
    "vit-torch": Model(
        _classified(networks.VisionTransformer), _classes(224), 32, (*PLAIN, "checkpoint")
    ),
    "convolutions": Model(
        _classified(networks.plain_cnn), _classes(160), 32, (*PLAIN, "channels-last+bf16")
    ),
    "pyramid": Model(lambda _: networks.Pyramid(), _boxes, 8, PLAIN),
    "state-space": Model(lambda _: networks.StateSpace(), words(16000, 64), 8, PLAIN),
    "gan": Model(
        lambda _: networks.Generator(),
        pictures(64),
        64,
        ("base", "autocast-bf16"),
        program=gan_program,
    ),
}
"""Models by name, each with the variants it is measured in."""
