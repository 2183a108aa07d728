"""What people type wrong, at every command: one line that says what to do, exit code 2, in either language."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from memtrack.cli import main
from memtrack.cli.main import INTERRUPTED, NOTEBOOK_ONLY, _parser

RECORDING = Path(__file__).parents[1] / "fixtures" / "report" / "recording.memtrack"
NAME = "my run é's.memtrack"
OF_FILES = ("open", "summary", "export", "advise", "diff", "check")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A folder of good and bad files, in which the command is given."""
    monkeypatch.setenv("MEMTRACK_LANG", "en")
    monkeypatch.setenv("MEMTRACK_HISTORY", str(tmp_path / "kept"))
    monkeypatch.chdir(tmp_path)
    whole = RECORDING.read_bytes()
    (tmp_path / NAME).write_bytes(whole)
    (tmp_path / "cut.memtrack").write_bytes(whole[:400])
    (tmp_path / "empty.memtrack").touch()
    (tmp_path / "note.txt").write_text("hello")
    (tmp_path / "bad.pickle").write_bytes(b"\x80\x04garbage")
    (tmp_path / "adir.memtrack").mkdir()
    return tmp_path


def told(capsys, *words):
    code = main(list(words))
    out, err = capsys.readouterr()
    return code, out, err


FILES = [
    ("missing.memtrack", "There is no file missing.memtrack."),
    ("./", "There is no recording of a rank in the folder"),
    ("adir.memtrack", "There is no recording of a rank in the folder adir.memtrack."),
    ("empty.memtrack", "empty.memtrack is empty."),
    ("note.txt", "note.txt is not a file that memtrack knows."),
    ("cut.memtrack", "It may be cut short"),
    ("bad.pickle", "bad.pickle is cut short or damaged."),
]


