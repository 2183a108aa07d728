"""The summary table, against torch's own."""

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from readings_script import FAMILIES, FIGURES, POOLS, figures, read, training
from synthetic import PhaseKind, Script

from memtrack.errors import UnavailableError, UsageError
from memtrack.recording.categories import ReadingKind
from memtrack.reports.cells import display_width
from memtrack.reports.summary import moment_names, summarise
from memtrack.reports.summarytext import summary_table

NAMES = [f"{family}.{pool}.{figure}" for family in FAMILIES for pool in POOLS for figure in FIGURES]
OVERSIZE = [
    f"oversize_{kind}.{figure}" for kind in ("allocations", "segments") for figure in FIGURES
]


def recording_of(*readings):
    script = Script()
    script.device()
    script.phase(PhaseKind.OTHER, step=0)
    for number, statistics in enumerate(readings):
        read(script, ReadingKind.MARK, statistics, label=f"mark {number}")
    return script.build()


def torchs_own(statistics, monkeypatch):
    """Return the lines of `torch.cuda.memory_summary` for these statistics."""
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(torch.cuda.memory, "memory_stats", lambda device=None: statistics)
    return torch.cuda.memory_summary(0).splitlines()


def body(table):
    """Return the lines from the counters on, without the heading, in which we name the moment."""
    lines = table.splitlines()
    start = next(number for number, line in enumerate(lines) if "OOMs" in line)
    return lines[start:]


@pytest.mark.parametrize("scale", [1, 7, 640, 100_003, 3 * 10**9])
def test_every_line_is_that_of_memory_summary(scale, monkeypatch):
    statistics = figures(scale, ooms=3)
    table = summary_table(recording_of(statistics), 0, "mark 0")
    assert body(table) == body("\n".join(torchs_own(statistics, monkeypatch)))


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(0, 2**45), min_size=120, max_size=120))
def test_any_statistics_read_as_in_memory_summary(values):
    statistics = dict.fromkeys(["num_ooms", "num_alloc_retries"], 0)
    statistics |= dict(zip([*NAMES, *OVERSIZE], values, strict=False))
    for family in FAMILIES:  # as in the allocator: the sum of both pools
        for figure in FIGURES:
            large, small = (statistics[f"{family}.{pool}.{figure}"] for pool in POOLS[1:])
            statistics[f"{family}.all.{figure}"] = large + small
    statistics["allocation.all.allocated"] = 1 + values[-1]
    with pytest.MonkeyPatch.context() as patch:
        expected = torchs_own(statistics, patch)
    data = recording_of(statistics)
    assert body(summary_table(data, 0, "mark 0")) == body("\n".join(expected))


def test_heading_says_which_device_and_moment():
    lines = summary_table(training().build(), 0, "step 2 forward").splitlines()
    assert lines[1].strip("| ") == "PyTorch CUDA memory summary, device ID 0"
    assert lines[2].strip("| ") == "after forward of step 2"
    assert {len(line) for line in lines} == {77}


def cells(table, name, column):
    """Return a column of the rows called `name`."""
    rows = [line.strip("|").split("|") for line in table.splitlines()]
    return [row[column].strip() for row in rows if row[0].strip() == name]


def test_two_moments_are_compared_with_signs():
    before = {"allocated_bytes.all.current": 5 << 20, "allocated_bytes.small_pool.current": 4096}
    after = {"allocated_bytes.all.current": 3 << 20, "allocated_bytes.small_pool.current": 9216}
    after |= {"allocated_bytes.all.peak": 7 << 20, "num_ooms": 1, "allocation.all.allocated": 5}
    table = summary_table(recording_of(before, after), 0, "mark 0", "mark 1")
    assert cells(table, "Allocated memory", 1) == ["5120 KiB"]
    assert cells(table, "Allocated memory", 2) == ["3072 KiB"]
    assert cells(table, "Allocated memory", 3) == ["-2048 KiB"]
    assert cells(table, "Allocated memory", 4) == ["+7168 KiB"]
    assert cells(table, "from small pool", 3)[0] == "+5120 B"
    assert cells(table, "Active memory", 3) == ["0 B"]
    assert "CUDA OOMs: 1 (+1)" in table
    assert {len(line) for line in table.splitlines()} == {77}


@given(st.integers(0, 2**50), st.integers(0, 2**50), st.integers(0, 2**50), st.integers(0, 2**50))
def test_differences_fit_their_column_and_lose_less_than_a_unit(large, small, large2, small2):
    def of(large, small):
        return {
            "allocated_bytes.all.current": large + small,
            "allocated_bytes.large_pool.current": large,
            "allocated_bytes.small_pool.current": small,
            "allocation.all.allocated": 1,
        }

    table = summary_table(recording_of(of(large, small), of(large2, small2)), 0, "mark 0", "mark 1")
    assert {len(line) for line in table.splitlines()} == {77}
    units = {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}
    for name, change in (("from large pool", large2 - large), ("from small pool", small2 - small)):
        figure, unit = cells(table, name, 3)[0].split()
        assert abs(int(figure) * units[unit] - change) < units[unit]
        assert abs(int(figure) * units[unit] - change) * 97 <= abs(change)
        assert abs(int(figure) * units[unit]) <= abs(change)


