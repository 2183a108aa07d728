"""Still more programs for `bench/prediction_models.py`: models of transformers that no rule was made from.

They were chosen before the first of them was predicted, to see how predictions do on what is new.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from prediction_models import Data, Model, Options, pictures, words
from torch import nn

BOTH = ("base", "autocast-bf16")
BLOCKS = (*BOTH, "checkpoint")


def _made(model: str, config: str, **sizes: Any) -> Callable[[Options], nn.Module]:
    """Return what makes a model of transformers with random weights; sizes as its configuration says."""

    def make(_: Options) -> nn.Module:
        import transformers as tf

        module: nn.Module = getattr(tf, model)(getattr(tf, config)(**sizes))
        return module

    return make


def _decoder(name: str, **sizes: Any) -> Callable[[Options], nn.Module]:
    return _made(f"{name}ForCausalLM", f"{name}Config", **sizes)


def _small(heads: str = "num_attention_heads", **other: Any) -> dict[str, Any]:
    return {"hidden_size": 512, "num_hidden_layers": 8, heads: 8, "vocab_size": 32000, **other}


def _waves(length: int, classes: int) -> Callable[[int], Data]:
    return lambda size: {
        "input_values": torch.randn(size, length),
        "labels": torch.randint(0, classes, (size,)),
    }


def _masks(side: int, labels: int) -> Callable[[int], Data]:
    return lambda size: {
        "pixel_values": torch.randn(size, 3, side, side),
        "labels": torch.randint(0, labels, (size, side, side)),
    }


def _pairs_of_pictures_and_words(size: int) -> Data:
    return {
        "input_ids": torch.randint(1, 49000, (size, 77)),
        "pixel_values": torch.randn(size, 3, 224, 224),
        "return_loss": torch.tensor(True),
    }


def _clips(size: int) -> Data:
    return {
        "pixel_values": torch.randn(size, 16, 3, 112, 112),
        "labels": torch.randint(0, 400, (size,)),
    }


def _span(vocabulary: int, length: int) -> Callable[[int], Data]:
    return lambda size: {
        "input_ids": torch.randint(5, vocabulary, (size, length)),
        "start_positions": torch.randint(0, length, (size,)),
        "end_positions": torch.randint(0, length, (size,)),
    }


def _classified(vocabulary: int, length: int, classes: int = 2) -> Callable[[int], Data]:
    return lambda size: {
        "input_ids": torch.randint(5, vocabulary, (size, length)),
        "labels": torch.randint(0, classes, (size,)),
    }


def _deep_pictures(size: int) -> Data:
    return {
        "pixel_values": torch.randn(size, 3, 192, 192),
        "bool_masked_pos": torch.rand(size, 144) < 0.6,
    }


ZOO: Mapping[str, Model] = {
    # Decoders
    "opt": Model(_decoder("OPT", **_small(ffn_dim=2048)), words(32000, 512), 8, BLOCKS),
    "bloom": Model(
        _decoder("Bloom", hidden_size=512, n_layer=8, n_head=8, vocab_size=32000),
        words(32000, 512),
        8,
        BLOCKS,
    ),
    "neox": Model(
        _decoder("GPTNeoX", **_small(intermediate_size=2048)), words(32000, 512), 8, BLOCKS
    ),
    "falcon": Model(_decoder("Falcon", **_small()), words(32000, 512), 8, BOTH),
    "phi3": Model(
        _decoder("Phi3", **_small(intermediate_size=1408, pad_token_id=0)),
        words(32000, 512),
        8,
        BLOCKS,
    ),
    "qwen3": Model(
        _decoder("Qwen3", **_small(intermediate_size=1408, num_key_value_heads=2, head_dim=64)),
        words(32000, 512),
        8,
        BLOCKS,
    ),
    "gemma2": Model(
        _decoder("Gemma2", **_small(intermediate_size=2048, num_key_value_heads=4, head_dim=64)),
        words(32000, 512),
        4,
        BOTH,
    ),
    "qwen3-moe": Model(
        _decoder(
            "Qwen3Moe",
            **_small(
                intermediate_size=1408,
                moe_intermediate_size=512,
                num_experts=16,
                num_experts_per_tok=4,
                num_key_value_heads=2,
                head_dim=64,
            ),
        ),
        words(32000, 512),
        4,
        BOTH,
    ),
    "mamba": Model(_decoder("Mamba", **_small()), words(32000, 128), 4, BOTH),
    # Encoders
    "distilbert": Model(
        _made("DistilBertForSequenceClassification", "DistilBertConfig"),
        _classified(30000, 256),
        32,
        BLOCKS,
    ),
    "deberta-v2": Model(
        _made(
            "DebertaV2ForSequenceClassification",
            "DebertaV2Config",
            **_small(
                intermediate_size=2048,
                relative_attention=True,
                pos_att_type=["p2c", "c2p"],
                position_buckets=128,
                norm_rel_ebd="layer_norm",
                share_att_key=True,
            ),
        ),
        _classified(30000, 256),
        16,
        BOTH,
    ),
    "albert": Model(
        _made(
            "AlbertForQuestionAnswering",
            "AlbertConfig",
            hidden_size=768,
            num_attention_heads=12,
            intermediate_size=3072,
        ),
        _span(30000, 384),
        16,
        BOTH,
    ),
    "electra": Model(_made("ElectraForMaskedLM", "ElectraConfig"), words(30522, 256), 32, BOTH),
    "xlnet": Model(
        _made(
            "XLNetForSequenceClassification",
            "XLNetConfig",
            d_model=512,
            n_layer=6,
            n_head=8,
            d_inner=2048,
        ),
        _classified(30000, 256),
        16,
        BOTH,
    ),
    "fnet": Model(
        _made(
            "FNetForSequenceClassification",
            "FNetConfig",
            **_small("num_hidden_layers") | {"num_hidden_layers": 8},
        ),
        _classified(30000, 256),
        16,
        ("base",),
    ),
    # Encoders and decoders
    "bart": Model(
        _made(
            "BartForConditionalGeneration",
            "BartConfig",
            d_model=768,
            encoder_layers=6,
            decoder_layers=6,
            encoder_attention_heads=12,
            decoder_attention_heads=12,
            encoder_ffn_dim=3072,
            decoder_ffn_dim=3072,
        ),
        words(50000, 256),
        8,
        BLOCKS,
    ),
    # Pictures
    "dinov2": Model(
        _made("Dinov2ForImageClassification", "Dinov2Config", num_labels=1000, image_size=224),
        pictures(224),
        16,
        BOTH,
    ),
    "beit": Model(
        _made("BeitForImageClassification", "BeitConfig", num_labels=1000), pictures(224), 16, BOTH
    ),
    "segformer": Model(
        _made("SegformerForSemanticSegmentation", "SegformerConfig", num_labels=150),
        _masks(256, 150),
        8,
        BOTH,
    ),
    "efficientnet": Model(
        _made(
            "EfficientNetForImageClassification",
            "EfficientNetConfig",
            num_labels=1000,
            width_coefficient=1.0,
            depth_coefficient=1.0,
            hidden_dim=1280,
            image_size=224,
        ),
        pictures(224),
        32,
        (*BOTH, "channels-last+bf16"),
    ),
    "mobilenet-v2": Model(
        _made("MobileNetV2ForImageClassification", "MobileNetV2Config", num_labels=1000),
        pictures(224),
        32,
        BOTH,
    ),
    "regnet": Model(
        _made("RegNetForImageClassification", "RegNetConfig", num_labels=1000),
        pictures(224),
        32,
        BOTH,
    ),
    "swin-v2": Model(
        _made("Swinv2ForImageClassification", "Swinv2Config", num_labels=1000, image_size=256),
        pictures(256),
        16,
        BOTH,
    ),
    "poolformer": Model(
        _made("PoolFormerForImageClassification", "PoolFormerConfig", num_labels=1000),
        pictures(224),
        32,
        BOTH,
    ),
    "masked-pictures": Model(
        _made("ViTForMaskedImageModeling", "ViTConfig", image_size=192), _deep_pictures, 16, BOTH
    ),
    # Sound, video, two kinds at once
    "wav2vec2": Model(
        _made("Wav2Vec2ForSequenceClassification", "Wav2Vec2Config", num_labels=12),
        _waves(32000, 12),
        8,
        BLOCKS,
    ),
    "audio-spectrogram": Model(
        _made("ASTForAudioClassification", "ASTConfig", num_labels=50, max_length=512),
        lambda size: {
            "input_values": torch.randn(size, 512, 128),
            "labels": torch.randint(0, 50, (size,)),
        },
        8,
        BOTH,
    ),
    "video": Model(
        _made("VideoMAEForVideoClassification", "VideoMAEConfig", num_labels=400, image_size=112),
        _clips,
        4,
        BOTH,
    ),
    "clip": Model(_made("CLIPModel", "CLIPConfig"), _pairs_of_pictures_and_words, 16, BOTH),
}
"""Models by name, each with the variants it is measured in."""
