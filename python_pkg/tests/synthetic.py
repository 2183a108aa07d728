"""A recording made by hand: what a test wants to have happened, in the order it happened.

Time goes on by a microsecond an event. Every method returns the row it made.
"""

from contextlib import contextmanager

from memtrack.recording import (
    CallKind,
    Category,
    EventKind,
    Facts,
    PhaseKind,
    RecordingBuilder,
)

EVENT_NS = 1_000


class Script:
    """Grows a `RecordingBuilder`; `build` closes what is open."""

    def __init__(self):
        self.builder = RecordingBuilder()
        self.now = 0
        self._calls = []
        self._phase = -1
        self._step = 0

    @property
    def cut(self):
        return len(self.builder["events"])

    def device(self, kind="cuda", index=0, name="Test GPU", total=-1, context=-1):
        add = self.builder.strings.add
        return self.builder["devices"].add(
            kind=add(kind), index=index, name=add(name), total=total, context=context
        )

    def layer(self, name, parent=-1, type_="Module", **values):
        """Add a layer after all of its parent's others, as pre-order wants."""
        layers, add = self.builder["layers"], self.builder.strings.add
        path, depth, above = name, 0, parent
        if parent >= 0:
            strings = self.builder.strings.build()
            path = f"{strings[layers.get(parent, 'path')]}.{name}"
            depth = layers.get(parent, "depth") + 1
        while above >= 0:
            layers.set(above, subtree=layers.get(above, "subtree") + 1)
            above = layers.get(above, "parent")
        numbers = {"parameters": 0, "parameter_bytes": 0, "trainable": 0, **values}
        if "aliases" in numbers:
            numbers["aliases"] = add(numbers["aliases"])
        return layers.add(
            parent=parent,
            depth=depth,
            name=add(name),
            path=add(path),
            type=add(type_),
            subtree=1,
            **numbers,
        )

    def stack(self, *frames):
        """Add a stack from (file, function, line), outermost first."""
        row = -1
        for frame in frames:
            row = self.builder.stacks.push(row, self.builder.stacks.frame(*frame))
        return row

    def older(self, size, category=Category.OTHER, **values):
        """An allocation from before the recording."""
        return self._allocation(size, category, start=-1, **values)

    def alloc(self, size, category=Category.ACTIVATION, **values):
        row = self._allocation(size, category, start=self.cut, **values)
        self._event(EventKind.ALLOC, row)
        return row

    def free(self, row):
        self.builder["allocations"].set(row, end=self.cut)
        self._event(EventKind.FREE, row)

    def segment(self, kind, size, device=0):
        self._event(kind, -1, size, device)

    def hold(self, address, size, device=0, pool=None, page=None, older=False, **values):
        """Take a segment from the device, or pages of an expandable one; return its rows."""
        values = {"stream": 0, **values}
        kind = EventKind.SEGMENT_MAP if page else EventKind.SEGMENT_ALLOC
        pool = -1 if pool is None else self.builder.strings.add(pool)
        start = -1 if older else self.cut
        rows = [
            self.builder["segments"].add(
                device=device,
                address=address + offset,
                bytes=page or size,
                start=start,
                end=-2,
                pool=pool,
                expandable=int(page is not None),
                **values,
            )
            for offset in range(0, size, page or size)
        ]
        if not older:
            self._event(kind, -1, size, device)
        return rows

    def give_back(self, *rows):
        """Give segments, or pages, back to the device in one event."""
        segments = self.builder["segments"]
        for row in rows:
            segments.set(row, end=self.cut)
        size = sum(segments.get(row, "bytes") for row in rows)
        expandable = segments.get(rows[0], "expandable")
        kind = EventKind.SEGMENT_UNMAP if expandable else EventKind.SEGMENT_FREE
        self._event(kind, -1, size, segments.get(rows[0], "device"))

    def completed(self, row):
        """A stream is done with an allocation that was freed before."""
        self._event(EventKind.FREE_COMPLETED, row)

    def save(self, allocation, call=None):
        values = {"call": self._innermost() if call is None else call, "allocation": allocation}
        return self.builder["saved"].add(cut=self.cut, **values)

    def mark(self, label):
        label = self.builder.strings.add(label)
        return self.builder["marks"].add(cut=self.cut, time_ns=self.now, label=label)

    def sample(self, device=0, reserved=-1, process=-1, used=-1):
        return self.builder["samples"].add(
            cut=self.cut,
            time_ns=self.now,
            device=device,
            reserved=reserved,
            process=process,
            used=used,
        )

    def phase(self, kind, step=None):
        """Begin a phase; the one before ends here."""
        self._end_phase()
        self._step = self._step if step is None else step
        self._phase = self.builder["phases"].add(
            kind=kind, step=self._step, start=self.cut, start_ns=self.now
        )
        return self._phase

    @contextmanager
    def call(self, layer, shape="", dtype="float32", size=0, kind=CallKind.FORWARD, **values):
        add, calls = self.builder.strings.add, self.builder["calls"]
        row = calls.add(
            layer=layer,
            parent=self._innermost(),
            kind=kind,
            phase=self._phase,
            start=self.cut,
            start_ns=self.now,
            output_shape=add(shape),
            output_dtype=add(dtype),
            output_bytes=size,
            **values,
        )
        self._calls.append(row)
        yield row
        self._calls.pop()
        calls.set(row, end=self.cut, end_ns=self.now)

    @contextmanager
    def backward(self, call):
        calls = self.builder["calls"]
        calls.set(call, backward_start=self.cut, backward_start_ns=self.now)
        yield
        calls.set(call, backward_end=self.cut, backward_end_ns=self.now)

    def build(self, **facts):
        self._end_phase()
        lasting = [self.builder["allocations"], self.builder["segments"]]
        for table in lasting:
            for row in range(len(table)):
                if table.get(row, "end") == -2:
                    table.set(row, end=self.cut)
        data = self.builder.build(Facts(**facts))
        for table in lasting:  # the script may go on
            for row in range(len(table)):
                if table.get(row, "end") == self.cut:
                    table.set(row, end=-2)
        return data

    def _end_phase(self):
        if self._phase >= 0:
            self.builder["phases"].set(self._phase, end=self.cut, end_ns=self.now)
        elif self.cut:
            raise AssertionError("an event before the first phase")

    def _innermost(self):
        return self._calls[-1] if self._calls else -1

    def _allocation(self, size, category, start, device=0, name=None, requested=None, **values):
        name = -1 if name is None else self.builder.strings.add(name)
        return self.builder["allocations"].add(
            device=device,
            bytes=size,
            requested=size if requested is None else requested,
            start=start,
            end=-2,
            category=category,
            phase=self._phase if start >= 0 else -1,
            call=self._innermost(),
            name=name,
            **values,
        )

    def _event(self, kind, allocation, size=0, device=0):
        if allocation >= 0:
            allocations = self.builder["allocations"]
            size, device = (
                allocations.get(allocation, "bytes"),
                allocations.get(allocation, "device"),
            )
        self.now += EVENT_NS
        self.builder["events"].add(
            time_ns=self.now, kind=kind, device=device, bytes=size, allocation=allocation
        )


__all__ = ["CallKind", "Category", "EventKind", "PhaseKind", "Script"]
