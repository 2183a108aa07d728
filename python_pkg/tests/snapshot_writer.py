"""A tiny allocator that writes its own history: the slow twin of everything the readers rebuild.

It knows nothing of the code it checks. Blocks are lists [address, size, state, requested] in the order
of their addresses; any fitting block is taken, as the caller chooses, split by the rules of the notes.
`levels[i]` is (allocated, reserved) before entry i of the trace, the last one after all.
"""

from memtrack.errors import UnreadableFile
from memtrack.readers import open_recording
from memtrack.recording import RecordingData

MIB = 1 << 20
FREE, LIVE, PENDING = "inactive", "active_allocated", "active_pending_free"


class WritingAllocator:
    def __init__(self, expandable=False, device=0):
        self.expandable = expandable
        self.device = device
        self.segments = []  # [address, blocks, small, stream, pool]
        self.trace = []
        self.levels = [(0, 0)]
        self.next_address = 0x7F00_0000_0000
        self.clock = 1_700_000_000_000_000

    # ------------------------------------------------------------------ what a run does

    def malloc(self, size, stream=0, pool=(0, 0), choice=0):
        rounded = max(512, -(-size // 512) * 512)
        small = rounded <= MIB
        fitting = [
            (segment, i)
            for segment in self.segments
            if segment[2:] == [small, stream, pool]
            for i, block in enumerate(segment[1])
            if block[2] == FREE and block[1] >= rounded
        ]
        if not fitting:
            fitting = [self.grow(rounded, small, stream, pool)]
        segment, i = fitting[choice % len(fitting)]
        block = segment[1][i]
        rest = block[1] - rounded
        if rest >= 512 if small or self.expandable else rest > MIB:
            segment[1].insert(i + 1, [block[0] + rounded, rest, FREE, 0])
            block[1] = rounded
        block[2:] = [LIVE, size]
        self.write("alloc", block[0], size, stream)
        return block

    def free(self, block, waits=False):
        segment = self.segment_of(block)
        block[2] = PENDING
        self.write("free_requested", block[0], block[3], segment[3])
        if not waits:
            self.complete(block)

    def complete(self, block):
        segment = self.segment_of(block)
        block[2] = FREE
        blocks = segment[1]
        self.write("free_completed", block[0], block[3], segment[3])
        i = blocks.index(block)
        if i + 1 < len(blocks) and self.merges(block, blocks[i + 1]):
            block[1] += blocks.pop(i + 1)[1]
        if i and self.merges(blocks[i - 1], block):
            blocks[i - 1][1] += blocks.pop(i)[1]

    def merges(self, one, other):
        return one[2] == other[2] == FREE and one[0] + one[1] == other[0]

    def empty_cache(self):
        for segment in list(self.segments):
            for block in list(segment[1]):
                if block[2] == FREE:
                    self.give_back(segment, block)
            if not segment[1]:
                self.segments.remove(segment)

    def give_back(self, segment, block):
        if not self.expandable:
            if len(segment[1]) == 1:
                segment[1].clear()
                self.write("segment_free", block[0], block[1], segment[3])
            return
        page = (2 if segment[2] else 20) * MIB
        begin = segment[0] + -(-(block[0] - segment[0]) // page) * page
        end = segment[0] + (block[0] + block[1] - segment[0]) // page * page
        if begin >= end:
            return
        i = segment[1].index(block)
        pieces = [(block[0], begin - block[0]), (end, block[0] + block[1] - end)]
        segment[1][i : i + 1] = [[a, size, FREE, 0] for a, size in pieces if size]
        self.write("segment_unmap", begin, end - begin, segment[3])

    def oom(self, size):
        self.trace.append({"action": "oom", "device_free": 0, "size": size, "stream": 0})
        self.finish_entry()

    # ------------------------------------------------------------------ how it grows

    def grow(self, rounded, small, stream, pool):
        if self.expandable:
            return self.map_pages(rounded, small, stream, pool)
        size = (
            2 * MIB
            if small
            else 20 * MIB
            if rounded < 10 * MIB
            else -(-rounded // (2 * MIB)) * 2 * MIB
        )
        segment = [self.next_address, [[self.next_address, size, FREE, 0]], small, stream, pool]
        self.next_address += size  # segments touch each other, as they often do
        self.segments.append(segment)
        self.write("segment_alloc", segment[0], size, stream, pool)
        return segment, 0

    def map_pages(self, rounded, small, stream, pool):
        page = (2 if small else 20) * MIB
        segment = next((s for s in self.segments if s[2:] == [small, stream, pool]), None)
        if segment is None:
            segment = [self.next_address, [], small, stream, pool]
            self.next_address += 1 << 40
            self.segments.append(segment)
        blocks = segment[1]
        end = blocks[-1][0] + blocks[-1][1] if blocks else segment[0]
        missing = rounded - (blocks[-1][1] if blocks and blocks[-1][2] == FREE else 0)
        size = -(-missing // page) * page
        blocks.append([end, size, FREE, 0])
        self.write("segment_map", end, size, stream, pool)
        if len(blocks) > 1 and self.merges(blocks[-2], blocks[-1]):
            blocks[-2][1] += blocks.pop()[1]
        return segment, len(blocks) - 1

    # ------------------------------------------------------------------ what it tells

    def segment_of(self, block):
        return next(s for s in self.segments if any(b is block for b in s[1]))

    def write(self, action, address, size, stream, pool=(0, 0)):
        entry = {"action": action, "addr": address, "size": size, "stream": stream}
        if pool != (0, 0):
            entry["pool_id"] = pool
        self.trace.append(entry)
        self.finish_entry()

    def finish_entry(self):
        self.clock += 7
        self.trace[-1]["time_us"] = self.clock
        self.trace[-1]["frames"] = [
            {"filename": "train.py", "name": "step", "line": len(self.trace)}
        ]
        self.levels.append((self.sum(LIVE), self.sum(LIVE, PENDING, FREE)))

    def sum(self, *states):
        return sum(b[1] for s in self.segments for b in s[1] if b[2] in states)

    def snapshot_segments(self):
        """Contiguous mapped ranges, sorted by address, as `torch.cuda.memory_snapshot()` has them."""
        told = []
        for _, blocks, small, stream, pool in self.segments:
            for block in blocks:
                if not told or told[-1]["end"] != block[0] or block is blocks[0]:
                    told.append(
                        {
                            "device": self.device,
                            "address": block[0],
                            "total_size": 0,
                            "allocated_size": 0,
                            "stream": stream,
                            "segment_type": "small" if small else "large",
                            "segment_pool_id": pool,
                            "is_expandable": self.expandable,
                            "blocks": [],
                            "end": block[0],
                        }
                    )
                row = dict(zip(("address", "size", "state", "requested_size"), block, strict=True))
                told[-1]["blocks"].append({**row, "frames": []})
                told[-1]["total_size"] += block[1]
                told[-1]["allocated_size"] += block[1] if block[2] == LIVE else 0
                told[-1]["end"] += block[1]
        told.sort(key=lambda segment: segment["address"])
        return [{k: v for k, v in segment.items() if k != "end"} for segment in told]

    def snapshot(self, first=0):
        settings = {"expandable_segments": self.expandable}
        traces = [[] for _ in range(self.device)] + [self.trace[first:]]
        return {
            "segments": self.snapshot_segments(),
            "device_traces": traces,
            "allocator_settings": settings,
        }


def check_any(content, folder):
    """Open whatever bytes: a recording in which every law holds, or one line that refuses them."""
    path = folder / "any.pickle"
    path.write_bytes(content)
    try:
        data = open_recording(path)
    except UnreadableFile as error:
        refused = str(error)
    else:
        assert isinstance(data, RecordingData)
        data.self_check()
        return
    assert "\n" not in refused
