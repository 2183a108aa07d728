"""Where an error came from, as far as the traceback in the text tells: words of its frames."""

from __future__ import annotations

import re

from memtrack.diagnosis.reading import Failure

_PLACES: dict[str, str] = {
    "optimizer": r"optim(?:izer)?s?[./\\]\w*|\bopt\w*\.step\(|_init_group|_multi_tensor_|exp_avg",
    "backward": r"\.backward\(|run_backward|autograd[/\\]__init__",
    "attention": r"attention|attn|\bsdpa\b|softmax\(|\bbmm\(|\bbaddbmm\(|q @ k|matmul\(q",
    "loss": r"cross_entropy|log_softmax|nll_loss|logits|lm_head",
    "convolution": r"conv\dd|conv_forward|conv_transpose|_VF\.lstm|cudnn",
    "loading": r"torch\.load|load_state_dict|from_pretrained|load_checkpoint|serialization\.py",
    "saving": r"(?<!load_)state_dict\(|save_pretrained|save_checkpoint|_save\(",
    "generation": r"\.generate\(|_sample\(|beam_search|past_key_values|kv_cache",
    "evaluation": r"\bevaluate\(|\bvalidate\(|evaluation_loop|prediction_step|validation_step|\beval_\w+\(",
    "gathering": r"nested_concat|torch\.cat\(\W?\w*(?:preds|logits|outputs)|pad_across_processes|pad_and_concatenate|"
    r"gather_for_metrics|\bpreds_host\b|\ball_preds\b",
    "engine_cache": r"cache_engine|_allocate_kv_cache|initialize_(?:kv_)?caches?\(|determine_(?:num_)?available_\w+|"
    r"init_memory_pool",
    "restoring": r"_(?:cuda_)?deserialize\(|default_restore_location",
    "pinning": r"pin_memory",
    "workers": r"dataloader|_utils[/\\]worker|multiprocessing",
    "boxes": r"bbox|\bbox_|_boxes\b|(?:\b|_)iou|anchor|nms\(",
    "collective": r"distributed_c10d|all_reduce|all_gather|barrier\(|broadcast\(|nccl",
    "moving": r"\.cuda\(|\.to\(|_apply\(",
    "query": r"mem_get_info|caching_allocator_warmup|set_device|_lazy_init|current_device",
    "embedding": r"embedding\(|F\.embedding|sparse\.py",
    "no_grad": r"\bno_grad|inference_mode|_contextlib\S* decorate_context",
    "compiling": r"_inductor|_dynamo|triton|autotun",
}
_SEARCH = {name: re.compile(pattern, re.IGNORECASE) for name, pattern in _PLACES.items()}
_INNERMOST = 12


def places(failure: Failure) -> frozenset[str]:
    """Return the ids of what the innermost frames of the traceback are about."""
    found: set[str] = set()
    for frame in failure.frames[-_INNERMOST:]:
        words = f"{frame.path} {frame.function}( {frame.source}"
        found.update(name for name, search in _SEARCH.items() if search.search(words))
    return frozenset(found)
