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
_UNGATED = (
    "gpt2",
    "gpt_neo",
    "gpt_neox",
    "gptj",
    "opt",
    "bloom",
    "phi",
    "falcon",
    "bert",
    "starcoder2",
)
_INNER = ("text_config", "llm_config", "language_config")


def kv_inputs_of(config: object, **changes: Any) -> KvInputs:
    """Return the inputs of a configuration, with `changes` over them."""
    known = _mapping_of(config)
    found = {name: _first(known, names) for name, names in _NAMES.items()}
    missing = [name for name in ("layers", "hidden", "heads") if not found[name]]
    if missing:
        sought = ", ".join(_NAMES[name][0] for name in missing)
        raise UsageError(
            text("This configuration lacks {names}.", names=sought),
            text("Take the config of a language model, such as model.config or its config.json."),
        )
    kv_heads = found["kv_heads"] or (1 if known.get("multi_query") else found["heads"])
    key, value = _head_sizes(known, found)
    if known.get("kv_lora_rank"):
        # transformers keeps what latent attention expands to, for every head.
        kv_heads = found["heads"]
    window, windowed = _windows(known, found["layers"])
    values = {
        "layers": found["layers"],
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
    values["parameters"] = parameters_of(known, values)
    dtype = changes.get("dtype") or _dtype_of(known)
    dtypes = {"dtype": dtype, "cache_dtype": dtype if dtype in FLOATS else "bf16"}
    return KvInputs(**{**values, **dtypes, **changes})


def parameters_of(known: Mapping[str, Any], shape: Mapping[str, Any]) -> int:
    """Return about how many parameters a decoder of this configuration has.

    Embedding and head (one if tied), and a layer's projections, MLP or experts, and norms; biases where
    the configuration tells. Exact for Llama, Mistral, Mixtral and Qwen 2; below 1 % off for GPT-2.
    """
    hidden, heads, vocabulary = shape["hidden"], shape["heads"], shape["vocabulary"]
    key, value = shape["key_size"], shape["value_size"]
    queries, keys = heads * key, shape["kv_heads"] * key
    values = shape["kv_heads"] * value
    attention = hidden * (queries + keys + values) + heads * value * hidden
    model = str(known.get("model_type", ""))
    if known.get("attention_bias") or model == "qwen2":
        attention += queries + keys + values + (hidden if known.get("attention_bias") else 0)
    projections = 2 if model in _UNGATED else 3
    experts = _first(known, ("num_local_experts", "num_experts", "n_routed_experts")) or 1
    inner = _first(known, ("moe_intermediate_size",)) if experts > 1 else 0
    feed = experts * projections * hidden * (inner or shape["intermediate"])
    router = hidden * experts if experts > 1 else 0
    embeddings = vocabulary * hidden * (1 if known.get("tie_word_embeddings") else 2)
    positions = known.get("n_positions") or 0
    layer = attention + feed + router + 2 * hidden
    return int(shape["layers"] * layer + embeddings + positions * hidden + hidden)


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
        extra = {"layer_types": getattr(config, "layer_types", None)}
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


def _first(known: Mapping[str, Any], names: tuple[str, ...]) -> int:
    for name in names:
        value = known.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            return value
    return 0


def _head_sizes(known: Mapping[str, Any], found: Mapping[str, int]) -> tuple[int, int]:
    """Return the elements of a key and of a value of one head."""
    if known.get("kv_lora_rank"):
        names = ("qk_nope_head_dim", "qk_rope_head_dim")
        return sum(_first(known, (name,)) for name in names), _first(known, ("v_head_dim",))
    size = _first(known, ("head_dim", "kv_channels", "d_kv")) or found["hidden"] // found["heads"]
    return size, size


def _windows(known: Mapping[str, Any], layers: int) -> tuple[int, int]:
    """Return the sliding window in tokens and how many layers have it."""
    window = _first(known, ("sliding_window", "attention_window_size"))
    types = known.get("layer_types")
    if not window or known.get("use_sliding_window") is False:
        return 0, 0
    if isinstance(types, list | tuple) and types:
        return window, sum(1 for kind in types if kind == "sliding_attention")
    return window, layers
