"""What the training loop is doing: phases back to back, and the step each belongs to."""

from __future__ import annotations

from memtrack.capture.moments import Moments
from memtrack.capture.steps import Steps
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
        self.steps = Steps()
        self.step = 0
        self.row = -1
        """The row of the open phase."""
        self.forward_start_ns = 0
        """When the latest forward began, nanoseconds."""
        self._begin(PhaseKind.OTHER)

    @property
    def current(self) -> PhaseKind:
        """The kind of the open phase."""
        return self._open[-1]

    def enter_forward(self, grad_enabled: bool, model: int) -> None:
        """A model of the loop begins its forward."""
        self.forward_start_ns = self._moments.now_ns()
        self._enter(PhaseKind.FORWARD)
        self.steps.saw_forward(self.row, grad_enabled, model)

    def enter_backward(self) -> None:
        """Backward begins."""
        self.steps.saw_backward()
        self._enter(PhaseKind.BACKWARD)

    def enter_optimizer(self, optimizer: int) -> bool:
        """An optimizer begins to step. Return whether a step has thereby begun, now or earlier."""
        if self.steps.optimizer_begins_one(optimizer):
            self.next_step()
            self._enter(PhaseKind.OPTIMIZER)
            self.steps.optimizer_begins(optimizer)
            return True
        boundary = self.steps.optimizer_begins(optimizer)
        if boundary >= 0:
            self.step += 1
            for row in range(boundary, len(self._table)):
                self._table.set(row, step=self.step)
        self._enter(PhaseKind.OPTIMIZER)
        return boundary >= 0

    def leave_optimizer(self, optimizer: int) -> None:
        """An optimizer has stepped."""
        self.steps.optimizer_ended(optimizer)
        self.leave(PhaseKind.OPTIMIZER)

    def _enter(self, kind: PhaseKind) -> None:
        self._open.append(kind)
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
        self.steps.settle()
        if len(self._open) > 1:
            del self._open[1:]
            self._switch(PhaseKind.OTHER)

    def next_step(self) -> None:
        """Begin a new step now."""
        self.step += 1
        self.steps.begin()
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
        self.row = self._table.add(
            kind=int(kind), step=self.step, start=cut, end=cut, start_ns=now, end_ns=now
        )
