"""Segments, pools and gaps again, slowly: one segment, one page and one block at a time."""

from memtrack.recording import EventKind

MIB = 1 << 20


def key_of(data, segment):
    """Return (private pool, small, stream) of a row of the segments."""
    return data.string(segment["pool"]), bool(segment["small"]), segment["stream"]


def held(twin, cut):
    """Return the segments held at a cut, in order of their addresses."""
    rows = [
        row
        for row in twin.segments
        if row["device"] == twin.device and row["start"] < cut <= row["end"]
    ]
    return sorted(rows, key=lambda row: row["address"])


def ranges(twin, cut):
    """Return [key, address, end, expandable]: pages of a pool that follow each other are one."""
    found = []
    for row in held(twin, cut):
        key, end = key_of(twin.data, row), row["address"] + row["bytes"]
        last = found[-1] if found and row["expandable"] else [None] * 4
        if [last[0], *last[2:]] == [key, row["address"], True]:
            last[2] = end
            continue
        found.append([key, row["address"], end, bool(row["expandable"])])
    return found


def pending(twin, cut):
    return [
        row
        for number, row in enumerate(twin.allocations)
        if row["device"] == twin.device and row["end"] < cut
        and any(
            event["kind"] == EventKind.FREE_COMPLETED and event["allocation"] == number
            for event in twin.events[cut:]
        )
    ]  # fmt: skip


def gaps(start, end, blocks):
    """Return (address, bytes) of what lies between blocks in a range."""
    found, at = [], start
    for block in [*sorted(blocks, key=lambda block: block["address"]), None]:
        until = end if block is None else block["address"]
        if until > at:
            found.append((at, until - at))
        at = end if block is None else block["address"] + block["bytes"]
    return found


def pools(twin, cut):
    """Return the state of each pool by its key, as `PoolState` names it, and what lies nowhere."""
    alive, waiting = twin.alive(cut), pending(twin, cut)
    states, placed = {}, 0
    for key, start, end, expandable in ranges(twin, cut):
        inside = [row for row in alive if start <= row["address"] < end]
        late = [row for row in waiting if start <= row["address"] < end]
        blocks = [row for row in inside + late if row["bytes"]]
        free = gaps(start, end, blocks)
        released = end - start if not blocks else 0
        if blocks and expandable:
            page = 2 * MIB if key[1] else 20 * MIB
            released = page * sum(
                any(at <= first and first + page <= at + size for at, size in free)
                for first in range(start, end, page)
            )
        placed += sum(row["bytes"] for row in inside)
        state = states.setdefault(key, {"gaps": [], "releasable": 0, "segments": 0})
        state["gaps"] += [size for _, size in free]
        state["releasable"] += released
        state["segments"] += 1
        for name, value in (
            ("reserved", end - start),
            ("allocated", sum(row["bytes"] for row in inside)),
            ("pending", sum(row["bytes"] for row in late)),
            ("whole_free_segments", int(not blocks)),
            ("expandable", expandable),
        ):
            state[name] = state.get(name, 0) + value
    return states, sum(row["bytes"] for row in alive) - placed
