"""The largest size: found exactly where needs are a line, with few tries, within its bounds."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtrack.analysis.predicted import FITS, TOO_LARGE, Predicted
from memtrack.errors import UsageError
from memtrack.prediction.search import PRECISION, find_largest

CAPACITY = 10_000_000
TOLD = Predicted(
    gpu="",
    capacity=CAPACITY,
    verdict=FITS,
    peak_allocated=0,
    peak_reserved=0,
    process=(0, 0),
    context=(0, 0),
    uncertain=0,
    assumptions=(),
    shortage=None,
    calls=1,
)


@dataclass
class Fake:
    """A prediction of a program that needs so many bytes."""

    need: int

    @property
    def told(self) -> Predicted:
        verdict = FITS if self.need <= CAPACITY else TOO_LARGE
        return replace(TOLD, verdict=verdict, process=(self.need, self.need))

    @property
    def limiting(self) -> tuple[str, str]:
        return ("backward", f"at {self.need}")


@given(st.integers(0, CAPACITY), st.integers(1, CAPACITY))
def test_a_line_is_found(fixed: int, each: int) -> None:
    found = find_largest(lambda n: Fake(fixed + each * n))
    truth = (CAPACITY - fixed) // each
    truth = min(truth, 1 << 20)
    assert found.size <= truth
    assert truth - found.size <= truth // PRECISION
    assert len(found.tried) <= 30


@given(st.integers(1, 3000), st.floats(1.0, 2.0))
def test_a_bent_need_is_found_too(each: int, power: float) -> None:
    found = find_largest(lambda n: Fake(int(each * n**power)))
    above = found.size + max(found.size // PRECISION, 1) + 1
    assert int(each * found.size**power) <= CAPACITY
    assert found.size == 1 << 20 or int(each * above**power) > CAPACITY


def test_bounds_hold() -> None:
    found = find_largest(Fake, 4, 100)
    assert found.size == 100
    assert found.bounded
    assert all(4 <= size <= 100 for size, _ in found.tried)


def test_nothing_fits() -> None:
    found = find_largest(lambda n: Fake(CAPACITY + n), 8)
    assert found.size == 0
    assert found.tried == ((8, False),)
    assert found.limiting == ("backward", f"at {CAPACITY + 8}")


def test_it_shows_itself_in_a_line() -> None:
    found = find_largest(lambda n: Fake(CAPACITY + n), 8)
    assert repr(found) == f"<memtrack.Largest: 0, limited by backward of at {CAPACITY + 8}>"


def test_progress_is_told_of_each() -> None:
    told: list[tuple[int, bool]] = []
    found = find_largest(lambda n: Fake(n * 1000), progress=lambda n, fits: told.append((n, fits)))
    assert tuple(told) == found.tried


@pytest.mark.parametrize(("low", "high"), [(0, None), (3, 2)])
def test_bounds_that_are_none(low: int, high: int | None) -> None:
    with pytest.raises(UsageError):
        find_largest(Fake, low, high)
