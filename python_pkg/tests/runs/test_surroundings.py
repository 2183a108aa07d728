"""Where a run was made: what the files of git say is what git itself says."""

import os
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest
from kept_runs import recording

from memtrack.runs.git import checkout_of, is_dirty
from memtrack.runs.surroundings import Origin, origin_of, with_origin

GIT = ["git", "-c", "user.name=A", "-c", "user.email=a@b.c", "-c", "init.defaultBranch=main"]


def git(folder, *words):
    told = subprocess.run([*GIT, *words], cwd=folder, check=True, capture_output=True, text=True)
    return told.stdout.strip()


@pytest.fixture
def checkout(tmp_path):
    folder = tmp_path / "code"
    folder.mkdir()
    git(folder, "init", "--quiet")
    (folder / "train.py").write_text("1\n")
    git(folder, "add", "train.py")
    git(folder, "commit", "--quiet", "-m", "first")
    return folder


def told_by_git(folder):
    branch = git(folder, "rev-parse", "--abbrev-ref", "HEAD")
    return git(folder, "rev-parse", "HEAD"), "" if branch == "HEAD" else branch


def test_commit_and_branch_are_those_of_git(checkout):
    inside = checkout / "a" / "b"
    inside.mkdir(parents=True)
    for change in (
        lambda: None,
        lambda: git(checkout, "pack-refs", "--all"),
        lambda: git(checkout, "commit", "--quiet", "--allow-empty", "-m", "second"),
        lambda: git(checkout, "switch", "--quiet", "-c", "feature/wide"),
        lambda: git(checkout, "switch", "--quiet", "--detach"),
    ):
        change()
        found = checkout_of(inside)
        assert (found.commit, found.branch) == told_by_git(checkout)
        assert found.root == checkout


def test_a_worktree_has_its_own_commit(checkout, tmp_path):
    git(checkout, "worktree", "add", "--quiet", "-b", "other", str(tmp_path / "other"))
    git(tmp_path / "other", "commit", "--quiet", "--allow-empty", "-m", "there")
    git(checkout, "pack-refs", "--all")
    found = checkout_of(tmp_path / "other")
    assert (found.commit, found.branch) == told_by_git(tmp_path / "other")
    assert found.commit != checkout_of(checkout).commit


def test_no_checkout_and_no_commit(tmp_path):
    assert checkout_of(tmp_path) is None
    git(tmp_path, "init", "--quiet")
    assert checkout_of(tmp_path) is None
    (tmp_path / ".git" / "HEAD").write_bytes(b"\xff\xfe nonsense")
    assert checkout_of(tmp_path) is None


def test_dirty_are_tracked_files_that_differ(checkout):
    assert is_dirty(checkout) is False
    (checkout / "new.txt").write_text("untracked")
    assert is_dirty(checkout) is False
    (checkout / "train.py").write_text("2\n")
    assert is_dirty(checkout) is True
    assert is_dirty(checkout / "missing") is None


@pytest.mark.skipif(sys.platform == "win32", reason="a shell script stands in for git")
def test_a_slow_git_is_not_waited_for(checkout, monkeypatch):
    slow = checkout / "bin" / "git"
    slow.parent.mkdir()
    slow.write_text("#!/bin/sh\nexec sleep 30\n")
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", str(slow.parent) + os.pathsep + os.environ["PATH"])
    began = time.monotonic()
    assert is_dirty(checkout, seconds=0.2) is None
    assert time.monotonic() - began < 5


def test_a_monitor_that_the_checkout_asks_for_is_not_run(checkout):
    git(checkout, "config", "core.fsmonitor", f"touch {checkout}/ran; false")
    assert is_dirty(checkout) is False
    assert not (checkout / "ran").exists()


def test_a_run_knows_its_notebook_cell_and_commit(checkout, monkeypatch):
    monkeypatch.setenv("JPY_SESSION_NAME", str(checkout / "train.ipynb"))
    cells = SimpleNamespace(input_hist_parsed=[""] * 8)
    origin = origin_of(SimpleNamespace(history_manager=cells, user_ns={}))
    assert origin == Origin(str(checkout / "train.ipynb"), 7, checkout)
    run = with_origin(recording(run={"driver": "580"}), origin).facts.extra["run"]
    commit, branch = told_by_git(checkout)
    assert run == {
        "path": str(checkout / "train.ipynb"),
        "cell": 7,
        "commit": commit,
        "branch": branch,
        "dirty": False,
        "driver": "580",
    }


def test_vs_code_names_the_notebook_itself(tmp_path):
    names = {"__vsc_ipynb_file__": str(tmp_path / "x.ipynb")}
    assert origin_of(SimpleNamespace(user_ns=names)).folder == tmp_path
