"""One checker for every recording: laws that hold whatever was recorded.

    from checks import check_recording
    report = check_recording(data)

It is run on every sample there is; it raises AssertionError at the first law that is broken.
"""

import dataclasses
import json
import tempfile
from html.parser import HTMLParser
from pathlib import Path

import numpy as np

from memtrack.analysis import (
    alive,
    allocated,
    by_category,
    fragmentation,
    layer_table,
    live_set,
    reserved_by_pool,
    timeline,
)
from memtrack.analysis.layers import ADDITIVE
from memtrack.analysis.reserved import reserved
from memtrack.i18n import languages
from memtrack.recording import RecordingData, load_recording, save_recording
from memtrack.recording.tables import TABLES
from memtrack.reports import build_report, bundle, notebook_payload, render_html, render_text
from memtrack.reports.bounded import LIMIT_BYTES, payload_bytes
from memtrack.reports.cells import display_width
from memtrack.reports.payload import MIME_TYPE, encode_report

MOST_CUTS = 300
HTML_LIMIT_BYTES = 100_000
HOSTILE = '<script>alert(1)</script><img src=x onerror="x">\'&\x1b[31m\u202e峰值'


def check_recording(data: RecordingData):
    """Check everything that must hold for `data` and return its report."""
    data.self_check()
    check_save_and_load(data)
    report = build_report(data)
    for device in range(len(data.devices)):
        check_device(data, device)
    for view in report.views:
        check_view(report, view)
    check_forms(data, report)
    return report


def check_save_and_load(data):
    with tempfile.TemporaryDirectory() as folder:
        read = load_recording(save_recording(data, Path(folder) / "check.memtrack"))
    assert_same_recording(read, data)


def assert_same_recording(read, data):
    assert dataclasses.asdict(read.facts) == json.loads(
        json.dumps(dataclasses.asdict(data.facts))
    ) | {"notices": tuple(dataclasses.asdict(notice) for notice in data.facts.notices)}
    assert tuple(read.strings) == tuple(data.strings)
    for table in TABLES:
        for column, values in data.tables[table].columns.items():
            same = read.tables[table][column]
            assert same.dtype == values.dtype, f"{table}.{column}"
            assert np.array_equal(same, values), f"{table}.{column}"