@pytest.mark.parametrize("language", ["en", "zh_CN"])
@pytest.mark.parametrize("command", OF_FILES)
@pytest.mark.parametrize(("file", "said"), FILES)
def test_a_file_that_is_none(command, file, said, language, capsys, monkeypatch, folder):
    if file == "./":
        for one in folder.glob("*.memtrack"):
            one.unlink() if one.is_file() else one.rmdir()
    monkeypatch.setenv("MEMTRACK_LANG", language)
    rest = {"export": ["out.csv"], "diff": [NAME], "check": ["--max-peak", "1GiB"]}
    given = [file, NAME] if command == "diff" and file != "./" else [file, *rest.get(command, ())]
    if command == "diff":
        given = [file, file]
    code, out, err = told(capsys, command, *given)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert said in err or language == "zh_CN"
    assert not (folder / "out.csv").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["open", ""], "The name of a file is missing"),
        (["export", NAME, ""], "The name of a file is missing"),
        (["export", NAME, "out"], "'out' has no ending that says the format. Known: .csv"),
        (["export", NAME, ".csv"], "'.csv' has no ending"),
        (["export", NAME, "out.cvs"], "There is no format '.cvs'. Did you mean '.csv'?"),
        (["export", NAME, "adir.memtrack"], "adir.memtrack is a folder."),
        (["export", NAME, "no/out.csv"], "no/out.csv cannot be written (No such file"),
        (["export", NAME, "a\0b.csv"], "No file can have the name 'a\\x00b.csv'."),
        (["export", NAME, "x" * 300 + ".csv"], "cannot be written (File name too long)"),
        (["export", NAME], "Something is missing: OUT"),
        (["open", NAME, "--export-snapshot", "no/out"], "no/out cannot be written"),
        (["open", NAME, "--export-snapshot", "note.txt"], "There is a file note.txt already."),
        (["open", NAME, "--export-snapshot", "bad"], "There is a file bad.pickle already."),
        (["open", NAME, "--export-snapshot"], "--export-snapshot needs a value after it."),
        (["open", NAME, "--rank", "x"], "--rank takes a whole number, not 'x'."),
        (["open", NAME, "--js"], "Did you mean '--json'?"),
        (["check", NAME, "--max-increase", "much"], "An increase is such as 5% or 200MiB."),
        (["history", "--limit", "0"], "--limit takes a whole number from 1 up, not '0'."),
        (["history", "--folder", "note.txt"], "note.txt is not a folder."),
        (["explain", "--language", "xx"], "--language is one of en, zh_CN, not 'xx'."),
        (["gpu", "0"], "'0' is one word too many."),
        (["help", "opne"], "Did you mean 'open'?"),
        (["run", "--nope", "a.py"], "There is no option '--nope'."),
        (["summary", NAME, "--json"], "There is no option '--json'."),
    ],
)
def test_words_that_are_wrong(words, said, capsys):
    code, out, err = told(capsys, *words)
    assert (code, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1


def test_every_refusal_of_arguments_is_translated(capsys, monkeypatch):
    monkeypatch.setenv("MEMTRACK_LANG", "zh_CN")
    for words in (["open"], ["open", "a", "b"], ["open", "a", "--rank", "x"], ["gpu", "--watch"]):
        code, _, err = told(capsys, *words)
        assert code == 2
        assert any("\u4e00" <= letter <= "\u9fff" for letter in err), err


def test_words_may_stand_behind_options(capsys, folder):
    (folder / "train.ranks").mkdir()
    (folder / NAME).rename(folder / "train.ranks" / "train.rank0.memtrack")
    before = told(capsys, "summary", "train.ranks", "step 1", "end", "--rank", "0")
    assert before[0] == 0
    assert told(capsys, "summary", "train.ranks", "--rank", "0", "step 1", "end") == before
    assert told(capsys, "summary", "--rank", "0", "train.ranks", "step 1", "end") == before
    code, _, err = told(capsys, "history", "--json", "bf16")
    assert code == 2 and "There is no history" in err


def test_names_with_spaces_quotes_and_letters_of_any_language_are_files(capsys, folder):
    for out in ("a b.csv", "it's “ç”.json", "运行 1.html"):
        code, said, err = told(capsys, "export", NAME, out)
        assert (code, said, err) == (0, f"Wrote {out}.\n", "")
        assert (folder / out).stat().st_size > 0


def test_help_is_there_for_every_command(capsys):
    for command in _parser("en")[1]:
        for words in (["help", command], [command, "--help"]):
            with pytest.raises(SystemExit) as left:
                main(words)
            assert left.value.code == 0
            out = capsys.readouterr().out
            assert out.startswith("usage: memtrack")
            assert "show this help message" not in out
    assert main(["help", NOTEBOOK_ONLY[0]]) == 2


def shell(words, tmp_path):
    command = f"{sys.executable} -m memtrack {words}"
    environment = {**os.environ, "MEMTRACK_LANG": "en"}
    return subprocess.run(
        ["/bin/sh", "-c", command], capture_output=True, text=True, env=environment, cwd=tmp_path
    )


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="streams of Linux")
def test_streams_that_are_closed_full_or_left_are_no_crash(folder):
    closed = shell(f'open "{NAME}" >&-', folder)
    assert (closed.returncode, closed.stderr) == (0, "")
    full = shell(f'open "{NAME}" >/dev/full', folder)
    assert full.returncode == 2
    assert full.stderr == "The output cannot be written (No space left on device).\n"
    left = shell(f'open "{NAME}" --json | head -c 1', folder)
    assert (left.stdout, left.stderr) == ("{", "")
    unread = shell("explain <&-", folder)
    assert unread.returncode == 2 and unread.stderr.startswith("No text was given.")


def test_ctrl_c_leaves_no_traceback(capsys, monkeypatch):
    from memtrack.cli import gpu_look

    class Interrupted:
        def read(self):
            raise KeyboardInterrupt

        def close(self):
            pass

    monkeypatch.setattr(gpu_look, "AllDevices", Interrupted)
    assert told(capsys, "gpu") == (INTERRUPTED, "", "")


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_permission_is_one_line(capsys, folder):
    (folder / "adir.memtrack").chmod(0o555)
    code, out, err = told(capsys, "export", NAME, "adir.memtrack/out.csv")
    assert (code, out) == (2, "")
    assert err == "adir.memtrack/out.csv cannot be written (Permission denied).\n"
