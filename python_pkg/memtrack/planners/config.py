"""A transformers configuration to the inputs of the KV planner.

In: an object with its attributes, a model that has one as `config`, a mapping, or the path of a
`config.json` or of the folder that holds it. transformers itself is not needed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from memtrack.errors import UnreadableFile, UsageError
from memtrack.i18n import text
from memtrack.planners.decoders import first_of, parameters_of
from memtrack.planners.inputs import FLOATS, KvInputs
from memtrack.planners.quantities import parse_dtype

_NAMES: Mapping[str, tuple[str, ...]] = {
    "layers": ("num_hidden_layers", "n_layer", "n_layers", "num_layers", "decoder_layers"),
    "hidden": ("hidden_size", "n_embd", "d_model", "dim"),
    "heads": ("num_attention_heads", "n_head", "n_heads", "num_heads", "decoder_attention_heads"),
    "kv_heads": ("num_key_value_heads", "n_head_kv", "num_kv_heads"),
    "intermediate": (
        "intermediate_size",
        "n_inner",
        "ffn_dim",
        "decoder_ffn_dim",
        "ffn_hidden_size",
    ),
    "vocabulary": ("vocab_size",),
}
_INNER = ("text_config", "llm_config", "language_config")


def kv_inputs_of(config: object, **changes: Any) -> KvInputs:
    """Return the inputs of a configuration, with `changes` over them."""
    known = _mapping_of(config)
    if known.get("is_encoder_decoder"):
        raise UsageError(
            text("The cache that a decoder keeps of its encoder's output is not planned."),
            text("Predict it: memtrack.predict, with a step that calls model.generate."),
        )
    found = {name: first_of(known, names) for name, names in _NAMES.items()}
    missing = [name for name in ("layers", "hidden", "heads") if not found[name]]
    if missing:
        sought = ", ".join(_NAMES[name][0] for name in missing)
        raise UsageError(
            text("This configuration lacks {names}.", names=sought),
            text("Take the config of a language model, such as model.config or its config.json."),
        )
    kv_heads, key, value = _cached(known, found)
    layers = _layers_with_keys(known, found["layers"])
    window, windowed = _windows(known, layers)
    values = {
        "layers": layers,
        "kv_heads": kv_heads,
        "key_size": key,
        "value_size": value,
        "window": window,
        "windowed": windowed,
        "hidden": found["hidden"],
        "heads": found["heads"],
        "intermediate": found["intermediate"] or 4 * found["hidden"],
        "vocabulary": found["vocabulary"],
    }
    values["parameters"] = parameters_of(known, {**values, "layers": found["layers"]})
    dtype = changes.get("dtype") or _dtype_of(known)
    dtypes = {"dtype": dtype, "cache_dtype": dtype if dtype in FLOATS else "bf16"}
    return KvInputs(**{**values, **dtypes, **changes})


def _mapping_of(config: object) -> Mapping[str, Any]:
    """Return the configuration of the language model as a mapping."""
    if isinstance(config, str | Path):
        config = _read(Path(config))
    config = getattr(config, "config", config)
    if not isinstance(config, Mapping):
        to_dict = getattr(config, "to_dict", None)
        plain = to_dict() if callable(to_dict) else getattr(config, "__dict__", None)
        if not isinstance(plain, Mapping):
            kind = type(config).__name__
            raise UsageError(
                text("{kind} is no configuration of a model.", kind=kind),
                text("Take model.config, a dictionary, or the path of a config.json."),
            )
        kinds = ("layer_types", "layers_block_type")
        extra = {name: getattr(config, name, None) for name in kinds}
        config = {**extra, **plain}
    for name in _INNER:
        inner = config.get(name)
        if isinstance(inner, Mapping):
            return inner
    # Tying is on by default, and a config.json leaves defaults out.
    return {"tie_word_embeddings": True, **config}


def _read(path: Path) -> Mapping[str, Any]:
    file = path / "config.json" if path.is_dir() else path
    try:
        read = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UnreadableFile(
            text("There is no file {path}.", path=file),
            text("A configuration is model.config, a dictionary, or the path of a config.json."),
        ) from None
    except OSError as error:
        problem = error.strerror or type(error).__name__
        raise UnreadableFile(
            text("{path} cannot be read ({problem}).", path=file, problem=problem)
        ) from None
    except ValueError:
        raise UnreadableFile(text("{path} is not a JSON file.", path=file)) from None
    if not isinstance(read, dict):
        raise UnreadableFile(text("{path} holds no configuration.", path=file))
    return read


def _dtype_of(known: Mapping[str, Any]) -> str:
    """Return the dtype that the weights were saved in, bf16 where it is not told."""
    told = known.get("dtype") or known.get("torch_dtype")
    return parse_dtype(told) if told and told != "auto" else "bf16"


def _cached(known: Mapping[str, Any], found: Mapping[str, int]) -> tuple[int, int, int]:
    """Return the heads that are cached, and the elements of a key and of a value of one.

    Latent attention caches one vector a token that all heads share, and the rotated part of the key beside it
    (DeepSeek-V2, 2024, section 2.1; transformers 5 and vLLM do so).
    """
    latent = first_of(known, ("kv_lora_rank",))
    if latent:
        return 1, latent, first_of(known, ("qk_rope_head_dim",))
    size = first_of(known, ("head_dim", "kv_channels", "d_kv")) or found["hidden"] // found["heads"]
    # Falcon's older models share one head whatever the number of heads says.
    shared = known.get("multi_query") and not known.get("new_decoder_architecture")
    return 1 if shared else found["kv_heads"] or found["heads"], size, size


def _kinds_of_layers(known: Mapping[str, Any]) -> list[str]:
    kinds = known.get("layer_types") or known.get("layers_block_type")
    if isinstance(kinds, list | tuple):
        return [str(kind) for kind in kinds]
    period, offset = (first_of(known, (f"attn_layer_{name}",)) for name in ("period", "offset"))
    layers = first_of(known, _NAMES["layers"])
    attends = ("full_attention", "linear_attention")
    return [attends[row % period != offset] for row in range(layers)] if period else []


def _layers_with_keys(known: Mapping[str, Any], layers: int) -> int:
    """Return how many layers keep keys and values: linear attention, convolutions and state spaces do not."""
    kinds = _kinds_of_layers(known)
    keeping = sum("attention" in kind and kind != "linear_attention" for kind in kinds)
    return keeping or layers


def _windows(known: Mapping[str, Any], layers: int) -> tuple[int, int]:
    """Return the window in tokens, sliding or of chunks, and how many layers have it."""
    window = first_of(known, ("sliding_window", "attention_window_size", "attention_chunk_size"))
    if not window or known.get("use_sliding_window") is False:
        return 0, 0
    kinds = _kinds_of_layers(known)
    bounded = ("sliding_attention", "chunked_attention")
    return window, sum(kind in bounded for kind in kinds) if kinds else layers
