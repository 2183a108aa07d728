"""The caching allocator again, as simple as can be: lists, sorted and scanned anew at every request.

The rules of rounding and sizes are written out once more too. Compared with the simulator on random
traces; it shares nothing with it but the settings and where addresses begin.
"""

FREE, LIVE, PENDING, UNMAPPED = "free", "live", "pending", "unmapped"
MIB = 1 << 20
FIRST_ADDRESS = 1 << 56
ADDRESS_SPACE = 1 << 47


class SlowBlock:
    """A block, which keeps its address while it is handed out."""

    def __init__(self, address, size, state, born=0):
        self.address, self.size, self.state, self.born = address, size, state, born


class SlowSegment:
    """A segment and its blocks in order."""

    def __init__(self, key, address, size, page=0):
        self.pool, self.small, self.stream = self.key = key
        self.address, self.size, self.page = address, size, page
        self.blocks = [SlowBlock(address, size, UNMAPPED if page else FREE)]

    def replace(self, block, parts):
        """Put `parts` (bytes, state) where `block` was and return them, empty ones as None."""
        place, address, made = self.blocks.index(block), block.address, []
        for size, state in parts:
            made.append(SlowBlock(address, size, state, block.born) if size else None)
            address += size
        self.blocks[place : place + 1] = [part for part in made if part]
        return made

    def merge(self, clock):
        """Join neighbours that are both free, or both unmapped."""
        place = 0
        while place + 1 < len(self.blocks):
            left, right = self.blocks[place : place + 2]
            if left.state == right.state and left.state in (FREE, UNMAPPED):
                joined = SlowBlock(left.address, left.size + right.size, left.state, clock)
                self.blocks[place : place + 2] = [joined]
            else:
                place += 1

    @property
    def idle(self):
        return not self.page and len(self.blocks) == 1 and self.blocks[0].state == FREE


class SlowOutOfMemory(Exception):
    """The device was full."""


