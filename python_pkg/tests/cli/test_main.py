"""The command line: what it prints, where, and with which exit code."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from readings_script import training
from synthetic import Script

import memtrack
from memtrack.cli import main
from memtrack.cli.main import NOTEBOOK_ONLY, _parser
from memtrack.notebook.words import SUB_COMMANDS
from memtrack.recording import save_recording
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


def test_unknown_command_names_the_closest(capsys):
    assert run(capsys, "opne", "x") == (
        2,
        "",
        "There is no command 'opne'. Did you mean 'open'?\n",
    )


def test_missing_file_names_the_closest(capsys, tmp_path):
    (tmp_path / ".memtrack").mkdir()
    assert run(capsys, "open", tmp_path / "x.memtrack")[2].count(".memtrack") == 1
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
        (["open"], "Something is missing: FILE"),
        (["open", "a", "b"], "'b' is one word too many."),
        (["open", "a", "--jsn"], "There is no option '--jsn'. Did you mean '--json'?"),
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
        (["open", "--help"], "a .memtrack file, a torch snapshot"),
        (["--version"], f"memtrack {memtrack.__version__}\n"),
    ):
        with pytest.raises(SystemExit) as left:
            main(arguments)
        assert left.value.code == 0
        assert expected in capsys.readouterr().out


def test_errors_in_chinese(capsys, monkeypatch):
    monkeypatch.setenv("MEMTRACK_LANG", "zh_CN")
    assert run(capsys, "diff", "--steps", "1", "2") == (
        2,
        "",
        "--steps 只接受一次运行，而不是两次。\n",
    )


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


def test_help_in_chinese(capsys, monkeypatch):
    monkeypatch.setenv("MEMTRACK_LANG", "zh_CN")
    with pytest.raises(SystemExit):
        main(["--help"])
    assert "显示 PyTorch 运行的显存用在了哪里" in capsys.readouterr().out


def test_no_space_after_a_chinese_full_stop(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("MEMTRACK_LANG", "zh_CN")
    (tmp_path / "note.memtrack").write_text("hello")
    _, _, err = run(capsys, "open", tmp_path / "note.memtrack")
    assert "。" in err
    assert "。 " not in err


def in_process(*arguments, stdout=subprocess.PIPE, **environment):
    program = "from memtrack.cli import main; raise SystemExit(main())"
    return subprocess.run(
        [sys.executable, "-c", program, *map(str, arguments)],
        stdout=stdout,
        stderr=subprocess.PIPE,
        env=os.environ | environment,
        timeout=60,
    )


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
@pytest.mark.parametrize("language", ["en", "zh_CN"])
def test_a_terminal_of_few_characters_gets_question_marks(encoding, language):
    done = in_process("open", FIXTURE, PYTHONIOENCODING=encoding, MEMTRACK_LANG=language)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"?" in done.stdout


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full here")
@pytest.mark.parametrize("arguments", [("open", FIXTURE), ("--help",)])
def test_a_full_disk_under_the_output_is_one_line(arguments):
    with open("/dev/full", "wb") as full:
        done = in_process(*arguments, stdout=full)
    assert done.returncode == 2
    assert done.stderr == b"The output cannot be written (No space left on device).\n"


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("~nosuchuser/x", "There is no file ~nosuchuser/x."),
        ("a\0b", "There is no file 'a\\x00b'."),
        ("/dev/zero", "/dev/zero is not a regular file."),
        (
            os.curdir,
            "There is no recording of a rank in the folder .. torchrun … -m memtrack run SCRIPT makes one.",
        ),
    ],
)
def test_names_that_are_no_file_are_one_line(capsys, path, problem):
    assert run(capsys, "open", path) == (2, "", f"{problem}\n")


def test_a_pipe_is_refused_without_waiting_for_it(capsys, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    code, _, err = run(capsys, "open", tmp_path / "pipe")
    assert (code, err) == (2, f"{tmp_path / 'pipe'} is not a regular file.\n")


@pytest.fixture
def read_file(tmp_path):
    """A saved recording whose allocator was read."""
    path = tmp_path / "run.memtrack"
    save_recording(training(marks=("before eval",)).build(), path)
    return path


@pytest.mark.parametrize(
    ("moments", "headings"),
    [
        ([], ["end of the recording"]),
        (["step", "2", "forward"], ["after forward of step 2"]),
        (["step 2 forward", "end"], ["First: after forward of step 2", "Second: end of the rec"]),
        (["start", "before eval"], ["First: start of the recording", "Second: mark 'before eval'"]),
    ],
)
def test_summary_prints_the_table_of_the_moments_asked_for(capsys, read_file, moments, headings):
    code, out, err = run(capsys, "summary", read_file, *moments)
    assert (code, err) == (0, "")
    assert out == repr(memtrack.open(read_file).summary(*moments)) + "\n"
    for line, heading in zip(out.splitlines()[2:], headings, strict=False):
        assert heading in line


@pytest.mark.parametrize(
    ("moments", "sentence"),
    [
        (["strat"], "There is no moment 'strat'. Did you mean 'start'? There are: start, step 1 f"),
        (["start", "end", "last"], "One moment or two, not 3: 'start', 'end', 'last'. A label wi"),
    ],
)
def test_summary_of_a_wrong_moment_is_one_line(capsys, read_file, moments, sentence):
    code, out, err = run(capsys, "summary", read_file, *moments)
    assert (code, out) == (2, "")
    assert err.startswith(sentence)
    assert err.count("\n") == 1


def test_summary_without_a_file_asks_for_the_file_alone(capsys):
    assert main(["summary"]) == 2
    assert "missing: FILE\n" in capsys.readouterr().err


def test_summary_of_a_run_on_the_cpu_says_why_there_is_none(capsys, tmp_path):
    script = Script()
    script.device(kind="cpu")
    save_recording(script.build(), tmp_path / "cpu.memtrack")
    code, out, err = run(capsys, "summary", tmp_path / "cpu.memtrack")
    sentence = "There are no allocator statistics: this run used the CPU only, which keeps none."
    assert (code, out, err) == (2, "", f"{sentence} Record it on a GPU.\n")


def test_a_recording_is_exported_as_a_snapshot(capsys, tmp_path):
    code, out, err = run(capsys, "open", FIXTURE, "--export-snapshot", tmp_path / "run.pickle")
    assert (code, err) == (0, "")
    assert out == f"Wrote {tmp_path / 'run.pickle'}: open it at pytorch.org/memory_viz.\n"
    assert memtrack.open(tmp_path / "run.pickle").peak.bytes > 0


def test_an_export_to_nowhere_is_one_line(capsys, tmp_path):
    target = tmp_path / "none" / "run.pickle"
    code, out, err = run(capsys, "open", FIXTURE, "--export-snapshot", target)
    assert (code, out) == (2, "")
    assert err == f"{target} cannot be written (No such file or directory).\n"


COMMANDS = [*_parser("en")[1]]


def test_every_magic_is_a_command_or_sent_to_the_notebook():
    assert set(SUB_COMMANDS) - {"help"} - set(COMMANDS) == set(NOTEBOOK_ONLY)


@pytest.mark.parametrize("word", NOTEBOOK_ONLY)
def test_a_magic_that_is_no_command_is_sent_to_the_notebook(capsys, word):
    assert word in SUB_COMMANDS and word not in COMMANDS
    assert main([word]) == 2
    told = capsys.readouterr().err
    assert told == f"{word} is for a notebook, whose kernel it asks. In a cell: %memtrack {word}\n"
