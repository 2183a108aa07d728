"""The report that Python and TypeScript share is what the code of today makes."""

import base64
import json
import zlib
from pathlib import Path

import make_report_fixture
import numpy as np
import pytest
from checks import assert_same_recording, check_recording

from memtrack.recording import load_recording
from memtrack.reports.payload import encode_report

FOLDER = Path(make_report_fixture.__file__).parent / "fixtures" / "report"


def read(name):
    return json.loads((FOLDER / name).read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def fixture():
    return make_report_fixture.build_fixture()


def test_files_are_what_the_script_writes(fixture):
    data, report, expected = fixture
    payload, buffers = encode_report(report)
    assert read("report.json")["report"] == payload
    assert (FOLDER / "report.bin").read_bytes() == b"".join(buffers)
    assert read("expected.json") == expected
    assert_same_recording(load_recording(FOLDER / "recording.memtrack"), data)


def test_notebook_holds_the_same_columns():
    notebook = read("notebook.json")
    assert notebook["report"] == read("report.json")["report"]
    assert notebook["lengths"] == read("report.json")["lengths"]
    packed = base64.b64decode(notebook["buffers"])
    assert zlib.decompress(packed) == (FOLDER / "report.bin").read_bytes()


def test_a_reader_of_the_payload_finds_the_expected_facts():
    framed, binary, expected = (
        read("report.json"),
        (FOLDER / "report.bin").read_bytes(),
        read("expected.json"),
    )
    starts = np.concatenate(([0], np.cumsum(framed["lengths"])))

    def column(reference):
        begin, end = (starts[reference["column"] + shift] for shift in (0, 1))
        values = np.frombuffer(binary[begin:end], dtype=f"<{reference['type']}")
        assert len(values) == reference["length"]
        return values

    for view, facts in zip(framed["report"]["views"], expected["views"], strict=True):
        points = view["timeline"]["points"]
        assert column(points["allocated"])[view["timeline"]["peak_point"]] == facts["peak"]["bytes"]
        assert len(column(points["cut"])) == facts["points"]
        for name, total in facts["column_sums"].items():
            assert column(view["layers"]["columns"][name]).sum() == total, name
        assert {part["id"]: part["bytes"] for part in view["ledger"]["parts"]} == facts["ledger"]
    assert expected["views"][0]["peak"]["bytes"] > 2**32


def test_every_law_holds(fixture):
    check_recording(fixture[0])


def test_files_stay_small():
    assert sum(file.stat().st_size for file in FOLDER.iterdir()) < 120_000
