"""Peaks of steps, phases, layers and intervals between marks, each with what was largest then."""

from itertools import pairwise

from hypothesis import HealthCheck, given, settings
from random_recordings import recordings
from slow_twin import SlowTwin
from synthetic import Category, PhaseKind, Script

from memtrack.analysis import mark_peak, nested_peaks, step_peaks

twins = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def windows_of_steps(twin):
    found = {}
    for phase in twin.phases:
        start, _ = found.get(phase["step"], (phase["start"], 0))
        found[phase["step"]] = (start, phase["end"])
    return [(step, [window]) for step, window in found.items()]


def windows_of_layers(twin):
    own = {}
    for prefix in ("", "backward_"):
        for call in twin.calls:
            if 0 <= call[f"{prefix}start"] <= call[f"{prefix}end"]:
                window = (call[f"{prefix}start"], call[f"{prefix}end"])
                own.setdefault(call["layer"], []).append(window)
    for row in reversed(range(len(twin.layers))):
        inside = [at for at, layer in enumerate(twin.layers) if layer["parent"] == row]
        if row not in own:
            windows = [window for at in inside for window in own.get(at, ())]
            if windows:
                own[row] = windows
    return sorted(own.items())


def windows_of_marks(twin):
    marks = sorted(enumerate(twin.data.marks["cut"].tolist()), key=lambda mark: mark[1])
    if not marks:
        return []
    edges = [(-1, 0), *marks, (None, twin.data.cuts)]
    return [(row, [(start, end)]) for (row, start), (_, end) in pairwise(edges)]


def check(table, twin, windows):
    assert table.row.tolist() == [row for row, _ in windows]
    for at, (_, choices) in enumerate(windows):
        cut = max(
            (cut for start, end in choices for cut in range(start, end + 1)),
            key=lambda cut: (twin.levels[cut], -cut),
        )
        assert (table.cut[at], table.bytes[at]) == (cut, twin.levels[cut])
        assert (int(table.start[at]), int(table.end[at])) in choices
        assert table.start[at] <= cut <= table.end[at]
        assert table.time_ns[at] == (twin.events[cut - 1]["time_ns"] if cut else 0)
        sums = [twin.bytes_at(cut, category) for category in Category]
        most = max(sums)
        assert table.category_bytes[at] == most
        assert table.category[at] == (sums.index(most) if most else -1)
        own = twin.own(twin.alive(cut))[:-1]
        most = max([0, *own])
        assert table.layer_bytes[at] == most
        assert table.layer[at] == (own.index(most) if most else -1)


@twins
@given(recordings())
def test_nested_peaks(data):
    for device in range(len(data.devices)):
        twin = SlowTwin(data, device)
        found = nested_peaks(data, device)
        check(found.steps, twin, windows_of_steps(twin))
        phases = [(row, [(p["start"], p["end"])]) for row, p in enumerate(twin.phases)]
        check(found.phases, twin, phases)
        check(found.layers, twin, windows_of_layers(twin))
        check(found.marks, twin, windows_of_marks(twin))
        assert found.steps.bytes.tolist() == step_peaks(data, device).tolist()


def marked():
    """10 bytes, `a`, 10 to 40 and back, `b`, up to 90 and back, `a`, 20 at the end."""
    script = Script()
    script.device()
    script.phase(PhaseKind.OTHER, 0)
    script.alloc(10)
    script.mark("a")
    script.free(script.alloc(30))
    script.mark("b")
    script.free(script.alloc(80))
    script.mark("a")
    script.alloc(10)
    return script.build()


def test_peaks_between_marks():
    data = marked()
    marks = nested_peaks(data, 0).marks
    assert marks.row.tolist() == [-1, 0, 1, 2]
    assert marks.bytes.tolist() == [10, 40, 90, 20]
    assert [data.string(int(data.marks["label"][row])) for row in marks.row[1:]] == ["a", "b", "a"]


def test_the_peak_of_a_named_interval():
    data = marked()
    assert mark_peak(data, 0, "a").bytes == 40
    assert mark_peak(data, 0, "b").bytes == 90
    assert mark_peak(data, 0, "a", "a").bytes == 90
    assert mark_peak(data, 0, "b", "none such").bytes == 90
    assert mark_peak(data, 0, "none such") is None


def test_a_list_of_layers_peaks_with_the_first_of_its_layers_that_peaks():
    script = Script()
    script.device()
    layers = script.layer("list")
    inside = [script.layer(name, layers) for name in ("0", "1")]
    script.phase(PhaseKind.FORWARD, 0)
    for layer in reversed(inside):
        with script.call(layer):
            script.free(script.alloc(10))
    found = nested_peaks(script.build(), 0).layers
    assert found.row.tolist() == [0, 1, 2]
    assert found.bytes.tolist() == [10, 10, 10]
    assert found.cut.tolist() == [1, 3, 1]
    assert found.start.tolist() == [0, 2, 0]


def test_without_marks_there_are_no_intervals():
    script = Script()
    script.device()
    script.phase(PhaseKind.OTHER, 0)
    script.alloc(10)
    found = nested_peaks(script.build(), 0)
    assert (len(found.marks), len(found.layers), len(found.steps), len(found.phases)) == (
        0,
        0,
        1,
        1,
    )
    assert (found.steps.layer.tolist(), found.steps.layer_bytes.tolist()) == ([-1], [0])


def test_an_empty_recording_has_no_peaks():
    script = Script()
    script.device()
    found = nested_peaks(script.build(), 0)
    assert [len(table) for table in (found.steps, found.phases, found.layers, found.marks)] == [
        0
    ] * 4
