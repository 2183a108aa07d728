"""Comparisons and histories as readers get them: figures agree with the runs in every form."""

import base64
import json
import zlib
from dataclasses import replace

import make_comparison_fixture as fixture
import numpy as np
import pytest
from synthetic import Script

from memtrack.analysis import peak
from memtrack.comparison import compare
from memtrack.i18n import languages
from memtrack.recording import Category, PhaseKind
from memtrack.reports.comparison import MIME_TYPE, Diff
from memtrack.reports.comparisonpayload import encode_comparison
from memtrack.reports.history import RunList
from memtrack.reports.historypayload import MIME_TYPE as HISTORY_MIME_TYPE
from memtrack.reports.historypayload import encode_history
from memtrack.units import format_bytes

KIB = 1 << 10
FOLDER = fixture.FIXTURES / "comparison"


class Wire:
    """A slow reader of a payload, by its documentation alone."""

    def __init__(self, payload, buffers):
        self.payload, self.buffers = payload, buffers

    def column(self, reference):
        values = np.frombuffer(self.buffers[reference["column"]], f"<{reference['type']}")
        assert len(values) == reference["length"]
        return values.tolist()

    def strings(self, reference):
        codes = self.column(reference["codes"])
        return [reference["values"][code] if code >= 0 else "" for code in codes]


def unpacked(packed):
    whole = zlib.decompress(base64.b64decode(packed["buffers"]))
    ends = np.cumsum(packed["lengths"])
    buffers = [whole[end - size : end] for end, size in zip(ends, packed["lengths"], strict=True)]
    return Wire(packed["comparison"], buffers)


@pytest.fixture
def wire():
    return Wire(*encode_comparison(fixture.diff()))


def test_the_fixture_is_what_the_script_writes(wire):
    kept = json.loads((FOLDER / "comparison.json").read_text())
    assert kept["comparison"] == json.loads(json.dumps(wire.payload))
    assert (FOLDER / "comparison.bin").read_bytes() == b"".join(wire.buffers)
    history = json.loads((fixture.FIXTURES / "runs" / "history.json").read_text())
    assert history == json.loads(json.dumps(encode_history(fixture.runs())))


def test_parts_movers_and_categories_sum_to_the_recordings_peaks(wire):
    before, after = (peak(fixture.run(changed), 0).bytes for changed in (False, True))
    payload, parts = wire.payload, wire.payload["parts"]
    assert payload["peak"] == {"before": before, "after": after}
    assert sum(wire.column(parts["before"])) == before
    assert sum(wire.column(parts["after"])) == after
    assert sum(mover["change"] for mover in payload["movers"]) == after - before
    for side, whole in (("before", before), ("after", after)):
        assert sum(one[side] for one in payload["categories"]) == whole
    assert max(wire.column(payload["timeline"]["b"]["allocated"])) == after


def test_layers_are_those_of_both_runs_with_what_became_of_them(wire):
    layers = wire.payload["layers"]
    paths, former = wire.strings(layers["path"]), wire.strings(layers["former_path"])
    status = dict(zip(paths, wire.column(layers["status"]), strict=True))
    assert status["gpt.adapter <b>"] == 5 and status["gpt.pooler"] == 6
    assert status["gpt.layers.0.mlp"] == 1 and status["gpt.embed"] == 0
    assert former[paths.index("gpt.layers.1.attn")] == "gpt.h.1.attn"
    columns = layers["columns"]["total_parameters"]
    head = paths.index("gpt.head")
    assert wire.column(columns["before"])[head] == 400 << 20
    assert wire.column(columns["after"])[head] == 600 << 20
    assert wire.column(columns["before"])[paths.index("gpt.adapter <b>")] == -1
    assert wire.column(columns["after"])[paths.index("gpt.pooler")] == -1


def test_rows_are_in_pre_order_and_subtrees_are_contiguous(wire):
    layers = wire.payload["layers"]
    parent, depth, subtree = (wire.column(layers[one]) for one in ("parent", "depth", "subtree"))
    for row, above in enumerate(parent):
        assert depth[row] == (depth[above] + 1 if above >= 0 else 0)
        assert above < row < (above + subtree[above] if above >= 0 else row + 1)
    assert sum(size for size, above in zip(subtree, parent, strict=True) if above < 0) == len(
        parent
    )


def wide(layers, size):
    """Return a recording of so many layers, the last of them with weights of `size`."""
    script = Script()
    script.device()
    root = script.layer("model", type_="Model")
    rows = [
        script.layer(f"part_{number}", root, parameters=number, parameter_bytes=4 * number)
        for number in range(layers)
    ]
    script.phase(PhaseKind.FORWARD)
    for number, row in enumerate(rows):
        script.alloc(size if row == rows[-1] else KIB + number, Category.PARAMETER, layer=row)
    return script.build()


def test_a_notebook_holds_what_changed_within_its_limit():
    a, b = wide(4000, KIB), wide(4000, 99 * KIB)
    diff = Diff(compare(a, b), payload_limit=30_000)
    packed = diff._repr_mimebundle_()[MIME_TYPE]
    assert len(json.dumps(packed)) <= 30_000
    wire = unpacked(packed)
    paths = wire.strings(wire.payload["layers"]["path"])
    assert {"model", "model.part_3999"} <= set(paths)
    assert wire.payload["omitted_layers"] == 4001 - len(paths) > 0
    parts = wire.payload["parts"]
    assert sum(wire.column(parts["after"])) == peak(b, 0).bytes
    assert sum(wire.column(parts["before"])) == peak(a, 0).bytes


