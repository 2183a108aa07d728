"""The view of a history asks, the kernel answers; nothing that a browser sends can harm."""

import json

import numpy as np
import pytest
from kept_runs import KIB, many

from memtrack.i18n import languages
from memtrack.runs import History
from memtrack.widgets.runmessages import answer


@pytest.fixture
def folder(tmp_path):
    with History(tmp_path) as history:
        many(history, 3)
    return tmp_path


def asked(folder, kind, **values):
    message, buffers = answer(folder, {"type": kind, "request": 7, **values})
    assert message["request"] == 7 and json.dumps(message)
    return message, buffers


def test_a_list_is_a_page_of_the_payload(folder):
    message, _ = asked(folder, "list", search="", deleted=False, offset=1)
    assert message["type"] == "list"
    listed = message["history"]
    assert [run["id"] for run in listed["runs"]] == [2, 1]
    assert (listed["total"], listed["offset"]) == (3, 1)
    message, _ = asked(folder, "list", search="nowhere")
    assert message["history"]["runs"] == [] and message["history"]["total"] == 0


def test_each_change_answers_with_the_rows_that_changed(folder):
    for kind, values, name, value in (
        ("pin", {}, "pinned", True),
        ("unpin", {}, "pinned", False),
        ("rename", {"name": "wide"}, "name", "wide"),
        ("note", {"note": "slow"}, "note", "slow"),
        ("tag", {"tags": ["b", "a"]}, "tags", ["a", "b"]),
        ("delete", {}, "deleted", True),
        ("restore", {}, "deleted", False),
    ):
        message, _ = asked(folder, kind, id=2, **values)
        (row,) = message["runs"]
        assert row["id"] == 2 and row[name] == value
        with History(folder) as history:
            kept = history.run(2, deleted=kind == "delete")
        assert getattr(kept, name) == value


def test_a_new_baseline_takes_the_place_of_the_old_one(folder):
    assert [row["id"] for row in asked(folder, "baseline", id=1)[0]["runs"]] == [1]
    rows = asked(folder, "baseline", id=3)[0]["runs"]
    assert {row["id"]: row["baseline"] for row in rows} == {3: True, 1: False}
    rows = asked(folder, "unbaseline", id=3)[0]["runs"]
    assert [row["baseline"] for row in rows] == [False]


def test_a_diff_is_the_payload_of_a_comparison(folder):
    message, buffers = asked(folder, "diff", a=1, b=3)
    payload = message["comparison"]
    assert payload["peak"] == {"before": KIB, "after": 3 * KIB}
    assert (payload["a"]["run"], payload["b"]["run"]) == (1, 3)
    column = payload["parts"]["after"]
    assert np.frombuffer(buffers[column["column"]], "<f8").sum() == 3 * KIB


def test_errors_are_sentences_in_every_language(folder):
    message, _ = asked(folder, "pin", id=99)
    assert message["type"] == "error"
    assert set(message["sentence"]) == set(languages())
    assert "99" in message["sentence"]["en"]
    assert asked(folder, "rename", id=1, name="last")[0]["type"] == "error"


@pytest.mark.parametrize(
    "message",
    [
        None,
        [],
        {},
        {"type": "pin"},
        {"type": "pin", "request": 1},
        {"type": "pin", "request": 1, "id": "1; DROP TABLE runs"},
        {"type": "pin", "request": 1, "id": True},
        {"type": "pin", "request": "1", "id": 1},
        {"type": "diff", "request": 1, "a": 1},
        {"type": "drop", "request": 1, "id": 1},
        {"type": ["pin"], "request": 1, "id": 1},
    ],
)
def test_what_is_no_request_is_left_unanswered(folder, message):
    assert answer(folder, message) is None
    with History(folder) as history:
        assert [run.pinned for run in history.runs()] == [False] * 3


def test_odd_values_are_taken_for_none(folder):
    message, _ = asked(folder, "tag", id=1, tags="abc")
    assert message["runs"][0]["tags"] == []
    message, _ = asked(folder, "list", search=5, offset=-3, deleted="yes")
    assert message["history"]["total"] == 3


def test_models_show_what_their_payload_says(folder):
    pytest.importorskip("ipywidgets")
    import memtrack
    from memtrack.widgets.runmodels import ComparisonModel, HistoryModel

    sent = []
    model = HistoryModel.of(memtrack.history(folder=folder))
    model.send = lambda message, buffers: sent.append((message, buffers))
    assert [run["id"] for run in model.history["runs"]] == [3, 2, 1]
    model._received(None, {"type": "pin", "request": 1, "id": 2}, [])
    model._received(None, {"type": "nonsense"}, [])
    assert [message["type"] for message, _ in sent] == ["runs"]
    diff = memtrack.compare(1, 2, folder=folder)
    shown = ComparisonModel.of(diff).comparison
    assert shown["json"]["peak"]["after"] == 2 * KIB
    assert all(isinstance(buffer, bytes) for buffer in shown["buffers"])
