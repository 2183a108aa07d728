"""Where one training step ends and the next begins, told from what the loop does.

A step ends where the next one's forward begins, once every optimizer in use has stepped. Where no
optimizer is known, that is after a backward; and for passes without gradients, at each forward. An optimizer that runs the forward itself,
through a closure, begins a step each time it is called.

Which optimizers are in use is guessed from those alive at the start. One that is left over from an
earlier cell never steps; when another steps twice meanwhile, the guess was wrong and the boundary
that was passed over is put in afterwards.
"""

from __future__ import annotations

from collections.abc import Iterable

NOWHERE = -1


class Steps:
    """What has happened in the current step."""

    def __init__(self) -> None:
        self._expected: set[int] = set()
        self._stepped: set[int] = set()
        self._forward_seen = self._backward_seen = self._is_stepping = False
        self._ran_closure = False
        self._evaluated: set[int] = set()
        self._passed_over = NOWHERE

    def expect(self, optimizers: Iterable[int]) -> None:
        """Name the optimizers (by id) that are thought to be in use."""
        self._expected.update(optimizers)

    def forward_begins_one(self, grad_enabled: bool, model: int = NOWHERE) -> bool:
        """Tell whether a forward of `model` that begins now belongs to a new step."""
        if self._is_stepping:  # a closure inside `optimizer.step`
            return False
        if self._stepped:
            return self._expected <= self._stepped
        if self._backward_seen:
            return not self._expected
        if model in self._evaluated:  # from evaluating a model to training it
            return True
        return self._forward_seen and not grad_enabled

    @property
    def is_whole(self) -> bool:
        """Whether the current step may end here."""
        if self._stepped:
            return True
        return self.forward_begins_one(grad_enabled=False)

    def begin(self) -> None:
        """Begin a new step."""
        self._stepped.clear()
        self._evaluated.clear()
        self._forward_seen = self._backward_seen = self._ran_closure = False
        self._passed_over = NOWHERE

    def saw_forward(self, row: int, grad_enabled: bool, model: int) -> None:
        """A forward of `model` has begun; `row` is the phase it would begin a step with."""
        if not grad_enabled:
            self._evaluated.add(model)
        self._ran_closure |= self._is_stepping
        if self._stepped and not self._is_stepping and self._passed_over == NOWHERE:
            self._passed_over = row
        self._forward_seen = True

    def saw_backward(self) -> None:
        """A backward has begun."""
        self._backward_seen = True

    def optimizer_begins_one(self, optimizer: int) -> bool:
        """Tell whether the step of an optimizer that begins now is a new step of the loop."""
        return self._ran_closure and optimizer in self._stepped and self._passed_over == NOWHERE

    def optimizer_begins(self, optimizer: int) -> int:
        """An optimizer begins to step. Return the phase where a step began unnoticed, or -1."""
        self._is_stepping = True
        boundary = self._passed_over
        if optimizer not in self._stepped or boundary == NOWHERE:
            return NOWHERE
        self._expected = set(self._stepped)
        self._stepped.clear()
        self._passed_over = NOWHERE
        return boundary

    def optimizer_ended(self, optimizer: int) -> None:
        """An optimizer has stepped."""
        self._is_stepping = False
        self._stepped.add(optimizer)
        if not self._expected:
            self._expected.add(optimizer)

    def settle(self) -> None:
        """Nothing of the loop is running any more."""
        self._is_stepping = False
