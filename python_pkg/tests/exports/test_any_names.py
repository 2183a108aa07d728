"""Names of layers and files may be anything: each format holds them, and the page runs none of them."""

import csv
import json
import re

import pandas as pd
import pytest
from synthetic import Script

import memtrack
from memtrack.errors import UnavailableError
from memtrack.exports import export
from memtrack.recording import Category, Facts, PhaseKind

NAMES = (
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(1)>",
    "a\nb",
    "é😀",
    "x\udcff",
)


def named(name):
    script = Script()
    script.device()
    layer = script.layer(name, parameters=256, parameter_bytes=1024)
    script.phase(PhaseKind.FORWARD)
    script.free(script.alloc(1024, category=Category.PARAMETER, layer=layer))
    data = script.build()
    return type(data)(Facts(label=name), data.strings, data.tables)


def spelled(name):
    return name.replace("\udcff", "?")


@pytest.mark.parametrize("name", NAMES)
def test_tables_hold_any_name(tmp_path, name):
    data = named(name)
    with export(data, tmp_path / "a.csv").open(encoding="utf-8", newline="") as lines:
        assert spelled(name) in [row["layer"] for row in csv.DictReader(lines)]
    whole = json.loads(export(data, tmp_path / "a.json").read_text(encoding="utf-8"))
    assert whole["label"] == spelled(name)
    frame = pd.read_parquet(export(data, tmp_path / "a.parquet"))
    assert spelled(name) in list(frame["layer"])


@pytest.mark.parametrize("name", NAMES)
def test_no_name_becomes_markup_of_the_page(tmp_path, name):
    page = export(named(name), tmp_path / "a.html").read_text(encoding="utf-8")
    plain = export(named("plain"), tmp_path / "b.html").read_text(encoding="utf-8")
    tags = re.compile(r"<\s*/?(script|img)\b", re.IGNORECASE)
    assert len(tags.findall(page)) == len(tags.findall(plain))


@pytest.mark.parametrize("ending", [".csv", ".json", ".html", ".parquet", ".memtrack", ".pickle"])
def test_a_name_that_is_too_long_for_the_system_is_told_in_one_line(tmp_path, ending):
    with pytest.raises(UnavailableError, match="cannot be written"):
        export(named("net"), tmp_path / ("n" * 300 + ending))
    assert list(tmp_path.iterdir()) == []


def test_a_frame_holds_any_name():
    found = memtrack.api.Recording(named("x\udcff")).to_pandas()
    assert "x?" in list(found["layer"])
