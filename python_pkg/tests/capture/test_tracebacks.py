"""Errors of operations that are watched: the frames are those of the same run untracked."""

import traceback

import pytest

torch = pytest.importorskip("torch")

from memtrack.capture.tracebacks import clean_traceback  # noqa: E402


def raised(run):
    with pytest.raises(Exception) as caught:  # noqa: PT011 - any error of the run
        run()
    return caught.value


def frames(error):
    """Return file and function of each frame; torch runs hooks in a frame of its own, `inner`."""
    walked = [
        (frame.f_code.co_filename, frame.f_code.co_name)
        for frame, _ in traceback.walk_tb(error.__traceback__)
    ]
    return [(file, name) for file, name in walked if name != "inner"]


def mismatch():
    torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Linear(3, 3))(torch.ones(2, 4))


def chained():
    try:
        mismatch()
    except RuntimeError as error:
        raise ValueError("mine") from error


def watched(run):
    from memtrack.capture.dispatch import OperationWatch

    with OperationWatch(lambda: None, lambda *_: None):
        return raised(run)


def test_shape_mismatch_has_the_frames_of_the_untracked_run():
    error = watched(mismatch)
    assert len(frames(error)) > len(frames(raised(mismatch)))
    clean_traceback(error)
    assert frames(error)[-3:] == frames(raised(mismatch))[-3:]
    assert len(frames(error)) == len(frames(raised(mismatch)))


def test_what_an_error_came_from_is_cleaned_too():
    error = watched(chained)
    clean_traceback(error)
    assert frames(error.__cause__) == frames(raised(chained).__cause__)


def test_errors_that_go_in_a_circle_end():
    first, second = ValueError(1), ValueError(2)
    first.__context__, second.__context__ = second, first
    clean_traceback(first)


def test_untracked_traceback_is_left_as_it_is():
    error = raised(mismatch)
    before = frames(error)
    clean_traceback(error)
    assert frames(error) == before