def test_the_notebooks_payload_is_the_whole_one_where_it_fits(wire):
    packed = fixture.diff()._repr_mimebundle_()[MIME_TYPE]
    assert packed["comparison"] == json.loads(json.dumps(wire.payload))
    assert unpacked(packed).buffers == wire.buffers


@pytest.mark.parametrize("language", languages())
def test_every_form_begins_with_the_answer(language):
    diff = replace(fixture.diff(), language=language)
    bundle = diff._repr_mimebundle_()
    answer = diff.sentence.render(language)
    text = bundle["text/plain"]
    assert "".join(text.split())[:80] == "".join(answer.split())[:80]
    assert format_bytes(diff.found.a.peak.bytes) in answer
    assert bundle["text/html"].index("gpt.head") > 0
    assert max(map(len, text.splitlines())) <= 80


def test_names_cannot_write_html():
    bundle = fixture.diff()._repr_mimebundle_()
    assert "<b>" not in bundle["text/html"] and "<i>" not in bundle["text/html"]
    assert "&lt;b&gt;" in bundle["text/html"]
    html = fixture.runs()._repr_mimebundle_()["text/html"]
    assert "<head>" not in html and "&lt;head&gt;" in html


def blocks(count, size, odd=-1):
    """Return a recording of a model of alike blocks of two layers, of which one may be larger."""
    script = Script()
    script.device()
    root = script.layer("model", type_="Model")
    rows = []
    for number in range(count):
        block = script.layer(str(number), root, "Block")
        wide = size * (2 if number == odd else 1)
        rows += [(script.layer(name, block, "Linear"), wide) for name in ("up", "down")]
    script.phase(PhaseKind.FORWARD)
    for row, wide in rows:
        script.alloc(wide, Category.ACTIVATION, layer=row)
    return script.build()


def test_alike_layers_are_one_line_and_an_odd_one_is_not():
    text = str(Diff(compare(blocks(6, KIB), blocks(6, 3 * KIB))))
    assert "0 … 5 (6×)" in text and "+4.00 KiB" in text
    assert text.count("up ") == 1
    text = str(Diff(compare(blocks(6, KIB), blocks(6, 3 * KIB, odd=2))))
    assert "0 … 1 (2×)" in text and "3 … 5 (3×)" in text
    assert text.count("up ") == 3
    text = str(Diff(compare(blocks(6, KIB), blocks(4, KIB))))
    assert "4 … 5 (2×)" in text and "removed" in text


def test_the_same_run_says_that_nothing_changed():
    data = fixture.run(False)
    diff = Diff(compare(data, data))
    assert str(diff.sentence) == f"The peak is the same: {format_bytes(peak(data, 0).bytes)}"
    assert diff.details == [] and diff.settings == [] and diff.peak_change == 0


def test_equal_peaks_of_other_things_are_told():
    def made(category):
        script = Script()
        script.device()
        row = script.layer("model")
        script.phase(PhaseKind.FORWARD)
        script.alloc(4 * KIB, category, layer=row)
        return script.build()

    diff = Diff(compare(made(Category.ACTIVATION), made(Category.TEMPORARY)))
    assert diff.peak_change == 0
    assert str(diff.sentence) == (
        "The peak is the same, 4.00 KiB, but: activations of model -4.00 KiB,"
        " temporaries of model +4.00 KiB"
    )


def test_a_prediction_says_how_far_off_it_was():
    a = fixture.run(False)
    predicted = replace(a, facts=replace(a.facts, evidence="predicted"))
    diff = Diff(compare(predicted, fixture.run(True)))
    sizes = diff.found.a.peak.bytes, diff.found.b.peak.bytes
    error = 100 * (sizes[0] - sizes[1]) / sizes[1]
    assert f"The prediction of the peak is off by {error:+.1f} %." in map(str, diff.details)
    assert not any("A step takes" in str(one) for one in diff.details)


@pytest.mark.parametrize("language", languages())
def test_histories_show_themselves(language):
    listed = replace(fixture.runs(), language=language)
    bundle = listed._repr_mimebundle_()
    assert "4.75 GiB" in bundle["text/plain"] and "41.2 ms" in bundle["text/html"]
    assert [run["id"] for run in bundle[HISTORY_MIME_TYPE]["runs"]] == [14, 12, 3]
    assert max(map(len, bundle["text/plain"].splitlines())) <= 80
    empty = RunList([], folder="x", language=language)
    assert empty._repr_mimebundle_()["text/plain"]
    assert len(replace(empty, search="bf16").to_pandas()) == 0


def test_a_history_in_a_notebook_keeps_the_newest_within_its_limit():
    run = fixture.runs()[0]
    many = [replace(run, id=number) for number in range(5000, 0, -1)]
    listed = RunList(many, folder="x", total=5000, payload_limit=60_000)
    payload = listed._repr_mimebundle_()[HISTORY_MIME_TYPE]
    assert len(json.dumps(payload, ensure_ascii=False).encode()) <= 60_000
    ids = [one["id"] for one in payload["runs"]]
    assert ids == list(range(5000, 5000 - len(ids), -1)) and len(ids) > 50
    assert payload["total"] == 5000


def test_pandas_has_a_row_for_each_run():
    table = fixture.runs().to_pandas()
    assert table.index.tolist() == [14, 12, 3]
    assert table["peak"].tolist() == [run.peak for run in fixture.runs()]
    assert str(table["created"].dtype).startswith("datetime64") and "spark" not in table
