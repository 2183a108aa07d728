"""Passes go unwatched once they agree in what they allocate, and are watched again when they do not."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from memtrack.capture.moments import Moments  # noqa: E402
from memtrack.capture.passes import Passes  # noqa: E402
from memtrack.recording.builder import TableBuilder  # noqa: E402


class Allocator:
    """Counts as an allocator does: allocations and bytes since the process began."""

    def __init__(self):
        self.counts = (0, 0)

    def allocate(self, times, size):
        self.counts = (self.counts[0] + times, self.counts[1] + times * size)


@pytest.fixture
def allocator():
    return Allocator()


@pytest.fixture
def passes(allocator):
    return Passes(Moments(TableBuilder("events")), lambda: allocator.counts)


def run(passes, allocator, size, batch=2, backward=True):
    watched = passes.begin(0, True, (torch.zeros(batch, 3),), {})
    allocator.allocate(5, size)
    if backward:
        passes.backward_ended()
    allocator.allocate(1, 77)  # the optimizer's step counts for no pass
    return watched


def test_two_agreements_are_wanted(passes, allocator):
    assert [run(passes, allocator, 8) for _ in range(5)] == [True, True, True, False, False]


def test_a_first_pass_that_allocates_more_does_not_count(passes, allocator):
    sizes = [99, 8, 8, 8, 8]
    assert [run(passes, allocator, size) for size in sizes] == [True, True, True, True, False]


def test_a_pass_that_differs_is_followed_by_watched_ones(passes, allocator):
    sizes = [8, 8, 8, 8, 9, 8, 8, 8]
    watched = [run(passes, allocator, size) for size in sizes]
    assert watched == [True, True, True, False, False, True, True, False]


def test_every_shape_is_a_kind_of_its_own(passes, allocator):
    watched = [run(passes, allocator, 8, batch) for batch in (2, 2, 2, 4, 4, 4, 2, 4)]
    assert watched == [True] * 6 + [False, False]


def test_a_forward_without_backward_stays_watched(passes, allocator):
    watched = [run(passes, allocator, 8, backward=False) for _ in range(6)]
    assert watched == [True] * 6


def test_all_is_watched_where_the_allocator_does_not_count():
    passes = Passes(Moments(TableBuilder("events")), None)
    assert [passes.begin(0, True, (), {}) for _ in range(9)] == [True] * 9
    assert len(passes.columns()["kind"]) == 0