def test_differences_as_numbers():
    summary = summarise(recording_of(figures(2), figures(5)), ["mark 0", "mark 1"])
    (device,) = summary.devices
    assert device.differences == {name: 3 * value for name, value in figures(1).items() if value}
    assert device.latest == {name: value for name, value in figures(5).items() if value}
    assert summarise(recording_of(figures(2)), []).devices[0].differences == {}


def test_what_an_allocator_does_not_keep_is_no_zero():
    script = Script()
    script.device(kind="mps", index=-1, name="Apple GPU")
    script.phase(PhaseKind.OTHER, step=0)
    read(script, ReadingKind.START, {"allocated_bytes.all.current": 4096})
    table = summary_table(script.build(), 0, "start")
    assert "PyTorch MPS memory summary, device ID 0" in table
    assert cells(table, "Allocated memory", 1) == ["4096 B"]
    assert cells(table, "Allocated memory", 2) == ["-"]
    assert cells(table, "Allocations", 1) == ["-"]
    assert {len(line) for line in table.splitlines()} == {77}


def test_each_device_has_a_table_and_one_without_the_moment_has_none():
    script = training(steps=1, devices=2)
    add = script.builder.strings.add
    script.builder["readings"].add(device=1, kind=int(ReadingKind.MARK), label=add("late"))
    data = script.build()
    assert [device.index for device in summarise(data, ["end"]).devices] == [0, 1]
    assert [device.index for device in summarise(data, ["late"]).devices] == [1]


def test_peak_says_that_it_was_read_afterwards():
    text = summarise(training().build(), ["peak"]).text
    assert "after backward of step 3, the first reading since the peak" in text


def test_more_than_two_moments_are_too_many():
    with pytest.raises(UsageError) as raised:
        summarise(training().build(), ["start", "step", "1", "end"])
    assert str(raised.value) == (
        "One moment or two, not 3: 'start', 'step 1', 'end'. A label with spaces needs quotes."
    )


def test_a_moment_is_a_text():
    with pytest.raises(UsageError) as raised:
        summarise(training().build(), [3])
    assert "not 3. For example: recording.summary('step 3')" in str(raised.value)


@pytest.mark.parametrize(
    ("device", "evidence", "sentence"),
    [
        ("cpu", "measured", "There are no allocator statistics: this run used the CPU only, which keeps none. Record it on a GPU."),
        ("cuda", "opened", "A torch snapshot holds no statistics of the allocator. Record the run with memtrack to have them at every step."),
        ("cuda", "measured", "There are no allocator statistics in this recording. Its allocator gave none, or an older memtrack made it: record the run again."),
    ],
)  # fmt: skip
def test_without_readings_one_line_says_why(device, evidence, sentence):
    script = Script()
    script.device(kind=device)
    data = script.build(evidence=evidence)
    with pytest.raises(UnavailableError) as raised:
        summarise(data, [])
    assert str(raised.value) == sentence
    assert moment_names(data) == []


def test_names_for_completion_are_all_found():
    data = training(marks=("a", "a", "b c")).build()
    names = moment_names(data)
    assert names[0] == "start"
    assert {"a 1", "a 2", "b c", "peak", "last"} <= set(names)
    for name in names:
        assert summarise(data, [name]).devices


class Cells(HTMLParser):
    """Reads a table: its cells with their titles, and every tag."""

    def __init__(self):
        super().__init__()
        self.tags, self.titles, self.texts = [], [], []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        if tag == "td":
            self.titles.append(dict(attributes)["title"])

    def handle_data(self, data):
        self.texts.append(data)


def test_html_says_the_same_and_the_exact_numbers():
    summary = summarise(training().build(), ["step 2 forward"])
    page = Cells()
    page.feed(summary._repr_html_())
    values = summary.devices[0].first.values
    assert page.titles[0] == f"{values['allocated_bytes.all.current']:,}"
    assert page.tags.count("tbody") == len(FAMILIES) + 2
    assert page.tags.count("tr") == 1 + 3 * len(FAMILIES) + 2
    shown = [text for text in page.texts if re.fullmatch(r"\d+ [KMGT]iB", text)]
    table = summary.text
    first = [cells(table, "Allocated memory", column)[0] for column in range(1, 5)]
    assert [re.sub(" +", " ", cell) for cell in first] == shown[:4]


def test_what_comes_from_a_recording_is_escaped_and_bounded():
    label = "<script>alert(1)</script>\x1b[31m\n" + "x" * 5000
    data = training(marks=(label,)).build()
    summary = summarise(data, [label])
    assert "<script" not in summary._repr_html_()
    assert len(summary._repr_html_()) < 20_000
    assert "\x1b" not in summary.text
    assert {len(line) for line in summary.text.splitlines()} == {77}


@pytest.mark.parametrize("moments", [[], ["start", "end"], ["peak"]])
def test_chinese_table_keeps_its_columns(moments):
    summary = summarise(training().build(), moments, "zh_CN")
    assert {display_width(line) for line in summary.text.splitlines()} == {77}
    assert "已分配" in summary.text
    assert 'lang="zh-CN"' in summary._repr_html_()
    assert not re.search(
        "[A-Za-z]{5,}", summary.text.replace("PyTorch", "").replace("cudaMalloc", "")
    )


def test_saved_as_text(tmp_path):
    summary = summarise(training().build(), ["start", "end"])
    path = summary.save(tmp_path / "summary.txt")
    assert path.read_text(encoding="utf-8") == repr(summary) + "\n"
