"""Limits of a recording, by the id the capture gives them, as sentences."""

from __future__ import annotations

from collections.abc import Sequence

from memtrack.i18n import Text, text
from memtrack.recording import Notice

_SENTENCES = {
    "compiled": text("A compiled part ran: what happens inside it is counted, but not by layer."),
    "compiled_unseen": text(
        "A compiled part ran: what it allocates inside is not seen, only what comes out of it."
    ),
    "subclass": text("Tensor subclasses are counted by the storages inside them."),
    "scripted": text("The layers inside a ScriptModule are not seen; it counts as one layer."),
    "unclosed": text("The recording ended with an exception; its last step is not complete."),
    "threads": text("Layers that ran on other threads were not seen."),
    "no_steps": text("No forward pass was seen, so nothing is told by layer or step."),
    "checkpoint_sac": text(
        "Selective checkpointing is on: what it computes again counts as backward."
    ),
    "saved_hooks_disabled": text(
        "What was saved for backward was not seen: hooks on saved tensors are disabled here."
    ),
    "gave_up": text("memtrack failed while it recorded and stopped there; the run went on."),
    "trace_missing": text("The snapshot has no trace: it shows one moment, not what led to it."),
    "trace_late": text(
        "The trace begins in the middle of the run: what is older is counted, but where it was"
        " allocated may not be known."
    ),
    "trace_torn": text("Some events of the trace had no counterpart and were left out."),
    "full": text("The recording was full and ended by itself."),
    "no_history_async": text(
        "cudaMallocAsync tells no history: blocks are followed by tensor storages, its cache is"
        " estimated, and fragmentation is not known."
    ),
    "no_history_pluggable": text(
        "This allocator is not PyTorch's own and tells no history: blocks are followed by tensor"
        " storages; its cache and fragmentation are not known."
    ),
    "no_cache": text(
        "The caching allocator is switched off: blocks are followed by tensor storages."
    ),
    "no_history_old": text(
        "This PyTorch tells no history with times: blocks are followed by tensor storages, the"
        " cache is estimated, and fragmentation is not known. PyTorch 2.2 or newer tells it."
    ),
    "no_history_xpu": text(
        "On XPU blocks are followed by tensor storages: the cache is estimated, and fragmentation"
        " is not known."
    ),
    "no_history_mps": text(
        "On MPS blocks are followed by tensor storages: what Metal caches counts as the rest of"
        " this process, and other processes are not known."
    ),
    "no_history_other": text(
        "This backend tells no history: blocks are followed by tensor storages, and fragmentation"
        " is not known."
    ),
    "no_process_rocm": text(
        "On ROCm the driver is not asked about processes: the context and other processes are one"
        " part."
    ),
    "no_driver": text(
        "NVIDIA's management library is not here: the CUDA context and other processes are one"
        " part."
    ),
    "driver_mismatch": text(
        "The NVIDIA driver was updated since the machine started: until it starts again, the CUDA"
        " context and other processes are one part."
    ),
    "driver_no_permission": text(
        "The NVIDIA driver may not be asked about processes here: the CUDA context and other"
        " processes are one part."
    ),
    "driver_no_process": text(
        "The NVIDIA driver did not always tell what this process holds, as is usual in some"
        " containers and under WSL: the CUDA context is an estimate or one part with other"
        " processes."
    ),
    "driver_mig": text(
        "The GPU is split by MIG and which part is ours is not known: the CUDA context and other"
        " processes are one part."
    ),
    "driver_failed": text(
        "The NVIDIA driver did not answer: the CUDA context and other processes are one part."
    ),
    "device_lost": text(
        "A device stopped answering: what the driver would have told from there on is not known."
    ),
}


def notice_sentences(notices: Sequence[Notice]) -> list[Text]:
    """Return a sentence for each notice, each once, in order."""
    return list({_key(notice): _sentence(notice) for notice in notices}.values())


def _key(notice: Notice) -> tuple[str, str]:
    return notice.id, str(sorted(notice.values.items()))


def _sentence(notice: Notice) -> Text:
    known = _SENTENCES.get(notice.id)
    if known is not None:
        return Text(known.template, notice.values)
    return text("This recording has a limit that this version does not know: {id}.", id=notice.id)
