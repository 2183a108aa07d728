"""Tables and files that a recording is exported to, read back by others than us."""

import csv
import json
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from random_recordings import recordings

import memtrack
from memtrack.api import Recording
from memtrack.cli.main import main
from memtrack.exports.page import MOST_BYTES
from memtrack.exports.tables import TABLE_NAMES, device_name, table_of
from memtrack.recording import save_recording
from memtrack.reports import notebook_payload

FIXTURE = Path(__file__).parent.parent / "fixtures" / "report" / "recording.memtrack"
DOCS = Path(__file__).parents[3] / "docs" / "exports.md"
ADDITIVE = ("at_peak", "parameters", "gradients", "optimizer", "buffers")


@pytest.fixture(scope="module")
def recording():
    return memtrack.open(FIXTURE)


@given(recordings())
@settings(max_examples=60, deadline=None)
def test_events_and_what_was_there_before_are_what_the_timeline_says(data):
    events, points = table_of(data, "events").to_pandas(), table_of(data, "timeline").to_pandas()
    signs = {"alloc": 1, "free": -1}
    for device in range(len(data.devices)):
        name = device_name(data, device)
        mine = points[points["device"] == name]
        if not len(mine):
            continue
        old = (data.allocations["start"] == -1) & (data.allocations["device"] == device)
        moved = [
            size * signs.get(event, 0) if at == name else 0
            for event, at, size in zip(
                events["event"], events["device"], events["bytes"], strict=True
            )
        ]
        levels = np.concatenate(([0], np.cumsum(moved))) + int(data.allocations["bytes"][old].sum())
        assert levels[mine["cut"]].tolist() == mine["allocated_bytes"].tolist()
        categories = [one for one in mine if one.endswith("_bytes")][2:]
        assert mine[categories].sum(axis=1).tolist() == mine["allocated_bytes"].tolist()


@given(recordings())
@settings(max_examples=40, deadline=None)
def test_layers_and_what_belongs_to_none_sum_to_the_peak_of_each_device(data):
    layers, parts = table_of(data, "layers").to_pandas(), table_of(data, "ledger").to_pandas()
    points = table_of(data, "timeline").to_pandas()
    for device, rows in layers.groupby("device"):
        peak = points[points["device"] == device]["allocated_bytes"].max()
        assert rows["at_peak_bytes"].sum() == peak
        whole = parts[(parts["device"] == device) & (parts["within"] == "")]
        categories = {name.removesuffix("_bytes") for name in points.columns[8:]}
        assert whole[whole["part"].isin(categories)]["bytes"].sum() == peak
        for part, details in parts[parts["device"] == device].groupby("within"):
            if part:
                assert details["bytes"].sum() == whole[whole["part"] == part]["bytes"].sum()


@pytest.mark.parametrize("table", TABLE_NAMES)
def test_csv_parquet_and_json_hold_what_pandas_gets(recording, tmp_path, table):
    expected = recording.to_pandas(table)
    recording.export(tmp_path / "a.csv", table=table)
    with (tmp_path / "a.csv").open(newline="", encoding="utf-8") as file:
        names, *lines = csv.reader(file)
    assert names == list(expected.columns)
    as_text = [
        ["" if pd.isna(cell) else str(cell) for cell in row]
        for row in expected.itertuples(index=False)
    ]
    assert lines == as_text

    recording.export(tmp_path / "a.json", table=table)
    found = json.loads((tmp_path / "a.json").read_text())
    assert (found["schema"], found["table"]) == ("memtrack.export/1", table)
    assert found["columns"] == names
    cells = [
        [None if pd.isna(cell) else cell for cell in row]
        for row in expected.itertuples(index=False)
    ]
    assert found["rows"] == cells

    pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
    recording.export(tmp_path / "a.parquet", table=table)
    back = pd.read_parquet(tmp_path / "a.parquet")
    rows = [
        [None if pd.isna(cell) else cell for cell in row] for row in back.itertuples(index=False)
    ]
    assert rows == cells


def test_without_a_name_csv_is_the_layer_table_and_json_all_but_the_events(recording, tmp_path):
    recording.export(tmp_path / "run.csv")
    assert len(pd.read_csv(tmp_path / "run.csv")) == len(recording.to_pandas("layers"))
    found = json.loads(memtrack.export(recording, tmp_path / "run.json").read_text())
    assert found["devices"][0]["peak"]["bytes"] == recording.peak.bytes
    assert found["devices"][0]["peak"]["layer"] == recording.peak.layer_path
    assert [len(found[name]["rows"]) for name in ("layers", "ledger", "timeline")] == [
        len(recording.to_pandas(name)) for name in ("layers", "ledger", "timeline")
    ]
    assert "events" not in found


