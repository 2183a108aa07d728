"""The command line: what it prints, where, and with which exit code."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import memtrack
from memtrack.cli import main
from memtrack.cli.main import LATER
from memtrack.reports import build_report, render_text

FIXTURE = Path(__file__).parents[1] / "fixtures" / "report" / "recording.memtrack"


@pytest.fixture(autouse=True)
def english(monkeypatch):
    monkeypatch.setenv("MEMTRACK_LANG", "en")
    monkeypatch.setenv("COLUMNS", "80")


def run(capsys, *arguments):
    code = main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    return code, out, err


def test_open_prints_the_text_report(capsys):
    code, out, err = run(capsys, "open", FIXTURE)
    report = build_report(memtrack.open(FIXTURE).data)
    assert (code, err) == (0, "")
    assert out == render_text(report) + "\n"


def test_open_json_is_one_object_that_agrees_with_the_report(capsys):
    code, out, err = run(capsys, "open", FIXTURE, "--json")
    assert (code, err) == (0, "")
    summary = json.loads(out)
    report = memtrack.open(FIXTURE).report()
    assert summary["schema"] == "memtrack.report/1"
    assert summary["steps"] == report.steps
    view, shown = report.views[0], summary["views"][0]
    assert shown["peak"]["bytes"] == view.peak.bytes
    assert shown["headline"]["en"] == str(view.headline)
    assert sum(part["bytes"] for part in shown["ledger"]["parts"]) == shown["ledger"]["total"]
    expected = report.layers.path[view.peak.layer] if view.peak.layer >= 0 else None
    assert shown["peak"]["layer"] == expected


@pytest.mark.parametrize("command", LATER)
def test_commands_of_later_versions_are_known(capsys, command):
    code, out, err = run(capsys, command, "x", "--json")
    assert (code, out) == (2, "")
    assert err == f"memtrack {command} is not available in this version yet.\n"


def test_unknown_command_names_the_closest(capsys):
    assert run(capsys, "opne", "x") == (
        2,
        "",
        "There is no command 'opne'. Did you mean 'open'?\n",
    )


def test_missing_file_names_the_closest(capsys, tmp_path):
    (tmp_path / "run-12.memtrack").write_bytes(b"")
    code, out, err = run(capsys, "open", tmp_path / "run12.memtrack")
    assert (code, out) == (2, "")
    assert err == (
        f"There is no file {tmp_path / 'run12.memtrack'}."
        f" Did you mean '{tmp_path / 'run-12.memtrack'}'?\n"
    )


def test_unreadable_file_is_one_line(capsys, tmp_path):
    path = tmp_path / "cut.memtrack"
    path.write_bytes(FIXTURE.read_bytes()[:500])
    code, out, err = run(capsys, "open", path)
    assert (code, out) == (2, "")
    assert err.startswith(str(path))
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["open"], "the following arguments are required: FILE"),
        (["open", "a", "b"], "unrecognized arguments: b"),
        (["open", "a", "--jsn"], "unrecognized arguments: --jsn"),
    ],
)
def test_wrong_use_is_one_line(capsys, arguments, problem):
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (2, "")
    assert problem in err
    assert err.count("\n") == 1


def test_no_command_shows_the_help_and_is_wrong_use(capsys):
    code, out, err = run(capsys)
    assert (code, out) == (2, "")
    assert "usage: memtrack" in err


def test_help_and_version(capsys):
    for arguments, expected in (
        (["--help"], "usage: memtrack"),
        (["open", "--help"], "a .memtrack file"),
        (["--version"], f"memtrack {memtrack.__version__}\n"),
    ):
        with pytest.raises(SystemExit) as left:
            main(arguments)
        assert left.value.code == 0
        assert expected in capsys.readouterr().out


def test_errors_in_chinese(capsys, monkeypatch):
    monkeypatch.setenv("MEMTRACK_LANG", "zh_CN")
    assert run(capsys, "diff") == (2, "", "memtrack diff 在此版本中尚不可用。\n")


def test_reader_that_stops_reading_is_no_failure():
    program = f"from memtrack.cli import main; raise SystemExit(main(['open', {str(FIXTURE)!r}]))"
    process = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait() == 0


def test_installed_command_is_this_one():
    from importlib.metadata import entry_points

    (script,) = entry_points(group="console_scripts", name="memtrack")
    assert script.load() is main
