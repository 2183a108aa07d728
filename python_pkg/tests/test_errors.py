"""What is said of errors that are not ours."""

import pytest

from memtrack.errors import in_one_line


class Unsayable(Exception):
    """A class of the user's whose `str` fails."""

    def __str__(self):
        raise ZeroDivisionError


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (ValueError("no such shape\nat line 3"), "ValueError: no such shape"),
        (KeyError("x"), "KeyError: 'x'"),
        (ValueError(), "ValueError: "),
        (Unsayable("x"), "Unsayable"),
    ],
)
def test_any_error_is_one_line(error, line):
    assert in_one_line(error) == line
