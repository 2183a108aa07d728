"""`memtrack explain`: files, pipes, languages, and what is no text."""

import bz2
import gzip
import io
import json
import lzma
import pickle
import subprocess
import sys

import pytest

from memtrack.cli import main
from memtrack.diagnosis.explain import explain_text
from memtrack.reports.diagnosistext import render_diagnosis
from memtrack.units import GIB, MIB

LOG = """Epoch 3
Traceback (most recent call last):
  File "train.py", line 7, in <module>
    loss.backward()
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.50 GiB. GPU 0 has a total capacity of 24.00 GiB of which 512.00 MiB is free. Of the allocated memory 22.00 GiB is allocated by PyTorch, and 64.00 MiB is reserved by PyTorch but unallocated.
"""


@pytest.fixture(autouse=True)
def english(monkeypatch):
    monkeypatch.setenv("MEMTRACK_LANG", "en")
    monkeypatch.setenv("COLUMNS", "80")


def run(capsys, *arguments):
    code = main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    return code, out, err


def piped(data):
    class Stdin(io.TextIOWrapper):
        def isatty(self):
            return False

    return Stdin(io.BufferedReader(io.BytesIO(data)))


def test_a_file_is_explained(capsys, tmp_path):
    path = tmp_path / "log.txt"
    path.write_text(LOG)
    code, out, err = run(capsys, "explain", path)
    assert (code, err) == (0, "")
    assert out == render_diagnosis(explain_text(LOG)) + "\n"
    assert out.startswith("Out of memory on GPU 0: 1.50 GiB asked for, 512 MiB of 24.0 GiB free.\n")


def test_json_is_the_object_of_the_contract(capsys, tmp_path):
    path = tmp_path / "log.txt"
    path.write_text(LOG)
    code, out, _ = run(capsys, "explain", path, "--json")
    shown = json.loads(out)
    assert code == 0
    assert (shown["schema"], shown["kind"], shown["device_memory"]) == (
        "memtrack.diagnosis/1",
        "cuda_oom",
        True,
    )
    assert shown["numbers"] == {
        "requested": 3 * GIB // 2,
        "total": 24 * GIB,
        "free": 512 * MIB,
        "allocated": 22 * GIB,
        "reserved_unallocated": 64 * MIB,
    }
    assert shown["causes"][0]["id"] == "capacity"
    assert shown["remedies"] and shown["checks"]


@pytest.mark.parametrize("arguments", [(), ("-",)])
def test_what_is_piped_in_is_explained(capsys, monkeypatch, arguments):
    monkeypatch.setattr(sys, "stdin", piped(LOG.encode()))
    code, out, _ = run(capsys, "explain", *arguments)
    assert (code, out.splitlines()[0][:13]) == (0, "Out of memory")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-8-sig"])
def test_what_powershell_writes_is_text(capsys, tmp_path, encoding):
    path = tmp_path / "log.txt"
    path.write_bytes(LOG.encode(encoding))
    assert json.loads(run(capsys, "explain", path, "--json")[1])["numbers"]["total"] == 24 * GIB


def test_the_language_can_be_chosen(capsys, tmp_path):
    path = tmp_path / "log.txt"
    path.write_text(LOG)
    out = run(capsys, "explain", path, "--language", "zh_CN")[1]
    assert out.startswith("GPU 0 显存不足：请求 1.50 GiB，24.0 GiB 中空闲 512 MiB。")


def test_no_memory_error_is_no_failure(capsys, tmp_path):
    path = tmp_path / "log.txt"
    path.write_text("Traceback (most recent call last):\n  x\nValueError: no luck\n")
    code, out, err = run(capsys, "explain", path)
    assert (code, err) == (0, "")
    assert out.splitlines() == ["No memory error found; the last error is: ValueError: no luck"]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "is empty."),
        (b" \n\n\t\n", "is empty."),
        (pickle.dumps({"segments": []}), "is a recording or a pickle, not a text."),
        (b"PK\x03\x04rest", "is a recording or a pickle, not a text."),
        (b"\x1f\x8b\x08rest", "is damaged or cut short."),
        (gzip.compress(LOG.encode())[:-12], "is damaged or cut short."),
        (b"(\xb5/\xfd rest", "is compressed."),
        (bytes(range(256)) * 8, "is not a text."),
    ],
)
def test_what_is_no_text_is_one_line_and_code_2(capsys, tmp_path, data, said):
    path = tmp_path / "file"
    path.write_bytes(data)
    code, out, err = run(capsys, "explain", path)
    assert (code, out) == (2, "")
    assert err.startswith(f"{path} {said}")
    assert err.count("\n") == 1


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_a_packed_log_is_read_as_the_log(capsys, tmp_path, pack):
    path = tmp_path / "log.packed"
    path.write_bytes(pack(LOG.encode()))
    assert run(capsys, "explain", path) == (0, render_diagnosis(explain_text(LOG)) + "\n", "")


def test_a_log_that_begins_with_zeros_is_a_text(capsys, tmp_path):
    path = tmp_path / "log.txt"
    path.write_bytes(bytes(3000) + LOG.encode())
    code, out, err = run(capsys, "explain", path)
    assert (code, err) == (0, "")
    assert out.startswith("Out of memory on GPU 0: 1.50 GiB asked for")


def test_a_file_that_is_not_there(capsys, tmp_path):
    code, out, err = run(capsys, "explain", tmp_path / "none.txt")
    assert (code, out) == (2, "")
    assert err == f"There is no file {tmp_path / 'none.txt'}.\n"


def test_a_terminal_without_a_text_is_told_what_to_do(capsys, monkeypatch):
    stdin = piped(b"")
    monkeypatch.setattr(type(stdin), "isatty", lambda self: True)
    monkeypatch.setattr(sys, "stdin", stdin)
    code, out, err = run(capsys, "explain")
    assert (code, out) == (2, "")
    assert err.startswith("No text was given. Name a file, or pipe one in")


def test_explaining_needs_no_torch(tmp_path):
    path = tmp_path / "log.txt"
    path.write_text(LOG)
    code = (
        "import sys; from memtrack.cli import main; code = main(['explain', sys.argv[1]]);"
        "assert 'torch' not in sys.modules; sys.exit(code)"
    )
    done = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
