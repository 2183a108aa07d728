"""What the training loop is doing: phases back to back, and the steps they make up.

A step ends where the next one's forward begins. That is after an optimizer has stepped; where no
optimizer is known, after a backward; and for passes without gradients, at each forward.
"""

from __future__ import annotations

from memtrack.capture.moments import Moments
from memtrack.recording.builder import TableBuilder
from memtrack.recording.categories import PhaseKind

NEGLIGIBLE_NS = 100_000
"""A gap without events that is shorter than this is not worth a phase of its own."""


class Phases:
    """Writes the phase table. At any time one phase is open; `enter` and `leave` nest."""

    def __init__(self, table: TableBuilder, moments: Moments) -> None:
        self._table = table
        self._moments = moments
        self._open: list[PhaseKind] = [PhaseKind.OTHER]
        self._forward_seen = self._backward_seen = self._optimizer_seen = False
        self.optimizers_known = False
        self.step = 0
        self.forward_start_ns = 0
        """When the latest forward began, nanoseconds."""
        self._begin(PhaseKind.OTHER)

    @property
    def current(self) -> PhaseKind:
        """The kind of the open phase."""
        return self._open[-1]

    @property
    def row(self) -> int:
        """The row of the open phase."""
        return len(self._table) - 1

    def enter(self, kind: PhaseKind) -> None:
        """Open a phase inside the current one."""
        self._open.append(kind)
        if kind is PhaseKind.FORWARD:
            self._forward_seen = True
            self.forward_start_ns = self._moments.now_ns()
        elif kind is PhaseKind.BACKWARD:
            self._backward_seen = True
        elif kind is PhaseKind.OPTIMIZER:
            self._optimizer_seen = self.optimizers_known = True
        self._switch(kind)

    def leave(self, kind: PhaseKind) -> None:
        """Close the innermost phase of `kind` and whatever an exception left open inside it."""
        if kind not in self._open:
            return
        while self._open.pop() is not kind:
            pass
        self._switch(self._open[-1])

    def leave_all(self) -> None:
        """Close everything, as when a cell ends."""
        if len(self._open) > 1:
            del self._open[1:]
            self._switch(PhaseKind.OTHER)

    def forward_begins_step(self, grad_enabled: bool) -> bool:
        """Tell whether the forward about to begin belongs to a new step."""
        if self._optimizer_seen:
            return True
        if self._backward_seen:
            return not self.optimizers_known
        return self._forward_seen and not grad_enabled

    @property
    def step_is_whole(self) -> bool:
        """Whether the current step has done what steps do, so that it may end here."""
        return self.forward_begins_step(grad_enabled=False)

    def next_step(self) -> None:
        """Begin a new step now."""
        self.step += 1
        self._forward_seen = self._backward_seen = self._optimizer_seen = False
        self._switch(self._open[-1])

    def close(self) -> None:
        """End the open phase at this moment; the table then covers the whole recording."""
        if len(self._table):
            self._table.set(self.row, end=self._moments.cut(), end_ns=self._moments.now_ns())

    def _switch(self, kind: PhaseKind) -> None:
        self.close()
        if self._is_negligible(self.row):
            self._table.set(self.row, kind=int(kind), step=self.step)
        else:
            self._begin(kind)

    def _is_negligible(self, row: int) -> bool:
        get = self._table.get
        if get(row, "kind") != PhaseKind.OTHER or get(row, "start") != get(row, "end"):
            return False
        return get(row, "end_ns") - get(row, "start_ns") < NEGLIGIBLE_NS

    def _begin(self, kind: PhaseKind) -> None:
        cut, now = self._moments.cut(), self._moments.now_ns()
        self._table.add(
            kind=int(kind), step=self.step, start=cut, end=cut, start_ns=now, end_ns=now
        )
