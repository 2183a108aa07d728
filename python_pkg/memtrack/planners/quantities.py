"""Counts and dtypes as people write them: `7B`, `bf16`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from memtrack.errors import UsageError
from memtrack.i18n import Text, text

DTYPE_BITS: Mapping[str, int] = MappingProxyType(
    {"fp32": 32, "bf16": 16, "fp16": 16, "fp8": 8, "int8": 8, "int4": 4}
)
"""Bits of one element of each dtype, without the scales of a quantised one."""

_SYNONYMS = {
    "float32": "fp32",
    "float": "fp32",
    "bfloat16": "bf16",
    "float16": "fp16",
    "half": "fp16",
    "float8_e4m3fn": "fp8",
    "float8_e5m2": "fp8",
}
_SCALES = {"": 1, "k": 10**3, "m": 10**6, "b": 10**9, "g": 10**9, "t": 10**12}
_COUNT = re.compile(r"(\d[\d_,]*(?:\.\d+)?|\.\d+)\s*([kmbgt]?)", re.IGNORECASE)


def parse_count(words: str | int | float) -> int:
    """Return the number that `7B`, `1.3 B`, `124m` or `7e9` stands for; suffixes are decimal.

    >>> parse_count("7B"), parse_count("1.5b"), parse_count("124M"), parse_count(1e9)
    (7000000000, 1500000000, 124000000, 1000000000)
    """
    if isinstance(words, int | float) and not isinstance(words, bool):
        count = _whole(words)
    else:
        match = _COUNT.fullmatch(str(words).strip())
        if match:
            count = round(float(re.sub("[_,]", "", match[1])) * _SCALES[match[2].lower()])
        else:
            count = _whole(_float(str(words)))
    if not 0 < count < 1 << 53:
        raise UsageError(
            text("'{word}' is not a number of parameters.", word=words),
            text("Write it as 7B, 124M or 7000000000."),
        )
    return count


def parse_dtype(word: object, known: Mapping[str, int] = DTYPE_BITS) -> str:
    """Return our name of a dtype: `bfloat16`, `torch.bfloat16` and `bf16` are one."""
    name = str(word).strip().lower().removeprefix("torch.")
    return choice(text("dtype"), _SYNONYMS.get(name, name), known)


def choice(kind: Text, word: str, known: Mapping[str, object] | tuple[str, ...]) -> str:
    """Return `word` if it is one of `known`; raise UsageError with the closest match if not."""
    if word not in known:
        raise UsageError.unknown_word(kind, word, known)
    return word


def bytes_of(elements: int, dtype: str) -> int:
    """Return what `elements` of a dtype take, rounded up to whole bytes.

    >>> bytes_of(3, "int4"), bytes_of(10**9, "fp32")
    (2, 4000000000)
    """
    return -(-elements * DTYPE_BITS[dtype] // 8)


def _float(words: str) -> float:
    try:
        return float(words)
    except ValueError:
        return 0.0


def _whole(number: float) -> int:
    return round(number) if 0 < number < 1 << 53 else 0
