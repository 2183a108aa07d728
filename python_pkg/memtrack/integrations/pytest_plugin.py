"""For pytest, found by itself: the fixture `memtrack_peak` and the marker `memtrack`.

    @pytest.mark.memtrack(limit="2 GiB")
    def test_step_fits(): ...

    def test_step_is_small(memtrack_peak):
        train_step()
        assert memtrack_peak.bytes < 300 << 20

The test's own body is measured, on a GPU where there is one, else the tensors of the CPU;
`device="cuda"` skips a test where there is no GPU. torch is not imported until a test asks for this.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from memtrack.errors import MemtrackError, UsageError
from memtrack.i18n import preferred_language, text
from memtrack.integrations.peakmeter import PeakMeter

MARKER = "memtrack"
FIXTURE = "memtrack_peak"
_HELP = (
    f"{MARKER}(limit='2 GiB', device='auto'): fail where the test allocates more at its peak; the limit"
    " is such as '2 GiB' (binary: '2GB' means the same) or in bytes, device is cuda, cpu or auto (cuda"
    " where there is a GPU)"
)
# Older ones, which stop at what they do not know, must not stop at ours.
_IS_NEW = pytest.version_tuple >= (8,)
_Hook = Callable[[pytest.Item], Iterator[Any]]
_around: Callable[[_Hook], _Hook] = (
    pytest.hookimpl(wrapper=True) if _IS_NEW else pytest.hookimpl(hookwrapper=True)
)
_meter: pytest.StashKey[PeakMeter] = pytest.StashKey()


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known."""
    config.addinivalue_line("markers", _HELP)


@pytest.fixture
def memtrack_peak(request: pytest.FixtureRequest) -> PeakMeter:
    """Give the peak of this test: `.bytes` so far, `.limit` to be kept, `.recording`."""
    meter: PeakMeter = request.node.stash[_meter]
    return meter


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what cannot be measured here, before anything is set up for it."""
    marker = item.get_closest_marker(MARKER)
    has_fixture = FIXTURE in getattr(item, "fixturenames", ())
    if marker is None and not has_fixture:
        return
    if not _IS_NEW:
        pytest.fail(text("memtrack_peak needs pytest 8 or newer").render(preferred_language()))
    meter = _made(marker, has_fixture)
    if isinstance(meter, str):
        pytest.fail(meter, pytrace=False)
    why = meter.why_not_here()
    if why is not None:
        pytest.skip(why.render(preferred_language()))
    item.stash[_meter] = meter


@_around
def pytest_runtest_call(item: pytest.Item) -> Iterator[Any]:
    """Measure the test, and fail it where it has passed but kept to no limit."""
    meter = item.stash.get(_meter, None)
    if meter is None:
        return (yield)
    with meter:
        result = yield
    problem = _problem(meter)
    if problem:
        pytest.fail(problem, pytrace=False)
    return result


def _made(marker: pytest.Mark | None, has_fixture: bool) -> PeakMeter | str:
    """Return the meter that a marker asks for, or what is wrong with the marker.

    One without a limit would hold a test to nothing; with the fixture the test may set it itself.
    """
    if marker is None:
        return PeakMeter()
    names = ("limit", "device")
    given = {**dict(zip(names, marker.args, strict=False)), **marker.kwargs}
    try:
        for word in given:
            if word not in names:
                raise UsageError.unknown_word(text("option"), word, names)
        if len(marker.args) > len(names):
            word = repr(marker.args[len(names)])
            raise UsageError(text("'{word}' is one word too many.", word=word))
        meter = PeakMeter(**given)
        if meter.limit is None and not has_fixture:
            raise UsageError(
                text("This marker sets no limit for the test."),
                text("Write {usage}", usage=f"@pytest.mark.{MARKER}(limit='2 GiB')"),
            )
        return meter
    except MemtrackError as error:
        return _sentence(error)


def _problem(meter: PeakMeter) -> str:
    try:
        return meter.problem()
    except MemtrackError as error:  # of a limit that the test has set
        return _sentence(error)


def _sentence(error: MemtrackError) -> str:
    return error.in_language(preferred_language())
