"""The widget model: what it sends, what it answers, what it keeps."""

import gc
import json
import threading

import numpy as np
import pytest

from memtrack import _frontend
from memtrack.recording import RecordingBuilder
from memtrack.recording.data import Facts
from memtrack.remedies import advise
from memtrack.reports import build_report, window_report
from memtrack.reports.advicepayload import encode_advice
from memtrack.reports.payload import encode_report, encode_timeline
from memtrack.widgets.model import KEPT_RECORDINGS, ReportModel, forget_recordings


def sent(model, kind):
    """Return the custom messages of one kind, with their buffers."""
    return [
        (data["content"], buffers)
        for data, buffers in model.comm.sent
        if data["method"] == "custom" and data["content"]["type"] == kind
    ]


def test_names_are_those_the_browser_registers(model):
    state = model.get_state()
    assert (state["_model_name"], state["_view_name"]) == ("ReportModel", "ReportView")
    for part in ("model", "view"):
        assert state[f"_{part}_module"] == _frontend.MODULE_NAME
        assert state[f"_{part}_module_version"] == _frontend.MODULE_VERSION


def test_report_is_empty_before_the_first(model):
    assert model.get_state()["report"] == {}


def test_report_is_sent_with_its_columns_as_binary_frames(model, data):
    report = build_report(data)
    model.show(data, report)
    ((message, buffers),) = model.comm.sent
    payload, columns = encode_report(report)
    assert message["state"] == {"report": {"json": payload, "buffers": [None] * len(columns)}}
    assert message["buffer_paths"] == [["report", "buffers", row] for row in range(len(columns))]
    assert [bytes(buffer) for buffer in buffers] == columns


def test_bytes_past_thirty_two_bits_arrive_whole(model, data):
    report = build_report(data)
    column = report.views[0].timeline.points["allocated"]
    payload, columns = encode_report(report)
    reference = payload["views"][0]["timeline"]["points"]["allocated"]
    assert reference["type"] == "f8"
    read = np.frombuffer(columns[reference["column"]], dtype="<f8")
    assert (read == column).all()


def test_zoom_is_answered_from_the_recording(model, data, receive):
    model.show(data, build_report(data))
    request = {"request": 7, "view": 0, "start": 2, "end": data.cuts - 1, "buckets": 10}
    receive({"type": "window", **request})
    ((message, buffers),) = sent(model, "window")
    payload, columns = encode_timeline(window_report(data, 0, 2, data.cuts - 1, 10))
    assert message == {"type": "window", "request": 7, "view": 0, "json": payload}
    assert buffers == columns


def test_zoom_past_the_ends_is_moved_to_them(model, data, receive):
    model.show(data, build_report(data))
    receive({"type": "window", "request": 1, "view": 0, "start": -5, "end": 1e9, "buckets": 1e9})
    ((message, _),) = sent(model, "window")
    assert message["json"]["cuts"] == data.cuts


@pytest.mark.parametrize(
    "content",
    [
        {"type": "window"},
        {"type": "window", "request": 1, "view": 99, "start": 0, "end": 1, "buckets": 5},
        {"type": "window", "request": 1, "view": -1, "start": 0, "end": 1, "buckets": 5},
        {"type": "window", "request": "1", "view": 0, "start": 0, "end": 1, "buckets": 5},
        {"type": "window", "request": 1, "view": 0, "start": None, "end": 1, "buckets": 5},
        {"type": "window", "request": 1, "view": 0, "start": float("nan"), "end": 1, "buckets": 5},
        {"type": "window", "request": 1, "view": 10**400, "start": 0, "end": 1, "buckets": 5},
        {"type": "unknown"},
        ["window"],
        None,
    ],
)
def test_messages_that_are_no_request_are_left_unanswered(model, data, receive, content):
    model.show(data, build_report(data))
    model.comm.sent.clear()
    receive(content)
    assert model.comm.sent == []


def test_zoom_before_the_first_report_is_left_unanswered(model, receive):
    receive({"type": "window", "request": 1, "view": 0, "start": 0, "end": 1, "buckets": 5})
    assert model.comm.sent == []


def test_zooms_on_other_threads_and_reports_on_this_one_never_mix(model, data, receive):
    report = build_report(data)
    model.show(data, report)
    inside = []

    def before_send():
        inside.append(1)
        assert len(inside) == 1, "two sends at once"
        threading.Event().wait(0.001)
        inside.pop()

    model.comm.before_send = before_send
    request = {"type": "window", "request": 1, "view": 0, "start": 0, "end": 9, "buckets": 5}
    threads = [threading.Thread(target=receive, args=(request,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for _ in range(20):
        model.show(data, build_report(data, buckets=5))
        model.show(data, report)
    for thread in threads:
        thread.join()
    assert len(sent(model, "window")) == 8


def test_tick_in_the_middle_of_a_send_is_dropped_rather_than_waited_for(model, data):
    results = []
    model.comm.before_send = lambda: results.append(model.send_if_free({"type": "tick"}))
    model.show(data, build_report(data))
    assert results == [False]
    model.comm.before_send = lambda: None
    assert model.send_if_free({"type": "tick"})


def test_only_the_latest_widgets_keep_their_recording(data, receive):
    forget_recordings()
    report = build_report(data)
    models = [ReportModel() for _ in range(KEPT_RECORDINGS + 2)]
    for model in models:
        model.show(data, report)
        model.show(data, report)
    kept = [model for model in models if model._data is not None]
    assert kept == models[2:]
    forget_recordings()
    assert all(model._data is None for model in models)


def test_widget_holds_no_tensor(model, data):
    torch = pytest.importorskip("torch")
    model.show(data, build_report(data))
    seen, queue = set(), [model._data, model.report]
    while queue:
        one = queue.pop()
        if id(one) in seen or isinstance(one, type):
            continue
        seen.add(id(one))
        assert not isinstance(one, torch.Tensor)
        queue += gc.get_referents(one)
        assert len(seen) < 100_000


def test_advice_is_given_on_what_is_shown(model, data, receive):
    model.show(data, build_report(data))
    receive({"type": "advice", "request": 3})
    ((message, buffers),) = sent(model, "advice")
    assert message == {"type": "advice", "request": 3, "json": encode_advice(advise(data))}
    assert buffers == []
    json.dumps(message)


def test_advice_that_cannot_be_given_says_why(model, data, receive, monkeypatch):
    receive({"type": "advice", "request": 1})
    model.show(data, build_report(data))
    model._data = RecordingBuilder().build(Facts())
    receive({"type": "advice", "request": 2})
    monkeypatch.setattr("memtrack.widgets.advice.advice_of", lambda _: 1 / 0)
    receive({"type": "advice", "request": 3})
    receive({"type": "advice", "request": "4"})
    problems = [message["problem"] for message, _ in sent(model, "advice")]
    assert [one["en"].split(".")[0].split(":")[0] for one in problems] == [
        "This kernel no longer holds the recording",
        "This recording saw no memory, so there is nothing to save",
        "memtrack could not weigh remedies (ZeroDivisionError",
    ]
    assert all(one["zh_CN"] != one["en"] for one in problems)


def test_who_asks_for_advice_looks(model, receive):
    seen = []
    model.on_seen = lambda: seen.append(1)
    receive({"type": "advice", "request": 1})
    assert seen == [1]
