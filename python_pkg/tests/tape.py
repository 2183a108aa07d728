"""Recordings of a simulated allocator, as the reader of snapshots would make them of a real one."""

from memtrack.allocator.blocks import LIVE, PENDING, UNMAPPED
from memtrack.allocator.settings import MIB
from memtrack.allocator.simulator import CachingAllocator, SimulatedOutOfMemory
from memtrack.recording import EventKind, Facts, PhaseKind, RecordingBuilder

TAKEN = (EventKind.SEGMENT_ALLOC, EventKind.SEGMENT_MAP)


class Told(CachingAllocator):
    """Tells its tape when a stream is done with a block."""

    tape = None

    def free(self, block):
        if block.state == PENDING:
            self.tape.completed(block)
        super().free(block)


class Tape:
    """An allocator whose every action is recorded from `begin` on."""

    def __init__(self, settings, capacity=None, told=None):
        self.allocator = Told(settings, capacity)
        self.allocator.tape = self
        self.waiting = {}  # block freed later -> row of allocations
        self.builder = RecordingBuilder()
        self.told = told
        add = self.builder.strings.add
        total = -1 if capacity is None else capacity
        self.builder["devices"].add(kind=add("cuda"), index=0, name=add("Test GPU"), total=total)
        self.rows = {}  # block -> row of allocations
        self.held = {}  # address -> row of segments
        self.begun = False
        self._fresh = []  # rows of segments whose pool is not known yet

    def begin(self):
        """Start the recording: what is there now is older than it."""
        self.begun = True
        self.allocator.log = self._segment
        for segment in self.allocator.segments():
            for address, size in _mapped(segment):
                self._hold(segment.group, segment.page, address, size, -1)
            for block in segment.blocks():
                if block.state == LIVE:
                    self.rows[block] = self._allocation(block, -1)

    def malloc(self, size, stream=0, pool=None):
        try:
            block = self.allocator.malloc(size, stream, pool)
        except SimulatedOutOfMemory:
            if self.begun:
                self._event(EventKind.OOM, size)
            return None
        if self.begun:
            group = block.segment.group
            name = -1 if pool is None else self.builder.strings.add(pool)
            for row in self._fresh:
                self.builder["segments"].set(row, small=int(group.small), pool=name)
            self._fresh = []
            self.rows[block] = self._allocation(block, self.cut)
            self._event(EventKind.ALLOC, block.size, self.rows[block], block.address, stream)
        return block

    def free(self, block):
        self._freed(block)
        self.allocator.free(block)

    def free_later(self, block):
        self.waiting[block] = self.rows.get(block)
        self._freed(block)
        self.allocator.free_later(block)

    def completed(self, block):
        row = self.waiting.pop(block)
        events = self.builder["events"]
        if row is None or not len(events):
            return
        at_once = events.get(len(events) - 1, "kind") == EventKind.FREE
        # The reader makes one event of a free and its completion where nothing is in between.
        if not at_once or events.get(len(events) - 1, "allocation") != row:
            self._event(EventKind.FREE_COMPLETED, block.size, row, block.address)

    def build(self):
        for name in ("allocations", "segments"):
            table = self.builder[name]
            for row in range(len(table)):
                if table.get(row, "end") == -2:
                    table.set(row, end=self.cut)
        self.builder["phases"].add(kind=PhaseKind.OTHER, step=0, start=0, end=self.cut)
        extra = {} if self.told is None else {"allocator_settings": self.told}
        return self.builder.build(Facts(source="allocator", extra=extra))

    @property
    def cut(self):
        return len(self.builder["events"])

    def _freed(self, block):
        if self.begun and block in self.rows:
            row = self.rows.pop(block)
            self.builder["allocations"].set(row, end=self.cut)
            self._event(EventKind.FREE, block.size, row, block.address)

    def _segment(self, kind, address, size, stream):
        if kind in TAKEN:
            page = MIB if kind == EventKind.SEGMENT_MAP else 0
            self._fresh = [*self._fresh, *self._hold(None, page, address, size, self.cut, stream)]
        else:
            for held in [a for a in self.held if address <= a < address + size]:
                self.builder["segments"].set(self.held.pop(held), end=self.cut)
        self._event(kind, size, -1, address, stream)

    def _hold(self, group, page, address, size, start, stream=0):
        pool = -1
        if group is not None:
            stream = group.stream
            if group.pool.identifier is not None:
                pool = self.builder.strings.add(group.pool.identifier)
        rows = []
        for offset in range(0, size, MIB if page else size):
            part = min(MIB, size - offset) if page else size
            row = self.builder["segments"].add(
                device=0,
                address=address + offset,
                bytes=part,
                start=start,
                end=-2,
                stream=stream,
                pool=pool,
                small=int(group.small) if group is not None else 0,
                expandable=int(page > 0),
            )
            self.held[address + offset] = row
            rows.append(row)
        return rows

    def _allocation(self, block, start):
        return self.builder["allocations"].add(
            device=0,
            bytes=block.size,
            requested=block.requested,
            start=start,
            end=-2,
            phase=-1,
            address=block.address,
            stream=block.segment.group.stream,
        )

    def _event(self, kind, size, row=-1, address=0, stream=0):
        self.builder["events"].add(
            time_ns=self.cut * 1000,
            kind=kind,
            device=0,
            bytes=size,
            allocation=row,
            address=address,
            stream=stream,
        )


def _mapped(segment):
    """Return the contiguous (address, bytes) of a segment that are backed by memory."""
    ranges = []
    for block in segment.blocks():
        if block.state == UNMAPPED:
            continue
        if ranges and ranges[-1][0] + ranges[-1][1] == block.address:
            ranges[-1][1] += block.size
        else:
            ranges.append([block.address, block.size])
    return ranges
