"""Sizes as people write them: one rule, the same at every door."""

import pytest

from memtrack.cli.main import main
from memtrack.errors import UsageError
from memtrack.integrations.peakmeter import PeakMeter, limit_bytes
from memtrack.notebook.advice import parse_advise
from memtrack.planners.capacity import capacity_of
from memtrack.remedies.budget import checked_budget
from memtrack.reports.check import parse_increase
from memtrack.sizes import UNITS_HELP, parse_size

GIB = 1 << 30
UNITS = {"k": 1 << 10, "m": 1 << 20, "g": GIB, "t": 1 << 40}
DOORS = [
    parse_size,
    checked_budget,
    limit_bytes,
    lambda words: capacity_of(words).usable,
    lambda words: parse_advise(f"--budget '{words}'").budget,
    lambda words: parse_increase(words).bytes,
]


@pytest.mark.parametrize("letter", UNITS)
@pytest.mark.parametrize("spelling", ["{0}", "{0}b", "{0}ib", " {0}iB", "{0}B"])
def test_units_are_binary_however_they_are_spelled(letter, spelling):
    for case in (str.lower, str.upper):
        words = f"3{spelling.format(case(letter))}"
        assert parse_size(words) == 3 * UNITS[letter], words
    assert parse_size(f"1.5{letter}") == UNITS[letter] * 3 // 2


@pytest.mark.parametrize("read", DOORS)
def test_every_door_reads_24gb_as_gibibytes(read):
    for words in ("24GiB", "24GB", "24 gb", "24g", f"{24 * GIB}B"):
        assert read(words) == 24 * GIB


@pytest.mark.parametrize("read", DOORS[:-1])
@pytest.mark.parametrize("words", ["24", " 1048575 ", "1.5", "80"])
def test_every_door_asks_for_a_unit_where_nobody_means_bytes(read, words):
    with pytest.raises(UsageError, match=f"has no unit.*write {words.strip()}GiB"):
        read(words)


def test_bytes_are_taken_where_they_are_plainly_meant():
    assert parse_size("24B") == parse_size("24 bytes") == 24
    assert parse_size("1 byte") == 1
    assert parse_size("1048576") == 1 << 20
    assert [read(str(8 * GIB)) for read in DOORS[:-1]] == [8 * GIB] * 5
    assert limit_bytes(4096) == 4096
    assert limit_bytes("512B") == 512
    assert parse_increase("0").over(1000) == 1000
    for limit in (24, "24"):
        with pytest.raises(UsageError, match="write 24GiB, for bytes 24B"):
            PeakMeter(limit)


@pytest.mark.parametrize("read", DOORS)
@pytest.mark.parametrize(
    "words",
    [
        "",
        "-3",
        "abc",
        "1e9",
        "1.5.2",
        "9" * 400,
        "∞",
        "10 apples",
        "١٢",
        "1 QB",
        "²g",
        "GiB",
        "-3g",
    ],
)
def test_what_is_no_size_is_one_short_line(read, words):
    with pytest.raises(UsageError) as told:
        read(words)
    assert "\n" not in str(told.value)
    assert len(str(told.value)) < (900 if read is DOORS[3] else 200)  # which tells names of GPUs


@pytest.mark.parametrize("option", ["--max-peak", "--max-increase"])
def test_the_command_line_asks_before_it_reads_anything(option, capsys):
    assert main(["check", "absent.memtrack", option, "24"]) == 2
    told = capsys.readouterr().err
    assert "24GiB" in told or "5% or 200MiB" in told
    assert "absent" not in told


@pytest.mark.parametrize("command", ["check", "advise", "predict", "plan"])
def test_help_says_what_units_mean(command, capsys):
    with pytest.raises(SystemExit):
        main([command, "--help"])
    assert str(UNITS_HELP) in " ".join(capsys.readouterr().out.split())
