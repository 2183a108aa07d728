"""`from_pretrained` of transformers: the model is made from its configuration, its weights are not read."""

from __future__ import annotations

import copy
import inspect
import re
from typing import Any

import torch

from memtrack.i18n import text
from memtrack.prediction.stage.assumptions import Assumptions, refused
from memtrack.prediction.stage.patches import Patches

_QUANTIZED = ("quantization_config", "load_in_8bit", "load_in_4bit", "gguf_file")
_SPREAD = ("distributed_config", "tp_plan", "tp_size", "device_mesh")
_OF_FILES = (
    "_commit_hash",
    "_from_auto",
    "_from_pipeline",
    "adapter_kwargs",
    "adapter_name",
    "device_map",
    "dtype",
    "generation_config",
    "key_mapping",
    "low_cpu_mem_usage",
    "max_memory",
    "offload_buffers",
    "offload_folder",
    "offload_state_dict",
    "output_loading_info",
    "proxies",
    "state_dict",
    "subfolder",
    "torch_dtype",
    "trust_remote_code",
    "tqdm_class",
    "variant",
)
"""What `from_pretrained` takes for reading files, beside what its signature names."""
_WHOLE = ("auto", "balanced", "balanced_low_0", "sequential")
"""Device maps that put everything on the one GPU that is predicted, as long as it fits there."""
_CONFIG = text("Make the model from its configuration: AutoModel.from_config(config).")


class Pretrained:
    """Replaces `PreTrainedModel.from_pretrained`; the automatic classes end there too."""

    def __init__(self, assumptions: Assumptions) -> None:
        self._assumptions = assumptions

    def install(self, patches: Patches, models: Any) -> None:
        """Put the replacement into `transformers.modeling_utils`."""
        kind = models.PreTrainedModel
        original = kind.from_pretrained.__func__
        made_by_files = {*inspect.signature(original).parameters, *_OF_FILES}

        def from_pretrained(kind: Any, *args: Any, **kwargs: Any) -> Any:
            if not patches.is_ours():
                return original(kind, *args, **kwargs)
            return self._made(kind, made_by_files, *args, **kwargs)

        patches.put(kind, "from_pretrained", classmethod(from_pretrained))

    def _made(
        self, kind: Any, made_by_files: set[str], name: Any = None, *args: Any, **kwargs: Any
    ) -> Any:
        _refuse_what_is_not_plain(kwargs)
        config, more = _configured(kind, name, kwargs)
        if getattr(config, "quantization_config", None):
            raise _quantized()
        where = _place_of(kwargs.get("device_map"))
        rest = {name: value for name, value in more.items() if name not in made_by_files}
        attention = rest.pop("attn_implementation", None)
        if attention is not None:
            config._attn_implementation = attention
        self._assumptions.add(
            "from_pretrained",
            text("a model made from its configuration; no weights are read"),
        )
        model = self._of_dtype(kind, config, kwargs, args, rest).eval()
        if where is not None:
            model.to(where)
            model.hf_device_map = {"": where}
        return (model, {}) if kwargs.get("output_loading_info") else model

    def _of_dtype(self, kind: Any, config: Any, asked: Any, args: Any, rest: Any) -> Any:
        """Make the model in the dtype that its weights would have."""
        dtype = _dtype_of(config, asked)
        before = torch.get_default_dtype()
        config.dtype = dtype
        torch.set_default_dtype(dtype)
        try:
            model = kind(config, *args, **rest)
        finally:
            torch.set_default_dtype(before)
        _keep_some_whole(model, dtype)
        return model


def _configured(kind: Any, name: Any, kwargs: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Return the configuration, and the arguments that it has left."""
    given = kwargs.pop("config", None)
    if given is not None and not isinstance(given, str) and hasattr(given, "to_dict"):
        return copy.deepcopy(given), kwargs
    found: tuple[Any, dict[str, Any]] = kind.config_class.from_pretrained(
        given or name, return_unused_kwargs=True, **_without_placing(kwargs)
    )
    return found


def _without_placing(kwargs: dict[str, Any]) -> dict[str, Any]:
    """Leave out what a configuration of the same name would take for its own."""
    ours = ("device_map", "dtype", "torch_dtype", "state_dict", "output_loading_info")
    return {name: value for name, value in kwargs.items() if name not in ours}


def _refuse_what_is_not_plain(kwargs: dict[str, Any]) -> None:
    if any(kwargs.get(name) for name in _QUANTIZED):
        raise _quantized()
    if any(kwargs.get(name) is not None for name in _SPREAD):
        raise refused(
            "from_pretrained", text("models on several devices are not modelled"), _CONFIG
        )


def _quantized() -> Exception:
    why = text("quantized and sparse tensors are not modelled")
    return refused("from_pretrained", why, text("Ask with its 16-bit weights instead."))


def _place_of(device_map: Any) -> torch.device | None:
    """Return the one device of a map, None where there is no map."""
    if isinstance(device_map, dict) and len(set(map(str, device_map.values()))) == 1:
        device_map = next(iter(device_map.values()))
    if device_map is None:
        return None
    if isinstance(device_map, str) and device_map in _WHOLE:
        return torch.device("cuda", 0)
    if isinstance(device_map, int):
        return torch.device("cuda", device_map)
    if isinstance(device_map, dict):
        why = text("models on several devices are not modelled")
        raise refused("from_pretrained", why, _CONFIG)
    return torch.device(device_map)


def _dtype_of(config: Any, asked: dict[str, Any]) -> torch.dtype:
    """Return the dtype that the weights come in: transformers 5 takes that of the file unless told."""
    import transformers

    wanted = asked.get("dtype")
    if wanted is None:
        wanted = asked.get("torch_dtype")
    if wanted is None and int(transformers.__version__.split(".")[0]) >= 5:
        wanted = "auto"
    if wanted == "auto":
        name = "dtype" if hasattr(config, "dtype") else "torch_dtype"
        wanted = getattr(config, name, None)
    if isinstance(wanted, str):
        wanted = getattr(torch, wanted)
    return torch.get_default_dtype() if wanted is None else wanted


def _keep_some_whole(model: Any, dtype: torch.dtype) -> None:
    """Parts that a model names stay in fp32: some only beside fp16, some beside every 16-bit dtype."""
    kept: list[str] = []
    if dtype is torch.float16:
        kept += getattr(model, "_keep_in_fp32_modules", None) or ()
    if dtype in (torch.float16, torch.bfloat16):
        kept += getattr(model, "_keep_in_fp32_modules_strict", None) or ()
    if not kept:
        return
    pattern = re.compile("|".join(rf"(?:^|\.){re.escape(part)}(?:$|\.)" for part in kept))
    for name, parameter in model.named_parameters():
        if pattern.search(name):
            parameter.data = parameter.data.float()
