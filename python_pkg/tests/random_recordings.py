"""Random recordings for hypothesis: lists of actions, read as a `Script`, that shrink well."""

from contextlib import ExitStack

from hypothesis import strategies as st
from random_segments import Segments
from synthetic import CallKind, Category, EventKind, PhaseKind, Script

_ACTIONS = (
    *("alloc",) * 4,
    *("free",) * 2,
    *("call",) * 2,
    *("save",) * 2,
    "phase",
    "step",
    "leave",
    "backward",
    "leave_backward",
    "sample",
    "segment",
    "complete",
    "mark",
)
_action = st.tuples(
    st.sampled_from(_ACTIONS),
    st.integers(0, 30),
    st.integers(0, 30),
    st.sampled_from((0, 1, 512, 1 << 20, (1 << 33) + 1)),
)


@st.composite
def recordings(draw, most_actions=60):
    """A recording of one or two devices, up to six layers and `most_actions` actions.

    It has no caching allocator, the events of one, or its segments as well (expandable or not) with
    private pools, two streams and blocks that wait for a stream after they were freed.
    """
    player = _Player(
        devices=draw(st.integers(1, 2)),
        parents=draw(st.lists(st.integers(-1, 5), min_size=draw(st.integers(0, 4)), max_size=6)),
        history=draw(st.sampled_from(("storages", "events", "segments", "expandable"))),
    )
    for size in draw(st.lists(st.integers(0, 1 << 34), max_size=4)):
        player.older(size)
    player.script.phase(PhaseKind.OTHER, 0)
    # Lists that hypothesis draws are mostly short; whole ones are where windows nest.
    count = draw(st.sampled_from((0, most_actions // 4, most_actions, most_actions)))
    for action in draw(st.lists(_action, min_size=count, max_size=count)):
        player.play(*action)
    return player.build()


@st.composite
def steps(draw):
    """A recording of four to twelve steps whose allocations mostly outlive them; few sites and layers."""
    player = _Player(1, [-1, 0], draw(st.sampled_from(("storages", "segments"))))
    keep = st.lists(st.integers(0, 5), max_size=3)
    for step in range(draw(st.integers(4, 12))):
        player.script.phase(PhaseKind.FORWARD, step)
        player.step = step
        for number in draw(keep):
            player.play("alloc", 0, number % 3, (512, 3 << 20)[number % 2])
        for number in draw(st.lists(st.integers(0, 9), max_size=2)):
            player.play("free", number, 1, 0)
    return player.build()


class _Player:
    def __init__(self, devices, parents, history):
        self.script = Script()
        self.source = "storages" if history == "storages" else "allocator"
        self.segments = None
        if history in ("segments", "expandable"):
            self.segments = Segments(self.script, history == "expandable")
        self.pending = []
        self.devices = devices
        for index in range(devices):
            kind = "cuda" if index == 0 else "cpu"
            self.script.device(kind, index, f"device {index}", total=1 << 36)
        self.layers = _pre_order(self.script, parents)
        self.live, self.made = [], []
        self.open, self.backwards = [], []
        self.finished = []
        self.step = 0
        self.reserved = 0

    def older(self, size):
        values = {"layer": self._pick(self.layers, size), "device": size % self.devices}
        category = Category(size % len(Category))
        self.live.append(self._made(self.script.older, size, category, values, size, older=True))

    def play(self, action, first, second, size):
        getattr(self, f"_{action}")(first, second, size)

    def build(self):
        while self.open:
            self._leave(0, 0, 0)
        while self.backwards:
            self._leave_backward(0, 0, 0)
        while self.pending:
            self._complete(0, 0, 0)
        return self.script.build(label="random", source=self.source)

    def _alloc(self, first, second, size):
        values = {"layer": self._pick(self.layers, second), "device": first % self.devices}
        stack = self.script.stack(("train.py", "step", first), ("lib/x.py", "f", second))
        category = Category(second % len(Category))
        values |= {"stack": stack, "name": f"t{first}"}
        row = self._made(self.script.alloc, size, category, values, first + second)
        self.live.append(row)
        self.made.append(row)

    def _made(self, make, size, category, values, number, older=False):
        """Make an allocation, in a segment if there are any."""
        if self.segments is None:
            return make(size, category, **values)
        pool = "0.1" if number % 5 == 0 else None
        stream = 77 if number % 3 == 0 else 0
        stretch, address = self.segments.place(size, values["device"], pool, stream, older)
        row = make(size, category, address=address, stream=stream, **values)
        self.segments.keep(row, stretch, address, size)
        return row

    def _free(self, first, second, size):
        if not self.live:
            return
        row = self.live.pop(first % len(self.live))
        self.script.free(row)
        if self.segments is not None and second % 4 == 0:
            self.pending.append(row)
        elif self.segments is not None:
            self.segments.drop(row)

    def _complete(self, first, second, size):
        if self.pending:
            row = self.pending.pop(first % len(self.pending))
            self.script.completed(row)
            self.segments.drop(row)

    def _phase(self, first, second, size):
        self.script.phase(PhaseKind(first % len(PhaseKind)), self.step)

    def _step(self, first, second, size):
        self.step += 1
        self.script.phase(PhaseKind.FORWARD, self.step)

    def _call(self, first, second, size):
        if self.layers:
            stack = ExitStack()
            kind = CallKind(second % 2)
            call = self.script.call(
                self.layers[first % len(self.layers)], f"{first}×{second}", size=size, kind=kind
            )
            self.finished.append(stack.enter_context(call))
            self.open.append(stack)

    def _leave(self, first, second, size):
        if self.open:
            self.open.pop().close()

    def _backward(self, first, second, size):
        if self.finished:
            stack = ExitStack()
            call = self.finished.pop(first % len(self.finished))
            stack.enter_context(self.script.backward(call))
            self.backwards.append(stack)

    def _leave_backward(self, first, second, size):
        if self.backwards:
            self.backwards.pop(first % len(self.backwards)).close()

    def _save(self, first, second, size):
        if self.live and self.finished:
            allocation = self.live[first % len(self.live)]
            self.script.save(allocation, self._pick(self.finished, second))

    def _sample(self, first, second, size):
        self.script.sample(first % self.devices, reserved=size, process=size + first, used=size * 2)

    def _segment(self, first, second, size):
        if self.segments is not None:
            self.segments.give_back(first)
        else:
            self.script.segment(EventKind(2 + second % 4), size, first % self.devices)

    def _mark(self, first, second, size):
        self.script.mark(f"mark {first}")

    def _pick(self, rows, number):
        """One of the rows, or -1."""
        return ([-1, *rows])[number % (len(rows) + 1)]


def _pre_order(script, parents):
    """Add a layer per entry under the layer of that number, as pre-order wants; return the rows."""
    children = {number: [] for number in range(-1, len(parents))}
    for number, parent in enumerate(parents):
        children[min(parent, number - 1)].append(number)
    rows = []

    def add(number, above):
        row = script.layer(f"l{number}", above, parameters=number, trainable=number)
        rows.append(row)
        for child in children[number]:
            add(child, row)

    for root in children[-1]:
        add(root, -1)
    return rows
