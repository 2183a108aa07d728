"""Being told of cells: one piece, used wherever cells are followed."""

from types import SimpleNamespace

import pytest

pytest.importorskip("IPython")

from IPython.core.events import EventManager

from memtrack.notebook.cellevents import CellEvents


def test_events_come_in_order_until_the_end_and_ending_twice_is_harmless():
    manager = EventManager(None, {"pre_run_cell": None, "post_run_cell": None})
    told = []
    events = CellEvents(
        SimpleNamespace(events=manager),
        lambda info: told.append(("before", info)),
        lambda result: told.append(("after", result)),
    )
    events.end()
    events.begin()
    manager.trigger("pre_run_cell", 1)
    manager.trigger("post_run_cell", 2)
    assert told == [("before", 1), ("after", 2)]
    events.end()
    events.end()
    manager.trigger("pre_run_cell", 3)
    assert len(told) == 2
    assert manager.callbacks == {"pre_run_cell": [], "post_run_cell": []}
