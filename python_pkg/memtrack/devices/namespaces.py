"""Which process here is the one a driver lists by a number of elsewhere: containers count anew.

Three cases. The number is that of a process here which has the device open: it is meant. It is the
number which a process has inside its own container (`NSpid` of proc(5)): newer drivers tell that.
Or it is one of outside, of which nothing is to be seen: then, if exactly one such is listed and
exactly one process here has a CUDA context that is not accounted for, they are the same, because
the driver lists every context. With several nothing is said.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Set
from contextlib import suppress
from pathlib import Path

from memtrack.devices.processes import named_in

_PROC = Path("/proc")


def local_pids(
    listed: Iterable[int],
    is_meant: Callable[[int], bool],
    computing: Callable[[], Set[int]],
    inner: Callable[[int], Set[int]],
) -> Mapping[int, int]:
    """Return, by the driver's number, the number here of each process that is certain.

    `is_meant` tells whether a process of that number is here and can be the one, `computing` which
    processes here have a context, `inner` by which other numbers one of them goes.
    """
    found: dict[int, int] = {}
    unknown: list[int] = []
    for pid in dict.fromkeys(listed):
        if is_meant(pid):
            found[pid] = pid
        else:
            unknown.append(pid)
    if not unknown:
        return found
    left = set(computing()) - set(found.values())
    for pid in list(unknown):
        known_as = [one for one in left if pid in inner(one)]
        if len(known_as) == 1:
            found[pid] = known_as[0]
            left.discard(known_as[0])
            unknown.remove(pid)
    if len(unknown) == 1 and len(left) == 1:
        found[unknown[0]] = left.pop()
    return found


def numbers_of(pid: int, proc: Path = _PROC) -> frozenset[int]:
    """Return the numbers a process goes by in its own and outer namespaces, as far as told here."""
    numbers = {pid}
    with suppress(OSError, ValueError):
        numbers.update(named_in(proc / str(pid) / "status"))
    return frozenset(numbers)
