"""Settings of the CUDA caching allocator, from its environment variable or from a snapshot.

The rules are those of `CUDAAllocatorConfig.cpp` and `AcceleratorAllocatorConfig.cpp` of torch 2.0 to
2.14: a comma list of `key:value`, sizes in MiB, booleans exactly `True` or `False`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from memtrack.errors import UsageError
from memtrack.i18n import text

MIB = 1 << 20
UNLIMITED = (1 << 63) - 1
"""Bytes: `max_split_size` when nothing is too large to be split."""
DIVISION_INTERVALS = 16
"""Sizes of 1, 2, 4, … 32768 MiB, each with divisions of its own (kRoundUpPowerOfTwoIntervals)."""
NO_DIVISIONS = (0,) * DIVISION_INTERVALS
DEFAULT_LARGE_SEGMENT = 20 * MIB
"""Bytes (kLargeBuffer): a segment for requests between 1 MiB and 10 MiB."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How the allocator rounds, splits and gives back. The defaults are torch's."""

    expandable_segments: bool = False
    max_split_size: int = UNLIMITED
    """Bytes: blocks of this size and larger are never split."""
    max_non_split_rounding: int = DEFAULT_LARGE_SEGMENT
    """Bytes that a request of `max_split_size` or more may waste of an unsplit block."""
    roundup_power2_divisions: tuple[int, ...] = NO_DIVISIONS
    """Steps between powers of two that sizes are rounded to, by interval; 0 or 1: not rounded so."""
    garbage_collection_threshold: float = 0.0
    """Share of what is allowed above which old cached blocks are given back; 0: never."""
    memory_fraction: float | None = None
    """Share of the device this process may reserve; None: all of it."""
    large_segment_size: int = DEFAULT_LARGE_SEGMENT
    """Bytes (`large_segment_size_mb`, torch 2.11 and later)."""
    backend: str = "native"

    @classmethod
    def parse(cls, conf: str) -> Settings:
        """Read a `PYTORCH_CUDA_ALLOC_CONF` string; keys that do not change the layout are skipped.

        Raises UsageError naming the pair that cannot be understood.
        """
        return _with(cls(), conf)

    @classmethod
    def from_snapshot(cls, settings: Mapping[str, Any] | None) -> Settings:
        """Read the `allocator_settings` of a torch snapshot (torch 2.2 and later; None: defaults).

        Its own keys win over its string, which alone has what they leave out. What cannot be
        understood keeps its default: the file is somebody's, and the allocator took it.
        """
        found = cls()
        if not settings:
            return found
        for pair in _pairs(str(settings.get("PYTORCH_CUDA_ALLOC_CONF") or "")):
            try:
                found = _with(found, pair)
            except UsageError:
                continue
        return replace(found, **_exposed(settings))


def _exposed(settings: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    size = settings.get("max_split_size")
    if isinstance(size, int) and not isinstance(size, bool):
        found["max_split_size"] = size if 0 < size < UNLIMITED else UNLIMITED
    if isinstance(settings.get("expandable_segments"), bool):
        found["expandable_segments"] = settings["expandable_segments"]
    threshold = settings.get("garbage_collection_threshold")
    if isinstance(threshold, int | float) and 0 <= threshold < 1:
        found["garbage_collection_threshold"] = float(threshold)
    divisions = settings.get("roundup_power2_divisions")
    if isinstance(divisions, Mapping):
        values = [divisions.get(str(1 << i), 0) for i in range(DIVISION_INTERVALS)]
        if all(isinstance(v, int) and _is_division(v) for v in values):
            found["roundup_power2_divisions"] = tuple(values) if any(values) else NO_DIVISIONS
    return found


_PAIR = re.compile(r"(?:\[[^\]]*\]|[^,\[\]])+")


def _pairs(conf: str) -> list[str]:
    """Split at the commas outside brackets; blanks do not count anywhere."""
    return _PAIR.findall(re.sub(r"\s", "", conf))


def _with(settings: Settings, conf: str) -> Settings:
    for pair in _pairs(conf):
        key, _, value = pair.partition(":")
        known = _KEYS.get(key)
        if known is None:
            continue
        name, read = known
        try:
            settings = replace(settings, **{name: read(value)})
        except ValueError as error:
            raise UsageError(
                text("'{pair}' is not a setting of the CUDA allocator.", pair=pair)
            ) from error
    return settings


def _mebibytes(value: str) -> int:
    return int(value) * MIB


def _split_size(value: str) -> int:
    size = _mebibytes(value)
    if size < DEFAULT_LARGE_SEGMENT:
        raise ValueError("max_split_size_mb is at least 20")
    return min(size, UNLIMITED)


def _large_segment(value: str) -> int:
    size = _mebibytes(value)
    if size < DEFAULT_LARGE_SEGMENT:
        raise ValueError("large_segment_size_mb is at least 20")
    return size


def _boolean(value: str) -> bool:
    if value not in ("True", "False"):
        raise ValueError("a boolean is True or False")
    return value == "True"


def _share(value: str) -> float:
    share = float(value)
    if not 0 < share < 1:
        raise ValueError("a threshold lies between 0 and 1")
    return share


def _fraction(value: str) -> float:
    share = float(value)
    if not 0 <= share <= 1:
        raise ValueError("a fraction lies between 0 and 1")
    return share


def _is_division(value: int) -> bool:
    return value >= 0 and value & (value - 1) == 0


def _division(value: str) -> int:
    number = int(value)
    if not _is_division(number):
        raise ValueError("divisions are a power of two")
    return number


def _divisions(value: str) -> tuple[int, ...]:
    """Read `8` or `[256:1,512:2,1024:4,>:8]`: below the first size as it, above `>` the last."""
    if not value.startswith("["):
        return (_division(value),) * DIVISION_INTERVALS
    divisions = [0] * DIVISION_INTERVALS
    last = -1
    for pair in value.strip("[]").split(","):
        size, _, number = pair.partition(":")
        division = _division(number)
        if size == ">":
            divisions[last + 1 :] = [division] * (DIVISION_INTERVALS - last - 1)
            continue
        index = min(_division(size).bit_length() - 1, DIVISION_INTERVALS - 1)
        if index < 0:
            raise ValueError("a size is at least 1 MiB")
        if last < 0:
            divisions[:index] = [division] * index
        divisions[index] = division
        last = index
    return tuple(divisions)


_KEYS: Mapping[str, tuple[str, Callable[[str], Any]]] = {
    "backend": ("backend", str),
    "expandable_segments": ("expandable_segments", _boolean),
    "garbage_collection_threshold": ("garbage_collection_threshold", _share),
    "large_segment_size_mb": ("large_segment_size", _large_segment),
    "max_non_split_rounding_mb": ("max_non_split_rounding", _mebibytes),
    "max_split_size_mb": ("max_split_size", _split_size),
    "per_process_memory_fraction": ("memory_fraction", _fraction),
    "roundup_power2_divisions": ("roundup_power2_divisions", _divisions),
}
