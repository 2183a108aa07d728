"""Sums that are not what was told are found, and no others."""

import pytest
from synthetic import Category, PhaseKind, Script

from memtrack.analysis.agreement import Agreement, Difference, agreement

TOTAL = 1000


def run(*samples):
    script = Script()
    script.device(total=TOTAL)
    script.device(total=TOTAL, index=1)
    script.phase(PhaseKind.FORWARD, 0)
    for sample in samples:
        script.alloc(100, Category.ACTIVATION)
        script.sample(**sample)
    return script.build()


def test_figures_that_agree_are_counted():
    data = run(
        {"reserved": 150, "process": 200, "used": 300},
        {"reserved": 250, "used": 420},
        {"device": 1, "reserved": 0, "process": 40, "used": 50},
    )
    assert agreement(data, 0) == Agreement(5, ())
    assert agreement(data, 1) == Agreement(3, ())


@pytest.mark.parametrize(
    ("sample", "differences"),
    [
        ({"reserved": 50, "used": 300}, [("reserved", 50, 100)]),
        ({"reserved": 150, "process": 120}, [("process", 120, 150)]),
        ({"reserved": 150, "process": 200, "used": 180}, [("used", 180, 200)]),
        ({"reserved": 150, "used": 1200}, [("used", 1200, TOTAL)]),
    ],
)
def test_figures_that_contradict_each_other_are_found(sample, differences):
    expected = tuple(Difference(0, *difference) for difference in differences)
    assert agreement(run(sample), 0).differ == expected


def test_of_samples_at_one_cut_the_last_counts():
    script = Script()
    script.device(total=TOTAL)
    for used in (100, 200):
        script.sample(used=used)
    assert agreement(script.build(), 0) == Agreement(1, ())
