"""What is said of the largest batch: that it is the largest, or which was tried and does not fit."""

import pytest

from memtrack.reports.searching import largest_sentence


@pytest.mark.parametrize(
    ("tried", "said"),
    [
        ([(32, True), (64, False), (33, False)], "Largest batch that fits: 32."),
        ([], "Largest batch that fits: 32."),
        ([(16, False), (32, True), (40, False)], "Largest batch that fits: 32 (40 does not)."),
        ([(64, False), (32, True), (36, False)], "Largest batch that fits: 32 (36 does not)."),
    ],
)
def test_a_size_that_fails_is_told_unless_it_is_the_next(tried, said):
    sentence = str(largest_sentence(32, "forward", "net.head", tried))
    assert sentence == f"{said} What limits it: forward of net.head"


def test_where_nothing_fits_no_size_is_called_the_largest():
    said = str(largest_sentence(0, "backward", "", [(1, False)]))
    assert said == "Not even a batch of 1 fits. What limits it: backward"
