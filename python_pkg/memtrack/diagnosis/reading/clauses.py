"""The message of PyTorch's device allocator, of every version: clauses in any order, any left out.

The wordings since 1.0 differ in which clauses they have and in what stands between; a text may have
lost its beginning or its end. So each clause is looked for by itself, and clauses that stand close
together are one message. Text in small letters without spaces.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from memtrack.diagnosis.diagnosis import Process
from memtrack.diagnosis.reading.sizes import SIZE, is_unknown, to_bytes

_DEVICES = "cuda|hip|xpu|npu|gcu|mlu|supa|musa|mtia|hpu|ipu|privateuseone|gpu"
_CLAUSES: dict[str, str] = {
    "head": rf"(?:(?P<name>{_DEVICES})|(?<=outofmemoryerror:))outofmemory(?!:killed|erroron|allocating)|"
    # Intel's extension says so in place of that, where one piece is too large for the runtime.
    r"(?P<block>notallocatememoryblockwithsizelargerthan\d+[kmg]i?b)",
    "exabyte": r"(?<!you)triedtoallocatemorethan1ebmemory",
    "requested": r"(?<!you)triedtoallocate" + SIZE,
    "device": rf"\((?P<unit>{_DEVICES})(?P<device>\d+);|gpu(?P<other>\d+)hasatotalcapac",
    "total": SIZE + "totalcapacity|totalcapac(?:i?ty)of" + SIZE,
    "allocated": SIZE + "alreadyallocated|oftheallocatedmemory" + SIZE,
    "active": SIZE + "currentactive",
    "free": SIZE + r"free(?=[;)]|$|\W)|ofwhich" + SIZE + "isfree",
    "allowed": SIZE + "allowed(?=[;)]|$|of)",
    "cached": SIZE + r"cached(?=\)|$|\W)",
    "reserved": SIZE + r"reservedintotal(?:bypytorch\)?)?",
    "reserved_unallocated": SIZE + r"(?:is)?reservedbypytorchbut(?:unallocated\.?)?",
    "private_pools": SIZE + "allocatedinprivatepools",
    "process": "thisprocesshas" + SIZE,
    "others": r"process(?P<pid>\d+)has" + SIZE,
    "hint": r"ifreserved(?:memoryis>>|butunallocatedmemoryis)",
}
_SEARCH = {name: re.compile(pattern) for name, pattern in _CLAUSES.items()}
_NEEDLES = {
    "head": "",
    "exabyte": "1ebmemory",
    "requested": "triedtoallocate",
    "total": "capac",
    "device": "",
    "allocated": "allocated",
    "active": "currentactive",
    "free": "free",
    "allowed": "allowed",
    "cached": "cached",
    "reserved": "reservedintotal",
    "reserved_unallocated": "reservedbypytorchbut",
    "private_pools": "inprivatepools",
    "process": "thisprocesshas",
    "others": "has",
    "hint": "ifreserved",
}
_STRONG = re.compile(
    "outofmemory|triedtoallocate|reservedintotal|reservedbypytorch|totalcapac|alreadyallocated|"
    "oftheallocatedmemory|thisprocesshas|inprivatepools|ifreserved"
)
_REACH = 700
"""Characters around a strong word in which clauses are looked for."""
_WEAK = frozenset({"free", "allowed", "cached", "others", "active", "device"})
"""Clauses that could stand in any text: they count only beside another."""
_MANY = frozenset({"others"})
_GAP = 60
"""Characters, without spaces, that may stand between two clauses of a message."""
_HINT_GAP = 160
_NO_SIZE = frozenset({"head", "exabyte", "device", "hint"})


@dataclass
class Clauses:
    """One message: what its clauses say, and where it begins and ends."""

    start: int
    end: int
    seen: set[str] = field(default_factory=set)
    numbers: dict[str, int] = field(default_factory=dict)
    sentinels: list[str] = field(default_factory=list)
    processes: list[Process] = field(default_factory=list)
    name: str = ""
    device: int | None = None

    @property
    def kind(self) -> str:
        """The contract's kind: by the device's name, CUDA where it is not told."""
        return "cuda_oom" if self.name in ("", "gpu") else f"{self.name}_oom"

    @property
    def wording(self) -> str:
        """Which of the forms it is."""
        if "exabyte" in self.seen:
            return f"{self.kind}.exabyte"
        if "allowed" in self.seen:
            return f"{self.kind}.allowed"
        if "cached" in self.seen:
            return f"{self.kind}.cached"
        if "reserved" in self.seen:
            return f"{self.kind}.reserved"
        sentence = {"process", "others", "reserved_unallocated", "total"} & self.seen
        return f"{self.kind}.sentences" if sentence else f"{self.kind}.short"


def messages(squeezed: str, taken: Sequence[tuple[int, int]] = ()) -> list[Clauses]:
    """Return the messages in a text; what other sentences have `taken` is left out."""
    found: list[Clauses] = []
    waiting: list[tuple[str, re.Match[str]]] = []
    for name, match in _in_order(squeezed, taken):
        current = found[-1] if found else None
        if current is not None and _belongs(current, name, match):
            _add(current, name, match)
            waiting.clear()
            continue
        if name in _WEAK:
            waiting.append((name, match))
            continue
        fresh = Clauses(match.start(), match.end())
        for early in _near(waiting, match.start()):
            _add(fresh, *early)
        waiting.clear()
        _add(fresh, name, match)
        found.append(fresh)
    return found


def _in_order(
    squeezed: str, taken: Sequence[tuple[int, int]]
) -> Iterator[tuple[str, re.Match[str]]]:
    every: list[tuple[int, str, re.Match[str]]] = []
    covered = bytearray(len(squeezed))
    for start, end in taken:
        covered[start:end] = b"\x01" * (end - start)
    for low, high in _regions(squeezed):
        for name, search in _SEARCH.items():
            if squeezed.find(_NEEDLES[name], low, high) < 0:
                continue
            every.extend(
                (match.start(), name, match)
                for match in search.finditer(squeezed, low, high)
                if covered.find(1, match.start(), match.end()) < 0
            )
    every.sort(key=lambda one: (one[0], one[1]))
    for _, name, match in every:
        yield name, match


def _regions(squeezed: str) -> list[tuple[int, int]]:
    """Return the parts of a text that may hold clauses: those around strong words, merged."""
    regions: list[tuple[int, int]] = []
    for match in _STRONG.finditer(squeezed):
        low, high = max(match.start() - _REACH, 0), min(match.end() + _REACH, len(squeezed))
        if regions and low <= regions[-1][1]:
            regions[-1] = (regions[-1][0], high)
        else:
            regions.append((low, high))
    return regions


def _belongs(current: Clauses, name: str, match: re.Match[str]) -> bool:
    if name == "head" or (name in current.seen and name not in _MANY):
        return False
    if name in ("requested", "exabyte") and current.seen - {"head"}:
        return False
    if name in _WEAK and current.seen <= {"head"}:
        return False
    gap = _HINT_GAP if name == "hint" else _GAP
    return match.start() - current.end <= gap


def _near(
    waiting: Iterable[tuple[str, re.Match[str]]], start: int
) -> list[tuple[str, re.Match[str]]]:
    """Return the weak clauses that stand right before a strong one: the beginning was cut off."""
    close = [one for one in waiting if start - one[1].end() <= _GAP]
    names = [name for name, _ in close]
    return [one for i, one in enumerate(close) if one[0] in _MANY or one[0] not in names[i + 1 :]]


def _add(current: Clauses, name: str, match: re.Match[str]) -> None:
    current.seen.add(name)
    current.start = min(current.start, match.start())
    current.end = max(current.end, match.end())
    if name == "head":
        current.name = "xpu" if match["block"] else match["name"] or ""
    elif name == "device":
        current.device = int(match["device"] or match["other"])
        if not current.name and match["unit"]:
            current.name = match["unit"]
    elif name == "others":
        size_bytes = to_bytes(match[2], match[3])
        told = -1 if is_unknown(size_bytes) else size_bytes
        current.processes.append(Process(int(match["pid"]), told))
        if told < 0:
            current.sentinels.append("process")
    elif name not in _NO_SIZE:
        number, unit = (part for part in match.groups() if part is not None)
        _note(current, name, to_bytes(number, unit))


def _note(current: Clauses, name: str, size_bytes: int) -> None:
    if is_unknown(size_bytes):
        current.sentinels.append(name)
        return
    current.numbers[name] = size_bytes
    if name == "cached":
        # Before 1.4 `cached` was the unused part alone; what later versions call unallocated.
        current.numbers["reserved_unallocated"] = size_bytes
