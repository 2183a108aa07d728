"""What stands around an error: the traceback's frames and words of the text. Weak evidence.

None of it lifts a cause to what is told as the reason, but for wordings that name a cause.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memtrack.diagnosis.diagnosis import SURE
from memtrack.diagnosis.reading import Failure
from memtrack.diagnosis.textcauses.places import places
from memtrack.diagnosis.textcauses.scores import Candidate, Scores
from memtrack.i18n import text

_FRAMES = text("The traceback in the text ends in code that does this.")

PLACE_CAUSES: Mapping[str, Sequence[Candidate]] = {
    "attention": (
        Candidate(
            "logits_or_attention_quadratic",
            0.45,
            text(
                "The traceback ends in attention: its matrix grows with the square of the sequence."
            ),
        ),
    ),
    "loss": (
        Candidate(
            "logits_or_attention_quadratic",
            0.45,
            text("The traceback ends at the loss or the logits: batch × sequence × vocabulary."),
        ),
    ),
    "convolution": (
        Candidate(
            "cudnn_workspace",
            0.35,
            text("The traceback ends in an operation for which cuDNN takes a workspace."),
        ),
    ),
    "optimizer": (
        Candidate(
            "capacity",
            0.45,
            text(
                "The traceback ends in the optimizer: its first step allocates its state, as large as"
                " the parameters once or twice more."
            ),
        ),
    ),
    "backward": (
        Candidate(
            "capacity",
            0.4,
            text("The traceback ends in backward, which needs what forward has left free."),
        ),
    ),
    "generation": (
        Candidate(
            "capacity",
            0.4,
            text(
                "The traceback ends in generating: the cache of keys and values grows with each token."
            ),
        ),
    ),
    "saving": (Candidate("fsdp_or_state_dict_save", 0.4, _FRAMES),),
    "gathering": (Candidate("eval_accumulation", 0.5, _FRAMES),),
    "boxes": (
        Candidate(
            "huge_input_or_boxes",
            0.45,
            text("The traceback ends at boxes or anchors: their number depends on the sample."),
        ),
    ),
    "collective": (
        Candidate("rank_device_mapping", 0.3, _FRAMES),
        Candidate("memory_outside_allocator", 0.25),
    ),
    "evaluation": (
        Candidate(
            "missing_no_grad",
            0.36,
            text("The traceback ends in evaluation, and no frame of it turns gradients off."),
        ),
    ),
    "engine_cache": (
        Candidate(
            "serving_memory_budget",
            0.55,
            text(
                "The traceback ends where a serving engine makes its cache from a share of the device."
            ),
        ),
    ),
    "restoring": (
        Candidate(
            "rank_device_mapping",
            0.45,
            text(
                "A file is loaded onto the GPU that it was saved from: every rank does so onto the same one."
            ),
        ),
        Candidate(
            "exception_traceback_or_stale_reference",
            0.35,
            text("What a file holds stays on the GPU beside the model until its variable is gone."),
        ),
    ),
    "loading": (Candidate("dtype_fp32_load", 0.25, _FRAMES),),
}

_TABLE: Sequence[tuple[frozenset[str], str, float]] = (
    (frozenset({"grows", "memory"}), "graph_retention", 0.4),
    (frozenset({"retained_graph"}), "graph_retention", 0.5),
    (frozenset({"evaluation", "grows"}), "missing_no_grad", 0.45),
    (frozenset({"evaluation", "grows"}), "eval_accumulation", 0.3),
    (frozenset({"gathers_outputs"}), "eval_accumulation", 0.5),
    (frozenset({"hooks"}), "hook_leak", 0.5),
    (frozenset({"hooks", "grows"}), "exception_traceback_or_stale_reference", 0.35),
    (frozenset({"evaluation", "grows", "no_grad"}), "hook_leak", 0.35),
    (frozenset({"cuda_graphs"}), "cuda_graph_memory", 0.5),
    (frozenset({"recompiles"}), "cuda_graph_memory", 0.3),
    (frozenset({"recompiles"}), "allocator_bug_or_option", 0.2),
    (frozenset({"autotune"}), "memory_outside_allocator", 0.3),
    (frozenset({"autotune"}), "capacity", 0.35),
    (frozenset({"logits"}), "logits_or_attention_quadratic", 0.45),
    (frozenset({"attention"}), "logits_or_attention_quadratic", 0.45),
    (frozenset({"boxes"}), "huge_input_or_boxes", 0.45),
    (frozenset({"jumps"}), "huge_input_or_boxes", 0.4),
    (frozenset({"import", "memory"}), "other_process_or_framework", 0.35),
    (frozenset({"adapters"}), "checkpointing_or_peft", 0.4),
    (frozenset({"half"}), "dtype_fp32_load", 0.5),
    (frozenset({"loading"}), "dtype_fp32_load", 0.4),
    (frozenset({"serving"}), "serving_memory_budget", 0.8),
    (frozenset({"sharded", "saving"}), "fsdp_or_state_dict_save", 0.5),
    (frozenset({"saving"}), "fsdp_or_state_dict_save", 0.35),
    (frozenset({"ranks", "checkpoint"}), "rank_device_mapping", 0.5),
    (frozenset({"ranks"}), "rank_device_mapping", 0.35),
    (frozenset({"frameworks"}), "other_process_or_framework", 0.5),
    (frozenset({"leftover"}), "zombie_or_leftover_process", 0.5),
    (frozenset({"resuming"}), "exception_traceback_or_stale_reference", 0.42),
    (frozenset({"leftover", "memory"}), "exception_traceback_or_stale_reference", 0.25),
    (frozenset({"traceback_kept"}), "exception_traceback_or_stale_reference", 0.5),
    (frozenset({"host"}), "host_ram_exhausted", 0.45),
    (frozenset({"host", "grows"}), "graph_retention", 0.4),
    (frozenset({"host", "no_error_line"}), "pinned_or_wsl_host_limit", 0.2),
    (frozenset({"pinned"}), "pinned_or_wsl_host_limit", 0.5),
    (frozenset({"rest_of_optimizer"}), "memory_outside_allocator", 0.25),
    (frozenset({"rest_of_optimizer"}), "capacity", 0.35),
)
_QUADRATIC = frozenset({"attention", "loss"})
"""Places where a request larger than the device is a matrix, not a sample."""
_OF_COURSE = frozenset({"memory"})
"""What every such text mentions: not worth being quoted."""
_MOST_OF_WORDS = SURE - 0.05
"""Words alone are no reason."""
_ON_A_GPU = frozenset({"eval_accumulation"})
"""Causes that are of a GPU's memory by what they say."""


