"""A script whose first device has a caching allocator: blocks lie in segments, statistics are kept."""

from collections import defaultdict

from readings_script import read
from synthetic import Category, Script

from memtrack.allocator import Settings
from memtrack.allocator.simulator import CachingAllocator
from memtrack.recording import EventKind

GPU = 0


class AllocatorScript(Script):
    """A `Script` that places what device 0 allocates as PyTorch's allocator would.

    What it allocates may be larger than what is asked for: that is rounding.
    """

    def __init__(self):
        super().__init__()
        self.cuda = CachingAllocator(Settings())
        self.cuda.log = self._segment_taken
        self.statistics = defaultdict(int)
        self._blocks = {}
        self._pool = None
        self._is_older = False

    def alloc(self, size, category=Category.ACTIVATION, pool=None, **values):
        """Allocate; `pool` is the id of a private pool."""
        if values.get("device", GPU) != GPU:
            return super().alloc(size, category, **values)
        block, values = self._placed(size, pool, values)
        row = super().alloc(block.size, category, **values)
        self._blocks[row] = block
        return row

    def older(self, size, category=Category.OTHER, **values):
        if values.get("device", GPU) != GPU:
            return super().older(size, category, **values)
        self._is_older = True
        block, values = self._placed(size, None, values)
        self._is_older = False
        row = super().older(block.size, category, **values)
        self._blocks[row] = block
        return row

    def free(self, row):
        super().free(row)
        block = self._blocks.pop(row, None)
        if block is not None:
            self._count("allocated_bytes", block, -block.size)
            self._count("active_bytes", block, -block.size)
            self._count("requested_bytes", block, -block.requested)
            self._count("allocation", block, -1)
            self._count("active", block, -1)
            self.cuda.free(block)  # which may join it with its neighbours

    def read(self, kind, label=None):
        """Keep the statistics of this moment."""
        return read(self, kind, dict(self.statistics), GPU, label)

    def _placed(self, size, pool, values):
        asked = values.pop("requested", size)
        self._pool = pool
        block = self.cuda.malloc(asked, pool=pool)
        self._count("allocated_bytes", block, block.size)
        self._count("active_bytes", block, block.size)
        self._count("requested_bytes", block, asked)
        self._count("allocation", block, 1)
        self._count("active", block, 1)
        return block, {**values, "requested": asked, "address": block.address, "stream": 0}

    def _count(self, family, block, change):
        self._change(family, "small_pool" if block.size <= 1 << 20 else "large_pool", change)

    def _change(self, family, pool, change):
        for name in ("all", pool):
            prefix = f"{family}.{name}"
            self.statistics[f"{prefix}.current"] += change
            self.statistics[f"{prefix}.{'allocated' if change > 0 else 'freed'}"] += abs(change)
            peak = max(self.statistics[f"{prefix}.peak"], self.statistics[f"{prefix}.current"])
            self.statistics[f"{prefix}.peak"] = peak

    def _segment_taken(self, kind, address, size, stream):
        assert kind == EventKind.SEGMENT_ALLOC, "nothing here is given back"
        small = int(size <= 2 << 20)
        self._change("reserved_bytes", "small_pool" if small else "large_pool", size)
        self._change("segment", "small_pool" if small else "large_pool", 1)
        self.hold(address, size, pool=self._pool, older=self._is_older, stream=stream, small=small)