class SlowAllocator:
    """One device."""

    def __init__(self, settings, capacity=None, total=None):
        self.settings = settings
        self.capacity = float("inf") if capacity is None else capacity
        self.total = capacity if total is None else total
        fraction = settings.memory_fraction
        has_limit = fraction is not None and self.total is not None
        self.allowed = int(fraction * self.total) if has_limit else None
        self.segments = []
        self.searches = {}
        self.freeable = {None}
        self.waiting = []
        self.next_address = FIRST_ADDRESS

    @property
    def reserved(self):
        return sum(b.size for s in self.segments for b in s.blocks if b.state != UNMAPPED)

    @property
    def allocated(self):
        return sum(b.size for s in self.segments for b in s.blocks if b.state == LIVE)

    def layout(self):
        """Every block of every segment, by address: what is compared."""
        segments = sorted(self.segments, key=lambda segment: segment.address)
        return [(b.address, b.size, b.state) for s in segments for b in s.blocks]

    def round(self, size):
        if size < 512:
            return 512
        interval = 0
        while interval < 15 and size >= MIB << (interval + 1):
            interval += 1
        divisions = self.settings.roundup_power2_divisions[interval]
        if divisions > 1 and size > 512 * divisions:
            power = 1
            while power * 2 <= size:
                power *= 2
            steps = [power + power * i // divisions for i in range(divisions + 1)]
            return min(step for step in steps if step >= size)
        return next(n for n in (size // 512 * 512, size // 512 * 512 + 512) if n >= size)

    def segment_size(self, rounded):
        if rounded <= MIB:
            return 2 * MIB
        if rounded < 10 * MIB:
            return self.settings.large_segment_size
        return (rounded + 2 * MIB - 1) // (2 * MIB) * (2 * MIB)

    def malloc(self, size, stream=0, pool=None):
        rounded = self.round(size)
        key = (pool, rounded <= MIB, stream)
        if self.collects:
            self.searches[key[:2]] = self.searches.get(key[:2], 0) + 1
        found = self.search(key, rounded) or self.ask(key, rounded)
        segment, block = found
        rest = block.size - rounded
        if key[1] or self.settings.expandable_segments:
            split = rest >= 512
        else:
            split = rounded < self.settings.max_split_size and rest > MIB
        if split:
            clock = self.searches.get(key[:2], 0)
            block, remainder = segment.replace(block, [(rounded, LIVE), (rest, FREE)])
            remainder.born = clock
        block.state = LIVE
        return block

    @property
    def collects(self):
        return self.settings.garbage_collection_threshold > 0 and self.allowed is not None

    def free(self, block):
        if block in self.waiting:
            self.waiting.remove(block)
        block.state = FREE
        segment = next(s for s in self.segments if block in s.blocks)
        block.born = clock = self.searches.get(segment.key[:2], 0)
        segment.merge(clock)

    def free_later(self, block):
        block.state = PENDING
        self.waiting.append(block)

    def synchronize(self):
        for block in list(self.waiting):
            self.free(block)

    def release_pool(self, pool):
        self.freeable.add(pool)

    def empty_cache(self):
        self.synchronize()
        for segment in list(self.segments):
            if segment.pool not in self.freeable:
                continue
            if segment.idle:
                self.segments.remove(segment)
            elif segment.page:
                self.unmap(segment)

    def unmap(self, segment):
        page, before_all = segment.page, self.reserved
        for block in [b for b in segment.blocks if b.state == FREE]:
            end = block.address + block.size
            pages = [
                start
                for start in range(segment.address, end, page)
                if start >= block.address and start + page <= end
            ]
            if pages:
                before, after = pages[0] - block.address, end - pages[-1] - page
                parts = [(before, FREE), (len(pages) * page, UNMAPPED), (after, FREE)]
                segment.replace(block, parts)
        segment.merge(self.searches.get(segment.key[:2], 0))
        given_back = self.reserved < before_all  # address space never used is kept
        if given_back and [b.state for b in segment.blocks] == [UNMAPPED]:
            self.segments.remove(segment)

    def search(self, key, rounded):
        free = [
            (block.size, block.address, segment, block)
            for segment in self.segments
            if segment.key == key
            for block in segment.blocks
            if block.state == FREE and block.size >= rounded
        ]
        free = [found[2:] for found in sorted(free, key=lambda found: found[:2])]
        if not self.settings.expandable_segments:
            free = [found for found in free if not found[0].page]
        elif free:
            free = self.least_expandable(free)
        if not free:
            return None
        size, limit = free[0][1].size, self.settings.max_split_size
        if rounded < limit <= size:
            return None
        if rounded >= limit and size >= rounded + self.settings.max_non_split_rounding:
            return None
        return free[0]

    def least_expandable(self, free):
        def room(found):
            segment, block = found
            place = segment.blocks.index(block) + 1
            following = segment.blocks[place] if place < len(segment.blocks) else None
            has_room = following is not None and following.state == UNMAPPED
            return block.size + (following.size if has_room else 0)

        while free[0][0].page and len(free) > 1 and room(free[1]) < room(free[0]):
            free = free[1:]
        return free

    def ask(self, key, rounded):
        if self.collects:
            self.collect()
        found = self.take(key, rounded)
        if not found and self.release_fitting(key, rounded):
            found = self.take(key, rounded)
        if not found:
            self.empty_cache()
            found = self.take(key, rounded)
        if not found:
            raise SlowOutOfMemory
        return found

    def take(self, key, rounded):
        size = self.segment_size(rounded)
        if self.allowed is not None and self.reserved + size > self.allowed:
            return None
        if self.settings.expandable_segments:
            return self.take_pages(key, rounded)
        if self.reserved + size > self.capacity:
            return None
        segment = SlowSegment(key, self.next_address, size)
        self.next_address += size
        self.segments.append(segment)
        return segment, segment.blocks[0]

    def take_pages(self, key, rounded):
        segment, start = self.find_space(key, rounded) or self.new_space(key)
        while True:
            block = next(b for b in segment.blocks if b.address >= start)
            if block.state == FREE and block.size >= rounded:
                return segment, block
            missing = rounded - (block.size if block.state == FREE else 0)
            if block.state == FREE:
                block = segment.blocks[segment.blocks.index(block) + 1]
            size = min(missing, block.size)
            size = (size + segment.page - 1) // segment.page * segment.page
            if self.reserved + size > self.capacity:
                return None
            segment.replace(block, [(size, FREE), (block.size - size, UNMAPPED)])
            segment.merge(self.searches.get(key[:2], 0))

    def find_space(self, key, rounded):
        for segment in sorted(self.segments, key=lambda segment: segment.address):
            if segment.key != key or not segment.page:
                continue
            for place, block in enumerate(segment.blocks):
                if block.state != UNMAPPED:
                    continue
                before = place > 0 and segment.blocks[place - 1].state == FREE
                run = segment.blocks[place - 1 if before else place :]
                taken = next((i for i, b in enumerate(run) if b.state in (LIVE, PENDING)), None)
                if sum(b.size for b in run[:taken]) >= rounded:
                    return segment, run[0].address
        return None

    def new_space(self, key):
        page = 2 * MIB if key[1] else self.settings.large_segment_size
        space = ADDRESS_SPACE if self.total is None else self.total + self.total // 8
        pages = max((space + page - 1) // page, 1)
        segment = SlowSegment(key, self.next_address, pages * page, page)
        self.next_address += 2 * ADDRESS_SPACE
        self.segments.append(segment)
        return segment, segment.address

    def release_fitting(self, key, rounded):
        limit = self.settings.max_split_size
        idle = sorted(
            (s for s in self.segments if s.key == key and s.idle), key=lambda s: (s.size, s.address)
        )
        if limit == (1 << 63) - 1:
            return False
        wanted = max(rounded, limit)
        fitting = [segment for segment in idle if segment.size >= wanted]
        if fitting:
            self.segments.remove(fitting[0])
            return True
        released = 0
        for segment in [s for s in reversed(idle) if s.size >= limit]:
            if released < wanted:
                released += segment.size
                self.segments.remove(segment)
        return released >= wanted

    def collect(self):
        target = self.reserved - int(self.settings.garbage_collection_threshold * self.allowed)
        clock = self.searches.get((None, False), 0)
        while target > 0:
            idle = [s for s in self.segments if s.key[:2] == (None, False) and s.idle]
            if not idle:
                return
            ages = {segment: clock - segment.blocks[0].born for segment in idle}
            average = sum(ages.values()) / len(ages)
            for segment in [s for s in idle if ages[s] >= average]:
                target -= segment.size
                self.segments.remove(segment)
