"""A GPU by the name people write: `4090`, `RTX 4090 Laptop`, `A100-80G`, `h100 sxm`, or the driver's own."""

from __future__ import annotations

import difflib
import heapq
import re

from memtrack.errors import UsageError
from memtrack.i18n import text
from memtrack.planners.gputable import DATED, GPUS, METAL, KnownGpu
from memtrack.units import GIB

__all__ = ["DATED", "GPUS", "KnownGpu", "find_gpu", "known_gpu", "short_name"]

_NOISE = (
    r"\b(nvidia|geforce|tesla|amd|radeon|instinct|gpu|sxm\d?|hbm\d?e?|pcie|oam|generation"
    r"|workstation|server|edition|(with )?max q design)\b"
)
"""Words of drivers and shops that tell no two GPUs of the table apart."""
_PIECES = (
    (r"[-_/(),]", " "),
    (_NOISE, " "),
    (r"(\d+)\s*g(?:i?b)?\b", r"\1gb"),
    (r"\b(rtx|gtx|rx)(?=\d)", r"\1 "),
    (r"\b(rtx )?(a\d{4})\b", r"rtx \2"),
    (r"(\d{4})(?=(?:ti|super|xtx|xt)\b|tisuper\b)", r"\1 "),
    (r"\btisuper\b", "ti super"),
    (r"\b(mobile|notebook|max q)\b", "laptop"),
)
_SIZE = re.compile(r"(\d+)(?:gb)?")
_APPLE = re.compile(r"(?:apple )?(m\d(?: (?:pro|max|ultra))?)(?: (\d+) ?g(?:i?b)?)?")
_LARGE_MAC = 36 * GIB
_NEAREST = 3
_SIZE_APART = 0.15
"""A size on the box and what a driver tells differ by no more; cards of one name differ by more."""


def find_gpu(name: str) -> KnownGpu:
    """Return the GPU of this name; UsageError names the nearest ones.

    Case, dashes, `NVIDIA`, `SXM` and the like do not matter. Where several have all the words, the
    one with the fewest others is meant, of those alike the first of the table.

    >>> find_gpu("a100-80g").name, find_gpu("4090").name
    ('NVIDIA A100 80GB', 'NVIDIA GeForce RTX 4090')
    >>> find_gpu("rtx 4090 laptop").name
    'NVIDIA GeForce RTX 4090 Laptop'
    """
    found = known_gpu(name)
    if found is not None:
        return found
    nearest = ", ".join(_nearest(name))
    raise UsageError(
        text("There is no GPU '{name}' in the table of {dated}.", name=name, dated=DATED),
        text("The nearest: {names}. A size such as 24GiB will do too.", names=nearest),
    )


def known_gpu(name: str) -> KnownGpu | None:
    """Return the GPU of this name, None where the table has none."""
    apple = _apple(name)
    if apple is not None:
        return apple
    wanted = _words(name)
    if not any(re.search(r"\d\d|[a-z]\d|titan", word) for word in _models(wanted)):
        return None
    fitting = [gpu for gpu in GPUS if _has(gpu, wanted)]
    return min(fitting, key=lambda gpu: len(_models(_words(gpu.name) - wanted)), default=None)


def short_name(name: str) -> str:
    """Return a name as people say it, without its maker."""
    return re.sub(r"^(NVIDIA |AMD )?(GeForce |Instinct |Radeon )?", "", name)


def _has(gpu: KnownGpu, wanted: frozenset[str]) -> bool:
    """Tell whether a GPU has all these words; a size is had where its memory is as large."""
    words = _words(gpu.name)
    return all(word in words or (_is_size(word) and _is_large(gpu, word)) for word in wanted)


def _models(words: frozenset[str]) -> frozenset[str]:
    return frozenset(word for word in words if not _is_size(word))


def _is_size(word: str) -> bool:
    match = _SIZE.fullmatch(word)
    return match is not None and (word.endswith("gb") or len(match[1]) < 4)


def _is_large(gpu: KnownGpu, word: str) -> bool:
    size = int(word.removesuffix("gb")) * GIB
    return abs(gpu.total - size) <= _SIZE_APART * size


def _words(name: str) -> frozenset[str]:
    """Return the words of a name that tell it from others."""
    plain = name.lower()
    for pattern, instead in _PIECES:
        plain = re.sub(pattern, instead, plain)
    return frozenset(plain.split())


def _nearest(name: str) -> list[str]:
    """Return the short names of the table that are most like a name that is not there."""
    wanted = "".join(sorted(_words(name), key=name.lower().find))

    def likeness(short: str) -> float:
        letters = "".join(short.lower().split())
        # A number alone is compared with the model's number alone.
        forms = (letters, re.sub(r"^(rtx|gtx|rx)", "", letters))
        return max(difflib.SequenceMatcher(None, wanted, form).ratio() for form in forms)

    names = [short_name(gpu.name) for gpu in GPUS]
    return heapq.nlargest(_NEAREST, names, key=likeness)


def _apple(name: str) -> KnownGpu | None:
    """Return one of Apple's chips with the memory that Metal recommends of the computer's."""
    match = _APPLE.fullmatch(" ".join(name.lower().replace("-", " ").split()))
    if match is None:
        return None
    chip = " ".join(word.capitalize() for word in match[1].split())
    if match[2] is None:
        raise UsageError(
            text("The GPU of {name} shares the computer's memory.", name=f"Apple {chip}"),
            text("Say how much there is: '{name}'.", name=f"{chip} 32GB"),
        )
    size = int(match[2]) * GIB
    share = size * 2 // 3 if size < _LARGE_MAC else size * 3 // 4
    return KnownGpu(f"Apple {chip} {match[2]}GB", share, (0, 0), 0, METAL)
