"""What else a text mentions: words that make a cause more or less likely, and stories in prose.

A sign is never a reason by itself. Patterns are matched on small letters with single spaces.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_DEVICE = r"\b(?:gpus?|cuda|nvidia|rtx|[abhlvpt]\d{2,3})\b"
_AMOUNT = r"\b\d+(?:\.\d+)? ?[mg]i?b\b"
_SIGNS: dict[str, str] = {
    "memory": r"memory|\boom\b|vram|\bram\b|显存|内存|"
    + _DEVICE
    + r".*"
    + _AMOUNT
    + "|"
    + _AMOUNT
    + r".*"
    + _DEVICE,
    "grows": r"\bgrow(?:s|ing|th)|\bincreas(?:es|ing)|\bleak|\baccumulat(?!ion_steps|e_grad)|\bexplod|"
    r"\bris(?:es|ing)\b|\b(?:steady|slow|gradual|constant|continuous)(?:ly)? increase|\bdoubles (?:with|every|each)|"
    r"without limit|after some (?:batches|steps|epochs|iterations)|每[步轮]|增长|泄漏|越来越",
    "evaluation": r"\bvalidation\b|\bevaluat|\beval\b|\binference\b|验证|推理",
    "no_grad": r"\bno_grad\b|inference_mode",
    "retained_graph": r"retain_graph|create_graph",
    "cuda_graphs": r"reduce-overhead|max-autotune|cuda ?-?graphs?\b|cudagraph|graph per .{0,20}shape",
    "jumps": r"\bjumps?\b|\bspikes?\b|\bsuddenly\b|only (?:on|for|with) some|突然",
    "import": r"\bimport\b",
    "recompiles": r"cache_size_limit|recompile_limit|\brecompil",
    "autotune": r"\bautotun",
    "hooks": r"\bhooks?\b",
    "logits": r"\blogits\b|cross[ _-]?entropy|\bvocab",
    "gathers_outputs": r"nested_concat|eval_accumulation_steps|predictions? (?:are|is) (?:kept|collected)",
    "attention": r"\battention\b|seq(?:uence)?[ _]len|sequence \d{4,}|query @ key|\bsdpa\b|注意力",
    "boxes": r"bounding boxes|\bgt_?bboxes|\bgt boxes|samples_per_gpu|\biou\b",
    "adapters": r"\blora\b|\bpeft\b|\bqlora\b|gradient[ _]checkpoint",
    "half": r"\b16-bit\b|\bfp16\b|\bbf16\b|\bbfloat16\b|\bfloat16\b|\bhalf precision",
    "loading": r"from_pretrained|\bload(?:s|ed|ing)?\b(?! (?:binary|library|dll))(?! \"?[a-z]:\\)(?!\S*\.dll)",
    "serving": r"gpu[_-]memory[_-]utilization|mem-fraction-static|max[_-]model[_-]len\b|llama_kv_cache|kv self size",
    "saving": r"\bsav(?:e|es|ing)\b|save_pretrained|save_checkpoint|(?<!load_)state_dict",
    "sharded": r"\bfsdp2?\b|\bzero-?3\b|fully ?sharded",
    "clone_failed": r"failed to clone\(\) tensor with name",
    "resuming": r"\bresum(?:e|es|ed|ing) (?:the )?(?:training|from)\b|\brestoring checkpoint",
    "ranks": r"\b(?:all|every|each|other) ranks?\b|\branks? \d|cuda:0|map_location|\bgpu 0\b(?! has a total| ?;)",
    "checkpoint": r"\bcheckpoint\b|torch\.load",
    "frameworks": r"\btensorflow\b|\bjax\b|\bxla\b|\bcupy\b|\bpaddle\b",
    "leftover": r"no (?:running )?process(?:es)?(?: \w+)? (?:listed|found|shown)|after (?:a |the )?(?:\w+ )?(?:crash|"
    r"kill|interrupt)|rank dies|non-zero after|\bzombie|no such process|(?:still|keeps?|remains?) "
    r"(?:holds?|holding|occup\w+) (?:\w+ )?(?:gpu |cuda )?(?:memory|vram)|memory (?:is |was )?(?:not|never) "
    r"(?:be )?(?:released|freed)|残留|未释放|没有释放",
    "traceback_kept": r"after an exception|exception in a notebook|handling of the above exception",
    "viewer": r"memory_viz|\bsnapshots?\b|\btrace shows\b|max_entries|_record_memory_history",
    "host": r"\bhost (?:ram|memory|oom)\b|\b(?:cpu|system) (?:ram|memory)\b|内存不足",
    "pinned": r"pin_memory|pinned|cudahostalloc|page-locked",
    "windows": r"\bwsl2?\b|microsoft-standard|\bwindows\b|[a-z]:\\",
    "expandable": r"expandable_segments:true",
    "offload": r"\boffload",
    "cudnn_benchmark": r"cudnn\.benchmark",
    "caught": r"\bretry|\bskipping batch|ran out of memory, re",
    "query": r"mem_get_info|caching_allocator_warmup",
    "barrier": r"\bbarrier\b",
    "rest_of_optimizer": r"optimizer step|optimizer\.step",
    "no_error_line": r"no error line",
}
_SEARCH = {name: re.compile(pattern) for name, pattern in _SIGNS.items()}


_MOST_WORDS = 40
"""Characters of a sign's words that are shown."""


def signs(words: str) -> Mapping[str, str]:
    """Return what a piece of text mentions: by the sign's id, the words that are it."""
    small = words.lower()
    found = ((name, search.search(small)) for name, search in _SEARCH.items())
    return {
        name: words[match.start() : match.end()][:_MOST_WORDS]
        if len(small) == len(words)
        else match[0]
        for name, match in found
        if match is not None
    }
