"""`memtrack history`, `diff` and `check`: what they print and with which exit code."""

import json
from dataclasses import replace

import pytest
from kept_runs import KIB, many, recording
from synthetic import Script

from memtrack.cli import main
from memtrack.recording import Category, PhaseKind, save_recording
from memtrack.reports.check import change_of
from memtrack.runs import History


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A history of three runs of 1, 2 and 3 KiB, the first of them called `first`."""
    monkeypatch.setenv("MEMTRACK_LANG", "en")
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("MEMTRACK_HISTORY", str(tmp_path / "kept"))
    with History(tmp_path / "kept") as history:
        many(history, 3)
        history.name(history.run(1), "first")
        history.tag(history.run(2), ["bf16"])
    return tmp_path / "kept"


def run(capsys, *arguments):
    code = main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    return code, out, err


def saved(tmp_path, name, size, **facts):
    data = recording(name * 32, size)
    data = replace(data, facts=replace(data.facts, **facts))
    return save_recording(data, tmp_path / f"{name}.memtrack")


def test_history_lists_the_newest_first(capsys):
    code, out, err = run(capsys, "history")
    assert (code, err) == (0, "")
    rows = [line.split() for line in out.splitlines() if "KiB" in line]
    assert [row[:2] for row in rows] == [["3", "net"], ["2", "net"], ["1", "first"]]
    assert [row[4:6] for row in rows] == [["3.00", "KiB"], ["2.00", "KiB"], ["1.00", "KiB"]]
    assert run(capsys, "history", "BF16", "net")[1].count("KiB") == 1
    assert (
        run(capsys, "history", "--limit", 1)[1].splitlines()[-1].strip() == "… and 2 earlier runs"
    )


def test_history_as_json(capsys):
    told = json.loads(run(capsys, "history", "--json", "--limit", 2)[1])
    assert told["schema"] == "memtrack.history/1" and told["total"] == 3
    assert [(one["id"], one["peak"]) for one in told["runs"]] == [(3, 3 * KIB), (2, 2 * KIB)]


def test_no_history_is_one_line(capsys, tmp_path):
    for command in ("history", "diff"):
        code, out, err = run(capsys, command, "--folder", tmp_path / "none")
        assert (code, out) == (2, "") and err.startswith("There is no history in")
        assert len(err.splitlines()) == 1


def test_diff_of_names_and_files(capsys, tmp_path):
    code, out, _ = run(capsys, "diff", "first", "3")
    assert code == 0
    assert out.startswith(
        "Peak 1.00 KiB → 3.00 KiB (+2.00 KiB, +200 %): parameters of model +2.00 KiB"
    )
    told = json.loads(run(capsys, "diff", "first", saved(tmp_path, "x", 9 * KIB), "--json")[1])
    assert told["peak"] == {"before": KIB, "after": 9 * KIB}
    assert told["b"]["name"] == "x.memtrack"


def test_diff_alone_is_of_the_last_against_the_baseline(capsys, folder):
    assert run(capsys, "diff")[2].startswith("There is no baseline yet.")
    with History(folder) as history:
        history.make_baseline(history.run("first"))
    assert run(capsys, "diff")[1].startswith("Peak 1.00 KiB → 3.00 KiB")


def steps(tmp_path, leaked):
    script = Script()
    script.device()
    layer = script.layer("model")
    for step in range(5):
        for kind in (PhaseKind.FORWARD, PhaseKind.BACKWARD, PhaseKind.OPTIMIZER):
            script.phase(kind, step)
            block = script.alloc(8 << 20, Category.ACTIVATION, layer=layer)
            if kind == PhaseKind.FORWARD and leaked:
                script.alloc(leaked, Category.OTHER, layer=layer)
            script.free(block)
    return save_recording(script.build(label="net"), tmp_path / "steps.memtrack")


def test_steps_of_a_file(capsys, tmp_path):
    out = run(capsys, "diff", "--steps", steps(tmp_path, 3 << 20))[1]
    assert "3.00 MiB" in out.splitlines()[0] and out.count("+3.00 MiB") == 4
    told = json.loads(run(capsys, "diff", "--steps", steps(tmp_path, 3 << 20), "--json")[1])
    assert [one["end"] for one in told["steps"]] == [(n + 1) * (3 << 20) for n in range(5)]
    assert told["findings"][0]["step_bytes"] == 3 << 20
    out = run(capsys, "diff", "--steps", steps(tmp_path, 0))[1]
    assert out.startswith("Nothing grows from step to step (steps: 5)")
    assert run(capsys, "diff", "--steps", "first", "3")[2] == "--steps takes one run, not two.\n"


@pytest.mark.parametrize(
    ("size", "increase", "code"),
    [
        (1000 * KIB, "0", 0),
        (1000 * KIB + 4, "0", 1),
        (1050 * KIB, "5%", 0),
        (1050 * KIB + 4, "5%", 1),
        (1050 * KIB + 4, "5.1%", 0),
        (1001 * KIB, "1KiB", 0),
        (1001 * KIB + 4, "1KiB", 1),
        (900 * KIB, "0", 0),
    ],
)
def test_check_against_a_file_is_exact(capsys, tmp_path, size, increase, code):
    before, after = saved(tmp_path, "a", 1000 * KIB), saved(tmp_path, "b", size)
    arguments = ("check", after, "--baseline", before, "--max-increase", increase)
    got, out, err = run(capsys, *arguments)
    assert (got, err) == (code, "")
    assert out.startswith("Grown: " if code else "Fine: ")
    told = json.loads(run(capsys, *arguments, "--json")[1])
    assert told["ok"] is (code == 0) and told["failed"] == ["increase"] * code
    assert (told["peak"], told["baseline_peak"]) == (size, 1000 * KIB)
    assert (told["peak"] > told["allowed"]) is bool(code)


def test_check_against_a_named_run_and_the_baseline(capsys, folder, tmp_path):
    path = saved(tmp_path, "f", KIB)
    assert run(capsys, "check", path, "--baseline", "first")[0] == 0
    code, out, err = run(capsys, "check", path)
    assert (code, out) == (2, "") and err.startswith("There is no baseline yet.")
    with History(folder) as history:
        history.make_baseline(history.run("first"))
    assert run(capsys, "check", path)[0] == 0
    code, out, _ = run(capsys, "check", "last")
    assert code == 1 and "parameters of model +2.00 KiB" in out and "+200.0 %" in out


def test_check_against_a_limit_needs_no_baseline(capsys, tmp_path):
    path = saved(tmp_path, "f", 10 * KIB)
    assert run(capsys, "check", path, "--max-peak", "10KiB")[0] == 0
    code, out, _ = run(capsys, "check", path, "--max-peak", "9KiB")
    assert code == 1
    assert out == "Too much: peak 10.0 KiB, above the limit of 9.00 KiB.\n"
    both = ("--max-peak", "9KiB", "--baseline", "first", "--max-increase", "0")
    told = json.loads(run(capsys, "check", path, *both, "--json")[1])
    assert told["failed"] == ["increase", "max_peak"]


def test_a_folder_of_ranks_is_told_from_a_run(capsys, tmp_path):
    from memtrack.rankfacts import RankFacts
    from memtrack.recording.ranks import with_rank

    ranks = tmp_path / "train.ranks"
    ranks.mkdir()
    for rank in range(2):
        save_recording(with_rank(recording("a" * 32), RankFacts(rank, 2)), ranks / f"rank{rank}")
    code, out, err = run(capsys, "diff", "first", ranks)
    assert (code, out) == (2, "")
    assert (
        err
        == f"{ranks} has recordings of several ranks. Say which one: --rank N (in Python: rank=N).\n"
    )


@pytest.mark.parametrize("state", ["interrupted", "failed", "recording"])
def test_what_did_not_end_cannot_be_judged(capsys, tmp_path, state):
    path = saved(tmp_path, "f", KIB, state=state)
    code, out, err = run(capsys, "check", path, "--max-peak", "1GiB")
    assert (code, out) == (2, "") and "cannot be judged" in err and state in err


def test_another_kind_of_device_cannot_judge(capsys, tmp_path):
    script = Script()
    script.device("cpu", name="CPU")
    layer = script.layer("net")
    script.phase(PhaseKind.FORWARD)
    script.alloc(KIB, Category.PARAMETER, layer=layer)
    path = save_recording(script.build(label="net"), tmp_path / "cpu.memtrack")
    code, _, err = run(capsys, "check", path, "--baseline", "first")
    assert code == 2
    assert err.startswith("A run on CPU cannot be judged by one on Test GPU.")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--max-increase", "5"), "'5' is neither a share nor a size."),
        (("--max-increase", "much"), "'much' is neither a share nor a size."),
        (("--max-peak", "-1"), "'-1' is not a size."),
        (("--max-peak", "x"), "'x' is not a size."),
        (("--baseline", "nowhere"), "There is no run 'nowhere'"),
        (("--baseline", "no.memtrack"), "There is no file no.memtrack"),
    ],
)
def test_wrong_use_is_one_line_and_code_2(capsys, words, sentence):
    code, out, err = run(capsys, "check", "first", *words)
    assert (code, out) == (2, "") and sentence in err
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize(
    ("after", "said"),
    [(10_500, "+5.0 %"), (9_500, "-5.0 %"), (9_999, "±0.0 %"), (10_001, "±0.0 %")],
)
def test_a_change_that_rounds_to_nothing_has_no_sign(after, said):
    assert str(change_of(10_000, after)) == said
    assert str(change_of(0, after)) == "–"
