"""A caching allocator for random recordings: where each block lies, written the slow and plain way."""

from dataclasses import dataclass, field

MIB = 1 << 20
SMALL_PAGE, LARGE_PAGE = 2 * MIB, 20 * MIB


@dataclass
class Stretch:
    """A segment, or the address space of an expandable one with rows for its mapped pages."""

    key: tuple  # device, private pool, small, stream
    address: int
    size: int
    page: int | None = None
    rows: dict = field(default_factory=dict)  # address -> row of a segment, or of one page
    blocks: dict = field(default_factory=dict)  # address -> size

    def gaps(self):
        """Return (address, size) between the blocks."""
        found, at = [], self.address
        for address, size in [*sorted(self.blocks.items()), (self.address + self.size, 0)]:
            if address > at:
                found.append((at, address - at))
            at = address + size
        return found


class Segments:
    """Places blocks of a script in segments, which it takes from the device and gives back."""

    def __init__(self, script, expandable):
        self.script = script
        self.expandable = expandable
        self.stretches = []
        self.places = {}  # allocation -> (stretch, address)
        self.next_address = (1 << 63) - (1 << 40)  # near the border of signed integers

    def place(self, size, device, pool, stream, older=False):
        """Return the address of a block of `size` bytes; its segment is taken when none has room."""
        key = (device, pool, size <= MIB, stream)
        for stretch in self.stretches:
            if stretch.key == key:
                for address, free in stretch.gaps():
                    if free >= size > 0 and self._mapped(stretch, address, size):
                        return stretch, address
        stretch = self._take(key, size, older)
        return stretch, stretch.address

    def keep(self, allocation, stretch, address, size):
        self.places[allocation] = (stretch, address)
        if size:
            stretch.blocks[address] = size

    def drop(self, allocation):
        stretch, address = self.places.pop(allocation)
        stretch.blocks.pop(address, None)

    def give_back(self, number):
        """Give one empty segment, or one free page, back to the device if there is any."""
        free = [
            (stretch, address)
            for stretch in self.stretches
            for address in stretch.rows
            if self._is_free(stretch, address)
        ]
        if free:
            stretch, address = free[number % len(free)]
            self.script.give_back(stretch.rows.pop(address))
            if not stretch.rows:
                self.stretches.remove(stretch)

    def _mapped(self, stretch, address, size):
        if stretch.page is None:
            return True
        first = (address - stretch.address) // stretch.page
        last = (address + size - 1 - stretch.address) // stretch.page
        pages = [stretch.address + page * stretch.page for page in range(first, last + 1)]
        return all(page in stretch.rows for page in pages)

    def _is_free(self, stretch, address):
        size = stretch.page or stretch.size
        return not any(
            at < address + size and address < at + length for at, length in stretch.blocks.items()
        )

    def _take(self, key, size, older):
        device, pool, small, stream = key
        unit = SMALL_PAGE if small else LARGE_PAGE
        pages = max(1, -(-size // unit))
        page = unit if self.expandable and pages < 20 else None
        stretch = Stretch(key, self.next_address, pages * unit, page)
        # Sometimes right behind one another, as cudaMalloc does; those are two segments all the same.
        self.next_address += pages * unit + (0 if pages % 2 else unit)
        rows = self.script.hold(
            stretch.address,
            stretch.size,
            device,
            pool=pool,
            page=page,
            older=older,
            small=int(small),
            stream=stream,
        )
        step = page or stretch.size
        stretch.rows = {stretch.address + i * step: row for i, row in enumerate(rows)}
        self.stretches.append(stretch)
        return stretch