def check_device(data, device):
    levels = allocated(data, device)
    assert levels.dtype == np.int64
    assert len(levels) == data.cuts + 1
    assert (levels >= 0).all(), "less than nothing is allocated"
    cuts = np.unique(np.linspace(0, data.cuts, MOST_CUTS).astype(np.int64))
    categories = by_category(data, device, cuts)
    assert (categories >= 0).all()
    assert np.array_equal(categories.sum(axis=1), levels[cuts]), "categories do not sum"
    for cut in cuts[:: max(1, len(cuts) // 10)]:
        rows = alive(data, device, int(cut))
        assert data.allocations["bytes"][rows].sum() == levels[cut]
        holders = live_set(data, device, int(cut))
        for ranking in (
            holders.by_layer,
            holders.by_category,
            holders.by_site,
            holders.by_phase,
            holders.by_age,
            holders.by_pool,
        ):
            assert sum(holder.bytes for holder in ranking) == levels[cut]
    check_layers(data, device, levels)
    check_timeline(data, device, levels)
    check_reserved(data, device, levels)


def check_reserved(data, device, levels):
    cuts = np.arange(data.cuts + 1)
    pools, table = reserved_by_pool(data, device, cuts)
    if not len(pools):
        return
    total = reserved(data, device, cuts, levels)
    assert np.array_equal(table.sum(axis=1), total), "pools do not sum to what is reserved"
    assert (levels <= total).all(), "more in use than reserved"
    for cut in np.unique(np.linspace(0, data.cuts, 10).astype(np.int64)).tolist():
        found = fragmentation(data, device, cut)
        states = found.pools if found else ()
        assert sum(state.reserved for state in states) == total[cut]
        in_use = sum(state.allocated for state in states) + (found.unplaced if found else 0)
        assert in_use == levels[cut]
        for state in states:
            assert state.reserved == state.allocated + state.pending + state.free
            assert state.free == state.splinters + state.releasable
            assert 0 <= state.largest_free <= state.free


def check_layers(data, device, levels):
    table = layer_table(data, device)
    roots = data.layers["parent"] == -1
    for column in ADDITIVE:
        own, total = table.columns[column], table.columns[f"total_{column}"]
        assert np.array_equal(total, _own_and_children(data, own, total)), f"{column} does not sum"
        assert total[roots].sum() == own.sum()
    at_peak = int(table.columns["total_at_peak"][roots].sum()) + table.outside["at_peak"]
    assert at_peak == levels.max(), "roots and outside do not sum to the peak"
    assert (table.columns["peak"] <= levels.max()).all()


def _own_and_children(data, own, total):
    sums = own.astype(np.int64).copy()
    children = data.layers["parent"] >= 0
    np.add.at(sums, data.layers["parent"][children], total[children])
    return sums


def check_timeline(data, device, levels):
    for start, end, buckets in ((0, data.cuts, 50), (data.cuts // 3, data.cuts // 2, 7)):
        window = timeline(data, device, start, end, buckets)
        assert window.cut[0] == start
        assert window.cut[-1] == end
        assert (np.diff(window.cut) > 0).all()
        assert len(window.cut) <= 2 * buckets + 3
        assert np.array_equal(window.allocated, levels[window.cut])
        assert np.array_equal(window.by_category.sum(axis=1), window.allocated)
        assert window.allocated[window.peak_point] == levels[start : end + 1].max()
        if window.reserved is not None:
            assert (window.reserved >= window.allocated).all(), "more in use than reserved"
        if (data.segments["device"] == device).any():
            most = reserved(data, device, np.arange(start, end + 1), levels)
            assert window.reserved.max() == most.max(), "the most reserved is not to be seen"


def check_view(report, view):
    points = view.timeline.points
    at = view.timeline.peak_point
    assert points["cut"][at] == view.peak.cut
    assert points["allocated"][at] == view.peak.bytes
    assert (
        sum(view.timeline.categories.values())[at] == view.peak.bytes if view.peak.bytes else True
    )
    parts = view.ledger.parts
    assert sum(part.bytes for part in parts) == view.ledger.total
    assert all(part.bytes > 0 for part in parts)
    assert view.ledger.allocated == view.peak.bytes <= max(view.ledger.total, 0)
    assert len({len(column) for column in points.values()}) == 1
    assert {len(column) for column in view.layers.columns.values()} == {len(report.layers.path)}


def check_forms(data, report):
    for language in languages():
        check_text(render_text(report, language))
        check_html(render_html(report, language))
    forms = bundle(report)
    check_text(forms["text/plain"])
    assert payload_bytes(forms[MIME_TYPE]) <= LIMIT_BYTES
    json.dumps(encode_report(report)[0], allow_nan=False)
    hostile = build_report(with_hostile_names(data))
    check_text(render_text(hostile))
    check_html(render_html(hostile))
    assert payload_bytes(notebook_payload(hostile)) <= LIMIT_BYTES


def check_text(page):
    for line in page.split("\n"):
        assert display_width(line) <= 80, line
        assert line.isprintable(), f"a terminal would act on {line!r}"


def check_html(page):
    assert len(page.encode("utf-8")) <= HTML_LIMIT_BYTES
    parser = _Balanced()
    parser.feed(page)
    parser.close()
    assert parser.open == [], "an element is not closed"


class _Balanced(HTMLParser):
    """Fails on what must not be there, and on elements that are not closed in order."""

    def __init__(self):
        super().__init__()
        self.open = []

    def handle_starttag(self, tag, attrs):
        assert tag not in ("script", "style", "img", "iframe", "link", "object"), tag
        names = [name for name, _ in attrs]
        assert not [name for name in names if name.startswith("on") or name in ("href", "src")]
        self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def with_hostile_names(data):
    """Return the recording with names that try to be more than names."""
    strings = [f"{string}{HOSTILE}" for string in data.strings]
    facts = dataclasses.replace(data.facts, label=HOSTILE * 50)
    return RecordingData(facts, strings, data.tables)