def weigh_frames(failure: Failure, scores: Scores) -> None:
    """Add what the frames of the traceback suggest."""
    found = places(failure)
    settled = found & {"no_grad", "gathering"}
    for place in sorted(found - {"evaluation"} if settled else found):
        scores.add_all(PLACE_CAUSES.get(place, ()))
    if failure.kind == "cuda_error" and "pinning" in found:
        line = text("The traceback is in pinning memory of the computer.")
        scores.add("pinned_or_wsl_host_limit", 0.7, line)
    if found & _QUADRATIC and scores.confidence("huge_input_or_boxes") >= 0.5:
        scores.add("logits_or_attention_quadratic", SURE - 0.02)
        scores.limit("huge_input_or_boxes", 0.45)
    if failure.kind == "cuda_error" and "query" in found:
        line = text("Even asking the device failed: it was full before this process began.")
        scores.add("other_process_or_framework", 0.58, line)


def weigh_words(failure: Failure, scores: Scores, *, only: bool) -> None:
    """Add what the words of the text suggest; `only` where there is nothing else to go by.

    Beside an error a word counts less: a log mentions much that has nothing to do with it.
    """
    signs = failure.signs
    if {"clone_failed", "saving"} <= signs.keys() and failure.device_memory:
        named = text("A tensor could not be copied while a state was gathered for saving.")
        scores.add("fsdp_or_state_dict_save", 0.7, named)
        scores.limit("fragmentation", 0.3)
    strong = 1.0 if only else 0.5
    for needed, cause, confidence in _TABLE:
        if needed <= signs.keys() and not (cause in _ON_A_GPU and failure.kind == "cpu_oom"):
            line = text(
                "The text speaks of it: {words}.",
                words=", ".join(
                    f"“{signs[name]}”" for name in sorted(needed - _OF_COURSE or needed)
                ),
            )
            scores.add(cause, min(confidence * strong, _MOST_OF_WORDS), line)