def test_every_column_is_documented(recording):
    told = set(re.findall(r"`(\w+)`", DOCS.read_text(encoding="utf-8")))
    for table in TABLE_NAMES:
        assert set(recording.to_pandas(table).columns) - told == set(), table


class _Page(HTMLParser):
    """What a browser would fetch, and the payload."""

    def __init__(self, source):
        super().__init__()
        self.fetched, self.payload, self._is_payload = [], "", False
        self.feed(source)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.fetched += [found[name] for name in ("src", "href", "srcset") if name in found]
        self._is_payload = found.get("id") == "payload"

    def handle_endtag(self, tag):
        self._is_payload = False

    def handle_data(self, data):
        self.payload += data if self._is_payload else ""


def test_the_page_has_the_payload_of_a_notebook_and_nothing_to_fetch(recording, tmp_path):
    path = recording.export(tmp_path / "run.html")
    source = path.read_text(encoding="utf-8")
    assert len(source.encode()) < MOST_BYTES
    page = _Page(source)
    assert page.fetched == []
    assert json.loads(page.payload) == notebook_payload(recording.report(), 900_000)
    assert "default-src 'none'" in source
    assert "tiny &lt;run&gt;" in source.partition("<script")[0]
    assert source.count("</script>") == 3


def test_a_snapshot_and_a_recording_are_what_their_own_readers_open(recording, tmp_path):
    for name in ("run.pickle", "run.memtrack"):
        assert memtrack.open(recording.export(tmp_path / name)).peak.bytes == recording.peak.bytes


def test_a_file_that_is_there_stays_unless_forced(recording, tmp_path):
    path = tmp_path / "run.json"
    path.write_text("mine")
    with pytest.raises(memtrack.UsageError, match=r"There is a file .*run\.json already\. --force"):
        recording.export(path)
    assert path.read_text() == "mine"
    recording.export(path, force=True)
    assert json.loads(path.read_text())["schema"] == "memtrack.export/1"


@pytest.mark.parametrize(
    ("name", "table", "words"),
    [
        ("run.xlsx", "", "There is no format '.xlsx'."),
        ("run", "", "The name 'run' has no ending"),
        ("run.csv", "layer", "There is no table 'layer'. Did you mean 'layers'?"),
        ("run.html", "layers", "A single table is written as .csv, .parquet, .json."),
        ("missing/run.csv", "", "cannot be written (No such file or directory)"),
    ],
)
def test_wrong_use_is_one_line(recording, tmp_path, capsys, name, table, words):
    given = ["export", str(FIXTURE), str(tmp_path / name)]
    assert main([*given, "--table", table] if table else given) == 2
    error = capsys.readouterr().err
    assert words in error and error.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("ending", ["csv", "json", "html", "parquet", "pickle", "memtrack"])
def test_a_full_disk_is_one_line_and_leaves_no_part_of_a_file(tmp_path, ending):
    pytest.importorskip("resource")
    if ending == "parquet":
        pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
    program = f"memtrack.open({str(FIXTURE)!r}).export({str(tmp_path / 'run')!r} + '.{ending}')"
    code = (
        "import memtrack, resource, signal\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (500, 500))\n"
        f"try:\n    {program}\n"
        "except memtrack.MemtrackError as error:\n    print(error)\n"
    )
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "MEMTRACK_LANG": "en"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment
    )
    assert done.stdout == f"{tmp_path / 'run'}.{ending} cannot be written (File too large).\n", (
        done.stderr
    )
    assert list(tmp_path.iterdir()) == []


def test_what_a_package_is_needed_for_is_said(recording, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(memtrack.UnavailableError, match=r"needs pandas.*pip install pandas"):
        recording.to_pandas("events")
    with pytest.raises(memtrack.UnavailableError, match=r"needs pyarrow.*pip install pyarrow"):
        recording.export(tmp_path / "run.parquet")
    assert list(tmp_path.iterdir()) == []


def test_the_command_says_where_the_file_is(tmp_path, capsys):
    out = tmp_path / "run.csv"
    assert main(["export", str(FIXTURE), str(out), "--table", "ledger"]) == 0
    assert capsys.readouterr().out == f"Wrote {out}.\n"
    assert (
        out.read_text().startswith("device,part,within,bytes,certainty\n")
        or "\r\n" in out.read_text()
    )


def test_a_recording_without_memory_has_empty_tables(tmp_path):
    from memtrack.recording import Facts, RecordingBuilder

    data = RecordingBuilder().build(Facts())
    empty = Recording(data)
    assert all(len(empty.to_pandas(table)) == 0 for table in TABLE_NAMES)
    for ending in ("csv", "json", "html"):
        empty.export(tmp_path / f"run.{ending}")
    assert memtrack.open(save_recording(data, tmp_path / "run")).to_pandas().empty
