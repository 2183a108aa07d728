"""What pytorch.org/memory_viz does with a snapshot before it draws, and where its code would fail.

It walks the trace backwards from the segments at the end; each step here asserts what the viewer
relies on without looking: that a block is in a segment, that what is taken away is there.
"""

from bisect import bisect_right


class View:
    """One device of a snapshot, as `MemoryView` and `process_alloc_data` of MemoryViz.js see it."""

    def __init__(self, snapshot, device):
        segments = [s for s in snapshot["segments"] if s["device"] == device]
        self.trace = snapshot["device_traces"][device]
        self.segments = {s["address"]: s["total_size"] for s in segments}
        self.blocks = {
            block["address"]: block["requested_size"]
            for segment in segments
            for block in segment["blocks"]
            if block["state"] in ("active_allocated", "active_pending_free")
        }
        self.pending = set()
        categories = {e["category"] for e in self.trace if "category" in e}
        assert not categories or "unknown" in categories, "the viewer's typing error is hit"
        self.levels = self._walk()
        """Bytes (allocated, reserved) before each entry and at the end."""

    def _walk(self):
        """Go back to the beginning; return the levels in the order of time."""
        self._check()
        levels = [(self._allocated(), sum(self.segments.values()))]
        for entry in reversed(self.trace):
            self._undo(entry)
            levels.append((self._allocated(), sum(self.segments.values())))
        return levels[::-1]

    def _allocated(self):
        return sum(size for address, size in self.blocks.items() if address not in self.pending)

    def _undo(self, entry):
        action, address, size = entry["action"], entry.get("addr"), entry["size"]
        if action == "free_completed":
            assert address not in self.blocks, "freed while it is alive"
            self.blocks[address] = size
            self.pending.add(address)
        elif action == "free_requested":
            assert address in self.blocks, "the viewer fails here: no such block"
            self.pending.discard(address)
        elif action == "alloc":
            assert self.blocks.pop(address) == size
        elif action in ("segment_alloc", "segment_map"):
            self._take_away(address, size, whole=action == "segment_alloc")
        elif action in ("segment_free", "segment_unmap"):
            self._put_back(address, size, merge=action == "segment_unmap")
        else:
            assert action in ("oom", "snapshot")
        self._check()

    def _take_away(self, address, size, whole):
        start = max(a for a in self.segments if a <= address)
        end = start + self.segments[start]
        assert address + size <= end and (not whole or (start, end) == (address, address + size))
        del self.segments[start]
        if address > start:
            self.segments[start] = address - start
        if address + size < end:
            self.segments[address + size] = end - address - size

    def _put_back(self, address, size, merge):
        self.segments[address] = size
        if not merge:
            return
        following = self.segments.pop(address + size, 0)
        self.segments[address] += following
        for start in [a for a in self.segments if a + self.segments[a] == address]:
            self.segments[start] += self.segments.pop(address)

    def _check(self):
        starts = sorted(self.segments)
        for address in self.blocks:
            start = starts[bisect_right(starts, address) - 1]
            inside = start <= address < start + self.segments[start]
            assert inside, "the viewer fails here: a block in no segment"
